"""The client against a real server: the facade's methods, uploads, attempts, errors, and no word of the key."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import core
from core import RagClient
from core.client.changes import asked
from core.client.http import error_of, path_of
from core.client.uploads import TUS
from core.errors import (
    Conflict,
    DiskFull,
    EvoRAGError,
    InvalidInput,
    NotFound,
    ServerUnreachable,
    TypeMismatch,
    Unauthorized,
)
from core.model import (
    AnalysisStep,
    AnswerStep,
    Filters,
    JobFilter,
    JobState,
    PassagesStep,
    Query,
    Receipt,
    Role,
    Transfer,
    TransferState,
    UploadOutcome,
    VersionRef,
    to_dict,
)
from tests.builders import knowledge_base
from tests.doubles import SilentGenerator, use
from tests.live import bad_line, served

ROOT = Path(__file__).parent.parent.parent
LEAVE = "# Leave\n\nEach colleague has {} days of leave in the first year.\n"
WHOLE = 10**9
LONG = "".join(f"Line {number} speaks of machines.\n" for number in range(3_000))


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("client"), job_workers=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(kb: core.KnowledgeBase) -> Iterator[str]:
    with served(kb) as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[RagClient]:
    with RagClient(url, retries=3, timeout_s=20, part_bytes=16 * 1024) as opened:
        yield opened


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers each connection with the next of ``answers``, and keeps what it was asked."""
    asked_of: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    asked_of.append(connection.recv(65_536))
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked_of
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


