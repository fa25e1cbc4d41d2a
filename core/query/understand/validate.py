"""Refuses queries that no search could answer."""

from __future__ import annotations

from datetime import datetime

from core.errors import BadFilter, InvalidInput
from core.model import Filters, Query, VersionRef, zone_named
from core.text.language import is_storable

MOST_HITS = 100
MOST_DEPTH = 1_000
MOST_FILTER_VALUES = 1_000
METHODS = ("none", "mix", "features", "cross")
"""Stages that can follow the fusion."""


def check_query(query: Query, now: datetime) -> None:
    """Refuse a query that no search could answer. Raises: ``InvalidInput``."""
    _within("top_k", query.top_k, 1, MOST_HITS)
    _within("depth", query.depth, 1, MOST_DEPTH)
    _within("per_document", query.per_document, 0, MOST_HITS)
    if not isinstance(query.alpha, (int, float)) or not 0.0 <= query.alpha <= 1.0:
        raise InvalidInput("alpha lies between 0 and 1.")
    if query.fusion not in ("rrf", "mix"):
        raise InvalidInput("The fusion is rrf or mix.")
    if query.versions not in ("shown", "all"):
        raise InvalidInput("versions is shown or all.")
    if query.rerank not in ("", *METHODS):
        raise InvalidInput(f"The reranking is {', '.join(METHODS[:-1])} or {METHODS[-1]}.")
    if query.syntax not in ("plain", "advanced"):
        raise InvalidInput("The syntax is plain or advanced.")
    if query.zone and (not isinstance(query.zone, str) or zone_named(query.zone) is None):
        raise InvalidInput("The time zone is not known.", remedy="Write it like Asia/Tokyo.")
    if len(query.dismissed) > MOST_FILTER_VALUES or not all(isinstance(each, str) for each in query.dismissed):
        raise InvalidInput(f"Dismissed filters are named by at most {MOST_FILTER_VALUES} ids.")
    _check_as_of(query, now)
    _check_filters(query.filters)


def _check_as_of(query: Query, now: datetime) -> None:
    if isinstance(query.as_of, VersionRef):
        if query.versions == "all":
            raise InvalidInput(
                "A question is asked of one version or of all versions.",
                remedy="Leave out the version, or ask of what is shown.",
            )
        if not isinstance(query.as_of.doc_key, str) or not is_storable(query.as_of.doc_key):
            raise InvalidInput("The document of “as of” is no text.")
        _within("version", query.as_of.version, 1, 10**9)
    elif isinstance(query.as_of, datetime):
        if query.as_of.tzinfo is None:
            raise InvalidInput("“As of” needs a time zone.", remedy="Write it like 2026-11-21T09:00+09:00.")
        if query.as_of > now:
            raise InvalidInput("“As of” lies in the future.", remedy="Choose a moment that has passed.")
    elif query.as_of is not None:
        _within("as_of", query.as_of, 0, 2**62)


def _check_filters(filters: Filters) -> None:
    if not isinstance(filters, Filters):
        raise BadFilter("The filters are not understood.")
    for values in (filters.doc_keys, filters.tags, filters.extensions):
        if len(values) > MOST_FILTER_VALUES:
            raise BadFilter(f"A filter holds at most {MOST_FILTER_VALUES} values.")
        if not all(isinstance(value, str) and is_storable(value) for value in values):
            raise BadFilter("A filter holds a value that is no text.")
    for moment in (filters.updated_after, filters.updated_before):
        if moment is not None and (not isinstance(moment, datetime) or moment.tzinfo is None):
            raise BadFilter("A moment in a filter needs a time zone.")


def _within(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{name} is a whole number from {least} to {most}.")
