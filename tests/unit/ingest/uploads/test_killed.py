"""The process is killed at each step of an upload: what was acknowledged is there, and the whole is claimed once."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
from core.errors import ChecksumMismatch, Conflict, InvalidInput, NotFound, OffsetConflict
from core.model import Filing, Transfer, TransferState
from core.platform import failpoints
from tests.unit.ingest.uploads.conftest import Killed, Machine, begin, send

pytestmark = pytest.mark.long

TEXT = b"The pump is checked every 14 days.\n" * 60
THIRD = len(TEXT) // 3


class Client:
    """Sends as a browser does: it remembers what was acknowledged, and goes on from there."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.ids: dict[str, str] = {}
        self.acknowledged: Counter[str] = Counter()

    def run(self) -> None:
        """Do all that is not done yet; dies wherever the process does."""
        kb = self.machine.kb
        self.send(kb, "a.txt", TEXT)
        self.join(kb, "b.txt", TEXT[::-1])
        self.send(kb, "wrong.txt", TEXT, sha256="0" * 64)
        self.end(kb)

    def send(self, kb: core.KnowledgeBase, name: str, data: bytes, **said: str) -> None:
        if name not in self.ids:
            self.ids[name] = begin(kb, data, name, **said).id
        self.fill(kb, name, data)

    def fill(self, kb: core.KnowledgeBase, name: str, data: bytes) -> None:
        now = kb.transfers.get(self.ids[name])
        assert now.offset_bytes >= self.acknowledged[name], "an acknowledged part was lost"
        while now.state is TransferState.RECEIVING and now.offset_bytes < len(data):
            start = now.offset_bytes
            piece = data[start : start + THIRD + 1]
            checksum = ("sha256", hashlib.sha256(piece).digest()) if start else None
            now = send(kb, now, piece, start, checksum=checksum)
            self.acknowledged[name] = now.offset_bytes

    def join(self, kb: core.KnowledgeBase, name: str, data: bytes) -> None:
        if name in self.ids:
            return
        for part, piece in (("1", data[:THIRD]), ("2", data[THIRD : 2 * THIRD]), ("3", data[2 * THIRD :])):
            if part not in self.ids:
                self.ids[part] = kb.transfers.create(None, len(piece), filing=Filing(), is_partial=True).id
            try:
                self.fill(kb, part, piece)
            except NotFound:
                # Its answer was lost: they have been put together.
                return
        self.ids[name] = kb.transfers.concatenate([self.ids["1"], self.ids["2"], self.ids["3"]], name, Filing()).id

    def end(self, kb: core.KnowledgeBase) -> None:
        if "ended" not in self.ids:
            self.ids["ended"] = begin(kb, TEXT, "ended.txt").id
        try:
            self.fill(kb, "ended", TEXT[:THIRD])
            send(kb, kb.transfers.get(self.ids["ended"]), TEXT[THIRD:-1], THIRD)
            kb.transfers.terminate(self.ids["ended"])
        except (NotFound, OffsetConflict):
            if any(mine.id == self.ids["ended"] for mine in kb.transfers.mine()):
                kb.transfers.terminate(self.ids["ended"])

    def check(self) -> None:
        kb = self.machine.kb
        assert sorted(document.doc_key for document in kb.documents()) == ["a.txt", "b.txt"]
        for key, data in (("a.txt", TEXT), ("b.txt", TEXT[::-1])):
            assert len(kb.versions(key)) == 1
            assert kb.original(key, 1)[0].read_bytes() == data
        assert len(kb.jobs()) == 2
        refused = kb.transfers.get(self.ids["wrong.txt"])
        assert refused.error is not None and refused.error["code"] == "checksum_mismatch"
        under_way = {mine.id for mine in kb.transfers.mine()}
        assert set(self.machine.files) <= under_way, "a file was left behind"


