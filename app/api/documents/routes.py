"""Routes of documents: list, tag, take away, bring back, and remove for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask

from app.api.description.describe import obj, one_of, operation, texts, words, yes_no
from app.api.description.fields import tag_list
from app.api.description.inputs import KEY_CHARS, NOTE, TAGS, VERSION, page_limit
from app.api.description.reading import arguments, body
from app.context import kb
from core.errors import Conflict, InvalidInput, Purged
from core.model import Document, Publication, Role, to_dict

documents = flask.Blueprint("documents", __name__, url_prefix="/api/v1")

STATES = ("published", "indexing", "failed", "deleted", "purged", "unpublished", "draft")
GONE = ("deleted", "purged")


def _publication(summary: str) -> Callable[..., Any]:
    """Describe a route that changes what is shown, with a note for the timeline."""
    return operation(
        summary,
        tag="documents",
        role=Role.EDITOR,
        body=obj(note=NOTE),
        body_optional=True,
        answers={200: Publication},
        errors=(Conflict,),
    )


@documents.get("/documents")
@operation(
    "Documents",
    tag="documents",
    query={
        "search": words("Literal text in the name, the title or a tag.", most=1_000),
        "tag": texts("Only documents with all of these tags.", most=32, chars=KEY_CHARS),
        "extension": texts("Only files of these types, such as `pdf`.", most=32, chars=32),
        "state": one_of("Only documents in this state.", *STATES),
        "deleted": yes_no("Deleted and purged documents as well."),
        "limit": page_limit(),
        "after": words("Go on after this key.", most=KEY_CHARS),
    },
    answers={200: obj(documents=[Document], total=int, next=str | None)},
)
def list_documents() -> flask.Response:
    """Answer documents by their keys; ``total`` counts all that fit."""
    given = arguments()
    page, total, has_more = kb().documents_page(
        given["search"],
        include_deleted=given["deleted"] or given["state"] in GONE,
        tags=given["tag"],
        extensions=[kind.lower().lstrip(".") for kind in given["extension"]],
        state=given["state"],
        after=given["after"],
        limit=given["limit"],
    )
    following = page[-1].doc_key if has_more else None
    return flask.jsonify(documents=[to_dict(document) for document in page], total=total, next=following)


@documents.get("/documents/<doc_key:doc_key>")
@operation("A document", tag="documents", answers={200: Document})
def show_document(doc_key: str) -> flask.Response:
    """Answer one document, also a deleted or purged one."""
    return flask.jsonify(to_dict(kb().document(doc_key)))


@documents.get("/tags")
@operation("Tags", tag="documents", answers={200: obj(tags=[str])})
def list_tags() -> flask.Response:
    """Answer every tag that a document has."""
    return flask.jsonify(tags=kb().tags())


@documents.put("/documents/<doc_key:doc_key>/tags")
@operation("Tags of a document", tag="documents", role=Role.EDITOR, body=obj(tags=TAGS), answers={200: Document})
def set_tags(doc_key: str) -> flask.Response:
    """Give a document these tags and no others."""
    return flask.jsonify(to_dict(kb().set_tags(doc_key, tag_list(body()["tags"]))))


@documents.delete("/documents/<doc_key:doc_key>")
@operation("Delete a document", tag="documents", role=Role.EDITOR, answers={200: Publication}, errors=(Conflict,))
def delete_document(doc_key: str) -> flask.Response:
    """Take a document out of the list and out of every answer; ``restore`` brings it back. Twice is as once."""
    if kb().document(doc_key).state in GONE:
        return _done(kb().publications(doc_key)[0])
    return _done(kb().delete(doc_key))


@documents.post("/documents/<doc_key:doc_key>/delete")
@_publication("Delete a document, with a note")
def delete(doc_key: str) -> flask.Response:
    """Take a document out of the list and out of every answer; ``restore`` brings it back."""
    return _done(kb().delete(doc_key, note=body()["note"].strip()))


@documents.post("/documents/<doc_key:doc_key>/restore")
@_publication("Bring a document back")
def restore(doc_key: str) -> flask.Response:
    """Show again what a deleted or unpublished document showed last."""
    return _done(kb().restore(doc_key, note=body()["note"].strip()))


@documents.post("/documents/<doc_key:doc_key>/unpublish")
@_publication("Show nothing of a document")
def unpublish(doc_key: str) -> flask.Response:
    """Show nothing of the document; it stays listed."""
    return _done(kb().unpublish(doc_key, note=body()["note"].strip()))


@documents.post("/documents/<doc_key:doc_key>/rollback")
@operation(
    "Go back to an older version",
    tag="documents",
    role=Role.EDITOR,
    body=obj(version=VERSION, note=NOTE),
    body_optional=True,
    answers={200: Publication},
    errors=(Conflict, Purged),
)
def roll_back(doc_key: str) -> flask.Response:
    """Show again ``version``, or what was shown before."""
    given = body()
    return _done(kb().rollback(doc_key, given["version"], note=given["note"].strip()))


@documents.post("/documents/<doc_key:doc_key>/purge")
@operation(
    "Remove for good",
    tag="documents",
    role=Role.ADMIN,
    body=obj(confirm=words("The key of the document.", most=KEY_CHARS, required=True), version=VERSION, note=NOTE),
    answers={200: Publication},
    errors=(Conflict, Purged),
)
def purge(doc_key: str) -> flask.Response:
    """Remove ``version``, or all of them, for good; ``confirm`` must repeat the key of the document."""
    given = body()
    if given["confirm"] != kb().document(doc_key).doc_key:
        raise InvalidInput(
            "Nothing was removed: the field 'confirm' must hold the key of the document.",
            remedy="Repeat the key of the document in 'confirm'; what is removed cannot be brought back.",
        )
    return _done(kb().purge(doc_key, given["version"], note=given["note"].strip()))


def _done(publication: Publication) -> flask.Response:
    return flask.jsonify(to_dict(publication))
