"""Uploads in parts by the tus 1.0 protocol: begin, ask how far, send a part, put together, end; and their state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import flask
from werkzeug.exceptions import (
    ClientDisconnected,
    HTTPException,
    MethodNotAllowed,
    ServiceUnavailable,
    UnsupportedMediaType,
)

from app.api.description.describe import Field, obj, operation, words
from app.api.description.reading import arguments
from app.api.documents.receiving import slot
from app.api.system.errors import problem
from app.api.uploads import tus
from app.components.shared.states import error_words
from app.context import kb
from core.errors import (
    ArchiveLimit,
    BadFilename,
    ChecksumMismatch,
    Conflict,
    DiskFull,
    EmptyDocument,
    EvoRAGError,
    Forbidden,
    InvalidInput,
    OffsetConflict,
    QuotaExceeded,
    TooLarge,
    TypeMismatch,
    UnsupportedType,
    UploadExpired,
)
from core.model import Role, Transfer, TransferState, to_dict

uploads = flask.Blueprint("uploads", __name__, url_prefix="/api/v1/uploads")

CHECK_WAIT_S = 5.0
"""So long the answer to the last part waits for the checks of the whole file, so that it can say how they went."""
MOST_IDS = 200
DRAINED_BYTES = 32 * 1024 * 1024
DRAIN_STEP_BYTES = 256 * 1024
ID = {"transfer_id": words("Id of an upload.", most=64, least=1, required=True)}
TEXT = {"type": "string"}
RESUMABLE = Field(TEXT, "Version of the tus protocol: `1.0.0`; any other, or none, is 412.", example=tus.VERSION)
CHECKSUM = Field(TEXT, "Algorithm and Base64 of the part's digest: `sha256 …`.")
BEGIN_HEADERS = {
    "Tus-Resumable": RESUMABLE,
    "Upload-Length": Field(TEXT, "Size of the file, in bytes.", example="1048576"),
    "Upload-Defer-Length": Field(TEXT, "`1` where the size is said with a later part."),
    "Upload-Metadata": Field(
        TEXT,
        "Pairs of key and Base64, with commas: `filename`, `sha256` of the file, `tags` (a JSON list), `note`, `label`,"
        " `draft`, `publish_at`, `private`, `early`, `priority`.",
    ),
    "Upload-Concat": Field(TEXT, "`partial`, or `final;` and the addresses of partial uploads, with blanks."),
    "Upload-Checksum": CHECKSUM,
}
PART_HEADERS = {
    "Tus-Resumable": RESUMABLE,
    "Upload-Offset": Field(TEXT, "Where the part begins: how much has arrived.", example="0"),
    "Upload-Length": Field(TEXT, "Size of a file that began without one."),
    "Upload-Checksum": CHECKSUM,
    "Evorag-Sha256": Field(TEXT, "SHA-256 of the whole file, where it was not known at the start."),
}
ANSWERED = {
    "Upload-Offset": "How much of the file is on the disk.",
    "Upload-Expires": "When the upload is removed if nobody continues it.",
}
NAMED = (BadFilename, UnsupportedType, TypeMismatch, EmptyDocument, ArchiveLimit)
ROOM = (TooLarge, QuotaExceeded, DiskFull)
STATE = (tus.WrongProtocol, Conflict, OffsetConflict, ChecksumMismatch, UploadExpired)


@uploads.route("", methods=["OPTIONS"], provide_automatic_options=False)
@uploads.route("/<transfer_id>", methods=["OPTIONS"], provide_automatic_options=False)
@operation(
    "What of tus is spoken",
    tag="uploads",
    path=ID,
    answers={204: None},
    answer_headers={"Tus-Version": "Versions of the protocol.", "Tus-Extension": "Its extensions."},
)
def speak(transfer_id: str = "") -> flask.Response:
    """Answer the version and the extensions of the protocol, the largest file, and how checksums are made."""
    headers = {
        "Tus-Version": tus.VERSION,
        "Tus-Extension": tus.EXTENSIONS,
        "Tus-Max-Size": str(kb().transfers.max_bytes),
        "Tus-Checksum-Algorithm": ",".join(kb().transfers.algorithms),
    }
    return flask.Response(status=204, headers=headers)


@uploads.route("", methods=["GET"], provide_automatic_options=False)
@operation(
    "My uploads",
    tag="uploads",
    query={"ids": words(f"These uploads, at most {MOST_IDS}, with commas, whatever became of them.", most=10_000)},
    answers={200: obj(uploads=[Transfer])},
)
def list_uploads() -> flask.Response:
    """Answer one's own uploads that are not filed yet, newest first; unknown ids are left out."""
    given = arguments()["ids"]
    found = kb().transfers.mine(active=not given)
    if given:
        wanted = given.split(",")
        if len(wanted) > MOST_IDS:
            raise InvalidInput(f"At most {MOST_IDS} uploads can be asked for at once.")
        found = [transfer for transfer in found if transfer.id in set(wanted)]
    return flask.jsonify(uploads=[_said(transfer) for transfer in found])


