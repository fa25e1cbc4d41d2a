"""Routes of evaluation: question sets, runs of them, what differs between two, and the gate before publishing."""

from __future__ import annotations

from pathlib import PurePath

import flask

from app.api.description.describe import Field, Form, obj, one_of, operation, texts, whole, words, yes_no
from app.api.description.fields import flag
from app.api.description.inputs import FILTERS_OBJECT, SEARCHING, page_limit, query_of
from app.api.description.reading import arguments, body, path_number
from app.api.documents.receiving import received_file
from app.context import kb
from core.errors import BadFilter, Conflict, NotFound, Purged, TooLarge
from core.model import (
    EvaluationRun,
    GateVerdict,
    JudgedQuestion,
    QuestionOutcome,
    QuestionSet,
    Right,
    Role,
    RunComparison,
    to_dict,
)

evaluations = flask.Blueprint("evaluations", __name__, url_prefix="/api/v1")

MOST_SET_BYTES = 16 * 1024 * 1024
MOST_QUESTIONS = 10_000
ID_CHARS = 64
NAME_CHARS = 200
FORMS = ("csv", "jsonl")
MEDIA_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson"}
SET_ID = Field({"type": "string", "minLength": 1}, "Id of a question set.")
RUN_ID = Field({"type": "string", "minLength": 1}, "Id of a run.")
FORM = one_of("How the file is written.", *FORMS)
SHARED = yes_no("Everybody sees it, not its owner and administrators alone.", default=True)


# ---- question sets


@evaluations.get("/question-sets")
@operation("Question sets", tag="evaluation", answers={200: obj(sets=[QuestionSet])})
def list_sets() -> flask.Response:
    """Answer the question sets that the caller sees by name."""
    return flask.jsonify(sets=[to_dict(each) for each in kb().evaluations.sets()])


@evaluations.post("/question-sets")
@operation(
    "Import a question set",
    tag="evaluation",
    role=Role.EDITOR,
    body=Form(
        {"name": words("What it is called; by default as the file.", most=NAME_CHARS), "form": FORM, "shared": SHARED}
    ),
    answers={201: QuestionSet},
    errors=(Conflict, TooLarge),
)
def import_set() -> tuple[flask.Response, int]:
    """Keep a file of questions as a set, all of it or nothing; an error names the line.

    CSV has a header with `question` and, as wished, `id`, `doc`, `answers` and `answerable`; several documents or
    answers in a cell are separated by `|`. JSONL has an object with these fields a line.
    """
    file = received_file()
    given = PurePath(file.filename or "")
    name = flask.request.form.get("name", "").strip() or given.stem
    form = flask.request.form.get("form", "") or ("csv" if given.suffix.lower() in (".csv", ".tsv") else "jsonl")
    data = file.stream.read(MOST_SET_BYTES + 1)
    is_shared = "shared" not in flask.request.form or flag(flask.request.form, "shared")
    return flask.jsonify(to_dict(kb().evaluations.import_set(name, data, form, shared=is_shared))), 201


@evaluations.post("/question-sets/from-history")
@operation(
    "Make a question set of asked questions",
    tag="evaluation",
    role=Role.EDITOR,
    body=obj(
        name=words("What it is called.", most=NAME_CHARS, least=1, required=True),
        trace_ids=texts("Questions of the history.", most=MOST_QUESTIONS, chars=ID_CHARS, required=True),
        shared=SHARED,
    ),
    answers={201: QuestionSet},
    errors=(Conflict, NotFound, Purged),
)
def set_from_history() -> tuple[flask.Response, int]:
    """Keep questions that were asked as a set, where what each answer cited and said counts as right.

    Left out are those that rest on private documents, those about the knowledge base itself, and follow-up questions.
    """
    given = body()
    kept = kb().evaluations.set_from_history(given["name"], given["trace_ids"], shared=given["shared"])
    return flask.jsonify(to_dict(kept)), 201


@evaluations.get("/question-sets/<set_id>")
@operation("A question set", tag="evaluation", path={"set_id": SET_ID}, answers={200: QuestionSet})
def show_set(set_id: str) -> flask.Response:
    """Answer one question set, without its questions."""
    return flask.jsonify(to_dict(kb().evaluations.set_of(set_id)))


@evaluations.patch("/question-sets/<set_id>")
@operation(
    "Have a question set asked before publishing, or shared",
    tag="evaluation",
    role=Role.EDITOR,
    path={"set_id": SET_ID},
    body=obj(
        gates=Field({"type": "boolean"}, "Whether it is asked before a draft is published."),
        shared=Field({"type": "boolean"}, "Whether everybody sees it, or its owner and administrators alone."),
    ),
    answers={200: QuestionSet},
    errors=(Conflict,),
)
def change_set(set_id: str) -> flask.Response:
    """Change what is given: whether a set is asked before a draft is published, as only small ones can be, or shared.

    Its owner and administrators decide who sees a set; one without an owner is everybody's.
    """
    given = body()
    changed = kb().evaluations.set_of(set_id)
    if given["shared"] is not None:
        changed = kb().evaluations.share_set(set_id, given["shared"])
    if given["gates"] is not None:
        changed = kb().evaluations.set_gate(set_id, given["gates"])
    return flask.jsonify(to_dict(changed))


