"""Routes of versions: what there are, which one is shown, what is planned, and what is removed for good."""

from __future__ import annotations

import flask

from app.api.fields import LABEL_CHARS, NOTE_CHARS, json_object, moment, optional_json, short_text, whole_number
from app.context import kb
from core.errors import InvalidInput
from core.model import Publication, to_dict

versions = flask.Blueprint("versions", __name__, url_prefix="/api/v1/documents/<path:doc_key>")


@versions.get("/versions")
def list_versions(doc_key: str) -> flask.Response:
    """Answer the versions of a document and what it has shown, both newest first."""
    return flask.jsonify(
        document=to_dict(kb().document(doc_key)),
        versions=[to_dict(version) for version in kb().versions(doc_key)],
        publications=[to_dict(publication) for publication in kb().publications(doc_key)],
    )


@versions.patch("/versions/<number>")
def describe_version(doc_key: str, number: str) -> flask.Response:
    """Keep the ``note``, the ``label``, or both, of a version; what is not given stays as it is."""
    body = json_object()
    if not {"note", "label"} & body.keys():
        raise InvalidInput("Give the field 'note', the field 'label', or both.")
    note = short_text(body, "note", NOTE_CHARS) if "note" in body else None
    label = short_text(body, "label", LABEL_CHARS) if "label" in body else None
    return flask.jsonify(to_dict(kb().annotate(doc_key, _number(number), note=note, label=label)))


@versions.post("/versions/<number>/publish")
def publish_version(doc_key: str, number: str) -> flask.Response:
    """Show a version from now on, or from the moment ``at``; ``at`` null takes that plan back."""
    body = optional_json()
    if "at" in body:
        return flask.jsonify(to_dict(kb().schedule(doc_key, _number(number), moment(body, "at"))))
    return _done(kb().publish(doc_key, _number(number), note=short_text(body, "note", NOTE_CHARS)))


@versions.post("/rollback")
def roll_back(doc_key: str) -> flask.Response:
    """Show again ``version``, or what was shown before."""
    body = optional_json()
    return _done(kb().rollback(doc_key, _version(body.get("version")), note=short_text(body, "note", NOTE_CHARS)))


@versions.post("/unpublish")
def unpublish(doc_key: str) -> flask.Response:
    """Show nothing of the document; it stays listed."""
    return _done(kb().unpublish(doc_key, note=short_text(optional_json(), "note", NOTE_CHARS)))


@versions.post("/restore")
def restore(doc_key: str) -> flask.Response:
    """Show again what a deleted or unpublished document showed last."""
    return _done(kb().restore(doc_key))


@versions.post("/delete")
def delete(doc_key: str) -> flask.Response:
    """Take the document out of the list and out of every answer; ``restore`` brings it back."""
    return _done(kb().delete(doc_key))


@versions.post("/purge")
def purge(doc_key: str) -> flask.Response:
    """Remove ``version``, or all of them, for good; ``confirm`` must repeat the key of the document."""
    body = json_object()
    if body.get("confirm") != kb().document(doc_key).doc_key:
        raise InvalidInput(
            "Nothing was removed: the field 'confirm' must hold the key of the document.",
            remedy="Repeat the key of the document in 'confirm'; what is removed cannot be brought back.",
        )
    return _done(kb().purge(doc_key, _version(body.get("version")), note=short_text(body, "note", NOTE_CHARS)))


def _done(publication: Publication) -> flask.Response:
    return flask.jsonify(to_dict(publication))


def _number(given: str) -> int:
    return whole_number(given, "version", default=1, low=1, high=2**31 - 1)


def _version(given: object) -> int | None:
    """The version that a body names, if it names one. Raises: ``InvalidInput``."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given < 2**31:
        raise InvalidInput("The field 'version' must be a whole number from 1.")
    return given
