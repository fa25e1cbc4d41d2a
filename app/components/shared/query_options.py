"""How a question is to be searched and answered, as values of an address; what stands at its default is left out."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from core.model import Query

Values = str | list[str] | None
RERANKS = ("none", "mix", "features", "cross")
MOST_DEPTH = 1_000
MOST_PER_DOCUMENT = 100
NAME_CHARS = 64
MOST_DISMISSED = 16
_DEFAULTS = {field.name: field.default for field in fields(Query)}
USUAL_DEPTH = int(str(_DEFAULTS["depth"]))
USUAL_PER_DOCUMENT = int(str(_DEFAULTS["per_document"]))


def option_values(query: Query) -> list[tuple[str, object]]:
    """The values of an address that say how ``query`` differs from a plain question."""
    values: list[tuple[str, object]] = []
    if query.generator:
        values.append(("gen", query.generator))
    if query.rerank:
        values.append(("rerank", query.rerank))
    values += [
        (name, int(value))
        for name, value in (("recency", query.recency), ("read", query.read_filters))
        if value is not None
    ]
    values += [("dismissed", each) for each in query.dismissed]
    if query.syntax == "advanced":
        values.append(("syntax", query.syntax))
    if query.record:
        values.append(("record", 1))
    if query.fresh:
        values.append(("fresh", 1))
    if query.conversation_id:
        values.append(("conversation", query.conversation_id))
    values += [
        (name, value)
        for name, value, usual in (
            ("depth", query.depth, USUAL_DEPTH),
            ("per", query.per_document, USUAL_PER_DOCUMENT),
        )
        if value != usual
    ]
    return values


def options_of(values: dict[str, Values]) -> dict[str, Any]:
    """What the values of an address say about a ``Query``; whatever cannot be read takes its default."""
    rerank = one(values.get("rerank"))
    return {
        "generator": one(values.get("gen"))[:NAME_CHARS],
        "rerank": rerank if rerank in RERANKS else "",
        "recency": _switch(one(values.get("recency"))),
        "read_filters": _switch(one(values.get("read"))),
        "dismissed": many(values.get("dismissed"))[:MOST_DISMISSED],
        "syntax": "advanced" if one(values.get("syntax")) == "advanced" else "plain",
        "record": one(values.get("record")) == "1",
        "fresh": one(values.get("fresh")) == "1",
        "conversation_id": one(values.get("conversation"))[:NAME_CHARS],
        "depth": _between(one(values.get("depth")), 1, MOST_DEPTH, USUAL_DEPTH),
        "per_document": _between(one(values.get("per")), 0, MOST_PER_DOCUMENT, USUAL_PER_DOCUMENT),
    }


def one(value: Values) -> str:
    """The first of the values that an address gives for a name, or nothing."""
    return (value[0] if value else "") if isinstance(value, list) else (value or "")


def many(value: Values) -> tuple[str, ...]:
    """All values that an address gives for a name."""
    return tuple(value) if isinstance(value, list) else ((value,) if value else ())


def number(text: str) -> int | None:
    """The number that ``text`` writes in ASCII digits, None where it writes none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _between(text: str, low: int, high: int, usual: int) -> int:
    found = number(text)
    return usual if found is None else min(max(found, low), high)


def _switch(text: str) -> bool | None:
    return {"1": True, "0": False}.get(text)
