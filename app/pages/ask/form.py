"""What the form of the Ask page asks: its values become a question, and a question the call that streams its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.components.shared.generator_choice import NONE, chosen_by
from app.components.shared.links import query_of
from app.components.shared.query_options import Values, one
from app.context import kb
from app.i18n import reader_zone, t
from app.pages.ask.view import usual_generator
from core.errors import InvalidInput
from core.model import Query, format_as_of, to_dict

Form = Mapping[str, Any]


def kept_with(query: Query, *, is_asking: bool) -> dict[str, Any]:
    """What shapes the question of an address and has no field in the form."""
    return {
        "text": query.text,
        "dismissed": list(query.dismissed),
        "depth": query.depth,
        "per_document": query.per_document,
        "conversation": query.conversation_id,
        "fresh": query.fresh and is_asking,
    }


def addressed(q: Values = None, k: Values = None, *scope: Values, **options: Values) -> Query:
    """The query of an Ask address; the numbers that it leaves out are those of the settings.

    A moment without a zone is one of the reader's.

    Raises: ``InvalidInput`` for an “as of” that cannot be read.
    """
    settings = kb().settings.search
    options = {"depth": str(settings.search_depth), **options, "zone": reader_zone()}
    return query_of(q, one(k) or str(settings.top_k), *scope, **options)


def asked(form: Form, *, by_address: bool) -> Query:
    """The question of the form; ``by_address`` it is asked as its address says.

    Raises: ``InvalidInput`` where there is no question, or no moment where one is asked for.
    """
    kind = form.get("kind") or "now"
    if kind != "now" and not form.get("asof"):
        raise InvalidInput(t("ask.no_as_of"), remedy=t(f"ask.no_as_of_remedy.{kind}"))
    versions = "all" if form.get("of_all") and kind != "version" else ""
    extra = form.get("extra") or {}
    # An empty box below an answer asks its question once more, as is chosen now.
    text = (form.get("question") or "").strip() or (str(extra.get("text") or "") if form.get("trace") else "")
    query = addressed(
        text, str(form.get("k") or ""), form.get("doc"), form.get("tag"), form.get("type"), form.get("asof"), versions
    )
    if not query.text:
        raise InvalidInput(t("ask.no_question"), remedy=t("ask.no_question_remedy"))
    return _shaped(_with_options(query, form), extra, by_address=by_address)


def goes_on_from(form: Form, query: Query) -> bool:
    """Whether the question is a follow-up with which a conversation begins: another one than the answer shown is to."""
    is_other = query.text != (form.get("extra") or {}).get("text")
    return bool(form.get("trace")) and is_other and not query.conversation_id and not form.get("anew")


def body_of(query: Query) -> dict[str, Any]:
    """The question as the body of ``POST /api/v1/ask``; what it does not choose is left out."""
    filters = {name: values for name, values in to_dict(query.filters).items() if values}
    chosen = {
        "as_of": format_as_of(query.as_of),
        "generator": query.generator,
        "rerank": query.rerank,
        "recency": query.recency,
        "read_filters": query.read_filters,
        "dismissed": list(query.dismissed),
        "conversation_id": query.conversation_id,
        "zone": query.zone,
    }
    if query.record:
        chosen["record"] = True
    return {
        "question": query.text,
        "top_k": query.top_k,
        "depth": query.depth,
        "per_document": query.per_document,
        "versions": query.versions,
        "syntax": query.syntax,
        "fresh": query.fresh,
        "filters": filters,
        **{name: value for name, value in chosen.items() if value not in (None, "", [])},
    }


def _with_options(query: Query, form: Form) -> Query:
    """The query with what the form chooses; what is usual here stays open, so that addresses stay short."""
    settings = kb().settings.search
    generator, rerank = chosen_by(form.get("generator")), form.get("rerank") or ""
    record = bool(form.get("record"))
    return replace(
        query,
        # What is recorded is written by the generator that can be. Naming the usual generator is a choice: it writes
        # then however sure extraction is.
        generator="" if record or (generator == NONE == usual_generator()) else generator,
        record=record,
        rerank="" if rerank == settings.rerank else rerank,
        recency=_choice(form.get("recency"), settings.recency),
        read_filters=_choice(form.get("read"), settings.read_filters),
        syntax="advanced" if form.get("syntax") else "plain",
        zone=reader_zone(),
    )


def _choice(value: bool | None, usual: bool) -> bool | None:
    return None if value is None or value == usual else value


def _shaped(query: Query, extra: Mapping[str, Any], *, by_address: bool) -> Query:
    """The query with what the address has said beyond the form, as far as it is still the same question."""
    query = replace(
        query,
        conversation_id=extra.get("conversation") or "",
        depth=extra.get("depth") or query.depth,
        per_document=extra.get("per_document", query.per_document),
    )
    if not by_address and query.text != extra.get("text"):
        return query
    return replace(
        query,
        dismissed=tuple(extra.get("dismissed") or ()),
        fresh=by_address and bool(extra.get("fresh")),
    )
