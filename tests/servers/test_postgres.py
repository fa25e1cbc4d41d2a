"""The catalogue on PostgreSQL: what its tests on SQLite say holds there too, and lost connections lose nothing."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import settings
from sqlalchemy import func, insert, make_url, select
from sqlalchemy.exc import IntegrityError

import core
from core.catalog import Catalog, asking_schema, engine  # noqa: F401 (its tables join the metadata)
from core.catalog.engine import Database
from core.catalog.schema import index_settings, metadata
from core.errors import NotFound, Purged, StoreUnavailable
from core.ingest.embed import ROUND_TEXTS
from core.model import Task
from tests.builders import add, knowledge_base
from tests.chat_server import serving
from tests.integration import test_conversations, test_small_documents
from tests.integration.test_keyword_first import Meeting, book
from tests.servers import embedding_process
from tests.servers.postgres import PostgresServer
from tests.unit import test_accounts
from tests.unit.catalog.documents import test_chunks, test_naming
from tests.unit.catalog.jobs import test_ledger
from tests.unit.catalog.test_schema import take_back_to_the_first
from tests.unit.catalog.test_state_machine import KnowledgeBaseMachine
from tests.unit.ingest.uploads import test_transfers
from tests.unit.versions import test_history, test_purge, test_rereading
from tests.waiting import until

AGAIN = (
    test_accounts.test_one_of_two_administrators_who_remove_each_other_stays,
    test_accounts.test_the_number_of_somebody_removed_is_given_to_nobody_else,
    test_chunks.test_what_was_purged_meanwhile_is_not_finished,
    test_ledger.test_a_private_job_is_there_for_its_owner_and_administrators_only,
    test_ledger.test_jobs_are_filtered_by_literal_text_and_read_page_by_page,
    test_ledger.test_users_have_their_turns_one_after_another,
    test_naming.test_documents_are_found_by_title_and_name_and_only_while_shown,
    test_history.test_the_audit_lists_everything_that_was_shown_and_hidden,
    test_purge.test_a_purged_version_is_found_by_no_question_of_any_moment,
    test_conversations.test_the_questions_of_a_forgotten_conversation_stay_in_the_history,
    test_transfers.test_quota_counts_what_is_kept_and_what_is_under_way,
    test_small_documents.test_what_is_decided_of_one_document_of_an_edit_leaves_the_others_right,
    test_small_documents.test_one_of_an_edit_that_has_no_text_any_more_drops_out_alone,
)
globals().update({test.__name__: test for test in AGAIN})
clock, accounts = test_accounts.clock, test_accounts.accounts
three, rag = test_history.three, test_conversations.rag

_VERSION = (
    "INSERT INTO versions (id, doc_id, number, file_name, extension, sha256, sha1, size_bytes, state, claimed_seq,"
    " created_at, note, actor, title, language, chunk_count, chunks_added, chunks_kept, metadata)"
    " VALUES (1, 1, 1, 'n.txt', 'txt', 'aa', 'bb', 4, 'ready', 0, 0, '', '', '', '', 1, 1, 0, '{}')"
)
OLD_ROWS = (
    "INSERT INTO documents VALUES (1, 'a.txt', 'a.txt', true, 0, 0)",
    _VERSION,
    "INSERT INTO publications (seq, doc_id, version_id, action, at, actor) VALUES (1, 1, 1, 'publish', 0, '')",
    r"INSERT INTO questions VALUES ('q', 0, 'When?', 'extractive', 'At nine.', 1.0, '\x7b7d')",
)


class ShortMachine(KnowledgeBaseMachine):
    """The state machine of the catalogue; each of its examples has a database of its own."""

    server: PostgresServer

    def __init__(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EVORAG_CATALOG_URL", self.server.database())
            super().__init__()
            self.open()


@pytest.fixture(autouse=True)
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty catalogue, on which every knowledge base of a test is."""
    address = postgres.database()
    monkeypatch.setenv("EVORAG_CATALOG_URL", address)
    return address


@pytest.fixture
def catalog(url: str) -> Iterator[Catalog]:
    opened = Catalog(url)
    yield opened
    opened.close()


@pytest.fixture
def two(url: str) -> Iterator[tuple[Database, Database]]:
    """The same database, as two processes have it."""
    pair = Database(url), Database(url)
    yield pair
    for each in pair:
        each.close()


def note(database: Database, key: str) -> None:
    with database.write() as tx:
        tx.execute(insert(index_settings).values(key=key, value="noted"))


def notes(database: Database) -> set[str]:
    with database.read() as tx:
        return set(tx.scalars(select(index_settings.c.key).where(index_settings.c.value == "noted")))


def test_migrations_give_the_tables_of_the_code(two: tuple[Database, Database]) -> None:
    with two[0].read() as tx:
        assert compare_metadata(MigrationContext.configure(tx), metadata) == []


