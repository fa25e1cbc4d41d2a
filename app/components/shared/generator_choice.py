"""What can write an answer: a choice by name, a line that says how the chosen one is, and why one did not write."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from app.components.shared.error_sentences import as_said, in_language
from app.components.shared.states import badge, error_line, one_text
from app.i18n import has, t
from core.model import GeneratorFailure, GeneratorHealth, GeneratorState, to_dict

NONE = "none"
USUAL = "usual"
"""Stands in the choice where a question chooses nothing; an empty value is shown as no choice at all."""
SPIKING = "snn"
MEANINGS = {
    GeneratorState.READY: "ok",
    GeneratorState.LOADING: "working",
    GeneratorState.IDLE: "neutral",
    GeneratorState.UNAVAILABLE: "warning",
}


def generator_options(
    healths: Sequence[GeneratorHealth], chosen: str, usual: str | None = None
) -> list[dict[str, str]]:
    """Extraction and each generator; ``chosen`` stands among them in any case.

    Choosing nothing stands first where ``usual``, which then writes what extraction is unsure of, is a generator.
    """
    options = {NONE: t("ask.generator.none"), **{health.name: _option(health) for health in healths}}
    if usual not in (None, NONE):
        options = {USUAL: t("ask.generator.usual", name=usual), **options}
    return [{"value": value, "label": label} for value, label in {**{chosen: chosen}, **options}.items()]


def choice_of(generator: str, usual: str) -> str:
    """What stands in the choice for a question: a generator, or ``USUAL`` where nothing is chosen and one is usual."""
    return generator or (NONE if usual == NONE else USUAL)


def chosen_by(choice: str | None) -> str:
    """The generator that a choice names; empty where it names none."""
    return "" if choice in (None, USUAL) else str(choice)


def writer(chosen: str, *, record: bool) -> str:
    """Name what writes: spikes where they are recorded, whatever generator is chosen."""
    return SPIKING if record else chosen


def generator_line(healths: Sequence[GeneratorHealth], chosen: str, *, is_usual: bool = False) -> html.Div:
    """How the chosen generator is, and what makes it available where it is not; ``is_usual`` it was not chosen."""
    if chosen == NONE:
        return html.Div(html.Span(t("ask.generator.none_line")), className="generator-line")
    health = next((each for each in healths if each.name == chosen), None)
    if health is None:
        return html.Div(badge("warning", t("ask.generator.unknown", name=chosen)), className="generator-line")
    state = badge(MEANINGS[health.state], t(f"ask.generator.state.{health.state}"))
    parts = [html.Span(t("ask.generator.usual_line" if is_usual else "ask.generator.line", name=_label(health))), state]
    said = generator_words(health)
    if said is not None:
        parts.append(said)
    return html.Div(parts, className="generator-line")


def generator_words(health: GeneratorHealth) -> html.Span | None:
    """What the line of a generator says besides its state: in the reader's language where that has words for it."""
    own = _own_words(health)
    if own:
        return html.Span(own, className="generator-detail")
    remedy = health.remedy if health.state is GeneratorState.UNAVAILABLE else ""
    said = one_text(as_said(health.detail), as_said(remedy))
    if not said:
        return None
    return html.Span(said, className="generator-detail", lang=None if in_language(health.detail) else "en")


def failure_words(failure: GeneratorFailure) -> Component:
    """Why a generator did not write an answer, and what to do: in the reader's language where that has words for it."""
    own = _own_words(failure)
    return html.P(own, className="generator-failure") if own else error_line(to_dict(failure))


def _own_words(told: GeneratorHealth | GeneratorFailure) -> str:
    key = f"generator.{told.reason}"
    if not told.reason or not has(key):
        return ""
    return one_text(t(key, **told.values), told.values.get("said", ""), t(f"{key}.remedy", **told.values))


def generator_loads(healths: Sequence[GeneratorHealth], chosen: str) -> bool:
    """Whether the chosen generator is being loaded."""
    return any(each.name == chosen and each.state is GeneratorState.LOADING for each in healths)


def _label(health: GeneratorHealth) -> str:
    return f"{health.name} · {health.model}" if health.model else health.name


def _option(health: GeneratorHealth) -> str:
    if health.state is not GeneratorState.UNAVAILABLE:
        return _label(health)
    return t("ask.generator.option_unavailable", name=_label(health))
