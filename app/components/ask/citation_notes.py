"""The ``[n]`` marks of the shown answer: each opens its place in the evidence, and a note beside it tells what it is.

``assets/modules/ask/evidence.js`` shows the notes to the mouse and to the keyboard, and opens the evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dash import html

from app.components.attributes import aria, dataset
from app.components.shared.citations import CitationLink, citation_link, cited_place
from app.components.shared.wording import on_one_line
from app.i18n import t
from core.model import Citation

NOTE_CHARS = 320


def evidence_links(chunk_ids: Collection[int]) -> CitationLink:
    """Links into the evidence for citations of the passages ``chunk_ids``; any other leads to its document."""
    return lambda citation: evidence_link(citation) if citation.chunk_id in chunk_ids else citation_link(citation)


def evidence_link(citation: Citation) -> html.A:
    """The way to the cited sentence in the evidence of the page."""
    return html.A(
        f"[{citation.number}]",
        href=f"#{anchor(citation.number)}",
        className="citation",
        **aria(label=t("answer.citation", number=citation.number), describedby=f"cite-note-{citation.number}"),
        **dataset(cite=citation.number, chunk=str(citation.chunk_id), start=citation.start, end=citation.end),
    )


def anchor(number: int) -> str:
    """The id of a citation's number in the evidence."""
    return f"cited-{number}"


def citation_notes(citations: Sequence[Citation]) -> html.Div:
    """What the citations say, one hidden note each."""
    return html.Div([_note(citation) for citation in citations], className="citation-notes")


def _note(citation: Citation) -> html.Div:
    words = on_one_line(citation.text, NOTE_CHARS)
    return html.Div(
        [
            html.Span(cited_place(citation), className="citation-note-place user-text"),
            html.Q(words, className="user-text"),
        ],
        id=f"cite-note-{citation.number}",
        className="citation-note",
        role="tooltip",
        hidden=True,
    )
