"""The migrations and the tables in the code are the same schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

import core.catalog
from core.catalog import Catalog
from core.catalog.engine import Database
from core.catalog.schema import metadata
from core.errors import WrongIndex

_VERSION = (
    "INSERT INTO versions (id, doc_id, number, file_name, extension, sha256, sha1, size_bytes, state, claimed_seq,"
    " created_at, note, actor, title, language, chunk_count, chunks_added, chunks_kept, metadata)"
    " VALUES ({0}, {0}, 1, 'n.txt', 'txt', 'aa', 'bb', 4, 'ready', 0, 0, '', '', '', '', 1, 1, 0, '{{}}')"
)
OLD_ROWS = (
    "INSERT INTO documents VALUES (1, 'a.txt', 'a.txt', 1, 0, 0), (2, 'b.txt', 'b.txt', 0, 0, 0)",
    _VERSION.format(1),
    _VERSION.format(2),
    "INSERT INTO publications (seq, doc_id, version_id, action, at, actor) VALUES (1, 1, 1, 'publish', 0, '')",
)
"""A typed and an uploaded document, as the first schema kept them."""


def test_migrations_give_the_tables_of_the_code(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    with catalog.database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    catalog.close()


def test_a_catalogue_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    Catalog(url).close()
    database = Database(url)
    with database.write() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(core.catalog.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
    with database.write() as connection:
        for statement in OLD_ROWS:
            connection.exec_driver_sql(statement)
    database.close()
    catalog = Catalog(url)
    with catalog.database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    (typed,), (uploaded,) = catalog.documents.versions(1), catalog.documents.versions(2)
    assert [catalog.documents.is_text_entry(version.id) for version in (typed, uploaded)] == [True, False]
    assert (typed.is_draft, typed.publish_at, typed.label, typed.chunks_removed) == (False, None, "", 0)
    assert catalog.publications.of(1)[0].note == ""
    catalog.close()


def test_a_catalogue_is_opened_again_as_it_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    first = Catalog(url)
    first.settle_index({"colour": "indigo"})
    first.close()
    again = Catalog(url)
    with pytest.raises(WrongIndex):
        again.settle_index({"colour": "green"})
    again.close()


def test_commits_are_durable_and_readers_do_not_block(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    with catalog.database.read() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    catalog.close()
