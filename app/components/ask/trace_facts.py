"""Facts of the trace cards: how a question was understood, how passages were reranked, how the answer was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from app.components.ask.trace_tables import part_name
from app.components.shared.chips import meaning, read_words
from app.components.shared.states import error_line
from app.components.shared.wording import sentence, unbroken
from app.i18n import has, number, t
from core.model import Intent, Trace

Fact = tuple[str, Any]
DRAWN_ELSEWHERE = frozenset({"template", "prompt_chars", "context_chars", "fusion", "rrf_k", "error"})
_WORDS = {
    ("generator", "none"): "ask.generator.none",
    ("stopped", "max_answer_bytes"): "trace.stopped.max_answer_bytes",
}
"""The words for values that are names in the code, each of its fact."""


def understanding_facts(trace: Trace) -> list[Fact]:
    """What the question was made into before the search, where that is not the question itself."""
    analysis = trace.analysis
    facts: list[Fact] = []
    if analysis.standalone:
        by = named("trace.standalone_by", analysis.standalone_by) if analysis.standalone_by else ""
        facts.append(
            (t("trace.analysis.standalone"), [html.Span(analysis.standalone, className="user-text"), _small(by)])
        )
    if analysis.standalone_other:
        facts.append((t("trace.analysis.other"), html.Span(analysis.standalone_other, className="user-text")))
    if analysis.corrections:
        read = ", ".join(t("ask.corrected", word=each.word, read_as=each.read_as) for each in analysis.corrections)
        facts.append((t("trace.analysis.corrections"), html.Span(read, className="user-text")))
    if analysis.intent is not Intent.DOCUMENTS:
        facts.append((t("trace.analysis.intent"), t(f"ask.intent.{analysis.intent}")))
    for each in analysis.read_filters:
        about = meaning(each, {}) if each.is_applied else [t("trace.analysis.not_applied")]
        facts.append((t("trace.analysis.read_filter"), [html.Q(read_words(each)), _small(about)]))
    if analysis.syntax is not None:
        syntax = analysis.syntax
        demanded = [f"“{phrase}”" for phrase in syntax.phrases] + [f"-{word}" for word in syntax.excluded]
        demanded += [f"{name}:{value}" for name, value in syntax.fields]
        chips = [html.Span(each, className="chip user-text") for each in demanded]
        facts.append(
            (t("trace.analysis.syntax"), html.Span(chips or t("trace.analysis.no_keywords"), className="chips"))
        )
    return facts


def reranking_words(trace: Trace) -> list[Component]:
    """How the fused candidates were ordered anew, with the weight of each part; or why they were not."""
    rerank = trace.rerank
    if rerank is None:
        return []
    if rerank.error:
        return [error_line(rerank.error)]
    if rerank.method == "none" and not rerank.recency:
        return []
    words = t("trace.rerank.explain", method=named("ask.rerank", rerank.method), count=rerank.candidates)
    weights = unbroken([f"{part_name(name)} {weight:g}" for name, weight in rerank.weights.items()], " ·")
    parts: list[Component] = [html.P(words, className="trace-explain")]
    if weights:
        parts.append(html.P(sentence("trace.rerank.weights", weights=html.Span(weights)), className="trace-explain"))
    return parts


def generation_facts(trace: Trace) -> list[Fact]:
    """What the answer was made from, what wrote it, and what the guard said."""
    facts: list[Fact] = [
        (t("trace.generation.type"), t(f"answer.type.{trace.answer.type}")),
        (t("trace.generation.context"), t("trace.chars", count=len(trace.context))),
        (t("trace.generation.prompt"), t("trace.chars", count=len(trace.prompt))),
    ]
    if trace.answer.reason:
        facts.append((t("trace.generation.reason"), named("answer.reason", trace.answer.reason)))
    return facts + [(named("trace.generation", name), _value(name, value)) for name, value in _told(trace.generation)]


def prompt_words(prompt_type: str) -> str | html.Span:
    """What a prompt such as ``answer-ja`` asks for, with its name as title; the name where the pages do not know it."""
    purpose, _, language = prompt_type.partition("-")
    key = f"trace.prompt.{purpose}"
    if not language or not has(key):
        return prompt_type
    return html.Span(t(key, language=named("language", language)), title=prompt_type)


def named(area: str, name: str) -> str:
    """The text for a name that the pipeline chose, or the name itself where the pages do not know it yet."""
    return t(f"{area}.{name}") if has(f"{area}.{name}") else name.replace("_", " ")


def _told(generation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every value that no other part of the card shows; the values of a group carry its name."""
    for name, value in generation.items():
        if name in DRAWN_ELSEWHERE or value is None:
            continue
        if isinstance(value, Mapping):
            yield from ((f"{name}_{inner}", each) for inner, each in value.items() if each not in (None, ""))
        else:
            yield name, value


def _value(name: str, value: Any) -> str | html.Span:
    if isinstance(value, Mapping):
        return _value(name, value.get("code", ""))
    if isinstance(value, bool):
        return t("trace.yes") if value else t("trace.no")
    if name.endswith("_ms") or name == "ms":
        return f"{value:,.1f} ms"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return f"{value:.3g}"
    if name.endswith("reason"):
        return named("answer.reason", str(value))
    key = f"error.{value}" if name.endswith("error") else _WORDS.get((name, str(value)), "")
    return html.Span(t(key), title=str(value)) if has(key) else str(value)


def _small(words: str | list[Any]) -> html.Small | None:
    return html.Small(words) if words else None