@uploads.route("", methods=["POST"], provide_automatic_options=False)
@operation(
    "Begin an upload",
    tag="uploads",
    role=Role.EDITOR,
    headers=BEGIN_HEADERS,
    body=tus.PART_TYPE,
    body_optional=True,
    answers={201: Transfer},
    answer_headers={"Location": "Where its parts are sent.", **ANSWERED},
    errors=(*NAMED, *ROOM, *STATE),
)
def begin() -> flask.typing.ResponseReturnValue:
    """Begin an upload, perhaps with its first part; or put finished partial uploads together."""
    tus.check_version()
    is_partial, pieces = tus.concatenation()
    if _has_body() and pieces is None:
        _check_part_type()
    written, payload = tus.metadata()
    filing, sha256 = tus.filing_of(payload), payload.get("sha256") or None
    transfers = kb().transfers
    if pieces is not None:
        name = payload.get("filename", "")
        transfer = transfers.concatenate(pieces, name, filing, sha256=sha256, metadata=written)
    else:
        transfer = transfers.create(
            payload.get("filename"),
            tus.announced_size(),
            filing=filing,
            sha256=sha256,
            is_partial=is_partial,
            metadata=written,
        )
        if _has_body():
            transfer = _append_first(transfer.id)
    transfer = _checked(transfer)
    if transfer.error is not None and transfer.state is TransferState.REFUSED:
        return _refusal(transfer)
    headers = {"Location": _place(transfer.id), **tus.offset_headers(transfer)}
    return flask.jsonify(_said(transfer)), 201, headers


@uploads.route("/<transfer_id>", methods=["GET"], provide_automatic_options=False)
@operation(
    "An upload",
    tag="uploads",
    path=ID,
    answers={200: Transfer},
    answer_headers=ANSWERED,
    errors=(UploadExpired, tus.WrongProtocol),
)
def show(transfer_id: str) -> flask.Response:
    """Answer how far an upload is and what became of it.

    ``HEAD`` is what tus resumes by: it answers headers alone, takes the upload over from a connection that still
    sends to it, and is 410 for an upload that was refused.
    """
    if flask.request.method != "HEAD":
        return flask.jsonify(_said(kb().transfers.get(transfer_id)))
    return _resume(transfer_id)


@uploads.route("/<transfer_id>", methods=["PATCH"], provide_automatic_options=False)
@operation(
    "Send a part",
    tag="uploads",
    role=Role.EDITOR,
    path=ID,
    headers=PART_HEADERS,
    body=tus.PART_TYPE,
    body_optional=True,
    answers={204: None},
    answer_headers=ANSWERED,
    errors=(*NAMED, *ROOM, *STATE),
)
def send_part(transfer_id: str) -> flask.typing.ResponseReturnValue:
    """Write a part at the end of an upload; it is on the disk when this answers.

    After the last part the whole file is checked; where that takes but a moment, a refusal is this answer.
    """
    tus.check_version()
    transfers = kb().transfers
    offset = tus.count("Upload-Offset")
    _check_part_type()
    if transfers.pieces(transfer_id):
        raise Forbidden("An upload that was put together takes no parts.")
    size = tus.count("Upload-Length") if "Upload-Length" in flask.request.headers else None
    if size is not None and _has_body():
        transfers.set_size(transfer_id, size)
    transfer = _append(transfer_id, offset)
    if size is not None and not _has_body():
        # The size may be what has arrived, and then nothing can be added after it.
        transfer = transfers.set_size(transfer_id, size)
    transfer = _checked(transfer)
    if transfer.error is not None and transfer.state is TransferState.REFUSED:
        return _refusal(transfer)
    return flask.Response(status=204, headers=tus.offset_headers(transfer))


@uploads.route("/<transfer_id>", methods=["DELETE"], provide_automatic_options=False)
@operation(
    "End an upload",
    tag="uploads",
    role=Role.EDITOR,
    path=ID,
    answers={204: None},
    errors=(Conflict, UploadExpired, tus.WrongProtocol),
)
def terminate(transfer_id: str) -> flask.Response:
    """Forget an upload and remove its bytes; a document that it became stays."""
    tus.check_version()
    kb().transfers.terminate(transfer_id)
    return flask.Response(status=204)