@evaluations.delete("/question-sets/<set_id>")
@operation("Delete a question set", tag="evaluation", role=Role.EDITOR, path={"set_id": SET_ID}, answers={204: None})
def delete_set(set_id: str) -> tuple[str, int]:
    """Delete a set with all its runs; one that is going on ends."""
    kb().evaluations.delete_set(set_id)
    return "", 204


@evaluations.get("/question-sets/<set_id>/questions")
@operation(
    "Questions of a set",
    tag="evaluation",
    path={"set_id": SET_ID},
    query={"limit": page_limit(), "after": whole("Go on after this many.", low=0, default=0)},
    answers={200: obj(questions=[JudgedQuestion], next=int | None)},
)
def list_set_questions(set_id: str) -> flask.Response:
    """Answer the questions of a set in their order, with what answers each."""
    limit, after = arguments()["limit"], arguments()["after"]
    found = kb().evaluations.questions(set_id, limit + 1, after)
    following = after + limit if len(found) > limit else None
    return flask.jsonify(questions=[to_dict(question) for question in found[:limit]], next=following)


@evaluations.get("/question-sets/<set_id>/export")
@operation(
    "A question set as a file",
    tag="evaluation",
    path={"set_id": SET_ID},
    query={"form": one_of("How the file is written.", *FORMS, default="csv")},
    answers={200: tuple(MEDIA_TYPES.values())},
    answer_headers={"Content-Disposition": ""},
)
def export_set(set_id: str) -> flask.Response:
    """Send a set as a file that can be imported; what a spreadsheet would take for a formula is sent as text."""
    form = arguments()["form"]
    response = flask.Response(kb().evaluations.export_set(set_id, form), mimetype=MEDIA_TYPES[form])
    response.headers.set("Content-Disposition", "attachment", filename=f"evorag-questions.{form}")
    return response


# ---- answers marked as wrong


@evaluations.post("/traces/<trace_id>/wrong")
@operation(
    "Mark an answer as wrong",
    tag="evaluation",
    body=obj(
        chunk_id=whole(
            "The passage, of those that the question found, that would have been right.", low=0, high=2**63 - 1
        ),
        doc_key=words("The document that would have been right, where its passage was not found.", most=1_024),
        is_nowhere=yes_no("No document tells.", default=False),
        note=words("What is wrong with the answer.", most=500),
        text=words("The question, as it is to be kept.", most=4_000),
    ),
    answers={200: JudgedQuestion},
    errors=(NotFound, Purged),
)
def mark_wrong(trace_id: str) -> flask.Response:
    """Put the question into the question set of wrong answers, with what would have been right where that is known.

    Marked again, it is judged anew. A follow-up question needs `text`: words that stand by themselves.
    """
    given = body()
    right = Right(given["chunk_id"], given["doc_key"] or "", bool(given["is_nowhere"]))
    kept = kb().evaluations.mark_wrong(trace_id, right, given["note"] or "", given["text"] or "")
    return flask.jsonify(to_dict(kept))


@evaluations.get("/traces/<trace_id>/wrong")
@operation(
    "How an answer was marked as wrong",
    tag="evaluation",
    answers={200: obj(marked=JudgedQuestion | None)},
    errors=(NotFound, Purged),
)
def show_marked_wrong(trace_id: str) -> flask.Response:
    """Answer what was kept, null where the answer is not marked."""
    marked = kb().evaluations.marked_wrong(trace_id)
    return flask.jsonify(marked=None if marked is None else to_dict(marked))


@evaluations.delete("/traces/<trace_id>/wrong")
@operation("Take back that an answer is wrong", tag="evaluation", answers={204: None}, errors=(NotFound, Purged))
def unmark_wrong(trace_id: str) -> tuple[str, int]:
    """Take the question out of the set of wrong answers."""
    kb().evaluations.unmark_wrong(trace_id)
    return "", 204


# ---- runs


@evaluations.get("/evaluations")
@operation(
    "Runs of question sets",
    tag="evaluation",
    query={"set": words("Only those of this set.", most=ID_CHARS), "limit": page_limit()},
    answers={200: obj(runs=[EvaluationRun])},
    errors=(NotFound,),
)
def list_runs() -> flask.Response:
    """Answer the newest runs, newest first, each with its settings and its measures."""
    given = arguments()
    found = kb().evaluations.runs(given["set"] or None, given["limit"])
    return flask.jsonify(runs=[to_dict(run) for run in found])


