"""Routes of documents: upload a file, add a text, list, download an original."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

import flask
from werkzeug.exceptions import ServiceUnavailable

from app.api.fields import filing, json_object, tag_list, text, whole_number
from app.context import kb
from core.errors import InvalidInput, TooLarge
from core.model import Upload, to_dict

documents = flask.Blueprint("documents", __name__, url_prefix="/api/v1")

FORM_OVERHEAD_BYTES = 64 * 1024
KEPT_FREE = 4
FORM_MEMORY_BYTES = 256 * 1024
"""Most of a field; Werkzeug counts its own 64 KiB reading buffer, files included, against it."""


class UploadRequest(flask.Request):
    """A request whose files are kept on the disk of the data folder while they arrive, under no name."""

    def _get_file_stream(
        self,
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None = None,
        content_length: int | None = None,
    ) -> BinaryIO:
        return cast("BinaryIO", tempfile.TemporaryFile(dir=kb().settings.data_dir))


@documents.post("/documents")
def upload_document() -> tuple[flask.Response, int]:
    """Take one file and answer its receipt; indexing goes on after.

    The part ``file`` is the file; ``tags`` may come many times; ``note``, ``label``, ``draft`` and ``publish_at`` once.
    """
    request = flask.request
    limit = kb().settings.max_upload_bytes
    if request.content_length is not None and request.content_length > limit + FORM_OVERHEAD_BYTES:
        raise TooLarge(f"The file is larger than the {limit:,} bytes that are accepted.")
    request.max_content_length = limit + FORM_OVERHEAD_BYTES
    request.max_form_memory_size = FORM_MEMORY_BYTES
    with _slot():
        files = request.files.getlist("file")
    if len(files) != 1:
        raise InvalidInput("Send exactly one file in the part 'file'.")
    given = files[0]
    tags = tag_list(request.form.getlist("tags"))
    receipt = kb().add_file(
        given.filename or "", cast("BinaryIO", given.stream), tags=tags, **filing(request.form.to_dict())
    )
    return _receipt(receipt)


@documents.post("/texts")
def add_text() -> tuple[flask.Response, int]:
    """Take a text entry as JSON ``{"name", "text", "tags"}``, with what a file may say, and answer its receipt."""
    body = json_object()
    tags = tag_list(body.get("tags", []))
    receipt = kb().add_text(text(body, "name"), text(body, "text"), tags=tags, **filing(body))
    return _receipt(receipt)


@documents.get("/documents")
def list_documents() -> flask.Response:
    """Answer the documents whose name, title or tags hold ``search``."""
    found = kb().documents(flask.request.args.get("search", ""))
    return flask.jsonify(documents=[to_dict(document) for document in found])


@documents.get("/documents/<path:doc_key>/versions/<number>/original")
def download_original(doc_key: str, number: str) -> flask.Response:
    """Send the bytes that were uploaded, always as a download that no browser opens by itself."""
    version = whole_number(number, "version", default=1, low=1, high=2**31 - 1)
    path, name = kb().original(doc_key, version)
    return flask.send_file(
        path.resolve(), mimetype="application/octet-stream", as_attachment=True, download_name=name, conditional=True
    )


@contextmanager
def _slot() -> Iterator[None]:
    """Keep threads free for the pages: at most all but four receive files at a time."""
    settings = kb().settings
    slots = flask.current_app.extensions.setdefault(
        "evorag-uploads", threading.BoundedSemaphore(max(1, settings.server_threads - KEPT_FREE))
    )
    if not slots.acquire(blocking=False):
        raise ServiceUnavailable("Too many files are being received.", retry_after=2)
    try:
        yield
    finally:
        slots.release()


def _receipt(receipt: Upload) -> tuple[flask.Response, int]:
    return flask.jsonify(to_dict(receipt)), 202 if receipt.job_id else 200