def test_a_catalogue_of_the_first_schema_is_brought_up_to_date(url: str) -> None:
    take_back_to_the_first(url, OLD_ROWS)
    catalog = Catalog(url)
    (version,) = catalog.documents.versions(1)
    assert (version.is_draft, version.label, catalog.documents.is_text_entry(version.id)) == (False, "", True)
    assert [each.is_tentative for each in catalog.questions.recent(2)] == [False]
    with catalog.database.read() as tx:
        assert compare_metadata(MigrationContext.configure(tx), metadata) == []
    catalog.close()


def test_sixty_four_threads_of_two_processes_number_one_name_without_gap_or_duplicate(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "one") as one, knowledge_base(tmp_path / "two") as other:

        def number(thread: int) -> int:
            return (one, other)[thread % 2].add_file("busy.txt", io.BytesIO(f"text {thread}".encode())).version

        with ThreadPoolExecutor(64) as threads:
            assert sorted(threads.map(number, range(64))) == list(range(1, 65))


def test_whatever_is_done_in_whatever_order_is_seen_as_published(postgres: PostgresServer) -> None:
    ShortMachine.server = postgres
    machine = ShortMachine.TestCase
    machine.settings = settings(KnowledgeBaseMachine.TestCase.settings, max_examples=1, stateful_step_count=15)
    machine().runTest()


def test_a_read_sees_one_moment(two: tuple[Database, Database]) -> None:
    here, there = two
    with here.read() as tx:
        before = tx.scalar(select(func.count()).select_from(index_settings))
        note(there, "meanwhile")
        assert tx.scalar(select(func.count()).select_from(index_settings)) == before
    assert notes(here) == {"meanwhile"}


def test_a_write_sees_all_that_another_process_wrote_before_it(two: tuple[Database, Database]) -> None:
    here, there = two
    with here.write() as tx:
        late = threading.Thread(target=note, args=(there, "second"))
        late.start()
        tx.execute(insert(index_settings).values(key="first", value="noted"))
        assert notes(there) == set()
    late.join(20)
    assert notes(here) == {"first", "second"}


def test_a_part_is_held_by_one_process_until_it_leaves_or_is_cut_off(
    two: tuple[Database, Database], postgres: PostgresServer
) -> None:
    here, there = two

    def is_free(name: str) -> bool:
        with there.if_free(name) as has_it:
            return has_it

    with here.exclusive("purge"):
        assert (is_free("purge"), is_free("another")) == (False, True)
    assert is_free("purge")
    with here.exclusive("purge"):
        postgres.cut()
        assert is_free("purge")
    with there.exclusive("purge"):
        assert not is_free("purge")


def test_a_connection_that_is_cut_leaves_no_half_of_a_write(
    two: tuple[Database, Database], postgres: PostgresServer
) -> None:
    here, _ = two
    with pytest.raises(StoreUnavailable), here.write() as tx:
        tx.execute(insert(index_settings).values(key="half", value="noted"))
        assert postgres.cut()
        tx.execute(insert(index_settings).values(key="other half", value="noted"))
    note(here, "whole")
    assert notes(here) == {"whole"}


def test_a_read_that_is_cut_says_so_and_the_next_one_reads(
    two: tuple[Database, Database], postgres: PostgresServer
) -> None:
    note(two[0], "kept")
    with pytest.raises(StoreUnavailable), two[0].read() as tx:
        postgres.cut()
        tx.scalar(select(index_settings.c.key))
    assert notes(two[0]) == {"kept"}


def test_what_was_committed_is_there_after_the_server_was_killed(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", "The museum opens at nine.")
        postgres.kill()
        monkeypatch.setattr(engine, "_AGAIN_S", ())
        with pytest.raises(StoreUnavailable):
            kb.add_text("fees", "The yearly fee is twelve euros.")
        monkeypatch.setattr(engine, "_AGAIN_S", (0.1,) * 300)
        again = threading.Thread(target=postgres.restart)
        again.start()
        assert [document.doc_key for document in kb.documents()] == ["hours.txt"]
        again.join(20)
        assert add(kb, "fees", "The yearly fee is twelve euros.").version == 1
        assert {document.doc_key for document in kb.documents()} == {"hours.txt", "fees.txt"}


def test_a_knowledge_base_works_on_it_from_the_first_upload_to_the_purge(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        rag = core.EvoRAG(kb=kb)
        add(kb, "開館時間", "博物館は九時に開く。")
        add(kb, "開館時間", "博物館は十時に開く。")
        assert "十時" in rag.ask("博物館は何時に開くか").answer.text
        assert len(kb.history()) == 1
    with knowledge_base(tmp_path) as kb:
        kb.purge("開館時間.txt", 1)
        with pytest.raises(Purged):
            kb.text_of("開館時間.txt", 1)
        catalogue = kb.health().stores[0]
        assert (catalogue.engine, catalogue.state) == ("postgresql", "ok")


def test_what_an_earlier_reader_has_read_is_read_anew_and_taken_back(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, chunk_tokens=400) as kb:
        add(kb, "rules", test_rereading.RULES)
        was = kb.preview("rules.txt", 1)
    with knowledge_base(tmp_path, chunk_tokens=48) as kb:
        assert kb.readings.begin() == 1
        kb.work_off()
        assert (kb.readings.report().waiting, len(kb.readings.list("waiting"))) == (1, 1)
        assert kb.readings.show() == 1
        assert kb.preview("rules.txt", 1).total_chunks > was.total_chunks
        assert kb.preview("rules.txt", 1, reading=1) == was
        assert kb.readings.undo() == 1
        assert (kb.preview("rules.txt", 1), kb.readings.report().withdrawn) == (was, 1)


def test_a_nul_is_kept_as_the_sign_for_what_cannot_be_shown(catalog: Catalog) -> None:
    with catalog.database.write() as tx:
        tx.execute(insert(index_settings).values(key="a\x00b", value="one\x00two"))
        found = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == "a\x00b"))
    assert found == "one\ufffdtwo"


