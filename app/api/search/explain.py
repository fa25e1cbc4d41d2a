"""Routes of insight: why a passage was not found, what a text becomes in the index, and the vocabulary."""

from __future__ import annotations

import flask

from app.api.description.describe import Field, obj, operation, whole, words, yes_no
from app.api.description.inputs import FILTERS, KEY_CHARS, QUESTION, SEARCHING, query_of
from app.api.description.reading import arguments, body
from app.context import kb
from core.errors import BadFilter, Conflict, NotFound, QueryTooLong
from core.model import AnalysedText, Role, Vocabulary, WhyNot, to_dict

insight = flask.Blueprint("insight", __name__, url_prefix="/api/v1")

LONGEST_TEXT = 10_000
LONGEST_WORD = 64
MOST_WORDS = 10_000
MOST_GROUPS = 2_000
LONGEST_GROUP = 20

WORD = {"type": "string", "maxLength": LONGEST_WORD}
WORDS = Field(
    {"type": "array", "maxItems": MOST_WORDS, "items": {"type": "array", "maxItems": 2, "items": WORD}},
    "Words that are found as a whole as well: each with its reading, which may be left out.",
    (),
)
SYNONYMS = Field(
    {"type": "array", "maxItems": MOST_GROUPS, "items": {"type": "array", "maxItems": LONGEST_GROUP, "items": WORD}},
    "Groups of words that mean the same.",
    (),
)


@insight.get("/why-not")
@operation(
    "Why a passage was not found",
    tag="insight",
    query={
        "q": QUESTION,
        "doc_key": words("Key of the document that should have been found.", most=KEY_CHARS, least=1, required=True),
        "position": whole("Its passage, from 0; the one that stands best where none is given."),
        "version": whole("Its version; what the question sees where none is given.", low=1),
        **SEARCHING,
        **FILTERS,
    },
    answers={200: WhyNot},
    errors=(BadFilter, QueryTooLong, NotFound, Conflict),
)
def why_not() -> flask.Response:
    """Answer where a passage stands in each search, however deep, what keeps it from the answer, and what would help.

    The codes of ``advice`` and their values: ``raise_top_k`` {top_k}, ``raise_depth`` {depth}, ``raise_per_document``
    {per_document}, ``remove_filter`` {filter, rank}, ``dismiss_filter`` {words, rank}, ``ask_plainly`` {rank},
    ``publish`` {doc, version}, ``restore`` {doc}, ``ask_as_of`` {as_of, rank}, ``ask_now`` {}, ``ask_with_term``
    {term, rank}, ``add_synonym`` {asked, held, rank}. A ``rank`` is where the passage then stood when that was tried.
    """
    given = arguments()
    query = query_of(given["q"], given, given)
    return flask.jsonify(to_dict(kb().insight.why_not(query, given["doc_key"], given["position"], given["version"])))


@insight.post("/analyse")
@operation(
    "What the analyser makes of a text",
    tag="insight",
    body=obj(
        text=words("In English, Japanese or both.", most=LONGEST_TEXT, least=1, required=True),
        written=yes_no("With the vocabulary as it was written last, though the index does not go by it yet."),
    ),
    answers={200: AnalysedText},
)
def analyse() -> flask.Response:
    """Answer the words of a text with their places, readings and terms, and what the keyword index makes of it."""
    given = body()
    return flask.jsonify(to_dict(kb().insight.analyse(given["text"], written=given["written"])))


@insight.get("/vocabulary")
@operation("The vocabulary", tag="insight", answers={200: Vocabulary})
def show_vocabulary() -> flask.Response:
    """Answer the words and synonyms as they were written last; they are in effect where both numbers are equal."""
    return flask.jsonify(to_dict(kb().insight.vocabulary()))


@insight.put("/vocabulary")
@operation(
    "Replace the vocabulary",
    tag="insight",
    role=Role.EDITOR,
    body=obj(words=WORDS, synonyms=SYNONYMS),
    answers={200: Vocabulary},
)
def replace_vocabulary() -> flask.Response:
    """Keep words and synonyms instead of the present ones; they take effect when the index has been built anew."""
    given = body()
    return flask.jsonify(to_dict(kb().insight.set_vocabulary(given["words"], given["synonyms"])))


@insight.post("/vocabulary/reindex")
@operation(
    "Have the vocabulary take effect",
    tag="insight",
    role=Role.ADMIN,
    answers={202: obj(job_id=str)},
)
def reindex_words() -> tuple[flask.Response, int]:
    """Queue the job that builds the keyword index anew; the present one serves until that has ended."""
    return flask.jsonify(job_id=kb().insight.reindex_words()), 202
