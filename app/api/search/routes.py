"""Routes of questions that are asked now: search, ask, and what another version changes in the answers."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, operation, whole, words, yes_no
from app.api.description.inputs import FILTERS, FILTERS_OBJECT, QUESTION, REF, SEARCHING, query_of, ref_of
from app.api.description.reading import arguments, body, path_number
from app.api.events.streams import answer_events, wants_events
from app.api.system.waiting import room_to_write
from app.context import kb, rag
from core.errors import BadFilter, Conflict, DiskFull, ModelUnavailable, NotFound, QueryTooLong, QuotaExceeded
from core.model import AnswerComparison, Impact, Query, Role, SavedQuestion, Trace, to_dict

search = flask.Blueprint("search", __name__, url_prefix="/api/v1")

ASKED = obj({"question": QUESTION, **SEARCHING, "filters": FILTERS_OBJECT}, optional=("filters",))
KEPT = obj(
    {"question": QUESTION, **SEARCHING, "filters": FILTERS_OBJECT},
    keep=yes_no("Keep it in the history.", default=True),
    record=yes_no("Have spiking neurons write it (`snn`, where no generator is named), and record what they do."),
    optional=("filters",),
)
REFUSALS = (BadFilter, QueryTooLong, NotFound, Conflict, ModelUnavailable)
MOST_IMPACTS = 50


@search.get("/search")
@operation(
    "Search",
    tag="questions",
    query={"q": QUESTION, **SEARCHING, **FILTERS},
    answers={200: Trace},
    errors=REFUSALS,
)
def search_by_address() -> flask.Response:
    """Answer the passages that fit, best first: ``hits`` with their rank, score and share in both searches, and terms.

    ``vector`` scores are L2 distances (smaller is closer), ``keyword`` scores BM25 (larger is better) with what each
    term added; ``contribution`` is a search's share of the fused ``score``. The history does not keep it.
    """
    given = arguments()
    return flask.jsonify(to_dict(rag().search(query_of(given["q"], given, given))))


@search.post("/search")
@operation("Search, asked as JSON", tag="questions", body=ASKED, answers={200: Trace}, errors=REFUSALS)
def search_by_body() -> flask.Response:
    """Answer what ``GET`` answers."""
    return flask.jsonify(to_dict(rag().search(asked_query(body()))))


@search.post("/ask")
@operation(
    "Ask",
    tag="questions",
    body=KEPT,
    answers={200: (Trace, "event-stream")},
    errors=(*REFUSALS, QuotaExceeded, DiskFull),
)
def ask() -> flask.Response:
    """Answer a question from the documents, with citations and everything that happened on the way.

    With ``Accept: text/event-stream`` it comes as it is found: ``analysis``, ``passages``, ``writing`` (what a
    generator writes, not yet held against the passages), ``answer``, ``done``. Where the same was asked before of the
    same documents, the kept answer is given, and ``cache`` names its question. Where it was recorded,
    ``generation.recording`` has the ``id`` of the recording, or an ``error``.

    A generator that is down, fails, writes nothing or takes too long does not fail the request: the answer is then
    extracted, and ``answer.generator_failure`` names the generator, its error and what to do next. Such an answer is
    never given again from the cache.
    """
    given = body()
    query = asked_query(given)
    if wants_events():
        return answer_events(query, keep=given["keep"])
    with room_to_write(query):
        return flask.jsonify(to_dict(rag().ask(query, keep=given["keep"])))


@search.delete("/cached-answers")
@operation("Forget kept answers", tag="questions", role=Role.ADMIN, answers={200: obj(forgotten=int)})
def forget_answers() -> flask.Response:
    """Answer every question afresh from now on."""
    return flask.jsonify(forgotten=kb().forget_answers())


@search.post("/compare-answers")
@operation(
    "Ask one question of two versions",
    tag="questions",
    body=obj(
        question=QUESTION,
        old=REF,
        new=REF,
        alone=yes_no("Of nothing but the two documents; else beside all others as they are shown.", default=True),
        top_k=SEARCHING["top_k"],
    ),
    answers={200: AnswerComparison},
    errors=REFUSALS,
)
def compare_answers() -> flask.Response:
    """Answer both answers, and which passages came, went or moved, and why. The history keeps neither."""
    given = body()
    old, new = ref_of(given["old"]), ref_of(given["new"])
    with room_to_write():
        found = rag().compare_answers(given["question"], old, new, alone=given["alone"], top_k=given["top_k"])
    return flask.jsonify(to_dict(found))


@search.get("/documents/<doc_key:doc_key>/versions/<number>/impact")
@operation(
    "What publishing a version would change",
    tag="questions",
    query={
        "limit": whole("Most saved questions asked.", low=1, high=MOST_IMPACTS, default=10),
        "after": words("Go on after the saved question with this id.", most=64),
    },
    answers={200: obj(impacts=[Impact], next=str | None)},
    errors=REFUSALS,
)
def show_impact(doc_key: str, number: str) -> flask.Response:
    """Answer, for each saved question, its answer now and after publishing. Each is asked twice, so pages are short."""
    given = arguments()
    saved, following = page_of(kb().saved_questions(), given["after"], given["limit"])
    with room_to_write():
        found = list(rag().impact(doc_key, path_number(number), saved))
    return flask.jsonify(impacts=[to_dict(impact) for impact in found], next=following)


def asked_query(given: dict[str, object]) -> Query:
    """Return the query of a body."""
    return query_of(str(given["question"]), given, given["filters"])  # type: ignore[arg-type]


def page_of(saved: list[SavedQuestion], after: str, limit: int) -> tuple[list[SavedQuestion], str | None]:
    """Return the questions after the one with the id ``after``, and the ``after`` of the next page.

    Raises: ``NotFound`` where there is no such question any more.
    """
    places = [place for place, question in enumerate(saved, 1) if question.id == after]
    if after and not places:
        raise NotFound("This question is not among the saved ones.", remedy="Begin again without “after”.")
    rest = saved[places[0] :] if places else saved
    return rest[:limit], rest[limit - 1].id if len(rest) > limit else None
