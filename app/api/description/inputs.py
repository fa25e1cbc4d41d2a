"""The values that several routes take, each described once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.api.description.describe import Field, moment, number, obj, one_of, texts, whole, words, yes_no
from app.api.description.fields import LABEL_CHARS, NOTE_CHARS, TAG_CHARS, TAGS_LIMIT
from app.context import kb
from core.errors import BadFilter
from core.model import Filters, Query, VersionRef, parse_as_of, zone_named

MOST_ROWS = 1_000
MOST_FILTER_VALUES = 1_000
KEY_CHARS = 1_024
AS_OF_CHARS = 1_100
MOST_HITS = 100
MOST_DEPTH = 1_000

NOTE = words("Why; kept with it.", most=NOTE_CHARS)
LABEL = words("What people call the version, such as `2.1`.", most=LABEL_CHARS)
TAGS = texts("Tags of the document.", most=TAGS_LIMIT, chars=TAG_CHARS)
VERSION = whole("A version; without it what the route says.", low=1)
FILING: dict[str, Field] = {
    "tags": TAGS,
    "note": NOTE,
    "label": LABEL,
    "draft": yes_no("Index it without showing it."),
    "publish_at": moment("Show it by itself from this moment on.", nullable=True),
    "private": yes_no("Only the owner and administrators see the document."),
    "early": Field(
        {"type": "boolean"},
        "Show it as soon as it can be found by its words (true), or once all its vectors are there (false); without it"
        " the first where its document shows nothing yet, else the second.",
    ),
    "priority": whole("Jobs with a higher one are worked on first.", low=-10, high=10, default=0),
}
QUESTION = Field(
    {"type": "string", "minLength": 1}, "The question, at most EVORAG_MAX_QUESTION_CHARS characters.", required=True
)
SEARCHING: dict[str, Field] = {
    "top_k": whole("Passages in the answer.", low=1, high=MOST_HITS),
    "depth": whole("Hits that each of the two searches is asked for.", low=1, high=MOST_DEPTH),
    "as_of": words(
        "Ask of what was shown then: a version (`handbook.pdf#v2`), a sequence number, or a moment.", most=AS_OF_CHARS
    ),
    "versions": one_of("Ask of what is shown, or of all that ever was.", "shown", "all", default="shown"),
    "fusion": one_of("How both orders become one.", "rrf", "mix", default="rrf"),
    "alpha": number("Weight of the meaning where `fusion` is `mix`.", low=0, high=1, default=0.5),
    "per_document": whole("Most passages of one document; 0 for any.", low=0, high=MOST_HITS, default=3),
    "generator": words("What writes the answer, as `/generators` names it; without it what the settings say.", most=64),
    "rerank": one_of("What orders the fused passages anew.", "none", "mix", "features", "cross"),
    "recency": Field({"type": "boolean"}, "Newer documents count for more; without it what the settings say."),
    "read_filters": Field({"type": "boolean"}, "Read filters such as “in last week's reports” from the question."),
    "dismissed": texts("Ids of what was read from the question and does not hold.", most=100, chars=KEY_CHARS),
    "syntax": one_of("Literal text, or phrases, `-word` and `field:value`.", "plain", "advanced", default="plain"),
    "fresh": yes_no("Answer afresh, even where a kept answer holds."),
    "conversation_id": words("The conversation that the question goes on with.", most=64),
    "zone": words(
        "The time zone of days such as “yesterday”, and of an `as_of` without one, like `Asia/Tokyo`; by default the"
        " server's.",
        most=64,
    ),
}
_FILTERS: dict[str, Field] = {
    "doc_keys": texts("Only these documents.", most=MOST_FILTER_VALUES, chars=KEY_CHARS),
    "tags": texts("Only documents with any of these tags.", most=MOST_FILTER_VALUES, chars=KEY_CHARS),
    "extensions": texts("Only files of these types, such as `pdf`.", most=MOST_FILTER_VALUES, chars=KEY_CHARS),
    "updated_after": moment("Only documents that changed after this moment.", nullable=True),
    "updated_before": moment("Only documents that changed before this moment.", nullable=True),
}
FILTERS: dict[str, Field] = {name: replace(field, error=BadFilter) for name, field in _FILTERS.items()}
"""What documents a question may be answered from; whatever is wrong in them is a bad filter."""
FILTERS_OBJECT = obj(FILTERS, error=BadFilter)
REF = obj(
    doc_key=words("Key of a document.", most=KEY_CHARS, least=1, required=True), version=replace(VERSION, required=True)
)


def page_limit(default: int = 200) -> Field:
    """Return how many rows a list answers at most."""
    return whole("Most rows in the answer.", low=1, high=MOST_ROWS, default=default)


def filing_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an upload says of itself, where it says it."""
    return {name: given[name] for name in FILING if given.get(name)}


def query_of(question: str, given: Mapping[str, Any], filters: Mapping[str, Any]) -> Query:
    """Return the query that a request describes; the numbers that it leaves out are those of the settings.

    Raises: ``InvalidInput`` for an "as of" that names nothing.
    """
    settings = kb().settings.search
    return Query(
        question,
        top_k=given["top_k"] or settings.top_k,
        depth=given["depth"] or settings.search_depth,
        filters=Filters(**{name: filters[name] for name in FILTERS}),
        as_of=parse_as_of(given["as_of"], zone_named(given["zone"])) if given["as_of"] else None,
        fusion=given["fusion"],
        alpha=given["alpha"],
        per_document=given["per_document"],
        versions=given["versions"],
        generator=given["generator"],
        rerank=given["rerank"] or "",
        recency=given["recency"],
        read_filters=given["read_filters"],
        dismissed=given["dismissed"],
        syntax=given["syntax"],
        fresh=given["fresh"],
        conversation_id=given["conversation_id"],
        zone=given["zone"],
        record=bool(given.get("record")),
    )


def ref_of(given: Mapping[str, Any]) -> VersionRef:
    return VersionRef(given["doc_key"], given["version"])
