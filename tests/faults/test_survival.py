"""What was acknowledged survives `kill -9`, on the stores that a user runs by default."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import core
from core.model import JobState, Part
from core.settings import Settings

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
