"""One life on a data folder: take up what the last one left, check all that was promised, go on, be killed.

``python -m tests.faults.life`` reads one order a line, forks a child for each, and answers how the child ended. What
is imported once is imported for all of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sys
import time
import traceback
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import core
from core.bootstrap import build
from core.errors import Conflict
from core.model import Filing, JobState, Part, Transfer, TransferState
from core.platform import failpoints
from core.settings import Settings

PART = 700
WAIT_S = 60.0
READ_AGAIN = 8


class Journal:
    """What the outside world was told; it survives the process, as a browser or a script would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.entries: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def write(self, **entry: Any) -> None:
        self.entries.append(entry)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["kind"] == kind]


def expected(name: str) -> set[JobState]:
    """Return how a job may end."""
    if name.startswith("broken"):
        return {JobState.FAILED}
    return {JobState.DONE, JobState.CANCELLED} if name.startswith("cancelled") else {JobState.DONE}


def prose(name: str, number: int, paragraphs: int = 12) -> str:
    """Text of which every version shares most paragraphs with the one before."""
    lines = [f"Paragraph {at} of {name} tells of thing{at % 7} and of nothing else. " * 6 for at in range(paragraphs)]
    lines[number % paragraphs] = f"Version {number} of {name} is marked here by word{number}. " * 4
    return "\n\n".join(lines)


