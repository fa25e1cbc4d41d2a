"""The seed system's routes of uploads by their names: send a file and be told what was indexed; ask how far it is."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

import flask

from app.api.description.describe import Form, obj, operation, words, yes_no
from app.api.description.fields import filing, flag, short_text, tag_list
from app.api.description.inputs import FILING
from app.api.documents.receiving import REFUSALS, received_file
from app.api.events.progress import ENDED, share_of
from app.api.system.waiting import room_to_wait
from app.components.shared.states import error_words
from app.context import kb
from core.errors import EvoRAGError, NotFound
from core.model import Job, Role, Upload

seed_names = flask.Blueprint("seed_names", __name__)

SMALL_BYTES = 4 * 1024 * 1024
"""A file up to this size is waited for."""
WAIT_S = 60.0
MOST_IDS = 10_000
SESSION_CHARS = 128

INDEXED = obj(
    chunks_indexed=int,
    document_ids=[str],
    doc_key=str,
    version=int,
    checksum=str,
    outcome=str,
    job_id=str | None,
    session_id=str,
)
FORM = {
    **FILING,
    "background": yes_no("Answer 202 at once, whatever the size."),
    "session_id": words("Comes back in the answer; means nothing to the server.", most=SESSION_CHARS),
}
STATUS = obj(
    {"error": obj(code=str, title=str, detail=str, remedy=str)},
    job_id=str,
    state=str,
    stage=str,
    progress=float,
    done=int,
    total=int,
    start_time=str | None,
    end_time=str | None,
    doc_key=str,
    version=int,
    chunks_indexed=int,
    optional=("error",),
)


@seed_names.post("/upload_file")
@seed_names.post("/api/v1/upload_file", endpoint="upload_file_v1")
@operation(
    "Upload a file and wait for it",
    tag="seed",
    role=Role.EDITOR,
    body=Form(FORM),
    answers={200: INDEXED, 202: INDEXED},
    errors=REFUSALS,
)
def upload_file() -> tuple[flask.Response, int]:
    """Take one file; answer what was indexed of it, or 202 with ``job_id`` while that goes on.

    Files up to 4 MiB are waited for, a minute at most, unless ``background`` is true or too many others wait.
    ``document_ids`` are the ids of the version's chunks, as texts, the first 10,000 of them, and ``checksum`` is its
    SHA-1. An error of indexing is answered as its problem.
    """
    given = received_file()
    form = flask.request.form
    said = filing(form.to_dict())
    in_background = flag(form, "background")
    session = short_text(form, "session_id", SESSION_CHARS)
    stream = cast("BinaryIO", given.stream)
    size = stream.seek(0, 2)
    stream.seek(0)
    receipt = kb().add_file(given.filename or "", stream, tags=tag_list(form.getlist("tags")), **said)
    if receipt.pending_job is None:
        return _indexed(receipt, session), 200
    if in_background or size > SMALL_BYTES:
        return _accepted(receipt, session)
    with room_to_wait() as has_room:
        job = kb().wait([receipt.pending_job], WAIT_S if has_room else 0.0)[0]
    if job.state not in ENDED:
        return _accepted(receipt, session)
    if job.error:
        raise _failure(job)
    return _indexed(receipt, session), 200


@seed_names.get("/upload_status/<job_id>")
@seed_names.get("/api/v1/upload_status/<job_id>", endpoint="upload_status_v1")
@operation("How far an upload is", tag="seed", answers={200: STATUS}, errors=(NotFound,))
def upload_status(job_id: str) -> flask.Response:
    """Answer the state of a job, and its ``progress`` from 0 to 1; ``error`` only where it has one."""
    return flask.jsonify(status_of(kb().job(job_id)))


def status_of(job: Job) -> dict[str, Any]:
    """Return a job in the words of the seed system."""
    status = {
        "job_id": job.id,
        "state": job.state.value,
        "stage": job.stage.value,
        "progress": share_of(job),
        "done": job.done,
        "total": job.total,
        "start_time": job.started_at.isoformat() if job.started_at else None,
        "end_time": job.finished_at.isoformat() if job.finished_at else None,
        "doc_key": job.doc_key,
        "version": job.version,
        "chunks_indexed": _chunks(job) if job.keyword_ready else 0,
    }
    return {**status, "error": error_words(job.error)} if job.error else status


def _chunks(job: Job) -> int:
    try:
        return kb().version(job.doc_key, job.version).chunk_count
    except NotFound:
        return 0


def _indexed(receipt: Upload, session: str) -> flask.Response:
    if not receipt.doc_key:
        return flask.jsonify(_answer(receipt, session, []))
    ids = kb().chunk_ids(receipt.doc_key, receipt.version, MOST_IDS)
    count = len(ids) if len(ids) < MOST_IDS else kb().version(receipt.doc_key, receipt.version).chunk_count
    return flask.jsonify({**_answer(receipt, session, [str(own) for own in ids]), "chunks_indexed": count})


def _accepted(receipt: Upload, session: str) -> tuple[flask.Response, int]:
    response = flask.jsonify(_answer(receipt, session, []))
    response.headers["Location"] = f"/api/v1/jobs/{receipt.pending_job}"
    return response, 202


def _answer(receipt: Upload, session: str, ids: list[str]) -> dict[str, Any]:
    return {
        "chunks_indexed": len(ids),
        "document_ids": ids,
        "doc_key": receipt.doc_key,
        "version": receipt.version,
        "checksum": receipt.checksum,
        "outcome": receipt.outcome.value,
        "job_id": receipt.pending_job,
        "session_id": session,
    }


def _failure(job: Job) -> EvoRAGError:
    """The error that a job ended with, with the status of its kind."""
    error = dict(job.error or {})
    kind = _kinds(EvoRAGError).get(str(error.get("code")), EvoRAGError)
    return kind(str(error.get("message", "")), remedy=str(error.get("remedy", "")), code=str(error.get("code")))


def _kinds(kind: type[EvoRAGError]) -> dict[str, type[EvoRAGError]]:
    found = {kind.code: kind}
    for child in kind.__subclasses__():
        found |= _kinds(child)
    return found
