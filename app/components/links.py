"""The addresses that carry more than a name: a cited span of a version, and a question with all that shaped it."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app import links
from core.model import Citation, Filters, PlacedChunk, Query, format_as_of, parse_as_of

Span = tuple[int, int]
Values = str | list[str] | None


def document_href(doc_key: str, version: int | None = None, chunk: int | None = None, span: Span | None = None) -> str:
    """The Document page, at a version, a chunk and a cited span of its parsed text where given."""
    address = links.document(doc_key, version=version, chunk=chunk)
    if span is None:
        return address
    return address + ("&" if "?" in address else "?") + urlencode({"start": span[0], "end": span[1]})


def passage_href(placed: PlacedChunk, span: Span | None = None) -> str:
    return document_href(placed.doc_key, placed.version, placed.chunk.position, span)


def citation_href(citation: Citation) -> str:
    return document_href(citation.doc_key, citation.version, citation.position, (citation.start, citation.end))


def ask_search(query: Query, trace_id: str | None = None) -> str:
    """The search part of the Ask page's address: the question, its filters, and the kept trace."""
    values: list[tuple[str, object]] = [("q", query.text), ("k", query.top_k)]
    values += [("doc", key) for key in query.filters.doc_keys]
    values += [("tag", tag) for tag in query.filters.tags]
    values += [("type", extension) for extension in query.filters.extensions]
    if query.as_of is not None:
        values.append(("asof", format_as_of(query.as_of)))
    if query.versions == "all":
        values.append(("versions", "all"))
    if trace_id is not None:
        values.append(("trace", trace_id))
    return "?" + urlencode(values, quote_via=quote)


def ask_href(query: Query) -> str:
    return "/ask" + ask_search(query)


def query_of(
    q: Values = None,
    k: Values = None,
    doc: Values = None,
    tag: Values = None,
    type: Values = None,
    asof: Values = None,
    versions: Values = None,
) -> Query:
    """The query that the values of an Ask address describe; a number that cannot be read takes its default.

    Raises: ``InvalidInput`` for an “as of” that cannot be read: an answer of now would not be what was asked for.
    """
    filters = Filters(doc_keys=_many(doc), tags=_many(tag), extensions=_many(type))
    top_k = _number(_one(k))
    return Query(
        text=_one(q),
        top_k=min(max(top_k or 5, 1), 50),
        filters=filters,
        as_of=parse_as_of(_one(asof)) if _one(asof).strip() else None,
        versions="all" if _one(versions) == "all" else "shown",
    )


def _one(value: Values) -> str:
    return (value[0] if value else "") if isinstance(value, list) else (value or "")


def _many(value: Values) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list) else ((value,) if value else ())


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
