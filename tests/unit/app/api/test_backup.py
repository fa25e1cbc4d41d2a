"""The route of backups, and the client that fetches them."""

from __future__ import annotations

import io
import re
import stat
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import core
from core.cli.transfer import import_from
from core.errors import InvalidInput
from tests.builders import add, begin, knowledge_base, settings
from tests.live import served
from tests.unit.app.api.test_documents import assert_problem

PATH = "/api/v1/backup"


def arrived(archive: bytes, folder: Path) -> list[str]:
    begin(folder / "data")
    import_from(settings(folder), io.BytesIO(archive))
    with knowledge_base(folder) as kb:
        return [document.doc_key for document in kb.documents()]


@pytest.mark.long
def test_backup_is_sent_as_a_file_that_imports(client: FlaskClient, kb: core.KnowledgeBase, tmp_path: Path) -> None:
    add(kb, "a.txt", "Some words.")
    answer = client.get(PATH)
    assert (answer.status_code, answer.mimetype) == (200, "application/x-tar")
    assert re.fullmatch(r'attachment; filename="evorag-\d{8}-\d{6}\.tar"', answer.headers["Content-Disposition"])
    assert arrived(answer.data, tmp_path / "new") == ["a.txt"]


def test_second_backup_waits_for_the_first_to_be_over(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    pieces = kb.backup()
    next(pieces)
    assert_problem(client.get(PATH), 409, "conflict")
    pieces.close()
    assert client.get(PATH).status_code == 200


def test_client_writes_a_file_that_only_its_owner_reads(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    add(kb, "a.txt", "Some words.")
    target = tmp_path / "backup.tar"
    with served(kb) as url, core.RagClient(url) as client:
        size = client.backup(target)
        with pytest.raises(InvalidInput):
            client.backup(tmp_path / "nowhere" / "backup.tar")
    assert target.stat().st_size == size and stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("*backup*")] == ["backup.tar"]
    assert arrived(target.read_bytes(), tmp_path / "new") == ["a.txt"]
