"""The addresses that carry more than a name: a cited span of a version, and a question with all that shaped it."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app import links
from app.components.shared.query_options import Values, many, number, one, option_values, options_of
from core.model import Citation, Filters, PlacedChunk, Query, format_as_of, parse_as_of, zone_named

NOW = "now"
"""Stands in an address for the reading that is in use."""

Span = tuple[int, int]
Place = tuple[str, int | None, int | None]
"""A document by its key, and a passage of it by its position and version where one is meant."""


def document_href(
    doc_key: str,
    version: int | None = None,
    chunk: int | None = None,
    span: Span | None = None,
    mode: str = "",
    reading: int | None = 1,
) -> str:
    """The Document page, at a version, a chunk and a cited span of its parsed text where given, shown in some mode.

    Chunks and spans count in a reading of the version, the first one where the address names none, since links of old
    name none; None is the one in use.
    """
    address = links.document(doc_key, version=version, chunk=chunk)
    more = {"start": str(span[0]), "end": str(span[1])} if span is not None else {}
    more |= {"view": mode} if mode else {}
    if chunk is not None and reading != 1:
        more["reading"] = NOW if reading is None else str(reading)
    return address + ("&" if "?" in address else "?") * bool(more) + urlencode(more)


def passage_href(placed: PlacedChunk, span: Span | None = None) -> str:
    return document_href(placed.doc_key, placed.version, placed.chunk.position, span, reading=placed.reading)


def citation_href(citation: Citation) -> str:
    span = citation.start, citation.end
    return document_href(citation.doc_key, citation.version, citation.position, span, reading=citation.reading)


def ask_search(query: Query, trace_id: str | None = None, why: Place | None = None) -> str:
    """The search part of the Ask page's address: the question, what shapes it, and the kept trace.

    ``why`` is the passage of which the page says why it was not found.
    """
    values: list[tuple[str, object]] = [("q", query.text), ("k", query.top_k)]
    values += [("doc", key) for key in query.filters.doc_keys]
    values += [("tag", tag) for tag in query.filters.tags]
    values += [("type", extension) for extension in query.filters.extensions]
    if query.as_of is not None:
        values.append(("asof", format_as_of(query.as_of)))
    if query.versions == "all":
        values.append(("versions", "all"))
    values += option_values(query)
    if trace_id is not None:
        values.append(("trace", trace_id))
    if why is not None:
        named = zip(("why", "position", "version"), why, strict=True)
        values += [(name, value) for name, value in named if value is not None]
    return "?" + urlencode(values, quote_via=quote)


def ask_href(query: Query, trace_id: str | None = None, why: Place | None = None) -> str:
    return links.ASK + ask_search(query, trace_id, why)


def query_of(
    q: Values = None,
    k: Values = None,
    doc: Values = None,
    tag: Values = None,
    type: Values = None,
    asof: Values = None,
    versions: Values = None,
    *,
    zone: Values = None,
    **options: Values,
) -> Query:
    """The query that the values of an Ask address describe; a number that cannot be read takes its default.

    A moment without a zone is read in the one named ``zone``, or in this machine's where none is.

    Raises: ``InvalidInput`` for an “as of” that cannot be read: an answer of now would not be what was asked for.
    """
    filters = Filters(doc_keys=many(doc), tags=many(tag), extensions=many(type))
    top_k = number(one(k))
    return Query(
        text=one(q),
        top_k=min(max(top_k or 5, 1), 50),
        filters=filters,
        as_of=parse_as_of(one(asof), zone_named(one(zone))) if one(asof).strip() else None,
        versions="all" if one(versions) == "all" else "shown",
        **options_of(options),
    )


def place_of(why: Values, position: Values, version: Values) -> Place | None:
    """The passage that an address asks about, where it asks about one."""
    key = one(why)
    return (key, number(one(position)), number(one(version)) or None) if key else None
