"""How a client brings documents in: small files in one request, all others in parts that go on where they stopped."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from core.client.changes import JobClient
from core.client.http import BUSY, Http, error_of, path_of, pause_s, values
from core.client.reading import PREVIEW_PAGE, DocumentClient, compact, moment_of
from core.errors import (
    BadFilename,
    EmptyDocument,
    EvoRAGError,
    NotFound,
    ServerUnreachable,
    UnsupportedType,
    UploadExpired,
)
from core.model import Filing, LeftOut, Receipt, Transfer, TransferState, Upload
from core.model.codec import from_dict, to_dict

Sent = Callable[[int, int], None]
"""Told how many bytes of how many the server has."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
TUS = {"Tus-Resumable": "1.0.0"}
READ_BYTES = 1024 * 1024
AGAIN = BUSY | {409, 423, 429, 460}
"""After these the client asks where the upload stands, and goes on from there."""
CHECK_S = 0.05
LONGEST_CHECK_S = 1.0
MOST_IDS = 10_000


@dataclass(frozen=True, slots=True)
class RemoteIndexed:
    """What became of a file, in the words of the seed system.

    ``document_ids`` are the ids of the version's chunks, of the first 10,000 at most; ``checksum`` is its SHA-1.
    """

    chunks_indexed: int
    document_ids: tuple[str, ...]
    doc_key: str
    version: int
    checksum: str
    outcome: str
    job_id: str | None = None


class RemoteIndexing:
    """A file that has been sent and is being indexed; awaiting it, or ``result``, gives what was indexed."""

    def __init__(self, client: UploadClient, receipt: Upload) -> None:
        self._client = client
        self.receipt = receipt

    @property
    def job_id(self) -> str | None:
        return self.receipt.job_id

    def done(self) -> bool:
        """Tell whether the job has ended, well or not."""
        pending = self.receipt.pending_job
        return pending is None or bool(self._client.wait([pending], 0.0)[0].finished_at)

    def result(self, timeout_s: float | None = None) -> RemoteIndexed:
        """Wait, and return what was indexed. Raises: the error of indexing; ``TimeoutError``."""
        return self._client._indexed(self.receipt, timeout_s)

    def __await__(self) -> Generator[Any, None, RemoteIndexed]:
        import asyncio

        return asyncio.to_thread(self.result).__await__()


