"""Routes of recordings: files of spikes that answers left or that were uploaded, and what is read out of them.

Everyone has their own recordings, administrators see all. A recording never changes: what a browser keeps of it is
asked for again with its ``ETag``, so that it is shown only to those who may still see it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import flask

from app.api.description.describe import Form, obj, one_of, operation, whole, words
from app.api.description.inputs import page_limit
from app.api.description.reading import arguments, body
from app.api.documents.receiving import received_file
from app.context import kb
from core.errors import DiskFull, NotFound, QuotaExceeded, TooLarge, UnreadableRecording
from core.model import Recording, RecordingPart, Role, to_dict

recordings = flask.Blueprint("recordings", __name__, url_prefix="/api/v1/recordings")

NAME_CHARS = 200
POPULATION_CHARS = 200
ID_CHARS = 64
MOST_TOKENS = 2**31 - 1
MEDIA = {"csv": "text/csv", "neo": "application/octet-stream", "nwb": "application/octet-stream"}
TOKENS = {
    "from": whole("The first token.", high=MOST_TOKENS, default=0),
    "to": whole("Only tokens before this one.", high=MOST_TOKENS),
}
PART = {
    "layer": whole("Only populations of this layer; −1 for those of none.", low=-1, high=10_000),
    "kind": words("Only populations of this kind, such as `query`.", most=POPULATION_CHARS),
    **TOKENS,
}
POPULATION = words("A population, as the list of tokens names it.", most=POPULATION_CHARS, least=1, required=True)
FORMAT = 2
"""Of what is read out of recordings; another one makes every kept answer another one's."""
_UNFIT = re.compile(r"[/\\\x00-\x1f\x7f]")


@recordings.get("")
@operation(
    "Recordings",
    tag="recordings",
    query={
        "limit": page_limit(100),
        "before": words("Only those that follow the one with this id in the list.", most=ID_CHARS),
    },
    answers={200: obj(recordings=[Recording], size_bytes=int, next=str | None)},
    errors=(NotFound,),
)
def list_recordings() -> flask.Response:
    """Answer the recordings, newest first; ``size_bytes`` is that of all of them."""
    given = arguments()
    found = kb().recordings.list()
    size = sum(each.size_bytes for each in found)
    if given["before"]:
        places = [place for place, each in enumerate(found, 1) if each.id == given["before"]]
        if not places:
            raise NotFound("This recording is not there any more.", remedy="Begin again without “before”.")
        found = found[places[0] :]
    shown = found[: given["limit"]]
    following = shown[-1].id if len(found) > len(shown) else None
    return flask.jsonify(recordings=[to_dict(each) for each in shown], size_bytes=size, next=following)


@recordings.post("")
@operation(
    "Upload a recording",
    tag="recordings",
    role=Role.EDITOR,
    body=Form({"name": words("What it is called; by default as the file.", most=NAME_CHARS)}),
    answers={201: Recording},
    answer_headers={"Location": ""},
    errors=(UnreadableRecording, TooLarge, QuotaExceeded, DiskFull),
)
def upload_recording() -> tuple[flask.Response, int, dict[str, str]]:
    """Keep a file of spikes, once it was read and found to hold nothing but plain tensors.

    It is one that EvoRAG wrote, or another tool's: a dictionary of `spikes` and, if it has them,
    `membrane_potential`, each `(time, neurons)` or `(batch, time, neurons)`; of several populations a dictionary by
    their names.
    """
    file = received_file(
        kb().settings.neurons.recording_upload_bytes, "Record fewer tokens, or ask for a higher limit."
    )
    name = flask.request.form.get("name", "").strip() or _last_part(file.filename or "")[:NAME_CHARS]
    found = kb().recordings.import_file(name, file.stream)  # type: ignore[arg-type]
    return flask.jsonify(to_dict(found)), 201, {"Location": f"/api/v1/recordings/{found.id}"}


