"""What the Ask page shows for an address: read from the facade, then drawn. Its callbacks ask and go to addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.ask.answer_card import answer_card
from app.components.ask.conversation_turns import asked_question, earlier_turns, later_turns
from app.components.ask.evidence import evidence_button, evidence_pane
from app.components.ask.options import Offer
from app.components.ask.recording_link import recording_link, unrecorded
from app.components.ask.save_question import save_button
from app.components.ask.scope import Offered
from app.components.ask.why_not_panel import why_not_section
from app.components.ask.wrong_answer import can_be_marked, wrong_button
from app.components.shared.freshness import Shown, is_of_now, scope_notice
from app.components.shared.links import Place
from app.components.shared.sharing import is_own
from app.context import kb, rag
from app.i18n import t
from app.offered_documents import chosen_documents, offered_documents
from app.pages.ask import start
from core.errors import EvoRAGError, NotFound
from core.model import Conversation, Query, Recording, Task, Trace, Turn, VersionRef

OFFERED_HISTORIES = 20


@dataclass(frozen=True, slots=True)
class Talk:
    """The conversation that a page is in, with its questions, and the one whose answer is shown."""

    conversation: Conversation
    turns: tuple[Turn, ...]
    trace_id: str = ""

    @property
    def number(self) -> int | None:
        """The place of the shown answer, None where none of them is shown."""
        return next((turn.number for turn in self.turns if turn.summary.id == self.trace_id), None)

    def earlier(self) -> html.Section | None:
        """What was asked before the shown answer, or before the next question."""
        turns = [turn for turn in self.turns if self.number is None or turn.number < self.number]
        return earlier_turns(turns, self.conversation.id)

    def later(self) -> html.Section | None:
        turns = [turn for turn in self.turns if self.number is not None and turn.number > self.number]
        return later_turns(turns, self.conversation.id)


def talk_of(conversation_id: str, trace_id: str = "") -> Talk | None:
    """Return the conversation. Raises: ``NotFound``."""
    if not conversation_id:
        return None
    return Talk(kb().conversations.get(conversation_id), tuple(kb().conversations.turns(conversation_id)), trace_id)


def offer() -> Offer:
    """What a question can choose, and what it gets where it chooses nothing."""
    settings = kb().settings.search
    return Offer(
        generators=tuple(kb().generators.health()),
        generator=usual_generator(),
        rerank=settings.rerank,
        recency=settings.recency,
        read_filters=settings.read_filters,
        has_cross=bool(settings.cross_encoder),
        depth=settings.search_depth,
    )


def usual_generator() -> str:
    """The name of what writes the answers of questions that choose nothing. Raises: ``InvalidInput``."""
    return kb().generators.chosen(Task.ANSWER, rag().llm_type)


def offered_versions(search: str, chosen: str | None = None) -> Offered:
    """The documents whose names fit, and the one chosen, with their versions."""
    found = {document.doc_key: document for document in kb().documents(search, limit=OFFERED_HISTORIES)}
    if chosen is not None and "#v" in chosen:
        key = chosen.rpartition("#v")[0]
        found = {**{document.doc_key: document for document in chosen_documents([key])}, **found}
    versions = kb().histories(list(found))
    return [(document, versions.get(key, [])) for key, document in found.items()]


def before(talk: Talk | None, doc_keys: Sequence[str] = ()) -> list[Any]:
    """What stands there before a question, to the documents ``doc_keys``."""
    return [] if talk is not None else [html.Div(start.below(doc_keys), id="start-below", className="ask-start")]


def answered(kept: Trace, talk: Talk | None) -> list[Any]:
    """The question with its kept answer."""
    shown = _shown(kept)
    recording = _recording(kept)
    neurons = [] if recording is None else [recording_link(recording)]
    save = html.Div(_save(kept.query.text), id="ask-save-box")
    tools = html.Div([*neurons, save, *_wrong(kept)], className="answer-tools")
    first = _first_publication() if kept.sequence == 0 else None
    parts: list[Any] = [
        asked_question(kept.query.text),
        scope_notice(kept, shown, _moment_of(kept.query)),
        answer_card(kept, None if is_of_now(kept, shown) else shown, tools, first, _names(kept)),
        unrecorded(kept, recording),
    ]
    if kept.hits:
        parts.append(evidence_button(len(kept.hits)))
    parts.append(html.Div(id="ask-wrong-box"))
    if talk is not None:
        parts.append(talk.later())
    return parts


def evidence_of(kept: Trace) -> html.Aside:
    """The passages that the kept answer stands on; the cited ones with their page where they have pages."""
    shown = _shown(kept)
    cited = {(citation.doc_key, citation.version) for citation in kept.answer.citations}
    paged = {version for version in cited if _has_pages(*version)}
    return evidence_pane(kept, None if is_of_now(kept, shown) else shown, paged, _names(kept))


def account(kept: Trace, why: Place | None) -> list[Any]:
    """Why a passage was not found, and how the others were."""
    switch = dbc.Switch(
        id="ask-details", label=t("ask.details"), value=False, persistence="ask-details", persistence_type="local"
    )
    return [
        _why_not(kept, why),
        html.Div(switch, className="details-switch"),
        html.Div(id="ask-cards", className="trace-cards"),
    ]


def _wrong(kept: Trace) -> list[html.Div]:
    """The button that says that the answer is wrong, of questions that a set may hold."""
    if not can_be_marked(kept):
        return []
    try:
        is_marked = kb().evaluations.marked_wrong(kept.id) is not None
    except EvoRAGError:
        # An evaluation has asked it: it is in a question set.
        return []
    return [html.Div(wrong_button(is_marked=is_marked), id="ask-wrong-tool")]


def _has_pages(doc_key: str, version: int) -> bool:
    try:
        return kb().has_pages(doc_key, version)
    except EvoRAGError:
        return False


def _recording(kept: Trace) -> Recording | None:
    """The recording of an answer, None where it has none any more."""
    recording_id = kept.generation.get("recording", {}).get("id", "")
    try:
        return kb().recordings.get(recording_id) if recording_id else None
    except NotFound:
        return None


def _why_not(kept: Trace, why: Place | None) -> html.Section:
    """Why the passage of the address was not found; the picker alone where the address names none."""
    if why is None:
        return why_not_section(offered_documents(""), None, None)
    key, position, version = why
    offered = list({each.doc_key: each for each in offered_documents("", [key])}.values())
    # A follow-up is looked for as what it was understood as, which needs no conversation.
    asked = replace(kept.query, text=kept.analysis.standalone or kept.query.text, conversation_id="")
    try:
        return why_not_section(offered, kb().insight.why_not(asked, key, position, version), None)
    except EvoRAGError as error:
        return why_not_section(offered, None, error)


def _names(kept: Trace) -> dict[str, str]:
    """The names of the documents that chosen and read filters speak of."""
    keys = [*kept.query.filters.doc_keys]
    keys += [key for each in kept.analysis.read_filters for key in each.filters.doc_keys]
    return {document.doc_key: document.name for document in chosen_documents(keys)}


def _shown(trace: Trace) -> Shown:
    """What each document that the trace names shows now."""
    keys = {hit.placed.doc_key for hit in trace.hits}
    if isinstance(trace.query.as_of, VersionRef):
        keys.add(trace.query.as_of.doc_key)
    shown: dict[str, int | None] = {}
    for key in keys:
        try:
            shown[key] = kb().document(key).published_version
        except NotFound:
            shown[key] = None
    return shown


def _moment_of(query: Query) -> datetime | None:
    """When the publication was made that the question is asked of."""
    if not isinstance(query.as_of, int):
        return None
    newest = kb().audit(limit=1, before=query.as_of + 1)
    return newest[0].at if newest else None


def _first_publication() -> datetime | None:
    """When anything was published first."""
    first = kb().audit(limit=1, before=2)
    return first[0].at if first else None


def _save(question: str) -> html.Button:
    return save_button(any(is_own(saved) and saved.text == question.strip() for saved in kb().saved_questions()))
