"""The migrations and the tables in the code are the same schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from core.catalog import Catalog
from core.catalog.schema import metadata
from core.errors import WrongIndex


def test_migrations_give_the_tables_of_the_code(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    with catalog.database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
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
