"""What was acknowledged survives `kill -9`, on the stores that a user runs by default."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import select

import core
from core.catalog.schema import questions
from core.model import JobState, Part
from core.settings import Settings
from tests.waiting import until

ROOT = Path(__file__).parent.parent.parent

WRITER = """
import sys
from pathlib import Path
import core
from core.settings import Settings

folder, first = Path(sys.argv[1]), int(sys.argv[2])
kb = core.build(Settings(data_dir=folder, embedder="hash"))
for number in range(first, first + 400):
    upload = kb.add_text(f"note {number % 25}", f"Note {number} tells of subject{number} and nothing else.")
    print(upload.doc_key, upload.version, number, flush=True)
"""


def killed_after(folder: Path, first: int, wait_s: float) -> list[tuple[str, int, int]]:
    """Run the writer, kill it some time after its first acknowledgement, and return what it had acknowledged."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    time.sleep(wait_s)
    process.send_signal(signal.SIGKILL)
    # A line that the kill cut in two was not acknowledged to anyone.
    lines += [line for line in process.stdout if line.endswith("\n")]
    process.wait()
    acknowledged = []
    for line in lines:
        *key, version, number = line.split()
        acknowledged.append((" ".join(key), int(version), int(number)))
    return acknowledged


def test_every_acknowledged_upload_is_published_once_after_being_killed_again_and_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    chance = random.Random(7)
    acknowledged: list[tuple[str, int, int]] = []
    for round_number in range(4):
        acknowledged += killed_after(folder, round_number * 400, chance.uniform(0.5, 3.0))
    assert acknowledged
    with core.build(Settings(data_dir=folder, embedder="hash")) as kb:
        jobs = kb.wait([job.id for job in kb.jobs(active=True, limit=5000)], timeout_s=120)
        assert {job.state for job in jobs} <= {JobState.DONE}
        newest: dict[str, int] = {}
        for key, version, number in acknowledged:
            assert kb.version(key, version).state == "ready"
            assert kb.text_of(key, version) == f"Note {number} tells of subject{number} and nothing else."
            newest[key] = max(newest.get(key, 0), version)
        rag = core.EvoRAG(kb=kb)
        for document in kb.documents():
            numbers = [version.number for version in kb.versions(document.doc_key)]
            assert numbers == list(range(len(numbers), 0, -1))
            assert document.published_version == len(numbers) >= newest.get(document.doc_key, 0)
        for key, version, number in acknowledged[-5:]:
            trace = rag.search(core.Query(f"subject{number}"))
            shown = {(hit.placed.doc_key, hit.placed.version) for hit in trace.hits[:1] if hit.keyword}
            assert shown == ({(key, version)} if kb.document(key).published_version == version else set())
        kb._projector.flush()
        in_keywords, in_vectors = dict(kb._keywords.ids()), dict(kb._vectors.ids())
        assert in_keywords == in_vectors
        head = [chunk for chunk, part in in_keywords.items() if part is Part.HEAD]
        assert len(head) == len(kb.documents())
        publications = [entry.version for document in kb.documents() for entry in kb.publications(document.doc_key)]
        assert len(publications) == len(
            {(d.doc_key, e.version) for d in kb.documents() for e in kb.publications(d.doc_key)}
        )


ASKER = """
import sys
from pathlib import Path
import core
from core.model import Query
from core.settings import Settings

kb = core.build(Settings(data_dir=Path(sys.argv[1]), embedder="hash", reader="off", cache_answers=False))
jobs = [kb.add_text(f"note {each}", f"Note {each} tells of apples and nothing else. " * 40).job_id for each in range(9)]
kb.wait([str(job) for job in jobs])
rag, conversation = core.EvoRAG(kb=kb), kb.conversations.create()
print(conversation.id, flush=True)
for number in range(400):
    print(rag.ask(Query(f"What does note {number % 9} tell of?", conversation_id=conversation.id)).id, flush=True)
"""


def test_every_answer_that_was_given_is_in_the_history_after_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    process = subprocess.Popen([sys.executable, "-c", ASKER, str(folder)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    conversation = process.stdout.readline().strip()
    given = [process.stdout.readline().strip() for _ in range(12)]
    # At whatever point of the next answer, or of making accounts small.
    time.sleep(random.Random(7).uniform(0.0, 2.0))
    process.send_signal(signal.SIGKILL)
    given += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.wait()
    kb = core.build(Settings(data_dir=folder, embedder="hash", reader="off", cache_answers=False))
    try:
        turns = kb.conversations.turns(conversation)
        assert {turn.summary.id for turn in turns} >= set(given)
        assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
        traces = [kb.trace(each) for each in given]
        assert all("apples" in trace.answer.text and trace.candidates for trace in traces)
        core.EvoRAG(kb=kb).ask("What does note 3 tell of?")
        assert not is_small(kept_accounts(kb)[-1])
        until(lambda: all(map(is_small, kept_accounts(kb)[-64:])))
        assert [kb.trace(each) for each in given] == traces
    finally:
        kb.close()


def kept_accounts(kb: core.KnowledgeBase) -> list[bytes]:
    with kb.catalog.database.read() as tx:
        return list(tx.scalars(select(questions.c.trace).order_by(questions.c.asked_at)))


def is_small(account: bytes) -> bool:
    """Tell whether an account is compressed; one that is stored as it came has a bare block behind the header."""
    return account[2] not in (0, 1)
