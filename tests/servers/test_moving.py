"""From one machine to PostgreSQL and back: the same rows, the same numbers to come, the same refusals."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect

import core
from core.catalog import Catalog
from core.catalog.engine import Database
from core.cli.transfer import export_to, import_from, migrate
from core.errors import BadBundle, Conflict, DataFolderInUse, WrongCatalog
from core.settings import Settings
from tests.builders import add, begin, settings
from tests.integration.backup.house import PASSWORD, apart, furnished, rows, together, tree, with_row


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    furnished(folder).close()
    return folder


def shared(folder: Path, postgres: Any) -> Settings:
    return settings(folder, catalog_url=postgres.database())


def rows_of(place: Settings) -> dict[str, Any]:
    catalog = Catalog(place.catalog_url.get_secret_value() or f"sqlite:///{place.data_dir / 'catalog.db'}")
    try:
        return rows(catalog)
    finally:
        catalog.close()


def test_the_catalogue_moves_out_and_back_and_numbers_go_on(house: Path, postgres: Any, tmp_path: Path) -> None:
    old, new = settings(house), shared(house, postgres)
    files = tree(house / "data" / "blobs")
    migrate(old, new)
    assert rows_of(new) == rows_of(old) and tree(house / "data" / "blobs") == files
    begin(tmp_path / "data")
    migrate(new, settings(tmp_path))
    assert rows_of(settings(tmp_path)) == rows_of(old) and tree(tmp_path / "data" / "blobs") == files
    with core.build(new) as kb:
        # The number of who was removed before moving is nobody's.
        assert kb.accounts.create_user("new", PASSWORD).id == 4
        newest = max(document.id for document in kb.catalog.documents.find(include_deleted=True))
        assert add(kb, "new.txt", "New here.").version == 1
        assert kb.catalog.documents.id_of("new.txt") > newest
        assert add(kb, "hours.txt", "The shop opens at noon.").version == 4
        archive = b"".join(kb.backup())
        with pytest.raises(DataFolderInUse):
            migrate(new, settings(tmp_path / "elsewhere"))
    begin(tmp_path / "third" / "data")
    assert import_from(settings(tmp_path / "third"), io.BytesIO(archive)).rows["documents"] == 6


def test_import_is_refused_as_a_whole(house: Path, postgres: Any, tmp_path: Path) -> None:
    packed = io.BytesIO()
    export_to(settings(house), packed)
    place = shared(tmp_path, postgres)
    members = apart(packed.getvalue())
    forged = (
        together(with_row(members, "versions", lambda row: row.update(number=9))),
        together(with_row(members, "publications", lambda row: row.update(version_id=99))),
        packed.getvalue()[:-3_000],
    )
    for archive in forged:
        with pytest.raises(BadBundle):
            import_from(place, io.BytesIO(archive))
    assert not any(rows_of(place).values()) or {name for name, found in rows_of(place).items() if found} == {
        "index_settings"
    }
    assert not (tmp_path / "data").exists()
    import_from(place, io.BytesIO(packed.getvalue()))
    with pytest.raises(Conflict):
        import_from(place, io.BytesIO(packed.getvalue()))
    assert rows_of(place) == rows_of(settings(house))


def test_empty_database_beside_originals_is_refused_and_left_empty(house: Path, postgres: Any) -> None:
    before = tree(house / "data" / "blobs")
    with Database(shared_url := postgres.database(template="template0")).read() as tx:
        assert not inspect(tx).get_table_names()
    with pytest.raises(WrongCatalog, match="is empty"):
        core.build(settings(house, catalog_url=shared_url))
    assert tree(house / "data" / "blobs") == before
    with Database(shared_url).read() as tx:
        assert not inspect(tx).get_table_names()
