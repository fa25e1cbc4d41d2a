"""An answer with its numbered citations."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.ask.answer_blocks import answer_body
from app.components.ask.citation_notes import citation_notes, evidence_links
from app.components.ask.other_answer import other_answer, who_wrote
from app.components.ask.support_marks import dropped_sentences, support_line
from app.components.attributes import aria
from app.components.shared.chips import Names, intent_badge, understood
from app.components.shared.citations import CitationLink
from app.components.shared.freshness import Shown, standing_badge
from app.components.shared.generator_choice import failure_words
from app.components.shared.icon import icon
from app.components.shared.links import ask_href
from app.components.shared.states import badge, error_line
from app.components.shared.times import exactly, when
from app.components.shared.wording import sentence
from app.i18n import has, seconds, t
from core.model import AnswerType, Citation, Indexing, Intent, Leg, Trace

TYPES = {
    AnswerType.EXTRACTIVE: "ok",
    AnswerType.GENERATIVE: "ok",
    AnswerType.HALLUCINATION_FALLBACK: "warning",
    AnswerType.INSUFFICIENT: "neutral",
}


def answer_card(
    trace: Trace,
    shown: Shown | None = None,
    tool: Component | None = None,
    first: datetime | None = None,
    names: Names | None = None,
) -> html.Section:
    """The answer, how it was come by, and how sure it is; an answer without support says what to do instead.

    With ``shown`` its sources say how they stand to what is shown now. ``tool`` stands below it.
    ``first`` is when the first publication was made, where the question was asked of a moment before it. ``names``
    are those of documents that filters name.
    """
    answer = trace.answer
    found = answer.type is not AnswerType.INSUFFICIENT
    link = evidence_links({hit.placed.id for hit in trace.hits})
    text = html.Div(answer_body(answer, link), className="answer-body") if answer.text else None
    marks = _tentative(trace), support_line(answer)
    said: list[Component | None] = [text, *marks, _reason(trace), dropped_sentences(answer)]
    # Small talk and questions about the knowledge base are answered without passages.
    if found or trace.analysis.intent is not Intent.DOCUMENTS:
        body = [*said, _sources(trace, shown, link) if shown is not None and found else None]
    else:
        body = [_insufficient(trace, first), None if first else _reason(trace), dropped_sentences(answer)]
    body.append(other_answer(answer))
    if answer.citations:
        body.append(citation_notes(answer.citations))
    header = html.Header([*_facts(trace), *_cached(trace)])
    content = [*degraded_notices(trace, _afresh(trace)), understood(trace, names), header, *body, tool]
    return html.Section(
        [part for part in content if part is not None],
        className="answer-card",
        id="ask-answer-card",
        **aria(label=t("answer.title")),
    )


def degraded_notices(trace: Trace, again: Component | None = None) -> list[Component]:
    """One notice for each leg that failed or lacks rows, for what is being indexed, and for the generator.

    What there is all the same stands below: the other leg's result, the extracted answer. ``again`` is offered where
    the generator failed.
    """
    notices: list[Component] = [
        _degraded(t(f"answer.degraded.{leg.name}"), error_line(leg.error))
        for leg in (trace.vector, trace.keyword)
        if leg.error is not None
    ]
    notices += [_refilling(leg) for leg in (trace.vector, trace.keyword) if leg.refilling is not None]
    if trace.indexing is not None:
        notices += _lacking_vectors(trace.indexing)
    failure = trace.answer.generator_failure
    if failure is not None:
        words = t(f"answer.unwritten.{trace.answer.type}", generator=failure.generator)
        notices.append(_degraded(words, failure_words(failure), again))
    return notices


def _lacking_vectors(indexing: Indexing) -> list[Component]:
    """Say how many documents get their vectors now, and how many get none."""
    notices: list[Component] = []
    if going_on := indexing.documents - indexing.failed:
        wait = html.P(t("answer.indexing.wait"), className="meaning")
        notices.append(_degraded(t("answer.indexing", count=going_on, percent=indexing.percent), wait))
    if indexing.failed:
        again = html.P(t("answer.indexing.again"), className="meaning")
        notices.append(_degraded(t("answer.indexing.failed", count=indexing.failed), again))
    return notices


def _refilling(leg: Leg) -> html.Div:
    rows, of = (leg.refilling.rows, leg.refilling.of) if leg.refilling else (None, None)
    far = "" if rows is None or of is None else t("answer.refilling.rows", rows=rows, of=of)
    wait = html.P(" ".join(filter(None, (far, t("answer.refilling.wait")))), className="meaning")
    return _degraded(t(f"answer.refilling.{leg.name}"), wait)


def _degraded(words: str, error: Component, again: Component | None = None) -> html.Div:
    return html.Div([badge("warning", words), error, again], className="degraded", role="status")


def type_badge(kind: AnswerType, *, is_certain: bool = True) -> html.Span:
    """The kind of an answer as an icon and a word, explained where the pointer rests on it."""
    meaning, explained = TYPES[kind], t(f"answer.type_explain.{kind}")
    if meaning == "ok" and not is_certain:
        meaning, explained = "neutral", f"{explained} · {t('answer.tentative')}"
    return badge(meaning, t(f"answer.type.{kind}"), explained)


def _facts(trace: Trace) -> list[Component]:
    total = trace.timings_ms.get("total", sum(trace.timings_ms.values()))
    intent = intent_badge(trace.analysis.intent)
    facts: list[Component] = [
        type_badge(trace.answer.type, is_certain=not trace.answer.is_tentative),
        *([intent] if intent is not None else []),
    ]
    if (by := who_wrote(trace)) is not None:
        facts.append(by)
    if trace.answer.type is not AnswerType.INSUFFICIENT:
        facts.append(_confidence(trace.answer.confidence))
    facts.append(html.Span(t("answer.took", time=seconds(total / 1000))))
    return facts


def _confidence(sure: float) -> html.Details:
    """How sure the answer is; pressed, it says what that means and where it can be checked."""
    check = dcc.Link(t("answer.confidence_check"), href=links.EVALUATE)
    return html.Details(
        [
            html.Summary(t("answer.confidence", percent=round(sure * 100))),
            html.P([t("answer.confidence_means"), " ", check], className="hint"),
        ],
        className="confidence",
    )


def _tentative(trace: Trace) -> html.P | None:
    """That the answer is not certain, and what to do about it."""
    if not trace.answer.is_tentative:
        return None
    return html.P(badge("warning", t("answer.tentative")), className="support-line")


def _reason(trace: Trace) -> html.P | None:
    """Why the answer is as it is, where the guard or the search has said so."""
    key = f"answer.reason.{trace.answer.reason}"
    # Why a generator failed is said by its notice.
    if trace.answer.generator_failure or trace.answer.reason in ("", "no_passages") or not has(key):
        return None
    return html.P(t("answer.because", reason=t(key)), className="hint answer-reason")


def _cached(trace: Trace) -> list[Component]:
    """That the answer was given before, and the way to one that was not."""
    use = trace.cache
    if use is None:
        return []
    similar = t("answer.cache.semantic", question=use.question, percent=round(use.similarity * 100))
    title = t("answer.cache.exact") if use.kind == "exact" else similar
    words = html.Span(
        [icon("clock-history"), html.Span(sentence("answer.cached", when=when(use.asked_at)))],
        className="cached",
        title=title,
    )
    return [words, _afresh(trace)]


def _afresh(trace: Trace) -> dcc.Link:
    """The way to an answer that no cache gives."""
    return dcc.Link(
        [icon("arrow-repeat"), t("answer.afresh")], href=ask_href(replace(trace.query, fresh=True)), className="afresh"
    )


def _sources(trace: Trace, shown: Shown, link: CitationLink) -> html.Ul:
    """One line a cited version, so that no old sentence is read as what holds now."""
    placed = {hit.placed.id: hit.placed for hit in trace.hits}
    cited: dict[tuple[str, int], list[Citation]] = {}
    for citation in trace.answer.citations:
        if citation.chunk_id in placed:
            cited.setdefault((citation.doc_key, citation.version), []).append(citation)
    items = [
        html.Li(
            [
                *[link(citation) for citation in citations],
                html.Span(f"{citations[0].name} v{version}"),
                standing_badge(placed[citations[0].chunk_id], shown),
            ]
        )
        for (_, version), citations in cited.items()
    ]
    return html.Ul(items, className="answer-sources")


def _insufficient(trace: Trace, first: datetime | None) -> html.Div:
    if first is not None:
        return html.Div(html.P(sentence("answer.before_first", time=exactly(first)), className="answer-text"))
    tips = [t("answer.tip_words"), t("answer.tip_upload")]
    if trace.query.filters.doc_keys or trace.query.filters.tags or trace.query.filters.extensions:
        tips.insert(0, t("answer.tip_filters"))
    found = t("answer.found_none") if not trace.hits else t("answer.found_some", count=len(trace.hits))
    content: list[Component] = [html.P(t("answer.insufficient"), className="answer-text"), html.P(found)]
    return html.Div([*content, html.Ul([html.Li(tip) for tip in tips])])
