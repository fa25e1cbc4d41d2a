"""The migrations and the tables in the code are the same schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from core.catalog import (
    Catalog,
    asking_schema,  # noqa: F401 (its tables join the metadata)
)
from core.catalog.engine import Database
from core.catalog.generations import Made
from core.catalog.migrating import migrations as configured
from core.catalog.schema import metadata

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
    "INSERT INTO questions VALUES ('q', 0, 'When?', 'extractive', 'At nine.', 1.0, x'7b7d')",
)
"""A typed and an uploaded document and a question, as the first schema kept them."""


MADE = Made("hash", "hash-384", 384, "an analyser/1")
LEFT = b"left-over-text"


def migrations(connection: Connection) -> Config:
    config = configured()
    config.attributes["connection"] = connection
    return config


def take_back_to_the_first(url: str, rows: Sequence[str]) -> None:
    """Bring a catalogue back to the first schema, and write rows of that time into it."""
    database = Database(url)
    with database.write() as connection:
        command.downgrade(migrations(connection), "0001")
    with database.write() as connection:
        for statement in rows:
            connection.exec_driver_sql(statement)
    database.close()


def first_schema_with_copies(path: Path) -> str:
    """Make a catalogue of the first schema whose file holds text that was deleted; return its address."""
    database = Database(f"sqlite:///{path}")
    with database.write() as connection:
        command.upgrade(migrations(connection), "0001")
    database.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA secure_delete=OFF")
        connection.execute("CREATE TABLE gone (text)")
        connection.executemany("INSERT INTO gone VALUES (?)", [(LEFT.decode() * 200,)] * 200)
        connection.commit()
        connection.execute("DROP TABLE gone")
        connection.commit()
    assert LEFT in path.read_bytes()
    return f"sqlite:///{path}"


def rewritings(monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> list[str]:
    """Note every time that a file is written anew, which fails with the error if there is one."""
    act, noted = Database._act, []

    def noting(database: Database, statement: str, *options: Any, **more: Any) -> list[Any]:
        if statement == "VACUUM":
            noted.append(statement)
            if error is not None:
                raise error
        return act(database, statement, *options, **more)

    monkeypatch.setattr(Database, "_act", noting)
    return noted


def test_migrations_give_the_tables_of_the_code(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    with catalog.database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    catalog.close()


def test_a_catalogue_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    Catalog(url).close()
    take_back_to_the_first(url, OLD_ROWS)
    catalog = Catalog(url)
    with catalog.database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    (typed,), (uploaded,) = catalog.documents.versions(1), catalog.documents.versions(2)
    assert [catalog.documents.is_text_entry(version.id) for version in (typed, uploaded)] == [True, False]
    assert (typed.is_draft, typed.publish_at, typed.label, typed.chunks_removed) == (False, None, "", 0)
    assert catalog.publications.of(1)[0].note == ""
    assert [each.is_tentative for each in catalog.questions.recent(2)] == [False]
    catalog.close()


def test_a_catalogue_is_opened_again_as_it_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    first = Catalog(url)
    first.generations.begin(MADE)
    first.close()
    again = Catalog(url)
    assert again.generations.begin(replace(MADE, model="another")).model == MADE.model
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


@pytest.mark.parametrize("error", [sqlite3.OperationalError("database or disk is full"), KeyboardInterrupt()])
def test_an_old_catalogue_is_written_anew_until_that_was_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    path = tmp_path / "catalog.db"
    url = first_schema_with_copies(path)
    with monkeypatch.context() as failing:
        rewritings(failing, error)
        with suppress(KeyboardInterrupt):
            Catalog(url).close()
    assert LEFT in path.read_bytes()
    noted = rewritings(monkeypatch)
    Catalog(url).close()
    assert LEFT not in path.read_bytes()
    Catalog(url).close()
    assert noted == ["VACUUM"]


def test_a_new_catalogue_is_not_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = rewritings(monkeypatch)
    for _ in range(2):
        catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
        catalog.generations.begin(MADE)
        catalog.close()
    assert noted == []