class UploadClient(DocumentClient, JobClient):
    """The part of the client that adds documents; the server knows who acts, whatever ``actor`` says."""

    _http: Http
    _part_bytes: int
    _retries: int

    # ---- the names of the facade

    def add_file(
        self,
        name: str,
        stream: BinaryIO,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
        private: bool = False,
        early: bool | None = None,
        priority: int = 0,
        sent: Sent | None = None,
    ) -> Upload:
        """Send a file, which must be one that can be read again from its start, and return its receipt.

        An archive becomes documents, each with a job of its own; its receipt names no document.
        Raises: ``BadFilename``, ``TooLarge``, ``QuotaExceeded``, ``UnsupportedType``, ``EmptyDocument``, ``DiskFull``,
        ``InvalidInput``; ``ServerUnreachable``, after which the same call goes on where this one stopped.
        """
        filing = Filing(tuple(tags), note, label, actor, draft, publish_at, private, early, priority)
        size = stream.seek(0, 2)
        if size <= self._part_bytes and not name.lower().endswith(ARCHIVES) and _is_plain(name):
            return self._in_one(name, stream, filing)
        return self._in_parts(name, stream, size, filing, sent)

    def add_path(self, path: Path | str, **filing: Any) -> Upload:
        """Send a file of this machine, as ``add_file`` does. Raises: ``NotFound``, and what ``add_file`` raises."""
        path = Path(path)
        if path.is_symlink() or not path.is_file():
            raise NotFound(f"“{path.name}” is not an ordinary file.", remedy="Name an existing file, not a link.")
        with path.open("rb") as stream:
            return self.add_file(path.name, stream, **filing)

    upload_file = add_path

    def add_archive(self, name: str, stream: BinaryIO, **filing: Any) -> Upload:
        """Send an archive, as ``add_file`` does. Raises: ``UnsupportedType`` for another file."""
        if not name.lower().endswith(ARCHIVES):
            raise UnsupportedType("This is no archive that can be unpacked.", remedy="Send a zip or a tar.")
        return self.add_file(name, stream, **filing)

    def add_text(
        self,
        name: str,
        text: str,
        *,
        title: str = "",
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
        private: bool = False,
        early: bool | None = None,
        priority: int = 0,
    ) -> Upload:
        """Send a text entry. Raises: ``TooLarge`` over the limit, ``EmptyDocument``."""
        _check_entry(name, text)
        filing = Filing(tuple(tags), note, label, actor, draft, publish_at, private, early, priority)
        body = {"name": name, "text": text, **_said(filing)}
        said = body | ({"title": title} if title else {})
        return from_dict(Receipt, self._http.post(path_of("texts"), said, again=True)).upload()

    def add_texts(self, entries: Sequence[tuple[str, str, str]]) -> list[Upload]:
        """Send many text entries, each (name, title, text); one without a name or a text stops all of them."""
        for name, _, text in entries:
            _check_entry(name, text)
        return [self.add_text(name, text, title=title) for name, title, text in entries]

    def load_sample(self) -> list[Upload]:
        """Have the server add its sample documents."""
        return [each.upload() for each in values(Receipt, self._http.post(path_of("sample"), again=True)["uploads"])]

    def sample_left_out(self) -> list[LeftOut]:
        """Return the sample documents that the server cannot read, and why."""
        return values(LeftOut, self._http.get(path_of("sample"))["left_out"])

    def unfinished(self) -> list[Transfer]:
        """Return one's own uploads that the server waits for."""
        return values(Transfer, self._http.get(path_of("uploads"))["uploads"])

    # ---- the names of the seed system

    def rag_upload_file(self, path: Path | str, *, timeout_s: float | None = None, **filing: Any) -> RemoteIndexed:
        """Send a file and return what was indexed of it. Raises: the error of indexing; ``TimeoutError``."""
        return self.rag_upload_file_async(path, **filing).result(timeout_s)

    def rag_upload_file_async(self, path: Path | str, **filing: Any) -> RemoteIndexing:
        """Send a file and return at once, with its ``job_id``; the rest is indexed meanwhile, and can be awaited."""
        return RemoteIndexing(self, self.upload_file(path, **filing))

    def _indexed(self, receipt: Upload, timeout_s: float | None) -> RemoteIndexed:
        if not receipt.is_indexed and self.finish(receipt.job_id, timeout_s).finished_at is None:
            raise TimeoutError(f"“{receipt.doc_key}” is still being indexed.")
        ids: list[str] = []
        chunks = 0
        while receipt.doc_key and len(ids) < MOST_IDS:
            page = self.preview(receipt.doc_key, receipt.version, len(ids), PREVIEW_PAGE)
            chunks = page.total_chunks
            ids += [str(placed.id) for placed in page.chunks]
            if not page.chunks or len(ids) >= chunks:
                break
        said = (receipt.doc_key, receipt.version, receipt.checksum, receipt.outcome.value, receipt.pending_job)
        return RemoteIndexed(chunks, tuple(ids), *said)

    # ---- in one request

    def _in_one(self, name: str, stream: BinaryIO, filing: Filing) -> Upload:
        fields = {key: value if isinstance(value, list) else _word(value) for key, value in _said(filing).items()}

        def prepare() -> dict[str, Any]:
            stream.seek(0)
            return {"files": {"file": (name, stream, "application/octet-stream")}, "data": fields}

        # The same bytes under the same name are the same version, so to send them twice is as to send them once.
        response = self._http.call("POST", path_of("documents"), prepare=prepare, again=True)
        return from_dict(Receipt, response.json()).upload()

    # ---- in parts

    def _in_parts(self, name: str, stream: BinaryIO, size: int, filing: Filing, sent: Sent | None) -> Upload:
        digest = _sha256(stream)
        transfer_id = self._known(name, size, digest, filing) or self._begin(name, size, digest, filing)
        self._send(transfer_id, stream, size, sent or (lambda done, total: None))
        return self._filed(transfer_id)

    def _known(self, name: str, size: int, digest: str, filing: Filing) -> str | None:
        """Return the upload of the same bytes, under the same name and filed alike, that the server still waits for."""
        wanted = (name, size, digest, _kept(filing))
        for transfer in self.unfinished():
            found = (transfer.name, transfer.size_bytes, transfer.sha256, _kept(transfer.filing))
            if found == wanted and transfer.state is TransferState.RECEIVING and not transfer.is_partial:
                return transfer.id
        return None

    def _begin(self, name: str, size: int, digest: str, filing: Filing) -> str:
        said = {"filename": name, "sha256": digest}
        for key, value in _said(filing).items():
            said[key] = compact(value) if isinstance(value, list) else _word(value)
        metadata = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in said.items())
        headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
        response = self._http.call("POST", path_of("uploads"), headers=headers, again=True)
        return response.headers["Location"].rstrip("/").rsplit("/", 1)[-1]

    def _offset(self, transfer_id: str) -> int:
        response = self._http.call("HEAD", path_of("uploads", transfer_id), headers=TUS, accept=(404, 410))
        if response.status_code in (404, 410):
            raise UploadExpired("The upload is not there any more.")
        return int(response.headers["Upload-Offset"])

    def _send(self, transfer_id: str, stream: BinaryIO, size: int, sent: Sent) -> None:
        """Send what the server has not, part by part, until it has all."""
        offset, failures = self._offset(transfer_id), 0
        sent(offset, size)
        while offset < size:
            stream.seek(offset)
            part = stream.read(self._part_bytes)
            headers = {
                **TUS,
                "Content-Type": "application/offset+octet-stream",
                "Upload-Offset": str(offset),
                "Upload-Checksum": f"sha256 {base64.b64encode(hashlib.sha256(part).digest()).decode()}",
            }
            before = offset
            try:
                response = self._http.call("PATCH", path_of("uploads", transfer_id), content=part, headers=headers)
                offset = int(response.headers["Upload-Offset"])
            except EvoRAGError as error:
                is_over = not isinstance(error, ServerUnreachable) and error.status not in AGAIN
                if is_over or failures >= self._retries:
                    raise
                time.sleep(pause_s(failures))
                offset = self._offset(transfer_id)
            failures = 0 if offset > before else failures + 1
            sent(offset, size)

    def _filed(self, transfer_id: str) -> Upload:
        """Wait until the server has checked the whole file. Raises: the error that it was refused with."""
        pause = CHECK_S
        while True:
            transfer = from_dict(Transfer, self._http.get(path_of("uploads", transfer_id)))
            if transfer.receipt is not None:
                return transfer.receipt.upload()
            if transfer.state is TransferState.REFUSED:
                error = transfer.error or {}
                raise error_of({"detail": error.get("message"), **error}, 422)
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_CHECK_S)


