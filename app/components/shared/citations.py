"""The ``[n]`` marks of an answer as links to the passages that they cite."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dash import dcc
from dash.development.base_component import Component

from app.components.shared.links import citation_href
from app.components.shared.passage import locator_text
from app.i18n import t
from core.model import Citation

CITATION_MARK = re.compile(r"\[(\d{1,3})\]")
CitationLink = Callable[[Citation], Component]


def citation_link(citation: Citation) -> Component:
    """The way to the cited sentence on the page of its document."""
    return dcc.Link(
        f"[{citation.number}]",
        href=citation_href(citation),
        className="citation",
        title=t("answer.open_citation", place=cited_place(citation)),
    )


def linked_text(text: str, citations: Sequence[Citation], link: CitationLink = citation_link) -> list[str | Component]:
    """``text`` whose ``[n]`` marks are links where ``n`` is a citation; any other mark stays as it is."""
    known = {citation.number: citation for citation in citations}
    pieces: list[str | Component] = []
    at = 0
    for mark in CITATION_MARK.finditer(text):
        citation = known.get(int(mark[1]))
        if citation is None:
            continue
        pieces += [text[at : mark.start()], link(citation)]
        at = mark.end()
    return [piece for piece in [*pieces, text[at:]] if piece != ""]


def cited_place(citation: Citation) -> str:
    """The name of the document and where in it the sentence stands."""
    return " · ".join(part for part in (citation.name, locator_text(citation.locator)) if part)