def packed(batch: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in range(3):
            info = zipfile.ZipInfo(f"manuals/member-{member}.txt", (2026, 1, 1, 0, 0, 0))
            archive.writestr(info, prose(f"member-{member}", batch, 4))
    return buffer.getvalue()


class Life:
    def __init__(self, folder: Path, embedder: str) -> None:
        self.journal = Journal(folder / "journal.jsonl")
        started = time.monotonic()
        self.kb = build(Settings(data_dir=folder / "data", embedder=embedder, min_free_bytes=0))
        while not self.kb.health().models_ready:
            time.sleep(0.005)
        self.start_s = time.monotonic() - started

    # ---- what the last life left

    def take_up(self) -> None:
        """Do again what was not acknowledged, go on with what was, and wait until nothing is under way."""
        done = {entry["batch"] for entry in self.journal.of("batch")}
        begun = {entry["batch"] for entry in self.journal.of("begun")}
        for batch in sorted(begun - done):
            self.work(batch)

    def settle(self) -> None:
        """Wait until nothing is under way; an archive's job queues others."""
        while jobs := [job.id for job in self.kb.jobs(active=True, limit=5000)]:
            ended = self.kb.wait(jobs, WAIT_S)
            odd = [(job.name, job.state, job.error) for job in ended if job.state not in expected(job.name)]
            assert not odd, odd

    # ---- work

    def work(self, batch: int) -> None:
        self.journal.write(kind="begun", batch=batch)
        self._send(batch, f"sent-{batch % 3}.txt", prose("sent", batch, 30).encode())
        self._add_text(batch, f"note {batch % 4}", early=batch % 2 == 1)
        self._send(batch, "manuals.zip", packed(batch))
        self._join(batch, f"joined-{batch % 2}.txt", prose("joined", batch, 8).encode())
        self._give_up(batch)
        self._break(batch)
        self.settle()
        if batch % 4 == 3:
            self._purge_first(f"sent-{batch % 3}.txt")
        self.journal.write(kind="batch", batch=batch)

    def _purge_first(self, key: str) -> None:
        versions = self.kb.versions(key)
        if len(versions) > 1 and versions[-1].state == "ready":
            self.kb.purge(key, 1)

    def _give_up(self, batch: int) -> None:
        """Cancel a job, and end an upload whose size was said late."""
        cancelled = self.kb.add_text(f"cancelled {batch}", prose("cancelled", batch, 3))
        if cancelled.job_id:
            with suppress(Conflict):
                self.kb.cancel(cancelled.job_id)
        late = self.kb.transfers.create("late.txt", None, filing=Filing())
        self.kb.transfers.set_size(late.id, 2 * PART)
        self.kb.transfers.append(late.id, 0, io.BytesIO(b"x" * PART), size=PART)
        self.kb.transfers.terminate(late.id)

    def _break(self, batch: int) -> None:
        """Send a file that cannot be read, start its job again, and send one whose hash is wrong."""
        broken = self.kb.add_file("broken.pdf", io.BytesIO(b"%PDF-1.7 " + str(batch).encode()))
        if broken.job_id:
            self.kb.wait([broken.job_id], WAIT_S)
            with suppress(Conflict):
                self.kb.retry(broken.job_id)
        wrong = self.kb.transfers.create("wrong.txt", 4, filing=Filing(), sha256="0" * 64)
        self.kb.transfers.append(wrong.id, 0, io.BytesIO(b"text"), size=4)

    def _add_text(self, batch: int, name: str, *, early: bool) -> None:
        receipt = self.kb.add_text(name, prose(name, batch, 3), early=early)
        self.journal.write(kind="version", key=receipt.doc_key, number=receipt.version, text=prose(name, batch, 3))

    def _send(self, batch: int, name: str, data: bytes) -> None:
        """Send a file in parts, going on with the transfer of an earlier life where there is one."""
        known = [e for e in self.journal.of("transfer") if e["batch"] == batch and e["name"] == name]
        if known:
            transfer = self.kb.transfers.get(known[-1]["id"])
        else:
            sha256 = hashlib.sha256(data).hexdigest()
            transfer = self.kb.transfers.create(name, len(data), filing=Filing(), sha256=sha256)
            self.journal.write(kind="transfer", batch=batch, name=name, id=transfer.id)
        acknowledged = [e["offset"] for e in self.journal.of("part") if e["id"] == transfer.id]
        assert transfer.offset_bytes >= max(acknowledged, default=0), "an acknowledged part was lost"
        self._finish(name, self._fill(transfer, data), data)

    def _fill(self, transfer: Transfer, data: bytes) -> Transfer:
        while transfer.state is TransferState.RECEIVING and transfer.offset_bytes < len(data):
            piece = data[transfer.offset_bytes : transfer.offset_bytes + PART]
            checksum = ("sha256", hashlib.sha256(piece).digest()) if transfer.offset_bytes % (2 * PART) else None
            transfer = self.kb.transfers.append(
                transfer.id, transfer.offset_bytes, io.BytesIO(piece), size=len(piece), checksum=checksum
            )
            self.journal.write(kind="part", id=transfer.id, offset=transfer.offset_bytes)
        return transfer

    def _finish(self, name: str, transfer: Transfer, data: bytes) -> None:
        deadline = time.monotonic() + WAIT_S
        while transfer.state is not TransferState.DONE:
            assert transfer.state is not TransferState.REFUSED, transfer.error
            assert time.monotonic() < deadline, "the file is checked for ever"
            time.sleep(0.005)
            transfer = self.kb.transfers.get(transfer.id)
        receipt = transfer.receipt
        assert receipt is not None
        if receipt.doc_key:
            text = data.decode()
            self.journal.write(kind="version", key=receipt.doc_key, number=receipt.version, text=text)

    def _join(self, batch: int, name: str, data: bytes) -> None:
        """Send a file as two parts of their own that are put together."""
        known = [e for e in self.journal.of("joined") if e["batch"] == batch]
        if not known:
            middle = len(data) // 2
            pieces = []
            for piece in (data[:middle], data[middle:]):
                part = self.kb.transfers.create(None, len(piece), filing=Filing(), is_partial=True)
                pieces.append(self._fill(part, piece).id)
            joined = self.kb.transfers.concatenate(pieces, name, filing=Filing())
            self.journal.write(kind="joined", batch=batch, id=joined.id)
            known = self.journal.of("joined")
        self._finish(name, self.kb.transfers.get(known[-1]["id"]), data)

    # ---- what must hold

    def check(self) -> None:
        kb = self.kb
        jobs = kb.jobs(limit=5000)
        odd = [(job.name, job.attempts, job.error) for job in jobs if job.state not in expected(job.name)]
        assert not odd, odd
        states: dict[tuple[str, int], str] = {}
        for document in kb.documents():
            versions = kb.versions(document.doc_key)
            states |= {(document.doc_key, version.number): version.state for version in versions}
            numbers = [version.number for version in versions]
            assert numbers == list(range(len(numbers), 0, -1)), "a number is missing or there twice"
            alive = [version.sha256 for version in versions if version.state != "purged"]
            assert not [sha for sha, times in Counter(alive).items() if times > 1], "a version is there twice"
            ready = [version.number for version in versions if version.state == "ready"]
            # Cancelling hides what was shown early; the version stays, for whoever has quoted it.
            hidden = {None} if JobState.CANCELLED in self._ends(document.doc_key) else set()
            assert document.published_version in {max(ready, default=None)} | hidden, self._told(document.doc_key)
        acknowledged = self.journal.of("version")
        for entry in acknowledged:
            assert states.get((entry["key"], entry["number"])) in ("ready", "purged"), entry["key"]
        for entry in acknowledged[-READ_AGAIN:]:
            if states[entry["key"], entry["number"]] == "ready":
                assert kb.text_of(entry["key"], entry["number"]) == entry["text"]
        self._check_indexes()
        self._check_files()

    def _ends(self, key: str) -> set[JobState]:
        return {job.state for job in self.kb.jobs(limit=5000) if job.doc_key == key}

    def _told(self, key: str) -> dict[str, Any]:
        """What is known of a document that is not as it was promised."""
        kb = self.kb
        return {
            "document": (key, kb.document(key).published_version),
            "versions": [
                (each.number, each.state, f"{each.embedded_chunks} of {each.chunk_count}") for each in kb.versions(key)
            ],
            "publications": [(each.seq, each.action, each.version, each.subject) for each in kb.publications(key)],
            "jobs": [
                (job.kind, job.state, job.stage, job.attempts, [(e.code, e.stage) for e in kb.job_log(job.id)])
                for job in kb.jobs(limit=5000)
                if job.doc_key == key
            ],
        }

    def _check_indexes(self) -> None:
        """Both indexes hold what the catalogue says, once a purge or a cancellation in the background is through."""
        deadline = time.monotonic() + WAIT_S
        while (found := self._differences()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not found, found

    def _differences(self) -> dict[str, list[Any]]:
        kb = self.kb
        kb._projector.flush()
        in_keywords, in_vectors = dict(kb._keywords.ids()), dict(kb._vectors.ids())
        shown: set[int] = set()
        unfinished: set[int] = set()
        for document in kb.documents():
            if document.published_version is None and JobState.CANCELLED in self._ends(document.doc_key):
                # Cancelled between its words and its vectors; whoever shows it again has it embedded to its end.
                unfinished |= set(kb.catalog.chunks.ids_of(kb.version(document.doc_key, 1).id))
            if document.published_version is not None:
                shown |= set(kb.catalog.chunks.ids_of(kb.version(document.doc_key, document.published_version).id))
        head = {chunk for chunk, part in in_keywords.items() if part is Part.HEAD}
        found = {
            "between the stores": sorted(
                (chunk, part)
                for chunk, part in in_keywords.items() ^ in_vectors.items()
                if chunk in in_vectors or chunk not in unfinished
            ),
            "not as shown": sorted(head ^ shown),
            "rows": [] if len(in_keywords) == kb.catalog.chunk_rows() else [len(in_keywords), kb.catalog.chunk_rows()],
        }
        return {name: some for name, some in found.items() if some}

    def _check_files(self) -> None:
        """Files that nothing names are removed in the background, those of a purge once the indexes are rid of it."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and self._files_without_a_name():
            time.sleep(0.02)
        assert not self._files_without_a_name()

    def _files_without_a_name(self) -> set[str]:
        needed: set[str | None] = set()
        with self.kb.catalog.database.read() as tx:
            for row in tx.exec_driver_sql("SELECT sha256, parsed_sha256 FROM versions WHERE state != 'purged'"):
                needed |= {row[0], row[1]}
            waiting = {row[0] for row in tx.exec_driver_sql("SELECT id FROM transfers")}
            archives = tx.exec_driver_sql("SELECT payload FROM jobs WHERE kind = 'unpack'").all()
        read = [json.loads(row[0]) if isinstance(row[0], str) else row[0] or {} for row in archives]
        packed = {payload.get("sha256") for payload in read}
        data = self.journal.path.parent / "data"
        blobs = {path.name for path in (data / "blobs").rglob("*") if path.is_file()}
        assert needed - {None} <= blobs, "a file is missing"
        begun = {path.name.partition(".")[0] for path in (data / "transfers").iterdir()}
        return (blobs - needed - packed) | (begun - waiting)


def live(order: dict[str, Any]) -> dict[str, Any]:
    """Take up, check, and do the order's batch, dying where it says; return what was reached otherwise."""
    reached: Counter[str] = Counter()

    def act(name: str) -> None:
        reached[name] += 1
        if name == order.get("point") and reached[name] == order.get("occurrence", 1):
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.on_failpoint(act)
    life = Life(Path(order["folder"]), order.get("embedder", "hash"))
    life.take_up()
    life.settle()
    life.check()
    if order.get("batch") is not None:
        life.work(order["batch"])
        life.settle()
        life.check()
    life.kb.close()
    return {"reached": reached, "start_s": life.start_s}


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setsid()
                os.write(writing, json.dumps(live(order)).encode())
                status = 0
            except BaseException:
                os.write(writing, traceback.format_exc()[-6000:].encode())
            finally:
                os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            said = answer.read().decode()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"code": code, "said": said}), flush=True)


if __name__ == "__main__":
    assert core.build
    main()