def _said(filing: Filing) -> dict[str, Any]:
    """Return what an upload says of itself, where it says it."""
    early = {} if filing.early is None else {"early": filing.early}
    said = {
        "tags": list(filing.tags),
        "note": filing.note,
        "label": filing.label,
        "draft": filing.draft,
        "publish_at": None if filing.publish_at is None else moment_of(filing.publish_at),
        "private": filing.private,
        "priority": filing.priority,
    }
    return {name: value for name, value in said.items() if value} | early


def _check_entry(name: str, text: str) -> None:
    """Refuse what the server would refuse in other words. Raises: ``BadFilename``, ``EmptyDocument``."""
    if not name:
        raise BadFilename("The entry has no name.", remedy="Give it a name.")
    if not text.strip():
        raise EmptyDocument("The text is empty.", remedy="Type some text and save again.")


def _kept(filing: Filing) -> Filing:
    """Return a filing as the server keeps it, but for who acts."""
    tags = tuple(dict.fromkeys(tag.strip() for tag in filing.tags if tag.strip()))
    return replace(filing, tags=tags, note=filing.note.strip(), label=filing.label.strip(), actor="")


def _word(value: object) -> str:
    return str(to_dict(value)).lower() if isinstance(value, bool) else str(value)


def _is_plain(name: str) -> bool:
    """Tell whether a form can carry the name as it is."""
    return name.isprintable() and not any(sign in name for sign in '"\\%')


def _sha256(stream: BinaryIO) -> str:
    stream.seek(0)
    digest = hashlib.sha256()
    while part := stream.read(READ_BYTES):
        digest.update(part)
    return digest.hexdigest()
