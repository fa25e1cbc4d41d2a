"""Routes by which documents come in, in one request: a file, a text, the sample."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast
from urllib.parse import quote

import flask
from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import ServiceUnavailable

from app.api.description.describe import Field, Form, obj, operation, words
from app.api.description.fields import filing, tag_list
from app.api.description.inputs import FILING, filing_of
from app.api.description.reading import body, check_form
from app.context import kb
from core.errors import (
    BadFilename,
    DiskFull,
    EmptyDocument,
    InvalidInput,
    TooLarge,
    TypeMismatch,
    UnreadableDocument,
    UnsupportedType,
)
from core.model import LeftOut, Receipt, Role, Upload, to_dict

receiving = flask.Blueprint("receiving", __name__, url_prefix="/api/v1")

FORM_OVERHEAD_BYTES = 64 * 1024
KEPT_FREE = 4
FORM_MEMORY_BYTES = 256 * 1024
"""Most of a field; Werkzeug counts its own 64 KiB reading buffer, files included, against it."""
IN_PARTS = "Send the file in parts, through /api/v1/uploads."
NAME_CHARS = 1_000
TITLE_CHARS = 1_000
RECEIPTS = {202: Receipt, 200: Receipt}
WHERE = {"Location": "The job that indexes it, or the version where nothing is left to do."}
REFUSALS = (BadFilename, TooLarge, UnsupportedType, TypeMismatch, EmptyDocument, UnreadableDocument, DiskFull)


class UploadRequest(flask.Request):
    """A request whose files are kept on the disk of the data folder while they arrive, under no name."""

    def _get_file_stream(
        self,
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None = None,
        content_length: int | None = None,
    ) -> BinaryIO:
        return cast("BinaryIO", tempfile.TemporaryFile(dir=kb().settings.server.data_dir))


@receiving.post("/documents")
@operation(
    "Upload a file",
    tag="documents",
    role=Role.EDITOR,
    body=Form(FILING),
    answers=RECEIPTS,
    answer_headers=WHERE,
    errors=REFUSALS,
)
def upload_document() -> tuple[flask.Response, int, dict[str, str]]:
    """Take one file and answer its receipt; indexing goes on after: 202, or 200 for bytes that are there already.

    The part ``file`` is the file; ``tags`` may come many times, everything else once. Large files go in parts through
    ``/uploads``.
    """
    given = received_file()
    form = flask.request.form
    tags = tag_list(form.getlist("tags"))
    return answer_receipt(
        kb().add_file(given.filename or "", cast("BinaryIO", given.stream), tags=tags, **filing(form.to_dict()))
    )


@receiving.post("/texts")
@operation(
    "Add a text",
    tag="documents",
    role=Role.EDITOR,
    body=obj(
        {
            "name": words("What the document is called.", most=NAME_CHARS, least=1, required=True),
            "text": Field(
                {"type": "string", "minLength": 1}, "The text, at most EVORAG_MAX_TEXT_CHARS.", required=True
            ),
            "title": words("Its title.", most=TITLE_CHARS),
            **FILING,
        }
    ),
    answers=RECEIPTS,
    answer_headers=WHERE,
    errors=REFUSALS,
)
def add_text() -> tuple[flask.Response, int, dict[str, str]]:
    """Take a text entry as the next version of the document that its name says, and answer its receipt."""
    given = body()
    payload = filing_of(given) | {"tags": tag_list(given["tags"])}
    payload |= {name: payload[name].strip() for name in ("note", "label") if name in payload}
    return answer_receipt(kb().add_text(given["name"], given["text"], title=given["title"], **payload))


@receiving.get("/sample")
@operation("What of the sample cannot be read", tag="documents", answers={200: obj(left_out=[LeftOut])})
def show_sample() -> flask.Response:
    """Answer the sample documents that the server lacks a program for, and why; `POST` leaves them out."""
    return flask.jsonify(left_out=[to_dict(each) for each in kb().sample_left_out()])


@receiving.post("/sample")
@operation(
    "Load the sample",
    tag="documents",
    role=Role.EDITOR,
    answers={202: obj(uploads=[Receipt], left_out=[LeftOut])},
    errors=(DiskFull,),
)
def load_sample() -> tuple[flask.Response, int]:
    """Add the sample documents; what is there already stays as it is.

    ``left_out`` are those that the server lacks a program for, such as LibreOffice; that is no error.
    """
    uploads, left_out = kb().load_sample(), kb().sample_left_out()
    receipts = [to_dict(Receipt.of(upload)) for upload in uploads]
    return flask.jsonify(uploads=receipts, left_out=[to_dict(each) for each in left_out]), 202


def received_file(most: int | None = None, remedy: str = IN_PARTS) -> FileStorage:
    """Return the one file of a form, once it is here and all fields of the form are known.

    Files of this kind may have at most ``most`` bytes; ``remedy`` says what to do with larger ones. Raises:
    ``TooLarge``, ``InvalidInput``; 503 while many come.
    """
    request = flask.request
    limits = kb().settings.limits
    limit = min(limits.max_request_bytes, limits.max_upload_bytes)
    limit = limit if most is None else min(limit, most)
    if request.content_length is not None and request.content_length > limit + FORM_OVERHEAD_BYTES:
        raise TooLarge(f"One request may carry at most {limit:,} bytes.", remedy=remedy)
    request.max_content_length = limit + FORM_OVERHEAD_BYTES
    request.max_form_memory_size = FORM_MEMORY_BYTES
    with slot():
        files = request.files.getlist("file")
    check_form()
    if len(files) != 1:
        raise InvalidInput("Send exactly one file in the part 'file'.")
    return files[0]


def answer_receipt(upload: Upload) -> tuple[flask.Response, int, dict[str, str]]:
    """Return a receipt, its status, and where to go on."""
    receipt = Receipt.of(upload)
    if receipt.job_id:
        return flask.jsonify(to_dict(receipt)), 202, {"Location": f"/api/v1/jobs/{receipt.job_id}"}
    place = f"/api/v1/documents/{quote(receipt.doc_key, safe='')}/versions/{receipt.version}"
    return flask.jsonify(to_dict(receipt)), 200, {"Location": place}


@contextmanager
def slot() -> Iterator[None]:
    """Keep threads free for the pages: at most all but four receive files at a time."""
    threads = kb().settings.server.server_threads
    slots = flask.current_app.extensions.setdefault(
        "evorag-uploads", threading.BoundedSemaphore(max(1, threads - KEPT_FREE))
    )
    if not slots.acquire(blocking=False):
        raise ServiceUnavailable("Too many files are being received.", retry_after=2)
    try:
        yield
    finally:
        slots.release()
