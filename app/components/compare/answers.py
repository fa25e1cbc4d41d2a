"""What two versions change in the answers: one question on both, and the saved questions against a publication."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.ask.answer_card import degraded_notices, type_badge
from app.components.attributes import aria
from app.components.compare.address import Pair
from app.components.shared.citations import linked_text
from app.components.shared.icon import icon
from app.components.shared.links import passage_href
from app.components.shared.passage import locator_text
from app.components.shared.sharing import may_share, sharing_facts
from app.components.shared.states import badge, empty
from app.components.shared.wording import on_one_line
from app.i18n import t
from core.model import (
    AnswerComparison,
    AnswerType,
    Evidence,
    EvidenceChange,
    Hit,
    Impact,
    Reason,
    SavedQuestion,
    Trace,
    Version,
)

MEANINGS = {
    Evidence.APPEARED: "ok",
    Evidence.VANISHED: "error",
    Evidence.MOVED: "warning",
    Evidence.STAYED: "neutral",
}
SYMBOLS = {
    Evidence.APPEARED: "plus-lg",
    Evidence.VANISHED: "x-lg",
    Evidence.MOVED: "sort-down",
    Evidence.STAYED: "check-lg",
}
EXCERPT_CHARS = 200
QUESTION_CHARS = 4_000


def answers_view(
    pair: Pair,
    saved: Sequence[SavedQuestion],
    subject: Version | None,
    *,
    question: str = "",
    alone: bool = True,
) -> html.Div:
    """The question box for both versions, and the saved questions; ``subject`` is the version to be published."""
    box = html.Div(
        [
            html.Label(t("compare.question"), htmlFor="compare-question", className="visually-hidden"),
            dbc.Input(
                id="compare-question",
                type="text",
                placeholder=t("compare.question_placeholder"),
                maxLength=QUESTION_CHARS,
                value=question,
                autocomplete="off",
            ),
            html.Button(
                [icon("send"), t("compare.ask_both")], id="compare-ask", type="button", className="btn btn-primary"
            ),
        ],
        className="compare-ask-box",
    )
    only = dbc.Checkbox(id="compare-alone", label=t("compare.alone"), value=alone)
    asked = html.Section(
        [
            html.H2(t("compare.ask_title"), className="section-title"),
            html.P(t("compare.ask_explain"), className="hint"),
            box,
            only,
            html.Div(id="compare-answer", role="status", className="compare-answer"),
        ],
        className="card-plain",
    )
    return html.Div([asked, _saved(saved, subject)], className="compare-answers")


def answer_comparison(found: AnswerComparison, pair: Pair) -> html.Div:
    """Both answers side by side, and what became of each passage."""
    key = "compare.answer_changes" if found.is_changed else "compare.answer_stays"
    verdict = html.P([badge("warning" if found.is_changed else "ok", t(key))], className="compare-verdict")
    sides = html.Div(
        [_answer(found.old, "old", pair.old), _answer(found.new, "new", pair.new)], className="compare-sides"
    )
    changed = [each for each in found.evidence if _differs(each)]
    stayed = [each for each in found.evidence if not _differs(each)]
    parts: list[Any] = [verdict, sides]
    if changed:
        parts += [
            html.H3(t("compare.evidence")),
            html.Ul([_evidence(each, found) for each in changed], className="moves"),
        ]
    if stayed:
        parts.append(
            html.Details(
                [
                    html.Summary(t("compare.evidence_stayed", count=len(stayed))),
                    html.Ul([_evidence(each, found) for each in stayed], className="moves"),
                ]
            )
        )
    return html.Div(parts)


def saved_list(saved: Sequence[SavedQuestion]) -> Any:
    """The saved questions, each with the button that removes it."""
    if not saved:
        return empty("bookmark", t("compare.no_saved"), t("compare.no_saved_text"))
    items = [
        html.Li(
            [
                html.Span(
                    [
                        html.Span(question.text, className="user-text"),
                        html.Span(sharing_facts(question), className="question-facts"),
                    ],
                    className="saved-question",
                ),
                _share(question) if may_share(question) else None,
                html.Button(
                    icon("trash"),
                    id={"type": "compare-forget", "id": question.id},
                    type="button",
                    className="tool-button",
                    title=t("compare.forget"),
                    **aria(label=t("compare.forget_named", question=question.text)),
                ),
            ]
        )
        for question in saved
    ]
    return html.Ul(items, className="saved-questions")


def _share(question: SavedQuestion) -> html.Button:
    key = "sharing.hide_question" if question.is_shared else "sharing.share_question"
    return html.Button(
        t("sharing.hide" if question.is_shared else "sharing.share"),
        id={"type": "compare-share", "id": question.id, "shared": not question.is_shared},
        type="button",
        className="btn btn-quiet btn-sm",
        **aria(label=t(key, question=question.text)),
    )


def impact_line(impact: Impact) -> html.Details:
    """A saved question whose answer was compared: what it says now and what it would say, behind one line."""
    found = impact.comparison
    key = "compare.impact_changes" if found.is_changed else "compare.impact_stays"
    summary = html.Summary(
        [
            icon("chevron-right"),
            badge("warning" if found.is_changed else "ok", t(key)),
            html.Span(impact.question.text, className="user-text"),
        ]
    )
    body = html.Div(
        [
            html.Div(
                [_answer(found.old, "now", None), _answer(found.new, "then", None)],
                className="compare-sides",
            ),
            html.Ul(
                [_evidence(each, found) for each in found.evidence if _differs(each)],
                className="moves",
            ),
        ]
    )
    return html.Details([summary, body], className="impact", open=False)


def progress(done: int, count: int) -> html.Div:
    """How many of the saved questions have been asked."""
    return html.Div(
        [
            html.Div(
                html.Div(className="bar-fill", style={"width": f"{100 * done / max(count, 1):.0f}%"}),
                className="bar",
                role="progressbar",
                **aria(valuemin="0", valuemax=str(count), valuenow=str(done), label=t("compare.impact_progress")),
            ),
            html.Span(t("compare.impact_done", done=done, count=count), className="numbers"),
        ],
        className="compare-progress",
    )


def _saved(saved: Sequence[SavedQuestion], subject: Version | None) -> html.Section:
    if subject is None:
        explain = html.P(t("compare.impact_nothing"), className="hint")
    else:
        explain = html.P(t("compare.impact_explain", number=subject.number), className="hint")
    run = html.Button(
        [icon("play-fill"), t("compare.impact_run", number=subject.number if subject else 0)],
        id="compare-impact-run",
        type="button",
        className="btn btn-secondary",
        disabled=subject is None or not saved,
        hidden=subject is None,
    )
    add = html.Div(
        [
            html.Label(t("compare.save_question"), htmlFor="compare-save-text", className="visually-hidden"),
            dbc.Input(
                id="compare-save-text",
                type="text",
                placeholder=t("compare.save_placeholder"),
                maxLength=QUESTION_CHARS,
                size="sm",
                autocomplete="off",
            ),
            html.Button(
                [icon("plus-lg"), t("compare.save")],
                id="compare-save",
                type="button",
                className="btn btn-secondary btn-sm",
            ),
        ],
        className="compare-ask-box",
    )
    return html.Section(
        [
            html.H2(t("compare.saved"), className="section-title"),
            explain,
            run,
            html.Div(id="compare-impact-progress", role="status"),
            html.Div(id="compare-impact-changed"),
            html.Div(id="compare-impact-same"),
            html.Div(saved_list(saved), id="compare-saved-list"),
            add,
            dcc.Store(id="compare-impact-next", data={}),
            dcc.Store(id="compare-impact-done", data={}),
            dcc.Store(id="compare-impact-went", data=False),
            dcc.Store(id="compare-subject", data=[subject.doc_key, subject.number] if subject else None),
        ],
        className="card-plain",
    )


def _answer(trace: Trace, side: str, number: int | None) -> html.Div:
    answer = trace.answer
    found = answer.type is not AnswerType.INSUFFICIENT and answer.text
    text: Any = linked_text(answer.text, answer.citations) if found else t("answer.insufficient")
    title = t(f"compare.{side}") + (f" · {t('version.number', number=number)}" if number is not None else "")
    return html.Div(
        [
            html.Header([html.H3(title), type_badge(answer.type, is_certain=not answer.is_tentative)]),
            *degraded_notices(trace),
            html.P(text, className="answer-text" if found else "answer-text muted"),
        ],
        className="compare-answer-side",
    )


def _evidence(change: EvidenceChange, found: AnswerComparison) -> html.Li:
    first = (len(found.old.hits), len(found.new.hits))
    hit = change.new or change.old
    places = [_rank(change.old, first[0]), _rank(change.new, first[1])]
    is_rewritten = change.evidence is Evidence.STAYED and _differs(change)
    symbol = "pencil" if is_rewritten else SYMBOLS[change.evidence]
    word = t("compare.evidence.rewritten") if is_rewritten else t(f"compare.evidence.{change.evidence}")
    meaning = "warning" if is_rewritten else MEANINGS[change.evidence]
    facts: list[Any] = [
        html.Span([icon(symbol), word], className=f"meaning meaning-{meaning}"),
        html.Span(t("compare.ranks", old=places[0], new=places[1]), className="numbers"),
        *[_link(each, side) for side, each in (("old", change.old), ("new", change.new)) if each is not None],
    ]
    reason = t(f"compare.reason.{change.evidence}.{change.reason}") if _differs(change) else ""
    return html.Li(
        [
            html.Div(facts, className="move-head"),
            html.P(reason, className="move-reason") if reason else None,
            html.P(_excerpt(hit), className="move-text user-text"),
        ]
    )


def _differs(change: EvidenceChange) -> bool:
    """Whether the passage came, went, moved, or was rewritten where it stood."""
    return change.evidence is not Evidence.STAYED or change.reason is Reason.TEXT


def _rank(hit: Hit | None, first: int) -> str:
    """The place of a passage among the first hits; candidates beyond them are counted otherwise."""
    return f"#{hit.rank}" if hit is not None and hit.rank <= first else t("compare.not_first", count=first)


def _link(hit: Hit, side: str) -> dcc.Link:
    place = " · ".join(part for part in (f"v{hit.placed.version}", locator_text(hit.placed.chunk.locator)) if part)
    return dcc.Link(f"{hit.placed.name} · {place}", href=passage_href(hit.placed), title=t(f"compare.open_{side}"))


def _excerpt(hit: Hit | None) -> str:
    return on_one_line(hit.placed.chunk.text, EXCERPT_CHARS) if hit is not None else ""
