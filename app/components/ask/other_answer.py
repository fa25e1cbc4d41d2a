"""Who wrote an answer, and the other answer where extraction and writing disagree."""

from __future__ import annotations

from dash import html

from app.components.ask.answer_blocks import answer_body
from app.components.attributes import aria
from app.i18n import t
from core.model import Answer, AnswerType, Trace


def who_wrote(trace: Trace) -> html.Span | None:
    """Name what wrote an answer where a generator did, or was asked in vain; that it was extracted says its badge."""
    answer = trace.answer
    if answer.type is AnswerType.HALLUCINATION_FALLBACK:
        model = trace.generation.get("model", "")
        by = f"{trace.generation.get('generator', '')}: {model}" if model else trace.generation.get("generator", "")
        return html.Span(t("answer.instead_of", generator=by), className="user-text")
    if is_extracted(answer):
        return None
    return html.Span(t("answer.by", generator=answer.generator), className="user-text")


def other_answer(answer: Answer) -> html.Aside | None:
    """The answer that has less support, with what wrote it and its own citations."""
    other = answer.other
    if other is None:
        return None
    by = t("answer.by_extraction") if is_extracted(other) else t("answer.by", generator=other.generator)
    is_refusal = other.type is AnswerType.INSUFFICIENT
    head = [html.Strong(t("answer.other")), html.Span(by, className="user-text")]
    refusal = html.P(t("answer.other_insufficient"), className="answer-text")
    text = [refusal] if is_refusal else answer_body(other)
    return html.Aside(
        [html.Div(head, className="other-answer-head"), html.Div(text, className="answer-body")],
        className="other-answer",
        **aria(label=t("answer.other")),
    )


def is_extracted(answer: Answer) -> bool:
    return answer.generator in ("", "none")
