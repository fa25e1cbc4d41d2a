"""A written answer, sentence by sentence: what supports it, what nothing supports, and which figures are foreign."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from app.components.shared.citations import CITATION_MARK, CitationLink, citation_link, linked_text
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.i18n import t
from core.model import Answer, Citation, Sentence

Pieces = list[str | Component]
_MARKS = re.compile(rf"(?:\s*{CITATION_MARK.pattern})+")


def supported_text(answer: Answer, link: CitationLink = citation_link) -> Pieces:
    """The text of the answer with what each of its sentences stands on.

    One without sentences is only linked, and what decides in it is marked.
    """
    if not answer.sentences:
        return supported_range(answer, 0, len(answer.text), link)
    starts = [sentence.start for sentence in answer.sentences[1:]] + [len(answer.text)]
    pieces: Pieces = []
    at = 0
    for sentence, following in zip(answer.sentences, starts, strict=False):
        pieces += linked_text(answer.text[at : sentence.start], answer.citations, link)
        # Marks stand behind the sentence that they belong to.
        marks = _MARKS.match(answer.text, sentence.end, following)
        at = marks.end() if marks else sentence.end
        pieces.append(_sentence(answer.text[sentence.start : at], sentence, answer.citations, link))
    return [*pieces, *linked_text(answer.text[at:], answer.citations, link)]


def supported_range(answer: Answer, first: int, last: int, link: CitationLink = citation_link) -> Pieces:
    """The text between two offsets with what decides in it marked, and its citations linked."""
    pieces: Pieces = []
    at = first
    for start, end in answer.marked:
        start, end = max(start, at), min(end, last)
        if start >= end:
            continue
        pieces += linked_text(answer.text[at:start], answer.citations, link)
        deciding = linked_text(answer.text[start:end], answer.citations, link)
        pieces.append(html.Mark(deciding, className="deciding", title=t("answer.deciding")))
        at = end
    return [*pieces, *linked_text(answer.text[at:last], answer.citations, link)]


def support_line(answer: Answer) -> html.P | None:
    """How many sentences of a written answer are supported; in words that warn where not all are."""
    if not answer.sentences:
        return None
    supported = sum(sentence.is_supported for sentence in answer.sentences)
    words = t("answer.supported", count=len(answer.sentences), supported=supported)
    is_whole = supported == len(answer.sentences)
    return html.P(words if is_whole else badge("warning", words), className="hint support-line")


def dropped_sentences(answer: Answer) -> html.Details | None:
    """What was written and is not shown, behind one line that says so."""
    if not answer.dropped:
        return None
    items = [html.Li(html.Q(each, className="user-text")) for each in answer.dropped]
    summary = html.Summary(t("answer.dropped", count=len(items)))
    return html.Details([summary, html.Ul(items)], className="dropped")


def _sentence(text: str, sentence: Sentence, citations: Sequence[Citation], link: CitationLink) -> html.Span:
    citation = next((each for each in citations if each.number == sentence.number), None)
    pieces = linked_text(text, citations, link)
    is_marked = citation is not None and any(int(mark[1]) == citation.number for mark in CITATION_MARK.finditer(text))
    if citation is not None and sentence.is_supported and not is_marked:
        pieces += [" ", link(citation)]
    notes = []
    if not sentence.is_supported:
        notes.append(_note(t("answer.sentence.weak" if citation is not None else "answer.sentence.unsupported")))
    if sentence.foreign_figures:
        figures = t("list.joint").join(sentence.foreign_figures)
        key = "answer.sentence.figures" if citation is not None else "answer.sentence.figures_anywhere"
        notes.append(_note(t(key, figures=figures, count=len(sentence.foreign_figures))))
    state = "is-supported" if sentence.is_supported else "is-unsupported"
    return html.Span(
        [html.Span(pieces, className="sentence-text"), *notes], className=f"sentence {state}", title=_basis(sentence)
    )


def _note(words: str) -> html.Span:
    return html.Span([icon("exclamation-triangle-fill"), html.Span(words)], className="sentence-note")


def _basis(sentence: Sentence) -> str:
    """What the check measured, for who wants to know."""
    words = t("answer.sentence.overlap", percent=round(sentence.overlap * 100))
    if sentence.similarity is None:
        return words
    return f"{words} · {t('answer.sentence.similarity', value=f'{sentence.similarity:.2f}')}"
