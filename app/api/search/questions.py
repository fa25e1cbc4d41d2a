"""Routes of questions: those that were asked, with their accounts, and those whose answers are watched."""

from __future__ import annotations

from urllib.parse import quote

import flask

from app.api.description.describe import Field, obj, operation, words, yes_no
from app.api.description.inputs import page_limit
from app.api.description.reading import arguments, body
from app.context import kb
from core.errors import Conflict, NotFound, Purged, QueryTooLong
from core.model import Role, SavedQuestion, Trace, TraceSummary, to_dict

questions = flask.Blueprint("questions", __name__, url_prefix="/api/v1")


@questions.get("/questions")
@operation(
    "Questions that were asked",
    tag="questions",
    query={
        "limit": page_limit(100),
        "before": words("Only those asked before the one with this id.", most=64),
        "search": words("Words that each stand somewhere in the question.", most=1_000),
    },
    answers={200: obj(questions=[TraceSummary], next=str | None)},
    errors=(NotFound,),
)
def list_questions() -> flask.Response:
    """Answer the history, newest first; the whole account of each is at ``/traces/{trace_id}``."""
    given = arguments()
    limit = given["limit"]
    found = kb().history(limit + 1, given["before"], given["search"])
    following = found[limit - 1].id if len(found) > limit else None
    return flask.jsonify(questions=[to_dict(summary) for summary in found[:limit]], next=following)


@questions.get("/traces/<trace_id>")
@operation("The account of a question", tag="questions", answers={200: Trace}, errors=(Purged,))
def show_trace(trace_id: str) -> flask.Response:
    """Answer everything that happened while a question was answered."""
    return flask.jsonify(to_dict(kb().trace(trace_id)))


@questions.get("/traces/<trace_id>.json")
@operation(
    "The account of a question as a download",
    tag="questions",
    answers={200: Trace},
    answer_headers={"Content-Disposition": ""},
    errors=(Purged,),
)
def download_trace(trace_id: str) -> flask.Response:
    """Send everything that happened while a question was answered."""
    response = flask.jsonify(to_dict(kb().trace(trace_id)))
    response.headers.set("Content-Disposition", "attachment", filename=f"evorag-trace-{quote(trace_id, safe='')}.json")
    return response


@questions.get("/saved-questions")
@operation("Questions that are watched", tag="questions", answers={200: obj(questions=[SavedQuestion])})
def list_saved() -> flask.Response:
    """Answer the saved questions that the caller sees, oldest first."""
    return flask.jsonify(questions=[to_dict(question) for question in kb().saved_questions()])


@questions.post("/saved-questions")
@operation(
    "Watch a question",
    tag="questions",
    role=Role.EDITOR,
    body=obj(
        text=Field({"type": "string", "minLength": 1}, "The question.", required=True),
        shared=yes_no("Everybody sees it, not its owner and administrators alone.", default=True),
    ),
    answers={201: SavedQuestion, 200: SavedQuestion},
    errors=(QueryTooLong,),
)
def save_question() -> tuple[flask.Response, int]:
    """Keep a question: 201, or 200 where it was kept already."""
    known = {question.id for question in kb().saved_questions()}
    given = body()
    saved = kb().save_question(given["text"], shared=given["shared"])
    return flask.jsonify(to_dict(saved)), 200 if saved.id in known else 201


@questions.patch("/saved-questions/<question_id>")
@operation(
    "Share a saved question",
    tag="questions",
    role=Role.EDITOR,
    body=obj(shared=Field({"type": "boolean"}, "Whether everybody sees it, or its owner alone.", required=True)),
    answers={200: SavedQuestion},
    errors=(Conflict,),
)
def share_question(question_id: str) -> flask.Response:
    """Show a saved question to everybody, or to its owner and administrators alone, who decide that."""
    return flask.jsonify(to_dict(kb().share_question(question_id, body()["shared"])))


@questions.delete("/saved-questions/<question_id>")
@operation("Watch a question no longer", tag="questions", role=Role.EDITOR, answers={204: None})
def forget_question(question_id: str) -> tuple[str, int]:
    """Forget a saved question."""
    kb().forget_question(question_id)
    return "", 204