@uploads.route("/<transfer_id>", methods=["POST"], provide_automatic_options=False)
@operation(
    "Any method, by POST",
    tag="uploads",
    role=Role.EDITOR,
    path=ID,
    headers={"X-HTTP-Method-Override": Field(TEXT, "`PATCH`, `DELETE` or `HEAD`."), **PART_HEADERS},
    body=tus.PART_TYPE,
    body_optional=True,
    answers={204: None, 200: None},
    errors=(*NAMED, *ROOM, *STATE),
)
def override(transfer_id: str) -> flask.typing.ResponseReturnValue:
    """Do what the header ``X-HTTP-Method-Override`` says, for clients that cannot send such requests."""
    method = flask.request.headers.get("X-HTTP-Method-Override", "").upper()
    known: dict[str, Callable[[str], flask.typing.ResponseReturnValue]] = {
        "PATCH": send_part,
        "DELETE": terminate,
        "HEAD": _resume,
    }
    if method not in known:
        raise MethodNotAllowed(["GET", "HEAD", "PATCH", "DELETE"])
    return known[method](transfer_id)


@uploads.after_request
def speak_tus(response: flask.Response) -> flask.Response:
    """Say the version in every answer, and end the connection where a body was refused that still comes."""
    response.headers["Tus-Resumable"] = tus.VERSION
    if response.status_code == HTTPStatus.PRECONDITION_FAILED:
        response.headers["Tus-Version"] = tus.VERSION
    if response.status_code >= 400 and _has_body() and not flask.g.get("evorag_drained"):
        response.headers["Connection"] = "close"
    return response


class Body:
    """The body of a request; a connection that breaks is one error, whatever the server calls it."""

    def __init__(self) -> None:
        # Large files pass here: the upload's own size is their limit.
        flask.request.max_content_length = None
        self._stream = flask.request.stream
        self._read = 0

    def read(self, size: int) -> bytes:
        try:
            piece = self._stream.read(size)
        except (OSError, ValueError) as error:
            raise ClientDisconnected from error
        self._read += len(piece)
        return piece

    def drain(self) -> None:
        """Let the rest of a part come and go: a client that still sends would not see why it is refused."""
        length = flask.request.content_length
        if length is None or length - self._read > DRAINED_BYTES:
            return
        with suppress(HTTPException):
            while self.read(DRAIN_STEP_BYTES):
                continue
            flask.g.evorag_drained = True


def _append(transfer_id: str, offset: int) -> Transfer:
    request = flask.request
    with slot():
        body = Body()
        try:
            return kb().transfers.append(
                transfer_id,
                offset,
                body,
                size=request.content_length,
                checksum=tus.checksum(),
                sha256=request.headers.get("Evorag-Sha256"),
            )
        except EvoRAGError:
            body.drain()
            raise


def _append_first(transfer_id: str) -> Transfer:
    """Write the part that came with the creation; where it is refused, the client never learns where the upload is."""
    try:
        return _append(transfer_id, 0)
    except (EvoRAGError, ServiceUnavailable):
        with suppress(EvoRAGError):
            kb().transfers.terminate(transfer_id)
        raise


def _said(transfer: Transfer) -> dict[str, Any]:
    """Return an upload with its error, if any, in the language of the request."""
    payload: dict[str, Any] = to_dict(transfer)
    if transfer.error is not None:
        payload["error"] = {**transfer.error, **error_words(transfer.error)}
    return payload


def _checked(transfer: Transfer) -> Transfer:
    """Return an upload that has arrived whole as it is after its checks, if they take but a moment."""
    if transfer.state is not TransferState.CHECKING:
        return transfer
    return kb().transfers.wait(transfer.id, CHECK_WAIT_S)


def _refusal(transfer: Transfer) -> flask.Response:
    """Return why the whole file was refused; 400 where its checksum differs, because no part can be sent again."""
    error = transfer.error or {}
    status = int(error.get("status", 400))
    return problem(error_words(error), 400 if status == ChecksumMismatch.status else status)


def _resume(transfer_id: str) -> flask.Response:
    tus.check_version()
    transfers = kb().transfers
    transfer = transfers.resume(transfer_id)
    headers = tus.state_headers(transfer, transfers.metadata(transfer.id), transfers.pieces(transfer.id), _place)
    return flask.Response(status=200, headers=headers)


def _place(transfer_id: str) -> str:
    return flask.url_for("uploads.show", transfer_id=transfer_id)


def _has_body() -> bool:
    request = flask.request
    return bool(request.content_length) or "Transfer-Encoding" in request.headers


def _check_part_type() -> None:
    if flask.request.mimetype != tus.PART_TYPE:
        raise UnsupportedMediaType(f"A part is sent as {tus.PART_TYPE}.")
