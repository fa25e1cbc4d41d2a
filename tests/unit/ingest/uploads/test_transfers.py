"""Uploads in parts: what has arrived stays, what does not belong is refused, and the whole becomes one version."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import threading
import zipfile
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import core
from core.access import acting
from core.catalog import FileKind
from core.errors import (
    BadFilename,
    ChecksumMismatch,
    Conflict,
    DiskFull,
    EmptyDocument,
    Forbidden,
    InvalidInput,
    NotFound,
    OffsetConflict,
    QuotaExceeded,
    TooLarge,
    UnsupportedType,
    UploadExpired,
)
from core.model import Filing, Principal, Role, Transfer, TransferState, UploadOutcome
from tests.builders import knowledge_base
from tests.unit.ingest.uploads.conftest import Killed, Machine, begin, fresh, send

TEXT = b"The pump is checked every 14 days.\n" * 400
HALF = len(TEXT) // 2


def original(kb: core.KnowledgeBase, transfer: Transfer) -> bytes:
    """Return the bytes of the version that an upload became."""
    receipt = kb.transfers.get(transfer.id).receipt
    assert receipt is not None
    return kb.original(receipt.doc_key, receipt.version)[0].read_bytes()


def test_parts_become_one_version_with_what_was_said_of_it(kb: core.KnowledgeBase) -> None:
    filing = Filing(tags=("care",), note="first", label="1.0", priority=3)
    transfer = kb.transfers.create("A.txt", len(TEXT), filing=filing)
    assert send(kb, transfer, TEXT[:HALF]).offset_bytes == HALF
    done = send(kb, transfer, TEXT[HALF:], HALF)
    assert done.state is TransferState.DONE
    assert done.receipt is not None
    assert (done.receipt.doc_key, done.receipt.version, done.receipt.outcome) == ("a.txt", 1, UploadOutcome.NEW)
    assert done.receipt.checksum == hashlib.sha1(TEXT).hexdigest()
    assert original(kb, transfer) == TEXT
    version = kb.versions("a.txt")[0]
    assert (version.note, version.label, kb.document("a.txt").tags) == ("first", "1.0", ("care",))
    assert kb.job(done.receipt.job_id or "").priority == 3


def test_same_bytes_again_are_unchanged(kb: core.KnowledgeBase) -> None:
    first = send(kb, begin(kb, TEXT, "twice.txt"), TEXT)
    again = send(kb, begin(kb, TEXT, "twice.txt"), TEXT)
    assert first.receipt is not None and again.receipt is not None
    assert again.receipt.outcome is UploadOutcome.UNCHANGED
    assert again.receipt.job_id == first.receipt.job_id


def test_whole_file_is_compared_with_what_was_announced(machine: Machine) -> None:
    kb = machine.kb
    good = send(kb, begin(kb, TEXT, "a.txt", sha256=hashlib.sha256(TEXT).hexdigest().upper()), TEXT)
    assert good.state is TransferState.DONE
    bad = send(kb, begin(kb, TEXT, "b.txt", sha256="0" * 64), TEXT)
    assert bad.state is TransferState.REFUSED
    assert bad.error is not None and bad.error["code"] == "checksum_mismatch"
    assert machine.files == []
    assert [document.name for document in kb.documents()] == ["a.txt"]
    with pytest.raises(UploadExpired):
        kb.transfers.resume(bad.id)


def test_hash_may_be_announced_with_the_last_part(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    send(kb, transfer, TEXT[:HALF])
    ended = send(kb, transfer, TEXT[HALF:], HALF, sha256="f" * 64)
    assert ended.state is TransferState.REFUSED


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.pdf", TEXT, "type_mismatch"),
        ("a.txt", b"\x7fELF" + bytes(500), "type_mismatch"),
        ("a.txt", b"  \n ", "empty_document"),
        ("a.docx", b"PK\x03\x04" + bytes(100), "type_mismatch"),
        ("a.zip", TEXT, "type_mismatch"),
    ],
)
def test_content_that_is_not_what_its_name_says_is_refused_and_removed(
    machine: Machine, name: str, content: bytes, code: str
) -> None:
    ended = send(machine.kb, begin(machine.kb, content, name), content)
    assert ended.state is TransferState.REFUSED
    assert ended.error is not None and ended.error["code"] == code
    assert machine.files == [] and machine.blobs == []
    assert machine.kb.documents() == []


def test_archive_becomes_the_work_of_unpacking_it(kb: core.KnowledgeBase) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manuals/one.txt", "The first manual.")
    ended = send(kb, begin(kb, buffer.getvalue(), "manuals.zip"), buffer.getvalue())
    assert ended.state is TransferState.DONE
    assert ended.receipt is not None and ended.receipt.doc_key == ""
    assert kb.job(ended.receipt.job_id or "").kind == "unpack"


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512", "md5"])
def test_part_with_its_checksum_is_taken(kb: core.KnowledgeBase, algorithm: str) -> None:
    digest = hashlib.new(algorithm, TEXT).digest()
    assert send(kb, begin(kb, TEXT), TEXT, checksum=(algorithm, digest)).state is TransferState.DONE


def test_crc32_is_four_bytes_with_the_most_significant_first(kb: core.KnowledgeBase) -> None:
    assert send(kb, begin(kb, TEXT), TEXT, checksum=("crc32", zlib.crc32(TEXT).to_bytes(4, "big"))).receipt


def test_part_with_a_wrong_checksum_is_thrown_away_whole(machine: Machine) -> None:
    kb = machine.kb
    transfer = begin(kb, TEXT)
    send(kb, transfer, TEXT[:10])
    with pytest.raises(ChecksumMismatch):
        send(kb, transfer, TEXT[10:HALF], 10, checksum=("sha1", bytes(20)))
    assert kb.transfers.get(transfer.id).offset_bytes == 10
    assert (machine.folder / "data" / "transfers" / transfer.id).read_bytes() == TEXT[:10]
    assert send(kb, transfer, TEXT[10:], 10).receipt
    assert original(kb, transfer) == TEXT


@pytest.mark.parametrize("checksum", [("sha3", b"x"), ("sha1", b"short"), ("", bytes(20))])
def test_checksum_that_cannot_be_one_is_a_wrong_request(kb: core.KnowledgeBase, checksum: tuple[str, bytes]) -> None:
    with pytest.raises(InvalidInput):
        send(kb, begin(kb, TEXT), TEXT, checksum=checksum)


class Broken(io.BytesIO):
    """A connection that breaks after what it holds."""

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(min(size or 0, 1000))
        if not piece:
            raise ConnectionResetError
        return piece


def test_what_came_before_a_connection_broke_is_kept(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    with pytest.raises(ConnectionResetError):
        kb.transfers.append(transfer.id, 0, Broken(TEXT[:5000]), size=len(TEXT))
    assert kb.transfers.resume(transfer.id).offset_bytes == 5000
    assert send(kb, transfer, TEXT[5000:], 5000).receipt
    assert original(kb, transfer) == TEXT


def test_of_a_part_with_a_checksum_that_broke_off_nothing_is_kept(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    checksum = ("sha1", hashlib.sha1(TEXT).digest())
    with pytest.raises(ConnectionResetError):
        kb.transfers.append(transfer.id, 0, Broken(TEXT[:5000]), size=len(TEXT), checksum=checksum)
    assert kb.transfers.resume(transfer.id).offset_bytes == 0
    with pytest.raises(ChecksumMismatch):
        kb.transfers.append(transfer.id, 0, io.BytesIO(TEXT[:5000]), size=len(TEXT), checksum=checksum)
    assert kb.transfers.resume(transfer.id).offset_bytes == 0


@pytest.mark.parametrize("offset", [-1, 1, 99, 101, 2**63 - 1, 2**63])
def test_part_at_another_place_is_refused(kb: core.KnowledgeBase, offset: int) -> None:
    transfer = begin(kb, TEXT)
    send(kb, transfer, TEXT[:100])
    with pytest.raises((OffsetConflict, InvalidInput)):
        send(kb, transfer, TEXT[100:200], offset)
    assert kb.transfers.get(transfer.id).offset_bytes == 100


@pytest.mark.parametrize("size", [None, len(TEXT) + 1])
def test_part_beyond_the_announced_end_is_refused_and_nothing_of_it_counts(
    kb: core.KnowledgeBase, size: int | None
) -> None:
    transfer = begin(kb, TEXT)
    with pytest.raises(InvalidInput):
        kb.transfers.append(transfer.id, 0, io.BytesIO(TEXT + b"!"), size=size)
    assert kb.transfers.get(transfer.id).offset_bytes == 0


def test_part_after_the_end_is_refused(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    send(kb, transfer, TEXT)
    for offset in (0, len(TEXT)):
        with pytest.raises(Conflict):
            send(kb, transfer, b"more", offset)
    assert original(kb, transfer) == TEXT


@pytest.mark.parametrize(
    ("name", "size", "error"),
    [
        ("a\u202egpj.txt", 10, BadFilename),
        ("", 10, BadFilename),
        (None, 10, BadFilename),
        ("x.exe", 10, UnsupportedType),
        ("a.txt", 0, EmptyDocument),
        ("a.txt", -1, InvalidInput),
        ("a.txt", 2**63, InvalidInput),
        ("a.txt", 2**40, TooLarge),
    ],
)
def test_what_can_never_be_taken_is_refused_before_a_byte_is_sent(
    machine: Machine, name: Any, size: int, error: type[Exception]
) -> None:
    with pytest.raises(error):
        machine.kb.transfers.create(name, size, filing=Filing())
    assert machine.kb.transfers.mine() == []


def test_path_in_a_name_reaches_no_folder(machine: Machine) -> None:
    ended = send(machine.kb, begin(machine.kb, TEXT, "../../etc/cron.d/x.txt"), TEXT)
    assert ended.name == "x.txt"
    assert not list(machine.folder.rglob("x.txt"))


def test_size_may_be_said_later_and_only_once(kb: core.KnowledgeBase) -> None:
    transfer = kb.transfers.create(fresh(), None, filing=Filing())
    send(kb, transfer, TEXT[:HALF])
    with pytest.raises(InvalidInput):
        kb.transfers.set_size(transfer.id, HALF - 1)
    assert kb.transfers.set_size(transfer.id, len(TEXT)).size_bytes == len(TEXT)
    with pytest.raises(InvalidInput):
        kb.transfers.set_size(transfer.id, len(TEXT) + 1)
    assert send(kb, transfer, TEXT[HALF:], HALF).receipt


def test_size_that_has_arrived_already_ends_the_upload(kb: core.KnowledgeBase) -> None:
    transfer = kb.transfers.create(fresh(), None, filing=Filing())
    send(kb, transfer, TEXT)
    assert kb.transfers.set_size(transfer.id, len(TEXT)).state is TransferState.DONE


def test_upload_of_unknown_size_ends_at_the_limit(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, max_upload_bytes=1000, min_free_bytes=0) as kb:
        transfer = kb.transfers.create(fresh(), None, filing=Filing())
        with pytest.raises(TooLarge):
            send(kb, transfer, TEXT)
        assert kb.transfers.get(transfer.id).offset_bytes == 0


# ---- several connections


class Stalled:
    """A connection over which a piece comes, and then nothing until it is let go."""

    def __init__(self, piece: bytes) -> None:
        self.pieces = [piece]
        self.has_stalled = threading.Event()
        self.let_go = threading.Event()

    def read(self, size: int) -> bytes:
        if self.pieces:
            return self.pieces.pop()
        self.has_stalled.set()
        assert self.let_go.wait(30)
        return TEXT[1000:2000]


def test_connection_that_hangs_is_overtaken_and_what_it_had_sent_is_kept(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    hanging = Stalled(TEXT[:1000])
    errors: list[Exception] = []

    def send_slowly() -> None:
        try:
            kb.transfers.append(transfer.id, 0, hanging, size=len(TEXT))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=send_slowly)
    thread.start()
    assert hanging.has_stalled.wait(30)
    assert kb.transfers.resume(transfer.id).offset_bytes == 1000
    send(kb, transfer, TEXT[1000:HALF], 1000)
    hanging.let_go.set()
    thread.join(30)
    assert [type(error) for error in errors] == [OffsetConflict]
    assert send(kb, transfer, TEXT[HALF:], HALF).receipt
    assert original(kb, transfer) == TEXT


def test_of_a_connection_that_hangs_within_a_checked_part_nothing_is_kept(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    hanging = Stalled(TEXT[:1000])
    checksum = ("sha1", hashlib.sha1(TEXT[:2000]).digest())

    def send_slowly() -> None:
        with pytest.raises(OffsetConflict):
            kb.transfers.append(transfer.id, 0, hanging, size=2000, checksum=checksum)

    thread = threading.Thread(target=send_slowly)
    thread.start()
    assert hanging.has_stalled.wait(30)
    assert kb.transfers.resume(transfer.id).offset_bytes == 0
    hanging.let_go.set()
    thread.join(30)
    assert send(kb, transfer, TEXT).receipt
    assert original(kb, transfer) == TEXT


def test_of_many_that_send_the_same_part_each_byte_counts_once(kb: core.KnowledgeBase) -> None:
    transfer = begin(kb, TEXT)
    refused: list[Exception] = []

    def go_on() -> None:
        while (now := kb.transfers.get(transfer.id)).state is TransferState.RECEIVING:
            start = now.offset_bytes
            try:
                send(kb, transfer, TEXT[start : start + 1000], start)
            except (OffsetConflict, Conflict) as error:
                refused.append(error)

    threads = [threading.Thread(target=go_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert kb.transfers.get(transfer.id).state is TransferState.DONE
    assert original(kb, transfer) == TEXT
    assert len(kb.versions(transfer.name)) == 1


# ---- pieces


def pieces_of(kb: core.KnowledgeBase, *contents: bytes) -> list[str]:
    ids = []
    for content in contents:
        partial = kb.transfers.create(None, len(content), filing=Filing(), is_partial=True)
        ids.append(send(kb, partial, content).id if content else partial.id)
    return ids


def test_partial_uploads_are_put_together_in_the_order_that_is_said(machine: Machine) -> None:
    kb = machine.kb
    last, first, nothing = pieces_of(kb, TEXT[HALF:], TEXT[:HALF], b"")
    whole = kb.transfers.concatenate([first, nothing, last], "a.txt", Filing(), sha256=hashlib.sha256(TEXT).hexdigest())
    assert whole.state is TransferState.DONE
    assert original(kb, whole) == TEXT
    assert machine.files == []
    with pytest.raises(NotFound):
        kb.transfers.get(first)


def test_only_finished_partial_uploads_of_ones_own_are_put_together(kb: core.KnowledgeBase) -> None:
    (done,) = pieces_of(kb, TEXT)
    open_one = kb.transfers.create(None, 10, filing=Filing(), is_partial=True)
    ordinary = begin(kb, TEXT)
    with pytest.raises(Conflict):
        kb.transfers.concatenate([done, open_one.id], "a.txt", Filing())
    for ids in ([ordinary.id], [done, done], []):
        with pytest.raises(InvalidInput):
            kb.transfers.concatenate(ids, "a.txt", Filing())
    with pytest.raises(NotFound):
        kb.transfers.concatenate([done, "0" * 32], "a.txt", Filing())
    assert kb.transfers.get(done).offset_bytes == len(TEXT)


# ---- room


def test_quota_counts_what_is_kept_and_what_is_under_way(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, user_quota_bytes=2 * len(TEXT), min_free_bytes=0) as kb:
        send(kb, begin(kb, TEXT), TEXT)
        under_way = begin(kb, TEXT, "b.txt")
        with pytest.raises(QuotaExceeded):
            begin(kb, b"x", "c.txt")
        with pytest.raises(QuotaExceeded):
            kb.add_file("c.txt", io.BytesIO(TEXT))
        kb.transfers.terminate(under_way.id)
        assert send(kb, begin(kb, TEXT, "c.txt"), TEXT).receipt


def test_nothing_begins_on_a_disk_that_would_be_full_after_it(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, min_free_bytes=2**62) as kb:
        with pytest.raises(DiskFull):
            begin(kb, TEXT)
        with pytest.raises(DiskFull):
            kb.add_file("c.txt", io.BytesIO(TEXT))
        assert kb.transfers.mine() == []


@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_full_disk_leaves_what_was_durable_and_the_upload_goes_on(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    kb = machine.kb
    transfer = begin(kb, TEXT)
    send(kb, transfer, TEXT[:100])

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, full)
        with pytest.raises(DiskFull):
            send(kb, transfer, TEXT[100:], 100)
    assert kb.transfers.get(transfer.id).offset_bytes == 100
    assert (machine.folder / "data" / "transfers" / transfer.id).stat().st_size == 100
    assert send(kb, transfer, TEXT[100:], 100).receipt
    assert original(kb, transfer) == TEXT


# ---- whose they are, and how long


ANNE, BERT = Principal("anne", Role.EDITOR, 1), Principal("bert", Role.EDITOR, 2)


def test_uploads_of_others_are_as_if_they_were_not_there(kb: core.KnowledgeBase) -> None:
    with acting(ANNE):
        transfer = begin(kb, TEXT)
    with acting(BERT):
        assert kb.transfers.mine() == []
        for act in (
            lambda: kb.transfers.get(transfer.id),
            lambda: kb.transfers.resume(transfer.id),
            lambda: send(kb, transfer, TEXT),
            lambda: kb.transfers.set_size(transfer.id, 5),
            lambda: kb.transfers.terminate(transfer.id),
            lambda: kb.transfers.concatenate([transfer.id], "a.txt", Filing()),
        ):
            with pytest.raises(NotFound) as theirs:
                act()
        with pytest.raises(NotFound) as nothing:
            kb.transfers.concatenate(["0" * 32], "a.txt", Filing())
        assert theirs.value.as_dict() == nothing.value.as_dict()
    with acting(ANNE):
        assert [mine.id for mine in kb.transfers.mine()] == [transfer.id]


def test_readers_upload_nothing(kb: core.KnowledgeBase) -> None:
    with acting(Principal("rita", Role.READER, 3)), pytest.raises(Forbidden):
        begin(kb, TEXT)


def editor(kb: core.KnowledgeBase, name: str) -> Principal:
    """Add an editor beside an administrator, and return who that is."""
    kb.accounts.create_user("root", "a long password", "admin")
    return Principal(name, Role.EDITOR, kb.accounts.create_user(name, "a long password", "editor").id)


def test_private_upload_becomes_a_private_document(machine: Machine) -> None:
    with acting(editor(machine.kb, "anne")):
        transfer = machine.kb.transfers.create("a.txt", len(TEXT), filing=Filing(private=True))
        receipt = send(machine.kb, transfer, TEXT).receipt
    assert receipt is not None and receipt.doc_key == "~anne/a.txt"


def test_upload_of_somebody_who_was_removed_meanwhile_becomes_nothing(machine: Machine) -> None:
    carl = editor(machine.kb, "carl")
    with acting(carl):
        transfer = machine.kb.transfers.create("a.txt", len(TEXT), filing=Filing(private=True))
        machine.die_at("uploads.file.hashed")
        with pytest.raises(Killed):
            send(machine.kb, transfer, TEXT)
    machine.kb.accounts.remove("carl")
    machine.restart()
    with acting(carl):
        ended = machine.kb.transfers.get(transfer.id)
    assert (ended.state, ended.error and ended.error["code"]) == (TransferState.REFUSED, "forbidden")
    assert machine.kb.documents() == []
    assert machine.files == []


def test_private_document_needs_an_owner(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        kb.transfers.create("a.txt", 5, filing=Filing(private=True))


@pytest.mark.parametrize("transfer_id", ["", "..", "../../etc/passwd", "A" * 32, "0" * 31, "0" * 33, "0" * 32])
def test_unknown_id_is_not_found(kb: core.KnowledgeBase, transfer_id: str) -> None:
    with pytest.raises(NotFound):
        kb.transfers.get(transfer_id)


def test_ended_upload_leaves_nothing(machine: Machine) -> None:
    transfer = begin(machine.kb, TEXT)
    send(machine.kb, transfer, TEXT[:HALF])
    machine.kb.transfers.terminate(transfer.id)
    assert machine.files == []
    with pytest.raises(NotFound):
        machine.kb.transfers.get(transfer.id)


def test_upload_that_nobody_continues_expires(tmp_path: Path) -> None:
    machine = Machine(tmp_path, upload_expiry_hours=0.0, min_free_bytes=0)
    kb = machine.kb
    transfer = begin(kb, TEXT)
    assert transfer.expires_at <= datetime.now(UTC) + timedelta(seconds=1)
    with pytest.raises(UploadExpired):
        kb.transfers.get(transfer.id)
    kb.transfers.expire()
    with pytest.raises(NotFound):
        kb.transfers.get(transfer.id)
    assert machine.files == []
    kb.close()


def test_files_of_ended_uploads_are_removed_at_the_start_and_those_that_are_not_known_stay(machine: Machine) -> None:
    ended, unknown = (machine.folder / "data" / "transfers" / name for name in ("ended", "unknown"))
    for path in (ended, unknown):
        path.write_bytes(b"left behind")
    machine.kb.catalog.leftovers.note(FileKind.TRANSFER, [ended.name])
    kept = begin(machine.kb, TEXT)
    send(machine.kb, kept, TEXT[:HALF])
    machine.restart()
    assert set(machine.files) == {kept.id, unknown.name}
    unknown.unlink()
    assert send(machine.kb, kept, TEXT[HALF:], HALF).receipt
    assert original(machine.kb, kept) == TEXT


def test_upload_whose_bytes_were_taken_away_is_said_to_be_gone(machine: Machine) -> None:
    transfer = begin(machine.kb, TEXT)
    send(machine.kb, transfer, TEXT[:HALF])
    machine.restart()
    (machine.folder / "data" / "transfers" / transfer.id).unlink()
    with pytest.raises(UploadExpired):
        send(machine.kb, transfer, TEXT[HALF:], HALF)


def test_uploads_are_filed_in_the_background_where_there_are_threads(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, min_free_bytes=0) as kb:
        transfer = begin(kb, TEXT)
        send(kb, transfer, TEXT)
        done = kb.transfers.wait(transfer.id, 30)
        assert done.state is TransferState.DONE
        assert done.receipt is not None
        kb.finish(done.receipt.job_id or "", 30)
