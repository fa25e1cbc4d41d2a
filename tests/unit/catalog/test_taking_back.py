"""An upgrade can be taken back: an earlier release finds all that it knows, and the later one all that both know."""

from __future__ import annotations

import json
import sqlite3
import tarfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory

import core
from core.catalog import Catalog
from core.catalog.migrating import migrations
from core.catalog.taking_back import TakingBack
from core.cli.commands import main
from core.errors import Conflict, InvalidInput
from core.model import Role
from core.model.codec import to_dict
from tests.builders import add, knowledge_base

KEPT = Path(__file__).parent.parent.parent / "kept" / "kept.tar.xz"
KEPT_REVISION = "0008"
HEAD, BEFORE = [each.revision for each in ScriptDirectory.from_config(migrations()).walk_revisions()][:2]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The catalogue of an earlier commit, as it was left."""
    with tarfile.open(KEPT) as packed:
        packed.extract("data/catalog.db", tmp_path)
    return tmp_path / "data" / "catalog.db"


def tables(catalog: Path) -> dict[str, list[str]]:
    """The columns of each table, by their names."""
    with closing(sqlite3.connect(catalog)) as file:
        names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(row[1] for row in file.execute(f"PRAGMA table_info({name})")) for name in names}


def rows(catalog: Path, columns: dict[str, list[str]]) -> dict[str, list[Any]]:
    """What stands in these columns of these tables."""
    with closing(sqlite3.connect(catalog)) as file:
        return {
            name: sorted(file.execute(f"SELECT {', '.join(map(_quoted, told))} FROM {name}").fetchall(), key=repr)
            for name, told in columns.items()
            if name not in ("alembic_version", "index_settings", "sqlite_sequence")
        }


def _quoted(name: str) -> str:
    return f'"{name}"'


def taken_back(catalog: Path, revision: str) -> None:
    with closing(TakingBack(f"sqlite:///{catalog}")) as opened:
        assert opened.carry_out(revision) == revision


def test_folder_of_an_earlier_commit_is_upgraded_and_taken_back_as_it_was(kept: Path) -> None:
    columns = tables(kept)
    before = rows(kept, columns)
    assert sum(map(len, before.values())) > 100
    Catalog(f"sqlite:///{kept}").close()
    assert tables(kept) != columns
    taken_back(kept, KEPT_REVISION)
    assert {name: told for name, told in tables(kept).items() if name in columns} == columns
    assert rows(kept, columns) == before
    # And the upgrade can be made again.
    Catalog(f"sqlite:///{kept}").close()
    assert rows(kept, columns) == before


@pytest.mark.parametrize("revision", [BEFORE, KEPT_REVISION])
def test_what_the_later_release_was_given_is_known_to_the_earlier_and_found_again(
    tmp_path: Path, revision: str
) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", "The museum opens at nine.")
        add(kb, "hours", "The museum opens at ten.")
        kb.accounts.create_user("ann", "a long enough password", Role.ADMIN)
        trace = core.EvoRAG(kb=kb).ask("When does the museum open?")
        told = facts(kb, trace.id)
    catalog = tmp_path / "data" / "catalog.db"
    versions = "SELECT count(*) FROM versions"
    taken_back(catalog, revision)
    with closing(sqlite3.connect(catalog)) as file:
        assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]
        assert file.execute(versions).fetchone() == (2,)
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    with knowledge_base(tmp_path) as kb:
        assert facts(kb, trace.id) == told
        assert "ten" in core.EvoRAG(kb=kb).ask("When does the museum open now?").answer.text


def facts(kb: core.KnowledgeBase, trace_id: str) -> Any:
    shown = [(document.doc_key, document.published_version) for document in kb.documents()]
    texts = [kb.text_of("hours.txt", number) for number in (1, 2)]
    people = [(user.name, user.role) for user in kb.accounts.users()]
    history = [(each.action, each.version, each.at) for each in kb.publications("hours.txt")]
    return shown, texts, people, history, kb.trace(trace_id).answer.text


def test_catalogue_of_a_newer_release_is_refused_with_the_way_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    Catalog(url).close()
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
        file.commit()
    with pytest.raises(Conflict, match="newer release") as refused:
        Catalog(url)
    assert refused.value.code == "newer_catalog"
    assert f"evorag downgrade {HEAD} --yes" in refused.value.remedy


def test_revision_that_is_not_earlier_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    Catalog(url).close()
    with closing(TakingBack(url)) as catalog:
        for wrong in (HEAD, "9999", "base", "'; DROP TABLE versions"):
            with pytest.raises(InvalidInput):
                catalog.carry_out(wrong)
    with closing(TakingBack(url)) as catalog:
        assert catalog.revision == HEAD


def test_every_migration_says_what_it_brings_and_can_be_taken_back() -> None:
    for each in ScriptDirectory.from_config(migrations()).walk_revisions():
        assert each.doc, each.revision
        assert each.module.downgrade.__code__.co_names, each.revision


def test_command_shows_what_is_lost_and_goes_back_when_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", "The museum opens at nine.")
    with pytest.raises(SystemExit):
        main(["downgrade", "--data-dir", str(tmp_path / "data")])
    assert HEAD in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["downgrade", "--yes", "--json", "--data-dir", str(tmp_path / "data")])
    assert json.loads(capsys.readouterr().out)["revision"] == BEFORE
    with closing(sqlite3.connect(tmp_path / "data" / "catalog.db")) as file:
        assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [(BEFORE,)]
    with knowledge_base(tmp_path) as kb:
        assert kb.document("hours.txt").published_version == 1


def test_an_earlier_release_finds_the_whole_account_of_an_answer_from_the_cache(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", "The museum opens at nine. 「朝」")
        rag = core.EvoRAG(kb=kb)
        first = rag.ask("When does the museum open?")
        again = rag.ask("When does the museum open?")
        assert again.cache is not None and again.cache.trace_id == first.id
        whole = to_dict(kb.trace(again.id))
    catalog = tmp_path / "data" / "catalog.db"
    with closing(sqlite3.connect(catalog)) as file:
        assert "account_of" in account(file, again.id)
    taken_back(catalog, "0015")
    with closing(sqlite3.connect(catalog)) as file:
        assert account(file, again.id) == json.loads(json.dumps(whole))
    with knowledge_base(tmp_path) as kb:
        assert to_dict(kb.trace(again.id)) == whole


def account(catalog: sqlite3.Connection, trace_id: str) -> Any:
    (kept,) = catalog.execute("SELECT trace FROM questions WHERE id = ?", (trace_id,)).fetchone()
    return json.loads(zlib.decompress(kept))