@recordings.get("/<recording_id>")
@operation("One recording", tag="recordings", answers={200: Recording})
def show_recording(recording_id: str) -> flask.Response:
    """Answer what is known of a recording."""
    return flask.jsonify(to_dict(kb().recordings.get(recording_id)))


@recordings.patch("/<recording_id>")
@operation(
    "Rename a recording",
    tag="recordings",
    body=obj(name=words("What people call it.", most=NAME_CHARS, least=1, required=True)),
    answers={200: Recording},
)
def rename_recording(recording_id: str) -> flask.Response:
    """Give a recording another name."""
    return flask.jsonify(to_dict(kb().recordings.rename(recording_id, body()["name"])))


@recordings.delete("/<recording_id>")
@operation("Delete a recording", tag="recordings", answers={204: None})
def delete_recording(recording_id: str) -> tuple[str, int]:
    """Remove a recording and its file; the answer stays in the history."""
    kb().recordings.delete(recording_id)
    return "", 204


@recordings.get("/<recording_id>/file")
@operation(
    "The file of a recording",
    tag="recordings",
    answers={200: "binary", 206: "binary", 304: None},
    answer_headers={"ETag": "", "Content-Disposition": ""},
)
def download_recording(recording_id: str) -> flask.Response:
    """Send the `.pt` file, a dictionary that `torch.load(…, weights_only=True)` reads, as a download."""
    found = kb().recordings.get(recording_id)
    try:
        return flask.send_file(
            kb().recordings.path(recording_id).resolve(),
            mimetype="application/octet-stream",
            as_attachment=True,
            download_name=_file_name(found, ".pt"),
            etag=found.id,
            conditional=True,
        )
    except FileNotFoundError as error:
        raise NotFound("This recording is not there any more.", remedy="Record the answer again.") from error


@recordings.get("/<recording_id>/tokens")
@operation(
    "Tokens and populations of a recording",
    tag="recordings",
    answers={
        200: obj(
            steps=int,
            total=int,
            tokens=[obj(id=int, text=str, role=str)],
            populations=[obj(name=str, kind=str, layer=int, neurons=int, traced=int, is_thinned=bool, factor=int)],
            meta={"type": "object"},
            left_out=obj(currents=bool, thinned=int, tokens=int, membranes=int, absent=int, foreign=bool),
        ),
        304: None,
    },
    answer_headers={"ETag": ""},
    errors=(UnreadableRecording,),
)
def list_tokens(recording_id: str) -> flask.Response:
    """Answer the last tokens of the prompt and those of the answer, and the populations in the network's order.

    ``steps`` are those of the code per token; one in ``factor`` neurons of a population was recorded. Of more than
    200,000 tokens (``total``) the first are told.
    """
    return _kept_by_browsers(recording_id, lambda: flask.jsonify(kb().recordings.tokens(recording_id)))


@recordings.get("/<recording_id>/summary")
@operation(
    "Numbers of a recording",
    tag="recordings",
    query=PART,
    answers={200: {"type": "object"}, 304: None},
    answer_headers={"ETag": ""},
    errors=(UnreadableRecording,),
)
def summarise_recording(recording_id: str) -> flask.Response:
    """Answer rates per step, token and neuron, intervals between spikes, and a table of populations.

    Every rate is in spikes per neuron and step: a step of the code has no milliseconds.
    """
    part = _part(arguments())
    return _kept_by_browsers(recording_id, lambda: flask.jsonify(kb().recordings.summary(recording_id, part)))


@recordings.get("/<recording_id>/heat-map")
@operation(
    "Rates by layer and token",
    tag="recordings",
    answers={200: {"type": "object"}, 304: None},
    answer_headers={"ETag": ""},
    errors=(UnreadableRecording,),
)
def show_heat_map(recording_id: str) -> flask.Response:
    """Answer the rate of every layer at every token: of all kinds together first, then of each kind."""
    return _kept_by_browsers(recording_id, lambda: flask.jsonify(kb().recordings.heat_map(recording_id)))