def test_a_long_question_is_saved_once(catalog: Catalog) -> None:
    rare = "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(4_000))
    assert catalog.saved.save(rare) == catalog.saved.save(rare) == catalog.saved.all()[0]


def test_a_question_that_calls_endless_names_is_answered(catalog: Catalog) -> None:
    assert catalog.naming.called([f"{number} policy" for number in range(2_000)]) == {}


def test_errors_say_nothing_of_rows_and_passwords(two: tuple[Database, Database], url: str) -> None:
    secret = str(make_url(url).password)
    words = token_hex()
    note(two[0], words)
    with pytest.raises(IntegrityError) as told:
        note(two[0], words)
    assert words not in "".join(traceback.format_exception(told.value))
    refused = Database(make_url(url).set(password=f"wrong-{secret}"))
    with pytest.raises(StoreUnavailable) as told_again:
        notes(refused)
    assert secret not in "".join(traceback.format_exception(told_again.value))
    assert secret not in repr(refused.engine)
    refused.close()


def test_a_version_that_nobody_knows_is_not_found_whatever_its_number(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", "The museum opens at nine.")
        with pytest.raises(NotFound):
            kb.version("hours.txt", 2**31 - 1)


def test_what_one_process_claims_is_left_to_it_until_it_is_done(two: tuple[Database, Database]) -> None:
    one, other = two
    with one.claimed(["a", "b"]) as held:
        assert held == {"a", "b"}
        with other.claimed(["b", "c"]) as left:
            assert left == {"c"}
    with other.claimed(["a", "b"]) as held:
        assert held == {"a", "b"}


def test_two_processes_embed_what_their_documents_share_once(tmp_path: Path) -> None:
    text = book("shared", 45).decode()
    with knowledge_base(tmp_path / "one") as one, knowledge_base(tmp_path / "two") as other:
        jobs = []
        for kb in (one, other):
            jobs.append(str(kb.add_text(token_hex(4), text, title="Gates").job_id))
            assert kb._worker._prepare_some(large=None)
        theirs = Meeting(other)
        # While the first process embeds its first texts, the second one comes to the same ones.
        own = Meeting(one, {1: other._worker._embed_some})
        one.work_off()
        other.work_off()
        texts = own.texts + theirs.texts
        assert len(texts) == len(set(texts)) >= 40
        assert {other.job(job_id).state.value for job_id in jobs} == {"done"}


def test_what_a_killed_process_was_embedding_is_embedded_once_by_another(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.embedding_process", str(tmp_path / "other")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == "holding\n"
        with knowledge_base(tmp_path / "own") as kb:
            job_id = str(kb.add_file(f"{token_hex(4)}.html", io.BytesIO(embedding_process.TEXT)).job_id)
            while kb._worker._prepare_some(large=None):
                pass
            own = Meeting(kb)
            # The first round's texts are kept, and those of the second one are held.
            kept, chunks = kb.job(job_id).done, kb.job(job_id).total
            while kb._worker._embed_some() and len(own.texts) < chunks - kept - ROUND_TEXTS:
                pass
            held = set(own.texts)
            assert kb.job(job_id).state.value == "running"
            other.kill()
            other.wait(20)
            kb.work_off()
            assert kb.job(job_id).state.value == "done"
            assert kept == ROUND_TEXTS
            assert len(own.texts) == len(set(own.texts)) == chunks - kept
            assert len(set(own.texts) - held) == ROUND_TEXTS
    finally:
        other.kill()
        other.wait(20)


def test_a_server_that_writes_answers_is_that_of_every_process(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "one") as one, knowledge_base(tmp_path / "two") as other, serving() as server:
        name = f"house-{token_hex(4)}"
        one.generators.set(name, server.url, key="sk-first-key", allow_inside=True)
        one.generators.make_default(name)
        until(lambda: other.generators.usual(Task.ANSWER) == name)
        assert other.generators.try_out(name).text == "Nine。"
        one.generators.set(name, server.url, key="sk-second-key", allow_inside=True)
        until(lambda: other.catalog.generator_servers.all() == one.catalog.generator_servers.all())
        other.generators.try_out(name)
        assert server.asked[-1][1]["Authorization"] == "Bearer sk-second-key"
        other.generators.remove(name)
        until(lambda: name not in one.generators.names())
        assert one.generators.usual(Task.ANSWER) == "none"
