"""Questions that a document answers, made from its own headings: what somebody may ask who does not know it yet.

A heading that is a question is asked as it stands; any other one is asked about, with the title of its document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dash import dcc, html

from app import links
from app.components.shared.icon import icon
from app.components.shared.links import ask_href
from app.i18n import LANGUAGES, language, t
from core.model import BlockKind, Chunk, Document, Filters, Query

SHORTEST, LONGEST = 2, 60
TOLD = (BlockKind.PARAGRAPH, BlockKind.LIST)
"""What says something of its heading in words; tables are asked for by what is in them."""
NUMBERING = re.compile(
    r"^(?:第\s*[0-9０-９一二三四五六七八九十百]+\s*[章節条項部編]|[0-9０-９]+(?:[.．][0-9０-９]+)*[.．)）、]?)\s*"
)
BRACKETED = re.compile(r"^[（(](.+)[）)]$")
ASKS = re.compile(r"[?？]$|(?:です|ます|でしょう|ません|いくら|どこ|いつ|だれ|誰|何|なん)か$")
SAYS_NOTHING = re.compile(
    r"(?:abstract|acknowledge?ments?|appendix|background|bibliography|conclusions?|(?:table of )?contents|copyright"
    r"|credits|disclaimer|foreword|glossary|history|index|introduction|licen[cs]e|miscellaneous|notes?|notice|other"
    r"|overview|preface|purpose|references|scope|summary|synopsis"
    r"|まとめ|はじめに|おわりに|概要|序文|前書き|まえがき|あとがき|目次|索引|参考文献|謝辞|付録|背景|目的|その他|備考)",
    re.IGNORECASE,
)
"""Headings that any document may have: asked about, they tell nobody what this one is good for."""
NAMES = re.compile(r"[,、，;；]|@")
"""What a list of people has; nobody asks about such a heading."""
FIRST_WORD = re.compile(r"^[A-Z][a-z]+(?=\s|$)")


def examples_of(document: Document, chunks: Iterable[Chunk], most: int = 1) -> list[str]:
    """Return questions that ``document`` answers, its own before those about its headings."""
    found = list(_headings(document, chunks))
    asked = [heading if heading.endswith(("?", "？")) else heading + "？" for heading in found if ASKS.search(heading)]
    lang = document.language if document.language in LANGUAGES else language()
    title = document.title or document.name
    told = [heading for heading in found if not ASKS.search(heading)][: max(0, most - len(asked))]
    about = [FIRST_WORD.sub(lambda word: word[0].lower(), heading) if lang == "en" else heading for heading in told]
    return [*asked[:most], *(t("start.example", lang, title=title, heading=heading) for heading in about)]


def example_links(questions: Sequence[str], doc_keys: Sequence[str] = ()) -> html.Section:
    """The questions as links that ask them, of the documents ``doc_keys`` alone where some are chosen."""
    only = Filters(doc_keys=tuple(doc_keys))
    items = [
        html.Li(
            dcc.Link(
                [icon("question-circle"), html.Span(question, className="user-text")],
                href=ask_href(Query(question, filters=only)) if doc_keys else links.ask(question),
                className="example",
            )
        )
        for question in questions
    ]
    return html.Section(
        [html.H2(t("start.examples"), className="section-title"), html.Ul(items, className="examples")],
        className="start-examples",
    )


def _headings(document: Document, chunks: Iterable[Chunk]) -> Iterator[str]:
    """The headings that say more than the title, without their numbers."""
    seen = {_plain(document.title), _plain(document.name.rpartition(".")[0])}
    told = [chunk.locator.heading_path for chunk in chunks if chunk.kind in TOLD and chunk.locator.heading_path]
    # What other headings stand under is the title, or the name of a chapter.
    seen |= {_plain(part) for path in told for part in path[:-1]}
    for path in told:
        heading = _plain(path[-1])
        if heading in seen:
            continue
        seen.add(heading)
        if SHORTEST <= len(heading) <= LONGEST and _is_asked_about(heading):
            yield heading


def _is_asked_about(heading: str) -> bool:
    if any(sign.isdigit() for sign in heading) or SAYS_NOTHING.fullmatch(heading):
        return False
    return bool(ASKS.search(heading)) or NAMES.search(heading) is None


def _plain(heading: str) -> str:
    words = NUMBERING.sub("", " ".join(heading.split()))
    inner = BRACKETED.match(words)
    return (inner[1] if inner else words).rstrip(":：")
