"""What was read of the catalogue is given again until its tables change, and never longer."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import bindparam, delete, insert, select, text

from core.catalog.engine import Database
from core.catalog.prepared import Prepared
from core.catalog.revisions import Remembered, Revisions
from core.catalog.schema import index_settings

SETTINGS, OTHER = (index_settings.name,), ("outbox",)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = Database(f"sqlite:///{tmp_path / 'catalog.db'}")
    found.migrate()
    return found


def write(database: Database, key: str) -> None:
    with database.write() as tx:
        tx.execute(insert(index_settings).values(key=key, value="1"))


def count(database: Database) -> int:
    def read() -> int:
        with database.read() as tx:
            return len(tx.execute(select(index_settings)).all())

    return database.remembered.value("count", SETTINGS, None, read)


def test_what_was_read_is_given_again_until_its_table_is_written_to(database: Database) -> None:
    before = count(database)
    with database.engine.connect() as beside:
        beside.execute(insert(index_settings).values(key="unnoticed", value="1"))
        beside.commit()
    assert count(database) == before
    write(database, "noticed")
    assert count(database) == before + 2


def test_it_is_read_anew_where_something_else_is_given(database: Database) -> None:
    values = iter((1, 2))
    for given, value in (("a", 1), ("a", 1), ("b", 2)):
        assert database.remembered.value("given", SETTINGS, given, lambda: next(values)) == value


def test_a_table_has_no_revision_while_it_is_written_to(database: Database) -> None:
    first = database.revisions.of(SETTINGS)
    with database.write() as tx:
        tx.execute(delete(index_settings).where(index_settings.c.key == "none"))
        assert database.revisions.of(SETTINGS) is None
        assert database.revisions.of(OTHER) is not None
    assert database.revisions.of(SETTINGS) not in (None, first)


def test_what_fails_counts_as_written(database: Database) -> None:
    first = database.revisions.of(SETTINGS)
    with pytest.raises(ZeroDivisionError), database.write() as tx:
        tx.execute(insert(index_settings).values(key="gone", value="1"))
        raise ZeroDivisionError
    assert database.revisions.of(SETTINGS) not in (None, first)


def test_reading_within_a_write_changes_nothing(database: Database) -> None:
    first = database.revisions.of(SETTINGS)
    with database.write() as tx:
        tx.execute(select(index_settings)).all()
    assert database.revisions.of(SETTINGS) == first


def test_a_statement_of_no_known_kind_may_have_written_to_any_table(database: Database) -> None:
    first = database.revisions.of(OTHER)
    with database.write() as tx:
        tx.execute(text("UPDATE index_settings SET value = '2'"))
    assert database.revisions.of(OTHER) not in (None, first)


def test_nothing_is_remembered_where_other_processes_write() -> None:
    values = iter((1, 2))
    remembered = Remembered(Revisions(is_alone=False))
    assert [remembered.value("name", SETTINGS, None, lambda: next(values)) for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("size", [1, 16, 17, 40, 600])
def test_a_prepared_statement_reads_what_the_statement_itself_reads(database: Database, size: int) -> None:
    keys = [f"key-{number:03}" for number in range(size)]
    for key in keys[::2]:
        write(database, key)
    wanted = index_settings.c.key.in_(bindparam("ids", expanding=True)), index_settings.c.value == bindparam("value")
    statement = select(index_settings.c.key, index_settings.c.value).where(*wanted).limit(500)
    values = {"ids": keys, "value": "1"}
    with database.read() as tx:
        plain = tx.execute(statement, values).all()
        assert len(plain) == len(keys[::2])
        assert sorted(map(tuple, Prepared(statement).rows(tx, values))) == sorted(map(tuple, plain))
        assert Prepared(statement).rows(tx, {"ids": [], "value": "1"}) == []