@evaluations.post("/evaluations")
@operation(
    "Run a question set",
    tag="evaluation",
    role=Role.EDITOR,
    body=obj(
        {
            "set_id": words("The question set.", most=ID_CHARS, least=1, required=True),
            "label": words("What people call the run.", most=NAME_CHARS),
            **SEARCHING,
            "filters": FILTERS_OBJECT,
        },
        optional=("filters",),
    ),
    answers={202: EvaluationRun},
    answer_headers={"Location": "The run, with how far it is."},
    errors=(BadFilter, Conflict, NotFound),
)
def start_run() -> tuple[flask.Response, int, dict[str, str]]:
    """Ask every question of a set in the background, with these settings and with the eyes of the public.

    One run is asked at a time; no answer comes from the cache, and the history keeps none.
    """
    given = body()
    query = query_of("", given, given["filters"])
    run = kb().evaluations.run(given["set_id"], query, given["label"])
    return flask.jsonify(to_dict(run)), 202, {"Location": f"/api/v1/evaluations/{run.id}"}


@evaluations.get("/evaluations/compare")
@operation(
    "What differs between two runs",
    tag="evaluation",
    query={
        "old": words("A run.", most=ID_CHARS, least=1, required=True),
        "new": words("Another run of the same set.", most=ID_CHARS, least=1, required=True),
    },
    answers={200: RunComparison},
    errors=(Conflict, NotFound),
)
def compare_runs() -> flask.Response:
    """Answer each measure of both runs with the 95 % bootstrap interval of its difference, and which questions changed.

    A difference is significant where its interval does not hold 0.
    """
    given = arguments()
    return flask.jsonify(to_dict(kb().evaluations.compare(given["old"], given["new"])))


@evaluations.get("/evaluations/<run_id>")
@operation("A run", tag="evaluation", path={"run_id": RUN_ID}, answers={200: EvaluationRun})
def show_run(run_id: str) -> flask.Response:
    """Answer one run: how far it is, and its measures once it is done."""
    return flask.jsonify(to_dict(kb().evaluations.run_of(run_id)))


@evaluations.post("/evaluations/<run_id>/cancel")
@operation("Cancel a run", tag="evaluation", role=Role.EDITOR, path={"run_id": RUN_ID}, answers={200: EvaluationRun})
def cancel_run(run_id: str) -> flask.Response:
    """End a run that is going on; what was asked stays. Twice is as once."""
    return flask.jsonify(to_dict(kb().evaluations.cancel(run_id)))


@evaluations.delete("/evaluations/<run_id>")
@operation(
    "Delete a run",
    tag="evaluation",
    role=Role.EDITOR,
    path={"run_id": RUN_ID},
    answers={204: None},
    errors=(Conflict,),
)
def delete_run(run_id: str) -> tuple[str, int]:
    """Delete a run that is over, with all that its questions got."""
    kb().evaluations.delete_run(run_id)
    return "", 204


@evaluations.get("/evaluations/<run_id>/outcomes")
@operation(
    "What the questions of a run got",
    tag="evaluation",
    path={"run_id": RUN_ID},
    query={
        "limit": page_limit(100),
        "after": whole("Go on after this many.", low=0, default=0),
        "failures_first": yes_no("Begin with what went wrong.", default=True),
    },
    answers={200: obj(outcomes=[QuestionOutcome], next=int | None)},
)
def list_outcomes(run_id: str) -> flask.Response:
    """Answer the questions with their ranks and answers; the account of a failure is at ``/traces/{trace_id}``."""
    given = arguments()
    limit, after = given["limit"], given["after"]
    found = kb().evaluations.outcomes(run_id, limit + 1, after, given["failures_first"])
    following = after + limit if len(found) > limit else None
    return flask.jsonify(outcomes=[to_dict(outcome) for outcome in found[:limit]], next=following)


# ---- before a draft is published


@evaluations.get("/documents/<doc_key:doc_key>/versions/<number>/gate")
@operation(
    "Whether publishing a version would make results worse",
    tag="evaluation",
    role=Role.EDITOR,
    answers={200: obj(verdicts=[GateVerdict])},
    errors=(Conflict, Purged),
)
def show_gate(doc_key: str, number: str) -> flask.Response:
    """Ask every set that gates publishing as things are and with the version shown, and answer what would change.

    A verdict warns, with its reasons, where a measure drops significantly or a right answer becomes a wrong one. It
    forbids nothing.
    """
    found = kb().evaluations.gate(doc_key, path_number(number))
    return flask.jsonify(verdicts=[to_dict(verdict) for verdict in found])
