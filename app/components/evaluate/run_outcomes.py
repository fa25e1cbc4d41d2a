"""What each question of a run got: failures first, each with the way to its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.evaluate.words import LEGS, NOTHING, leg_name
from app.components.shared.states import badge
from app.components.shared.wording import on_one_line
from app.i18n import seconds, t
from core.model import QuestionOutcome

ANSWER_CHARS = 240
FIRST_RANKS = 10


def outcome_items(outcomes: Sequence[QuestionOutcome]) -> list[html.Li]:
    """One item a question; more are added behind them."""
    return [_item(outcome) for outcome in outcomes]


def outcome_badge(outcome: QuestionOutcome) -> html.Span:
    """What came of a question, in an icon with its word."""
    meaning, word = judged(outcome)
    return badge(meaning, t(f"evaluate.outcome_{word}"))


def judged(outcome: QuestionOutcome) -> tuple[str, str]:
    """Return the meaning and the name of what came of a question."""
    if not outcome.question.has_judgement:
        return "neutral", "unjudged"
    if not outcome.question.answerable:
        return ("ok", "refused") if outcome.is_right else ("error", "invented")
    if not outcome.is_right:
        return "error", "silent" if outcome.is_insufficient else "wrong"
    rank = last_rank(outcome.ranks)
    is_found = rank is not None and rank <= FIRST_RANKS
    return ("ok", "right") if is_found or not outcome.question.doc_keys else ("warning", "unfound")


def last_rank(ranks: Mapping[str, int | None]) -> int | None:
    """Return the rank of the first right document in the ranking that the answer rests on."""
    return next((ranks[leg] for leg in reversed(LEGS) if leg in ranks), None)


def ranks_text(ranks: Mapping[str, int | None]) -> str:
    """Return where the first right document stands in each leg, in one line."""
    return " · ".join(
        t("evaluate.rank", leg=leg_name(leg), rank=NOTHING if ranks[leg] is None else f"#{ranks[leg]}")
        for leg in LEGS
        if leg in ranks
    )


def _item(outcome: QuestionOutcome) -> html.Li:
    answer = on_one_line(outcome.answer, ANSWER_CHARS)
    question = outcome.question
    address = links.ask(trace=outcome.trace_id) if outcome.trace_id else links.ask(question.text)
    told = t("evaluate.open_trace" if outcome.trace_id else "evaluate.ask_again")
    lines: list[Component] = [dcc.Link(question.text, href=address, className="question", title=told)]
    if outcome.is_insufficient:
        answer = t("answer.insufficient")
    lines.append(html.P(answer, className="question-answer"))
    if question.answerable and question.answers and outcome.is_right is False:
        expected = t("evaluate.expected", answers=" / ".join(question.answers))
        lines.append(html.P(expected, className="question-expected"))
    facts = [outcome_badge(outcome)]
    if question.doc_keys:
        facts.append(html.Span(ranks_text(outcome.ranks), className="numbers"))
    if outcome.unsupported_sentences:
        facts.append(badge("warning", t("evaluate.unsupported", count=outcome.unsupported_sentences)))
    facts.append(html.Span(seconds(outcome.duration_ms / 1000)))
    return html.Li(html.Div([*lines, html.Div(facts, className="question-facts")]))
