"""Routes of conversations: questions that follow each other; everyone has their own, administrators see all."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, one_of, operation, words
from app.api.description.inputs import page_limit
from app.api.description.reading import arguments, body
from app.context import kb
from core.errors import NotFound
from core.model import Conversation, Turn, to_dict

conversations = flask.Blueprint("conversations", __name__, url_prefix="/api/v1/conversations")

TITLE_CHARS = 200
TITLE = words("What people call it; without one its first question.", most=TITLE_CHARS)
NAMES = {"md": "conversation.md", "json": "conversation.json"}
MEDIA = {"md": "text/markdown", "json": "application/json"}


@conversations.get("")
@operation(
    "Conversations",
    tag="conversations",
    query={
        "limit": page_limit(100),
        "before": words("Only those that follow the one with this id in the list.", most=64),
        "search": words("Words that stand in the title, or in one of the questions.", most=1_000),
    },
    answers={200: obj(conversations=[Conversation], next=str | None)},
    errors=(NotFound,),
)
def list_conversations() -> flask.Response:
    """Answer the conversations, those that were gone on with last first."""
    given = arguments()
    limit = given["limit"]
    found = kb().conversations.list(limit + 1, given["before"], given["search"])
    following = found[limit - 1].id if len(found) > limit else None
    return flask.jsonify(conversations=[to_dict(each) for each in found[:limit]], next=following)


@conversations.post("")
@operation(
    "Begin a conversation",
    tag="conversations",
    body=obj(title=TITLE),
    body_optional=True,
    answers={201: Conversation},
)
def begin_conversation() -> tuple[flask.Response, int]:
    """Begin a conversation; questions that are asked with its id follow each other."""
    return flask.jsonify(to_dict(kb().conversations.create(body()["title"]))), 201


@conversations.get("/<conversation_id>")
@operation(
    "One conversation",
    tag="conversations",
    answers={200: obj(conversation=Conversation, turns=[Turn])},
)
def show_conversation(conversation_id: str) -> flask.Response:
    """Answer a conversation with its questions, oldest first; their accounts are at ``/traces/{trace_id}``."""
    found = kb().conversations.get(conversation_id)
    turns = kb().conversations.turns(conversation_id)
    return flask.jsonify(conversation=to_dict(found), turns=[to_dict(turn) for turn in turns])


@conversations.patch("/<conversation_id>")
@operation(
    "Rename a conversation",
    tag="conversations",
    body=obj(title=words("What people call it.", most=TITLE_CHARS, least=1, required=True)),
    answers={200: Conversation},
)
def rename_conversation(conversation_id: str) -> flask.Response:
    """Give a conversation another name."""
    return flask.jsonify(to_dict(kb().conversations.rename(conversation_id, body()["title"])))


@conversations.delete("/<conversation_id>")
@operation("Forget a conversation", tag="conversations", answers={204: None})
def forget_conversation(conversation_id: str) -> tuple[str, int]:
    """Forget a conversation; its questions stay in the history."""
    kb().conversations.delete(conversation_id)
    return "", 204


@conversations.get("/<conversation_id>/export")
@operation(
    "A conversation as a download",
    tag="conversations",
    query={"form": one_of("Markdown, or JSON with all citations.", "md", "json", default="md")},
    answers={200: ("text/markdown", obj(conversation=Conversation, turns=[{"type": "object"}]))},
    answer_headers={"Content-Disposition": ""},
)
def export_conversation(conversation_id: str) -> flask.Response:
    """Send a conversation with its answers and what they cite."""
    form = arguments()["form"]
    response = flask.Response(kb().conversations.export(conversation_id, form), mimetype=MEDIA[form])
    response.headers.set("Content-Disposition", "attachment", filename=NAMES[form])
    return response
