"""The versions of a document as a timeline, newest first: who, when, what it holds, when it was shown, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.components.document.version_forms import Form, version_form
from app.components.shared.icon import icon
from app.components.shared.links import document_href
from app.components.shared.periods import Period, periods, shown_before
from app.components.shared.states import badge, error_line
from app.components.shared.times import exactly, when
from app.components.shared.wording import in_part_words, sentence
from app.i18n import size, t
from core.model import Document, Publication, Version

FIRST_VERSIONS = 12
MOST_PERIODS = 2
STATES = {"stored": "working", "failed": "error", "cancelled": "neutral", "purged": "neutral"}


@dataclass(frozen=True, slots=True)
class Past:
    """A document with its versions and its publications, both newest first; ``viewed`` is what the page shows."""

    document: Document
    versions: Sequence[Version]
    publications: Sequence[Publication]
    viewed: int | None = None

    @property
    def ready(self) -> list[int]:
        return [version.number for version in self.versions if version.state == "ready"]

    def purge_note(self, version: Version) -> str:
        """Why ``version`` was purged, alone or with the whole document, as far as a reason was given."""
        purges = [done for done in reversed(self.publications) if done.action == "purge"]
        alone = [done.note for done in purges if done.subject == version.number]
        whole = [done.note for done in purges if done.subject is None and done.at >= version.created_at]
        return next(iter([*alone, *whole]), "")

    @property
    def rollback_to(self) -> int | None:
        return shown_before(self.publications, self.ready) if self.document.published_version is not None else None

    def before(self, number: int) -> int | None:
        """The newest version under ``number`` that can be compared."""
        return next((other for other in self.ready if other < number), None)

    def answers_href(self, draft: Version) -> str | None:
        """The page that says what publishing ``draft`` would change in the answers, where there is something now."""
        published = self.document.published_version
        base = published if published is not None else self.before(draft.number)
        return None if base is None else links.compare(draft.doc_key, base, draft.number, view="answers")


def timeline(past: Past, form: Form | None = None, *, everything: bool = False) -> html.Div:
    """One item a version; beyond the first twelve only what is shown or viewed, unless ``everything`` is asked for."""
    shown = periods(past.publications)
    wanted = [
        version
        for index, version in enumerate(past.versions)
        if everything or index < FIRST_VERSIONS or version.is_published or version.number == past.viewed
    ]
    items = [_version(version, past, shown.get(version.number, ()), form) for version in wanted]
    hidden = len(past.versions) - len(wanted)
    more = html.Button(
        t("version.show_all", count=len(past.versions)),
        id={"type": "document-act", "action": "everything"},
        type="button",
        className="btn btn-secondary btn-sm",
    )
    return html.Div([html.Ol(items, className="versions"), more if hidden else None, _foot(past)])


def version_state(version: Version, was_shown: bool) -> html.Span:
    """What became of a version, as an icon and a word."""
    if version.keyword_ready and version.embedded_chunks < version.chunk_count:
        share = 100 * version.embedded_chunks // version.chunk_count
        return badge(
            "working", t("version.shown_early" if version.is_published else "version.keyword_ready", share=share)
        )
    if version.is_published:
        return badge("ok", t("version.published"))
    if version.state != "ready":
        return badge(STATES.get(version.state, "neutral"), t(f"version.state.{version.state}"))
    if version.publish_at is not None:
        return badge("working", t("version.scheduled"))
    if version.is_draft:
        return badge("warning", t("version.draft"))
    return badge("neutral", t("version.earlier" if was_shown else "version.state.ready"))


def purged_words(key: str, version: Version) -> list[Any]:
    """When a version was removed for good, and by whom where that is known."""
    at = exactly(version.purged_at) if version.purged_at is not None else "—"
    if not version.purged_by:
        return sentence(f"{key}_unnamed", time=at)
    return sentence(key, time=at, who=version.purged_by)


def _version(version: Version, past: Past, shown: Sequence[Period], form: Form | None) -> html.Li:
    name = dcc.Link(
        t("version.number", number=version.number),
        href=document_href(version.doc_key, version.number),
        className="version-number",
    )
    parts: list[Any] = [
        html.Div([name, version_state(version, bool(shown))], className="version-head"),
        html.Div(version.label, className="version-label") if version.label else None,
        html.Div(_facts(version), className="version-facts"),
        *_story(version, shown),
    ]
    reason = past.purge_note(version) if version.state == "purged" else ""
    parts += [html.P(words, className="version-note") for words in (version.note, reason) if words]
    if version.error:
        parts.append(error_line(version.error))
    if form is not None and form.number == version.number:
        parts.append(version_form(version, form))
    else:
        parts += _actions(version, past)
    is_viewed = version.number == past.viewed
    return html.Li(
        parts,
        id=f"version-{version.number}",
        className="version version-shown" if is_viewed else "version",
        **(aria(current=True) if is_viewed else {}),
    )


def _facts(version: Version) -> list[Any]:
    who = html.Span(version.actor) if version.actor else None
    facts: list[Any] = [who, when(version.created_at)]
    if version.state != "purged":
        facts.append(html.Span(size(version.size_bytes)))
    if version.state == "ready":
        added = t("version.chunks", count=version.chunks_added, kept=version.chunks_kept)
        removed = t("version.chunks_removed", count=version.chunks_removed) if version.chunks_removed else ""
        facts.append(html.Span(added + removed, title=t("version.chunks_explain")))
    if version.in_part:
        facts.append(badge("warning", in_part_words(version.in_part)))
    return facts


def _story(version: Version, shown: Sequence[Period]) -> list[Any]:
    """When it was shown, will be shown, or why it never is."""
    lines: list[Any] = []
    if version.state == "purged":
        lines.append(purged_words("version.purged_line", version))
    elif version.publish_at is not None:
        lines.append(sentence("version.scheduled_line", time=exactly(version.publish_at)))
    elif version.is_draft:
        lines.append([t("version.draft_line")])
    for period in shown[:MOST_PERIODS]:
        if period.end is None:
            lines.append(sentence("version.shown_since", start=exactly(period.start)))
        else:
            lines.append(
                sentence("version.shown_from", start=exactly(period.start), end=exactly(period.end, period.start))
            )
    if len(shown) > MOST_PERIODS:
        lines.append([t("version.shown_more", count=len(shown) - MOST_PERIODS)])
    return [html.Div(line, className="version-story") for line in lines]


def _actions(version: Version, past: Past) -> list[Any]:
    number, published = version.number, past.document.published_version
    if version.state == "purged":
        return []
    first: list[Any] = []
    more: list[Any] = []
    if version.state == "ready" and not version.is_published:
        goes_back = published is not None and number < published
        show = _button("rollback" if goes_back else "publish", number, "check2")
        is_planned = version.publish_at is not None
        is_at_the_foot = number == past.rollback_to and len(past.ready) == 2
        if is_planned:
            first.append(_button("unschedule", number, "x-lg"))
        elif not is_at_the_foot:
            first.append(show)
        more += [show] if is_planned else []
        more.append(_button("schedule", number, "calendar3"))
    more.append(_button("note", number, "pencil"))
    more.append(
        html.A(
            [icon("download"), t("version.original")],
            href=links.original(version.doc_key, number),
            title=version.file_name,
            download=version.file_name,
            className="btn btn-secondary btn-quiet btn-sm",
        )
    )
    if not version.is_published and version.state != "stored":
        more.append(_button("purge", number, "trash"))
    summary = html.Summary(
        [t("version.more"), html.Span(t("version.of_version", number=number), className="visually-hidden")],
        className="btn btn-secondary btn-quiet btn-sm",
    )
    return [
        *(_comparisons(version, past) if version.state == "ready" else []),
        html.Div(
            [*first, html.Details([summary, html.Div(more, className="version-more-row")], className="version-more")],
            className="version-actions",
        ),
    ]


def _comparisons(version: Version, past: Past) -> list[Any]:
    """The ways to see what the version changed, or would change."""
    key, number, published = version.doc_key, version.number, past.document.published_version
    before = past.before(number)
    pairs = []
    if before is not None:
        pairs.append((t("version.the_one", number=before), links.compare(key, before, number)))
    if published is not None and published not in (number, before):
        old, new = sorted((published, number))
        pairs.append((t("version.the_published", number=published), links.compare(key, old, new)))
    ways: list[Any] = []
    if pairs:
        ways.append(html.Div([dcc.Link(words, href=href) for words, href in pairs], className="version-way"))
    answers = past.answers_href(version) if version.is_draft else None
    if answers is not None:
        ways.append(html.Div(dcc.Link(t("version.answers"), href=answers), className="version-way"))
    if version.is_draft:
        gate = dcc.Link(t("version.gate"), href=links.evaluate(doc=key, version=number))
        ways.append(html.Div(gate, className="version-way for-editors"))
    return ways


def _button(action: str, number: int, symbol: str) -> html.Button:
    return html.Button(
        [
            icon(symbol),
            t(f"version.do.{action}"),
            html.Span(t("version.of_version", number=number), className="visually-hidden"),
        ],
        id={"type": "version-act", "action": action, "number": number},
        type="button",
        className="btn btn-secondary btn-sm for-editors",
        title=t(f"version.explain.{action}", number=number),
    )


def _foot(past: Past) -> html.Div:
    """What can be done with the document as a whole, each with what comes of it, from the mildest to the last."""
    rows: list[Any] = []
    state, published = past.document.state, past.document.published_version
    back = past.rollback_to
    if back is not None:
        key = "version.show_again" if back > (published or 0) else "version.roll_back_to"
        button = _act("rollback", "arrow-counterclockwise", t(key, number=back))
        rows.append(_row(button, t("version.comes.rollback", number=back, kept=published)))
    if published is not None:
        rows.append(_row(_act("unpublish", "eye-slash", t("version.unpublish")), t("version.comes.unpublish")))
    is_gone = state in ("deleted", "purged")
    delete = _button_of("document-delete", "trash", t("document.delete"), is_hidden=is_gone)
    rows.append(_row(delete, t("version.comes.delete"), is_hidden=is_gone))
    if state != "purged" and not any(version.state == "stored" for version in past.versions):
        rows.append(_row(_act("purge", "slash-circle", t("version.purge_all")), t("version.comes.purge")))
    audit = dcc.Link([icon("journal-text"), t("version.audit")], href=links.audit(past.document.doc_key))
    return html.Div([html.Ul(rows, className="timeline-acts for-editors"), audit], className="timeline-foot")


def _row(button: html.Button, comes: str, *, is_hidden: bool = False) -> html.Li:
    return html.Li([button, html.Span(comes)], hidden=is_hidden)


def _act(action: str, symbol: str, words: str) -> html.Button:
    return _button_of({"type": "document-act", "action": action}, symbol, words)


def _button_of(component_id: str | dict[str, str], symbol: str, words: str, *, is_hidden: bool = False) -> html.Button:
    return html.Button(
        [icon(symbol), words],
        id=component_id,
        type="button",
        className="btn btn-secondary btn-sm",
        hidden=is_hidden,
    )