def reached_points() -> list[str]:
    """The points that the run passes, in order of their first time; read from the code so that tests can be named."""
    names: dict[str, None] = {}
    for path in sorted((Path(core.__file__).parent / "ingest" / "uploads").glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if 'point("uploads.' in line:
                names[line.split('"')[1]] = None
    return list(names)


POINTS = reached_points()
ELSEWHERE = {"uploads.size.committed", "uploads.transfer.expired", "uploads.orphan.removed", "uploads.file.truncated"}
"""Points that this run does not pass."""


def test_there_are_points_at_every_step() -> None:
    assert len(POINTS) >= 15


@pytest.mark.parametrize("point", [name for name in POINTS if name not in ELSEWHERE])
def test_process_is_killed_at(machine: Machine, point: str) -> None:
    client = Client(machine)
    deaths = 0
    for occurrence in (1, 2, 3):
        machine.die_at(point, occurrence)
        deaths += not machine.do(lambda _kb: client.run())
    failpoints.on_failpoint(None)
    client.run()
    client.check()
    assert deaths, "the point was not reached"


def test_process_is_killed_again_while_it_takes_up_what_was_left(machine: Machine) -> None:
    client = Client(machine)
    machine.die_at("uploads.file.hashed")
    with pytest.raises(Killed):
        client.run()
    machine.kb.catalog.close()
    machine.kb._folder.close()
    for point in ("uploads.findings.committed", "uploads.blob.put", "uploads.claim.written", "uploads.claim.committed"):
        machine.die_at(point)
        with pytest.raises(Killed):
            machine.start()
    failpoints.on_failpoint(None)
    machine.start()
    client.run()
    client.check()


# ---- anything in any order

OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("part"), st.integers(0, 700)),
        st.tuples(st.just("checked"), st.integers(0, 700)),
        st.tuples(st.just("altered"), st.integers(1, 700)),
        st.tuples(st.just("broken"), st.integers(0, 700)),
        st.tuples(st.just("gap"), st.integers(1, 700)),
        st.tuples(st.just("overlap"), st.integers(1, 700)),
        st.tuples(st.just("too much"), st.integers(1, 700)),
        st.tuples(st.just("resume"), st.just(0)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("killed at uploads.part.written"), st.integers(1, 700)),
        st.tuples(st.just("killed at uploads.part.synced"), st.integers(1, 700)),
        st.tuples(st.just("killed at uploads.offset.committed"), st.integers(1, 700)),
    ),
    max_size=14,
)


class Breaking(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(min(size or 0, 100))
        if not piece:
            raise ConnectionResetError
        return piece


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("uploads"), min_free_bytes=0)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=OPERATIONS, number=st.integers(0, 2**64))
def test_bytes_that_counted_are_those_that_were_sent(
    shared: Machine, operations: list[tuple[str, int]], number: int
) -> None:
    """Whatever happens to the parts, the offset never goes back, and the file is what was meant in the end."""
    data = hashlib.sha256(str(number).encode()).hexdigest().encode() + TEXT
    name = f"{number}.txt"
    transfer = begin(shared.kb, data, name, sha256=hashlib.sha256(data).hexdigest())
    offset = 0
    for what, length in operations:
        before = offset
        try:
            _operate(shared, what, length, transfer, data, offset)
        except Killed:
            shared.restart()
        except (OffsetConflict, ChecksumMismatch, InvalidInput, Conflict, ConnectionResetError):
            pass
        failpoints.on_failpoint(None)
        now = shared.kb.transfers.get(transfer.id)
        offset = now.offset_bytes
        assert offset >= before
        if what in ("altered", "gap", "overlap", "too much", "resume", "restart"):
            assert offset == before
        if now.state is TransferState.RECEIVING and offset:
            held = (shared.folder / "data" / "transfers" / transfer.id).read_bytes()
            assert held[:offset] == data[:offset]
    if shared.kb.transfers.get(transfer.id).state is TransferState.RECEIVING:
        send(shared.kb, transfer, data[offset:], offset)
    done = shared.kb.transfers.get(transfer.id)
    assert done.state is TransferState.DONE, done.error
    assert shared.kb.original(name, 1)[0].read_bytes() == data
    assert len(shared.kb.versions(name)) == 1


def _operate(machine: Machine, what: str, length: int, transfer: Transfer, data: bytes, offset: int) -> None:
    kb = machine.kb
    piece = data[offset : offset + length]
    part = partial(send, kb, transfer)
    if what == "part":
        part(piece, offset)
    elif what == "checked":
        part(piece, offset, checksum=("sha1", hashlib.sha1(piece).digest()))
    elif what == "altered":
        part(piece, offset, checksum=("sha1", hashlib.sha1(piece + b"!").digest()))
    elif what == "broken":
        kb.transfers.append(transfer.id, offset, Breaking(piece), size=len(piece) + 1)
    elif what == "gap":
        part(piece, offset + length)
    elif what == "overlap":
        part(data[max(0, offset - length) :], max(0, offset - length) if offset else -1)
    elif what == "too much":
        part(data[offset:] + b"!" * length, offset)
    elif what == "resume":
        kb.transfers.resume(transfer.id)
    elif what == "restart":
        machine.restart()
    else:
        machine.die_at(what.removeprefix("killed at "))
        part(piece, offset)