@recordings.get("/<recording_id>/spikes")
@operation(
    "Spikes of a population",
    tag="recordings",
    query={"population": POPULATION, **TOKENS},
    answers={200: "binary", 304: None},
    answer_headers={"ETag": "", "X-Shape": "Steps K, tokens S and neurons n, with commas."},
    errors=(UnreadableRecording,),
)
def send_spikes(recording_id: str) -> flask.Response:
    """Send packed bits: the plane of excitatory spikes, and behind it that of inhibitory ones.

    Each is K × S × ⌈n/8⌉ bytes, the first neuron in the lowest bit.
    """
    given = arguments()

    def octets() -> flask.Response:
        bits, shape = kb().recordings.spikes(recording_id, given["population"], _part(given))
        response = flask.Response(bits, mimetype="application/octet-stream")
        response.headers["X-Shape"] = ",".join(map(str, shape))
        return response

    return _kept_by_browsers(recording_id, octets)


@recordings.get("/<recording_id>/membrane")
@operation(
    "Membrane potentials of a population",
    tag="recordings",
    query={"population": POPULATION, **TOKENS},
    answers={200: {"type": "object"}, 304: None},
    answer_headers={"ETag": ""},
    errors=(UnreadableRecording,),
)
def show_membrane(recording_id: str) -> flask.Response:
    """Answer the traced neurons (``idx``), their ``potential`` after each step and its ``thresholds`` `[K, S, m]`.

    ``current`` `[S, m]` is what was encoded. All are in units of the activation; null is what is not known.
    """
    given = arguments()
    return _kept_by_browsers(
        recording_id,
        lambda: flask.jsonify(kb().recordings.membrane(recording_id, given["population"], _part(given))),
    )


@recordings.get("/<recording_id>/compare")
@operation(
    "Compare two recordings",
    tag="recordings",
    query={"with": words("Id of the other recording.", most=ID_CHARS, least=1, required=True)},
    answers={200: {"type": "object"}},
    errors=(UnreadableRecording,),
)
def compare_recordings(recording_id: str) -> flask.Response:
    """Answer two recordings of one model side by side: rates, and which neurons fire otherwise."""
    return flask.jsonify(kb().recordings.compare(recording_id, arguments()["with"]))


@recordings.get("/<recording_id>/export")
@operation(
    "Spikes for other programs",
    tag="recordings",
    query={"form": one_of("A table, or a file of Neo or NWB.", "csv", "neo", "nwb", default="csv"), **PART},
    answers={200: ("text/csv", "binary")},
    answer_headers={"Content-Disposition": ""},
    errors=(UnreadableRecording, DiskFull),
)
def export_recording(recording_id: str) -> flask.Response:
    """Send a line a spike, or a file of Neo or NWB where those packages are installed."""
    given = arguments()
    form = given["form"]
    parts, suffix = kb().recordings.export(recording_id, form, _part(given))
    response = flask.Response(parts, mimetype=MEDIA[form])
    name = _file_name(kb().recordings.get(recording_id), suffix)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


def _part(given: dict[str, Any]) -> RecordingPart:
    return RecordingPart(given.get("layer"), given.get("kind") or "", given["from"], given["to"])


def _kept_by_browsers(recording_id: str, answer: Callable[[], flask.Response]) -> flask.Response:
    """Let a browser keep an answer that never changes, and ask each time whether it may still show it."""
    request = flask.request
    tag = sha256(f"{FORMAT} {request.full_path}".encode("utf-8", "replace")).hexdigest()[:32]
    kb().recordings.get(recording_id)
    response = flask.Response(status=304) if request.if_none_match.contains(tag) else answer()
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _file_name(recording: Recording, suffix: str) -> str:
    return f"{_UNFIT.sub('_', recording.name)[:NAME_CHARS] or recording.id}{suffix}"


def _last_part(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]