def plain(status: str, body: bytes = b"{}", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def note(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


# ---- the facade's methods


def test_a_document_lives_through_the_client_as_through_the_facade(
    kb: core.KnowledgeBase, client: RagClient, tmp_path: Path
) -> None:
    path = note(tmp_path, "life.md", LEAVE.format(14))
    first = client.rag_upload_file(path, tags=["rules"], note="first")
    assert (first.doc_key, first.version, first.outcome, first.chunks_indexed) == ("life.md", 1, "new", 1)
    assert first.checksum == hashlib.sha1(path.read_bytes()).hexdigest()
    path.write_text(LEAVE.format(15), "utf-8")
    assert client.rag_upload_file(path).version == 2
    key = "life.md"
    assert client.document(key) == kb.document(key)
    assert client.documents("life") == kb.documents("life")
    assert client.documents(limit=1) == kb.documents(limit=1)
    assert client.versions(key) == kb.versions(key)
    assert client.publications(key) == kb.publications(key)
    assert client.preview(key, 1) == kb.preview(key, 1)
    assert client.text_of(key, 1) == kb.text_of(key, 1)
    assert client.download(key, 1, tmp_path).read_text("utf-8") == LEAVE.format(14)
    assert client.cancel_comparison(key, 2, 1) is False
    comparison = client.compare(key, 1, 2)
    assert client.comparison_progress(key, 1, 2) == kb.comparison_progress(key, 1, 2)
    at_once = client.compare(key, 1, 2, wait=False)
    assert at_once is not None and at_once.summary == comparison.summary
    ours = kb.compare(key, 1, 2)
    assert ours is not None
    assert to_dict(comparison.summary) == to_dict(ours.summary)
    assert comparison.rows(0, 100) == ours.rows(0, 100)
    assert "".join(client.export(comparison, "patch")) == "".join(kb.export(ours, "patch"))
    assert client.rollback(key, note="back").action == "rollback"
    assert client.unpublish(key).version is None
    assert client.publish(key, 2).version == 2
    assert client.annotate(key, 1, label="1.0").label == "1.0"
    assert client.set_tags(key, ["a"]).tags == ("a",)
    assert client.delete(key).action == "delete"
    assert client.restore(key).action == "restore"
    assert client.audit(limit=3, key=key) == kb.audit(limit=3, key=key)
    assert client.purge(key, 1).action == "purge"
    assert client.counts() == kb.counts()
    assert client.health().models_ready


def test_a_version_is_scheduled_and_no_longer(client: RagClient) -> None:
    upload = client.add_text("plan.txt", LEAVE.format(3), draft=True)
    client.finish(str(upload.job_id), 30)
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    assert client.schedule("plan.txt", 1, at).publish_at == at
    assert client.schedule("plan.txt", 1, None).publish_at is None


def test_questions_are_asked_and_kept(kb: core.KnowledgeBase, client: RagClient) -> None:
    client.finish(str(client.add_text("asked.txt", LEAVE.format(21)).job_id), 30)
    query = Query("How many days of leave in the first year?", filters=Filters(doc_keys=("asked.txt",)))
    trace = client.ask(query)
    assert "21 days" in trace.answer.text
    assert to_dict(client.trace(trace.id)) == to_dict(kb.trace(trace.id))
    assert client.history(1) == kb.history(1)
    assert [hit.placed.doc_key for hit in client.search(query).hits] == ["asked.txt"]
    steps = list(client.ask_events(query))
    assert [type(step) for step in steps[:2]] == [AnalysisStep, PassagesStep]
    assert "".join(step.text for step in steps if isinstance(step, AnswerStep)) == steps[-1].trace.answer.text
    saved = client.save_question("How many days of leave?")
    assert saved in client.saved_questions()
    client.finish(str(client.add_text("asked.txt", LEAVE.format(22), draft=True).job_id), 30)
    impacts = list(client.impact("asked.txt", 2, [saved]))
    assert [impact.question for impact in impacts] == [saved]
    compared = client.compare_answers("How many days?", VersionRef("asked.txt", 1), VersionRef("asked.txt", 2))
    assert compared.is_changed
    client.forget_question(saved.id)
    assert saved not in client.saved_questions()


def test_an_answer_may_take_longer_than_the_server_may_be_silent(kb: core.KnowledgeBase, url: str) -> None:
    generator = SilentGenerator()
    use(kb, generator)
    closing = threading.Timer(4.5, generator.closed.set)
    closing.start()
    with RagClient(url, timeout_s=1.5) as client:
        trace = client.ask(Query("How many days of leave in the year of silence?", generator="queued", fresh=True))
    assert generator.closed.is_set() and len(generator.prompts) == 1
    assert trace == kb.trace(trace.id)


def test_conversations_are_had_over_the_interface(kb: core.KnowledgeBase, client: RagClient) -> None:
    begun = client.begin_conversation("Leave")
    asked_in = Query("How much leave is there in 2025?", conversation_id=begun.id, fresh=True, read_filters=False)
    first = client.ask(asked_in)
    assert (first.query.conversation_id, first.query.fresh, first.query.read_filters) == (begun.id, True, False)
    following = client.ask(replace(asked_in, text="And in 2026?"))
    assert following.analysis.standalone == "How much leave is there in 2026?"
    conversation, turns = client.conversation(begun.id)
    assert conversation in client.conversations() and conversation == kb.conversations.get(begun.id)
    assert turns == kb.conversations.turns(begun.id) and [turn.number for turn in turns] == [1, 2]
    client.forget_conversation(begun.id)
    with pytest.raises(NotFound):
        client.conversation(begun.id)


def test_jobs_are_followed_and_listed(kb: core.KnowledgeBase, client: RagClient) -> None:
    upload = client.add_text("job.txt", LONG[:60_000])
    followed = list(client.progress(str(upload.job_id)))
    assert followed[-1].state is JobState.DONE
    assert [job.change for job in followed] == sorted({job.change for job in followed})
    assert client.job(str(upload.job_id)) == kb.job(str(upload.job_id))
    assert client.jobs(ids=[str(upload.job_id), "nothing"]) == [kb.job(str(upload.job_id))]
    with pytest.raises(Conflict):
        client.retry(str(upload.job_id))


def test_a_job_log_and_filters_are_those_of_the_facade(kb: core.KnowledgeBase, client: RagClient) -> None:
    upload = client.add_text("logged.txt", LEAVE.format(8))
    client.finish(str(upload.job_id), 30)
    assert client.job_log(str(upload.job_id)) == kb.job_log(str(upload.job_id))
    wanted = JobFilter(states=(JobState.DONE,), search="logged")
    assert client.jobs(wanted) == kb.jobs(wanted) != []
    assert client.retry_failed() == []


def test_progress_without_a_stream_asks_again(tmp_path: Path) -> None:
    with (
        knowledge_base(tmp_path, job_workers=1, stream_limit=0) as kb,
        served(kb) as url,
        RagClient(url, retries=0) as client,
    ):
        upload = client.add_text("a.txt", LEAVE.format(9))
        assert list(client.progress(str(upload.job_id)))[-1].state is JobState.DONE


def test_a_job_that_nobody_has_is_not_followed(client: RagClient) -> None:
    with pytest.raises(NotFound):
        next(client.progress("nothing"))


# ---- sending


def test_a_file_goes_in_parts_and_arrives_whole(kb: core.KnowledgeBase, client: RagClient, tmp_path: Path) -> None:
    path = note(tmp_path, '大きい 50% "x".txt', LONG)
    sent: list[tuple[int, int]] = []
    indexed = client.rag_upload_file(path, sent=lambda done, total: sent.append((done, total)), label="v")
    size = path.stat().st_size
    assert [done for done, _ in sent] == [*range(0, size, 16 * 1024), size]
    assert kb.original(indexed.doc_key, 1)[0].read_bytes() == path.read_bytes()
    assert kb.version(indexed.doc_key, 1).label == "v"
    assert client.unfinished() == []


def test_a_broken_line_is_gone_on_with(kb: core.KnowledgeBase, url: str, tmp_path: Path) -> None:
    path = note(tmp_path, "line.txt", LONG + "line")
    with bad_line(url) as line, RagClient(line.url, part_bytes=32 * 1024) as client:
        # Each connection carries one request: what is unfinished, a new upload, where it stands, then parts.
        line.cuts = [WHOLE, WHOLE, WHOLE, 20_000, WHOLE, WHOLE, 20_000]
        upload = client.upload_file(path)
        assert line.cuts == []
    assert upload.outcome is UploadOutcome.NEW
    assert kb.original("line.txt", 1)[0].read_bytes() == path.read_bytes()
    assert len(kb.versions("line.txt")) == 1


def test_another_process_goes_on_where_one_gave_up(kb: core.KnowledgeBase, url: str, tmp_path: Path) -> None:
    path = note(tmp_path, "resumed.txt", LONG + "resumed")
    with bad_line(url) as line, RagClient(line.url, part_bytes=16 * 1024, retries=0) as client:
        line.cuts = [WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, 5_000]
        with pytest.raises(ServerUnreachable):
            client.upload_file(path)
    with RagClient(url, part_bytes=16 * 1024) as client:
        [left] = client.unfinished()
        assert left.offset_bytes == 2 * 16 * 1024
        sent: list[int] = []
        upload = client.upload_file(path, sent=lambda done, total: sent.append(done))
        assert sent[0] == left.offset_bytes
    assert kb.original(upload.doc_key, upload.version)[0].read_bytes() == path.read_bytes()


def test_what_was_begun_otherwise_filed_is_not_gone_on_with(
    kb: core.KnowledgeBase, client: RagClient, tmp_path: Path
) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done:
            raise Stopped

    path = note(tmp_path, "confidential.txt", LONG + "confidential")
    at = datetime.now(UTC) + timedelta(days=3)
    for filing in ({}, {"publish_at": at, "tags": ("a", "b")}):
        with pytest.raises(Stopped):
            client.upload_file(path, sent=stop, **filing)
    sent: list[int] = []
    drafted = client.upload_file(path, draft=True, sent=lambda done, total: sent.append(done))
    assert sent[0] == 0
    kb.finish(str(drafted.job_id), 30)
    assert kb.document(drafted.doc_key).published_version is None
    resumed: list[int] = []
    local = at.astimezone(timezone(timedelta(hours=9)))
    client.upload_file(path, publish_at=local, tags=[" a ", "b"], sent=lambda done, total: resumed.append(done))
    assert resumed[0] == 16 * 1024
    [left] = client.unfinished()
    assert left.filing.tags == ()
    client._http.call("DELETE", path_of("uploads", left.id), headers=TUS)


def test_a_file_that_is_not_what_it_says_is_refused(client: RagClient, tmp_path: Path) -> None:
    with pytest.raises(TypeMismatch):
        client.upload_file(note(tmp_path, "small.pdf", "no pdf"))
    with pytest.raises(EvoRAGError) as refused:
        client.upload_file(note(tmp_path, "long.pdf", "no pdf " * 5_000))
    assert refused.value.code == "type_mismatch"


def test_an_archive_becomes_documents(kb: core.KnowledgeBase, client: RagClient, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in ("one", "two"):
            content = LEAVE.format(name).encode()
            member = tarfile.TarInfo(f"folder/{name}-packed.md")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    upload = client.add_archive("papers.tar.gz", packed)
    client.finish(str(upload.job_id), 30)
    deadline = time.monotonic() + 30
    while len(kb.documents("-packed")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert {document.doc_key for document in client.documents("-packed")} == {"one-packed.md", "two-packed.md"}


def test_what_is_unchanged_is_finished_with_the_version_that_stands(client: RagClient, tmp_path: Path) -> None:
    file = note(tmp_path, "stands.txt", LEAVE.format(9))
    first = client.add_path(file)
    done = client.finish(first.job_id, 30)
    client._part_bytes = 8
    in_parts = client.add_file("stands.txt", io.BytesIO(file.read_bytes()))
    for again in (client.add_path(file), client.add_text("stands.txt", LEAVE.format(9)), in_parts):
        assert (again.outcome, again.pending_job) == (UploadOutcome.UNCHANGED, None)
        assert client.finish(again.job_id) == done and done.version == 1
    known = client.rag_upload_file_async(file)
    assert known.done() and known.result().version == 1
    with pytest.raises(NotFound):
        client.finish(None)


def test_a_file_is_sent_now_and_indexed_meanwhile(client: RagClient, tmp_path: Path) -> None:
    async def indexed() -> int:
        return (await client.rag_upload_file_async(note(tmp_path, "soon.md", LEAVE.format(11)))).chunks_indexed

    # In a thread of its own: a browser's test in the same process leaves a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, indexed()).result() == 1
    pending = client.rag_upload_file_async(note(tmp_path, "soon.md", LEAVE.format(12)))
    assert pending.job_id
    assert pending.result(30).version == 2
    assert pending.done()


def test_an_error_of_indexing_is_raised(client: RagClient, tmp_path: Path) -> None:
    with pytest.raises(EvoRAGError) as failed:
        client.rag_upload_file(note(tmp_path, "nothing.html", "<html><body></body></html>"))
    assert failed.value.code == "empty_document"


def test_links_are_no_files(client: RagClient, tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(note(tmp_path, "target.md", "text"))
    with pytest.raises(NotFound):
        client.upload_file(tmp_path / "link.md")


# ---- attempts, and errors


def test_reading_is_tried_again_until_it_is_answered() -> None:
    counts = b'{"documents":1,"versions":1,"chunks":1,"questions":0,"running_jobs":0,"size_bytes":1,"sequence":1}'
    with (
        answering(b"", plain("503 Busy", b"{}", "Retry-After: 0"), plain("502 Bad"), plain("200 OK", counts)) as (
            url,
            _,
        ),
        RagClient(url) as client,
    ):
        assert client.counts().documents == 1


def test_an_upload_that_waits_for_room_is_waited_for() -> None:
    at = datetime.now(UTC)
    receipt = Receipt(UploadOutcome.NEW, "a.txt", 1, "", "0" * 32)
    full = {**DiskFull("The disk is full.").as_dict(), "detail": "The disk is full."}
    waits = Transfer("0" * 32, "a.txt", 1, 1, TransferState.CHECKING, at, at, error=full)
    done = replace(waits, state=TransferState.DONE, receipt=receipt, error=None)
    refused = replace(waits, state=TransferState.REFUSED)
    answers = [plain("200 OK", json.dumps(to_dict(each)).encode()) for each in (waits, done, waits, refused)]
    with answering(*answers) as (url, _), RagClient(url) as client:
        assert client._filed(waits.id) == receipt.upload()
        with pytest.raises(DiskFull, match="The disk is full"):
            client._filed(waits.id)


def test_what_changes_things_is_sent_once() -> None:
    with answering(b"", plain("200 OK")) as (url, asked_of), RagClient(url) as client:
        with pytest.raises(ServerUnreachable):
            client.publish("a.txt", 1)
        assert len(asked_of) == 1


def test_too_many_requests_are_waited_for() -> None:
    done = b'{"seq":1,"doc_key":"a","version":1,"action":"publish","at":"2026-11-21T09:00:00+00:00"}'
    with answering(plain("429 Slow", b"{}", "Retry-After: 0"), plain("200 OK", done)) as (url, asked_of):
        with RagClient(url) as client:
            assert client.publish("a", 1).seq == 1
        assert len(asked_of) == 2


def test_the_key_goes_to_its_server_alone() -> None:
    elsewhere = plain("302 Found", b"", "Location: http://localhost:1/stolen")
    with answering(elsewhere) as (url, asked_of), RagClient(url, "evo_secret") as client:
        with pytest.raises(ServerUnreachable) as refused:
            client.counts()
        assert b"Authorization: Bearer evo_secret" in asked_of[0]
        assert "localhost" in refused.value.message
        assert "evo_secret" not in repr(client) + repr(client._http) + repr(vars(client)) + str(refused.value)


def test_nobody_there_is_an_error_that_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with RagClient(f"http://127.0.0.1:{port}", retries=0) as client, pytest.raises(ServerUnreachable):
        client.counts()


def test_a_missing_key_is_unauthorized(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb, served(kb) as url:
        kb.accounts.create_user("ada", "correct horse battery", Role.ADMIN)
        _, secret = kb.accounts.create_key("robot", Role.READER, user="ada")
        with RagClient(url) as client, pytest.raises(Unauthorized):
            client.documents()
        with RagClient(url, secret) as client:
            assert client.documents() == []
            with pytest.raises(EvoRAGError) as refused:
                client.add_text("a.txt", "text")
            assert refused.value.code == "forbidden"


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:8050", "ftp://x", "http://", "http://me:secret@x", "http://x?key=1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        RagClient(address)


def test_a_key_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput):
        RagClient("http://x", "line\nbreak")


def test_an_unknown_error_keeps_what_the_server_said() -> None:
    error = error_of({"code": "new_thing", "detail": "It is new.", "remedy": "Wait."}, 418)
    assert (error.code, error.message, error.remedy, error.status) == ("new_thing", "It is new.", "Wait.", 418)
    assert EvoRAGError("x").status == 500


def test_keys_stand_in_paths_as_text() -> None:
    assert path_of("documents", "a/b?#.txt") == "/api/v1/documents/a%2Fb%3F%23.txt"
    assert path_of("documents", "~ada/x.txt") == "/api/v1/documents/~ada/x.txt"


def test_what_a_plain_question_leaves_out_is_the_servers_choice() -> None:
    assert asked("Why?") == {"question": "Why?"}
    assert asked(Query("Why?", as_of=VersionRef("a.txt", 2)))["as_of"] == "a.txt#v2"


def test_the_client_needs_nothing_of_the_server() -> None:
    heavy = ("sqlalchemy", "numpy", "flask", "dash", "tantivy", "pydantic", "torch")
    code = f"import sys; from core import RagClient; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_the_example_uploads_and_searches(url: str) -> None:
    script = ROOT / "examples" / "rag_markdown_sdk.py"
    done = subprocess.run(
        [sys.executable, str(script), url], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "telescope-workshop.md, version 1: 1 chunks (new)" in done.stdout
    assert "18 months" in done.stdout.splitlines()[-1]
