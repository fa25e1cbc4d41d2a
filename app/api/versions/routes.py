"""Routes of versions: what there are, their text, which one is shown, what is planned, what was shown."""

from __future__ import annotations

import flask

from app.api.description.describe import Field, moment, obj, operation, whole
from app.api.description.inputs import LABEL, NOTE, page_limit
from app.api.description.reading import arguments, body, path_number
from app.context import kb
from core.errors import Conflict, InvalidInput, Purged
from core.model import Document, Preview, Publication, Role, Version, to_dict

versions = flask.Blueprint("versions", __name__, url_prefix="/api/v1/documents/<doc_key:doc_key>")

MOST_CHUNKS = 500


@versions.get("/versions")
@operation(
    "Versions of a document",
    tag="versions",
    answers={200: obj(document=Document, versions=[Version], publications=[Publication])},
)
def list_versions(doc_key: str) -> flask.Response:
    """Answer the versions of a document and what it has shown, both newest first."""
    return flask.jsonify(
        document=to_dict(kb().document(doc_key)),
        versions=[to_dict(version) for version in kb().versions(doc_key)],
        publications=[to_dict(publication) for publication in kb().publications(doc_key)],
    )


@versions.get("/publications")
@operation(
    "What a document showed",
    tag="versions",
    query={"limit": page_limit(), "before": whole("Only those before this sequence number.", low=1, high=2**63 - 1)},
    answers={200: obj(publications=[Publication], next=int | None)},
)
def list_publications(doc_key: str) -> flask.Response:
    """Answer the publications of a document, newest first."""
    given = arguments()
    limit, before = given["limit"], given["before"]
    found = [each for each in kb().publications(doc_key) if before is None or each.seq < before]
    following = found[limit - 1].seq if len(found) > limit else None
    return flask.jsonify(publications=[to_dict(publication) for publication in found[:limit]], next=following)


@versions.get("/text")
@operation(
    "Text of a document",
    tag="versions",
    query={"version": whole("Of this version, not of the one that is shown.", low=1)},
    answers={200: "text"},
    errors=(Purged,),
)
def show_text(doc_key: str) -> flask.Response:
    """Answer the text: as typed for text entries, else as parsed."""
    return flask.Response(_encoded(kb().text_of(doc_key, arguments()["version"])), mimetype="text/plain")


@versions.get("/versions/<number>")
@operation("A version", tag="versions", answers={200: Version})
def show_version(doc_key: str, number: str) -> flask.Response:
    """Answer one version; a purged one stays as a tombstone."""
    return flask.jsonify(to_dict(kb().version(doc_key, path_number(number))))


@versions.get("/versions/<number>/chunks")
@operation(
    "Chunks of a version",
    tag="versions",
    query={
        "start": whole("Position of the first one.", default=0),
        "limit": whole("Most chunks in the answer.", low=0, high=MOST_CHUNKS, default=50),
        "reading": whole("Which reading of the version; by default the one in use.", low=1),
    },
    answers={200: Preview},
    errors=(Purged,),
)
def list_chunks(doc_key: str, number: str) -> flask.Response:
    """Answer a stretch of a version's text, cut where its chunks are cut; ``total_chunks`` counts all."""
    given = arguments()
    reading = given["reading"]
    found = kb().preview(doc_key, path_number(number), given["start"], given["limit"], reading=reading)
    return flask.jsonify(to_dict(found))


@versions.get("/versions/<number>/original")
@operation(
    "The file of a version",
    tag="versions",
    answers={200: "binary", 206: "binary", 304: None},
    answer_headers={"ETag": "", "Content-Disposition": ""},
    errors=(Purged,),
)
def download_original(doc_key: str, number: str) -> flask.Response:
    """Send the bytes that were uploaded, always as a download that no browser opens by itself."""
    path, name = kb().original(doc_key, path_number(number))
    return flask.send_file(
        path.resolve(), mimetype="application/octet-stream", as_attachment=True, download_name=name, conditional=True
    )


@versions.patch("/versions/<number>")
@operation(
    "Note and label of a version",
    tag="versions",
    role=Role.EDITOR,
    body=obj(
        note=Field(NOTE.schema, "The note; empty removes it."),
        label=Field(LABEL.schema, "The label; empty removes it."),
    ),
    answers={200: Version},
    errors=(Purged,),
)
def describe_version(doc_key: str, number: str) -> flask.Response:
    """Keep the ``note``, the ``label``, or both, of a version; what is not given stays as it is."""
    said = {name: None if text is None else text.strip() for name, text in body().items()}
    if said == {"note": None, "label": None}:
        raise InvalidInput("Give the field 'note', the field 'label', or both.")
    return flask.jsonify(to_dict(kb().annotate(doc_key, path_number(number), **said)))


@versions.post("/versions/<number>/publish")
@operation(
    "Show a version",
    tag="versions",
    role=Role.EDITOR,
    body=obj(note=NOTE),
    body_optional=True,
    answers={200: Publication},
    errors=(Conflict, Purged),
)
def publish_version(doc_key: str, number: str) -> flask.Response:
    """Show a version from now on."""
    return flask.jsonify(to_dict(kb().publish(doc_key, path_number(number), note=body()["note"].strip())))


@versions.put("/versions/<number>/schedule")
@operation(
    "Show a version later",
    tag="versions",
    role=Role.EDITOR,
    body=obj(at=Field(moment("").schema, "When.", required=True, example=moment("").example)),
    answers={200: Version},
    errors=(Conflict, Purged),
)
def schedule_version(doc_key: str, number: str) -> flask.Response:
    """Show a version by itself from the moment ``at`` on."""
    return flask.jsonify(to_dict(kb().schedule(doc_key, path_number(number), body()["at"])))


@versions.delete("/versions/<number>/schedule")
@operation(
    "Show a version no longer later",
    tag="versions",
    role=Role.EDITOR,
    answers={200: Version},
    errors=(Conflict, Purged),
)
def unschedule_version(doc_key: str, number: str) -> flask.Response:
    """Take back the plan to show a version by itself; twice is as once."""
    return flask.jsonify(to_dict(kb().schedule(doc_key, path_number(number), None)))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
