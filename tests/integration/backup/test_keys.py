"""Keys of servers that write answers are in an archive only where that was asked."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from core.cli.transfer import export_to, import_from, migrate
from core.errors import BadBundle
from tests.builders import knowledge_base, settings
from tests.integration.backup.house import apart, together, with_row

KEY = "sk-correct-horse-battery"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    with knowledge_base(tmp_path / "house") as kb:
        kb.generators.set("far", "https://api.example.com/v1", model="m", key=KEY)
        kb.generators.make_default("far")
    return tmp_path / "house"


def exported(house: Path, *, with_keys: bool = False) -> bytes:
    target = io.BytesIO()
    export_to(settings(house), target, with_keys=with_keys)
    return target.getvalue()


def unpacked(archive: bytes) -> bytes:
    return b"".join(gzip.decompress(each) if name.startswith("tables/") else each for name, each in apart(archive))


@pytest.mark.parametrize("with_keys", [False, True])
def test_a_key_travels_only_where_that_was_asked(house: Path, tmp_path: Path, with_keys: bool) -> None:
    archive = exported(house, with_keys=with_keys)
    assert (KEY.encode() in unpacked(archive)) is with_keys
    import_from(settings(tmp_path / "new"), io.BytesIO(archive))
    with knowledge_base(tmp_path / "new") as kb:
        [kept] = kb.generators.list()
        assert (kept.name, kept.model, kept.is_default, kept.has_key) == ("far", "m", True, with_keys)


@pytest.mark.parametrize("with_keys", [False, True])
def test_so_it_is_with_a_backup_of_what_runs(house: Path, with_keys: bool) -> None:
    with knowledge_base(house) as kb:
        archive = b"".join(kb.backup(with_keys=with_keys))
    assert (KEY.encode() in unpacked(archive)) is with_keys


def test_a_move_takes_the_keys_along(house: Path, tmp_path: Path) -> None:
    migrate(settings(house), settings(tmp_path / "new"))
    with knowledge_base(tmp_path / "new") as kb:
        assert kb.generators.list()[0].has_key


@pytest.mark.parametrize(
    ("column", "value"),
    [("url", "file:///etc/passwd"), ("url", "http://a b/"), ("key", "two\nlines"), ("name", "../x")],
)
def test_a_forged_row_is_refused(house: Path, tmp_path: Path, column: str, value: str) -> None:
    forged = with_row(apart(exported(house)), "generator_servers", lambda row: row.update({column: value}))
    with pytest.raises(BadBundle):
        import_from(settings(tmp_path / "new"), io.BytesIO(together(forged)))
