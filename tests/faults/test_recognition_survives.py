"""The process is killed again and again while pictures are recognised: none is lost, and none is recognised twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import core
from core.ingest.parse_and_chunk import FEW_PICTURES
from core.model import JobState
from core.settings import Settings
from tests.unit.ingest.pictured_documents import BEFORE, ENGLISH, pdf, screenshot, word
from tests.unit.ingest.pictures_of_text import scanned

ROOT = Path(__file__).parent.parent.parent
TOLD = "tests.unit.ingest.pictures_of_text:SlowOcr"
PAGES = 24

WORKER = """
import sys, time
from pathlib import Path
import core, core.bootstrap
from core.settings import Settings
from core.ingest.recognition.kept_pictures import Recognition

keep = Recognition._keep
def kept(self, sha256, name, lines):
    keep(self, sha256, name, lines)
    print(name, flush=True)
Recognition._keep = kept
core.bootstrap.ocr_engine = lambda _: sys.argv[2]
kb = core.build(Settings(data_dir=Path(sys.argv[1]), embedder="hash", ocr="rapidocr"))
print("open", flush=True)
while kb.jobs(active=True, limit=5) or kb._schedule.bring():
    time.sleep(0.02)
print("still", flush=True)
time.sleep(600)
"""


def life(folder: Path, pictures: int) -> list[str]:
    """Work until so many pictures are recognised, or nothing is left to do, and be killed; return their names."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), TOLD], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    done: list[str] = []
    for line in process.stdout:
        if line.strip() == "still":
            break
        if line.strip() != "open":
            done.append(line.strip())
        if len(done) == pictures:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    return done


def settled(folder: Path, lives: list[int]) -> list[str]:
    """Live, be killed after so many pictures each time, and live on until nothing is left; return what was done."""
    done = [name for pictures in lives for name in life(folder, pictures)]
    return done + life(folder, 10_000)


def opened(folder: Path) -> core.KnowledgeBase:
    return core.build(Settings(data_dir=folder, embedder="hash", job_workers=0, ocr="rapidocr"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    return tmp_path / "data"


def test_pages_of_a_long_scan_are_recognised_once_whenever_the_process_is_killed(folder: Path, tmp_path: Path) -> None:
    with opened(folder) as kb:
        upload = kb.add_path(scanned(tmp_path / "scan.pdf", [f"Page {number}." for number in range(PAGES)]))
    done = settled(folder, [1, 4, 7])
    # The page that is being recognised when the process dies, or was just kept, is all that may come about twice.
    assert sorted(set(done), key=int) == [str(number) for number in range(1, PAGES + 1)]
    assert len(done) <= PAGES + 3
    with opened(folder) as kb:
        job = kb.job(str(upload.job_id))
        assert job.state is JobState.DONE and job.attempts >= 4
        assert kb.text_of("scan.pdf", 1).count("A picture of") == PAGES
        assert kb.version("scan.pdf", 1).metadata["recognised"] == f"1–{PAGES}"
        assert [entry.action for entry in kb.publications("scan.pdf")] == ["publish"]
    assert not list((folder / "recognised").iterdir())


@pytest.mark.parametrize("kind", ["docx", "pdf"])
def test_pictures_within_a_document_come_once_whenever_the_process_is_killed(
    kind: str, folder: Path, tmp_path: Path
) -> None:
    count = FEW_PICTURES + 6
    make = {"docx": word, "pdf": pdf}[kind]
    with opened(folder) as kb:
        kb.add_path(make(tmp_path / f"a.{kind}", *[screenshot(f"{number}. {ENGLISH}") for number in range(count)]))
    done = settled(folder, [1, 3, 5])
    assert len(set(done)) == count and len(done) <= count + 3
    with opened(folder) as kb:
        version = kb.version(f"a.{kind}", 1)
        assert (version.reading, version.is_published) == (2, True)
        text = kb.text_of(f"a.{kind}", 1)
        assert text.count("A picture of") == count and BEFORE in " ".join(text.split())
        assert [entry.action for entry in kb.publications(f"a.{kind}")] == ["reread", "publish"]
        assert {job.state for job in kb.jobs()} == {JobState.DONE} and len(kb.jobs()) == 2
        kb._projector.flush()
        assert dict(kb._keywords.ids()) == dict(kb._vectors.ids())
        assert all(check.faults == 0 for check in kb.check())
    assert not list((folder / "recognised").iterdir())
