"""What Ask shows before a question: examples from the documents that are there, last answers, what is on its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Input, Output, State, callback, dcc, html, no_update

from app import links
from app.components.ask.example_questions import example_links, examples_of, own_questions
from app.components.ask.question_list import question_list, saved_links
from app.components.ask.start import NAMED, being_indexed, first_documents
from app.context import kb
from app.i18n import language, t
from app.offered_documents import chosen_documents
from core.errors import NotFound
from core.model import Document, JobFilter, JobState, TraceSummary

TICK_MS = 2_000
RECENT_QUESTIONS, LOOKED_THROUGH = 5, 20
EXAMPLES = 3
OFFERED_DOCUMENTS = 60
"""So many are considered for examples, in the order of their names; and of so many of these the text is read."""
READ_DOCUMENTS, READ_CHUNKS = 12, 12


def below(doc_keys: Sequence[str] = ()) -> list[Any]:
    """Examples, of the chosen documents where some are, and the last answers; or the way to the first documents."""
    if is_empty():
        return [first_documents()]
    parts: list[Any] = []
    examples = _examples(doc_keys)
    if examples:
        parts.append(example_links(examples, doc_keys))
    saved, recent = kb().saved_questions(), _recent()
    lists: list[tuple[str, Any, Any]] = [("ask.saved", saved_links(saved), None)] if saved else []
    if recent:
        every = dcc.Link(t("start.all_questions"), href=links.HISTORY)
        lists.append(("start.last_answers", question_list(recent), every))
    parts += [
        html.Section(
            [html.Div([html.H2(t(key), className="section-title"), link], className="section-head"), shown],
            className="card-plain",
        )
        for key, shown, link in lists
    ]
    return parts


def indexing() -> Any:
    """What is being indexed, beside the box."""
    jobs = kb().jobs(active=True, limit=200)
    count = sum(kb().job_counts(JobFilter(states=(JobState.QUEUED, JobState.RUNNING))).values())
    # What runs stands behind what waits in the list of jobs, which has the newest first.
    running = sorted(jobs, key=lambda job: job.state is not JobState.RUNNING)
    return being_indexed(running, max(count, len(jobs[:NAMED])))


def ticking() -> list[Any]:
    """What keeps the parts current."""
    return [dcc.Interval(id="start-tick", interval=TICK_MS), dcc.Store(id="start-seen", data=_state())]


def is_empty() -> bool:
    """Say whether there is nothing to ask about, and nothing on its way."""
    # Everything is counted only where the first document does not tell at once that there is something.
    if any(document.published_version is not None for document in kb().documents(limit=1)):
        return False
    counts = kb().counts()
    return counts.documents == 0 and counts.running_jobs == 0


@callback(
    Output("start-indexing", "children"),
    Output("start-below", "children"),
    Output("ask-asking", "hidden"),
    Output("start-seen", "data"),
    Input("start-tick", "n_intervals"),
    State("start-seen", "data"),
    State("ask-doc", "value"),
    prevent_initial_call=True,
)
def follow(_: int, seen: list[Any], doc_keys: list[str] | None) -> tuple[Any, ...]:
    """Show the present state; what nothing has changed is left alone, with the focus that it may have."""
    now = _state()
    if now == seen:
        return indexing(), no_update, no_update, no_update
    return indexing(), below(doc_keys or ()), is_empty(), now


def _recent() -> list[TraceSummary]:
    """The last answers; of a question that was asked again, the newest."""
    newest: dict[str, TraceSummary] = {}
    for asked in kb().history(LOOKED_THROUGH):
        newest.setdefault(asked.question, asked)
    return list(newest.values())[:RECENT_QUESTIONS]


def _state() -> list[Any]:
    """What the parts below the box depend on."""
    newest = kb().history(1)
    return [kb().sequence(), newest[0].id if newest else "", is_empty()]


def _is_titled(document: Document) -> bool:
    """Whether it has a title that is more than the name of its file."""
    return document.title not in ("", document.name, document.name.rpartition(".")[0])


def _examples(doc_keys: Sequence[str]) -> list[str]:
    """Questions that shown documents answer: one a document, those that documents ask themselves first.

    Documents in the reader's language come first, or the chosen ones alone.
    """
    known = chosen_documents(doc_keys) if doc_keys else kb().documents(limit=OFFERED_DOCUMENTS)
    shown = [each for each in known if each.published_version is not None]
    shown.sort(key=lambda document: (document.language != language(), not _is_titled(document)))
    most = EXAMPLES if len(doc_keys) == 1 else 1
    own: list[str] = []
    others: list[str] = []
    for document in shown[:READ_DOCUMENTS]:
        try:
            preview = kb().preview(document.doc_key, document.published_version or 0, 0, READ_CHUNKS)
        except NotFound:
            continue
        chunks = [placed.chunk for placed in preview.chunks]
        if own_questions(document, chunks):
            own += examples_of(document, chunks, most)
        else:
            others += examples_of(document, chunks, most)
        if len(own) >= EXAMPLES:
            break
    return list(dict.fromkeys([*own, *others]))[:EXAMPLES]
