"""Questions that a document answers, made from its own headings: what somebody may ask who does not know it yet.

A question of the document is asked as it stands, where it says by itself what it is about: a heading, or an entry of
questions and answers. Any other heading is asked about, with the title of its document; then its options are.
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
POINTS_AWAY = re.compile(
    r"\b(?:this|these|that|those|it|its|they|them|their|he|she|here|there|above|below|following|former|latter)\b"
    r"|これ|この|それ|その|あれ|あの|ここ|そこ|上記|下記|前述|後述|次の|本[書稿章節項]",
    re.IGNORECASE,
)
"""What only the text around it explains: “What is this?”"""
NO_SUBJECT = re.compile(
    r"^(?:after|at|before|by|during|for|from|if|in|inside|on|outside|to|when|while|with|without|within)\b"
    r"|(?:とき|場合|ため|まで|から|ました|ます|ません|です|ない|った)$",
    re.IGNORECASE,
)
"""Headings that cannot follow “about”: when something is, and whole sentences."""
OPTION = re.compile(r"^--?[A-Za-z][\w-]*(?=$|[\s,=\[<|])")
TITLE_CASE = re.compile(r"\s[A-Z][a-z]")
SAYS_NOTHING = re.compile(
    r"(?:abstract|acknowledge?ments?|appendix|authors?|background|bibliography|bugs|conclusions?"
    r"|(?:table of )?contents|copyright|credits|description|disclaimer|environment|examples?|exit status|files"
    r"|foreword|glossary|history|index|introduction|licen[cs]e|miscellaneous|name|notes?|notice|options|other"
    r"|overview|preface|purpose|references|scope|see also|summary|synopsis|usage"
    r"|まとめ|はじめに|おわりに|概要|序文|前書き|まえがき|あとがき|目次|索引|参考文献|謝辞|付録|背景|目的|その他|備考)",
    re.IGNORECASE,
)
"""Headings that any document may have: asked about, they tell nobody what this one is good for."""
NAMES = re.compile(r"[,、，;；]|@")
"""What a list of people has; nobody asks about such a heading."""
FIRST_WORD = re.compile(r"^[A-Z][a-z]+(?=\s|$)")


def own_questions(document: Document, chunks: Sequence[Chunk]) -> list[str]:
    """Return the questions that ``document`` itself asks and answers, and that can be understood without it."""
    entries = (_plain(label.text) for chunk in chunks for label in chunk.labels)
    found = dict.fromkeys([*_headings(document, chunks), *(entry for entry in entries if _is_asked_about(entry))])
    asked = (question for question in found if ASKS.search(question))
    return [question if question.endswith(("?", "？")) else question + "？" for question in asked]


def examples_of(document: Document, chunks: Sequence[Chunk], most: int = 1) -> list[str]:
    """Return questions that ``document`` answers: its own, then about its headings, then about its options."""
    lang = document.language if document.language in LANGUAGES else language()
    title = document.title or document.name
    about = [heading for heading in _headings(document, chunks) if not ASKS.search(heading)]
    about = [_within_a_sentence(heading) if lang == "en" else heading for heading in about]
    told = [t("start.example", lang, title=title, heading=heading) for heading in about]
    labels = (label.text for chunk in chunks for label in chunk.labels)
    options = dict.fromkeys(option[0] for label in labels if (option := OPTION.match(label)))
    return [
        *own_questions(document, chunks),
        *told,
        *(t("start.example_option", lang, option=option) for option in options),
    ][:most]


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
        if _is_asked_about(heading):
            yield heading


def _is_asked_about(heading: str) -> bool:
    if not SHORTEST <= len(heading) <= LONGEST or any(sign.isdigit() for sign in heading):
        return False
    if SAYS_NOTHING.fullmatch(heading) or POINTS_AWAY.search(heading):
        return False
    return bool(ASKS.search(heading)) or not (NAMES.search(heading) or NO_SUBJECT.search(heading))


def _within_a_sentence(heading: str) -> str:
    """A heading as it stands in the middle of a sentence; where each word is large, so is the first."""
    return heading if TITLE_CASE.search(heading) else FIRST_WORD.sub(lambda word: word[0].lower(), heading)


def _plain(heading: str) -> str:
    words = NUMBERING.sub("", " ".join(heading.split()))
    inner = BRACKETED.match(words)
    return (inner[1] if inner else words).rstrip(":：")
