"""What two questions must share, beside a near embedding, to mean the same.

Embeddings hardly tell "in 2024" from "in 2025", "open" from "close", "who" from "when", or whether A beat B: in two
sets of questions more than half of the pairs beyond a cosine of 0.95 ask for something else. So both must have the same
figures, names and content words in the same order, ask for the same kind of thing, in the same tense, with the same
words of direction, duty and person, and in Japanese with the same particle behind the same noun; politeness, articles,
inflection and filling words are free.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from core.text.analysis import analyse, analyse_query, normalise, pieces
from core.text.language import detect_language
from core.text.languages import language_of, languages_asked

_FIGURE = re.compile(r"[0-9]+(?:[.,:/][0-9]+)*|[+<>≤≥=≠±%$€£¥°]|[-−–](?=\s?[0-9])")
_MINUS = str.maketrans("−–", "--", ",")
_LETTER = re.compile(r"(?<![A-Za-z0-9'’])[A-Za-z](?![A-Za-z0-9'’])")
_ARTICLE = re.compile(r"(?:\ba|^\s*A)\s+(?=\w)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FILLING_LINES = """
    time tell find much mani long often show give list name explain describ pleas know want need like call
    take exact 知る 行う 実施 お願い 下さる 分かる わかる 時 何時 何人 何日 何年 何月 額 くらい
"""
_FILLING = frozenset(_FILLING_LINES.split())
"""Terms that a question may have or not without asking for something else; what they ask for is its kind."""
_TELLING_LINES = """
    no not never nor without except only before after until since above below over under between by about from
    against for with into off out through during all both each some any other same more most if than then while
    can may must should need might could will would shall have has he him his she her they them their we our you your
    my
"""
_TELLING = frozenset(_TELLING_LINES.split())
"""Words that are no content, and whose change changes what is asked for."""
_POLITE = re.compile(
    r"\b(?:can|could|will|would) you (?:please )?(?=(?:tell|show|give|list|name|explain|describe)\b)"
    r"|(?<=\bwhere )can (?:i|we|you|one) find\b|(?<=\bhow long )(?P<lasting>.*)\blasts?(?=\W*$)|\bdo you know\b",
    re.IGNORECASE,
)
"""What is said around a question: “could you tell me”, “where can I find” and the “last” of “how long does it last”."""
_PAST = frozenset(("was", "were", "did", "had", "wasn't", "weren't", "didn't", "hadn't"))
_FUTURE = frozenset(("will", "shall", "won't"))
_ASKS_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|may|must|has|have|had)\b", re.IGNORECASE
)
_KINDS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("who", r"\b(?:who|whom|whose)\b|誰|だれ|どなた"),
        ("when", r"\bwhen\b|\b(?:what|which) (?:time|date|day|year|month)\b|いつ|何[時年月]|何曜日"),
        ("where", r"\bwhere\b|\b(?:what|which) place\b|どこ|どちら"),
        ("why", r"\bwhy\b|なぜ|何故|どうして"),
        ("how long", r"\bhow long\b"),
        ("how often", r"\bhow (?:often|frequently)\b|何[回度]"),
        (
            "how many",
            r"\bhow (?:many|much)\b|いくら|いくつ|何[人個件枚本台社名種日点倍割円]|ど[れの](?:くらい|ぐらい|ほど|程度)",
        ),
        ("how far", r"\bhow (?!(?:do|does|did|can|could|should|is|are|was|were|to)\b)[a-z]+"),
        ("how", r"\bhow\b|どう"),
        ("what", r"\b(?:what|which)\b|何|なに|どの|どれ|どんな|教え"),
    )
)
_JA_PAST = re.compile(
    r"(?:ました|でした|だった|[っん][ただ]|[いしえけげせてねべめれ]た)(?:の?です)?(?:の|か|のか|っけ)*[？?。\s]*$"
)
_JA_TELLING = re.compile("から|まで|より|以[上下外前後内]|未満|ない|ません|だけ|のみ|しか|[をへ]")
_JA_ROLES = ("助詞・格助詞", "助詞・係助詞", "助詞・連体化", "助詞・並立助詞")
_JA_YES_OR_NO = re.compile(r"(?:か|の|かな|だろう|でしょう)[？?。\s]*$")


def sense_of(question: str) -> tuple[str, ...]:
    """Return everything that must be the same in a question that means the same."""
    plain = normalise(question)
    japanese = detect_language(plain) == "ja"
    if language_of(plain) not in ("en", "ja") or languages_asked(plain):
        # Nobody has told which of its words may change.
        return (plain.casefold(), *analyse(plain))
    if not japanese:
        plain = _POLITE.sub(lambda match: match["lasting"] or "", plain)
    words = [word.lower().replace("’", "'") for word in _WORD.findall(plain)]
    telling = _JA_TELLING.findall(plain) if japanese else [word for word in words if word in _TELLING]
    return (
        _kind(plain, japanese=japanese),
        _tense(plain, words, japanese=japanese),
        *(figure.translate(_MINUS) for figure in _FIGURE.findall(plain)),
        "|",
        *(letter.lower() for letter in _LETTER.findall(plain if japanese else _ARTICLE.sub("", plain))),
        "|",
        *(term for term in analyse_query(plain) if term not in _FILLING),
        "|",
        *telling,
        "|",
        *(_roles(plain) if japanese else ()),
    )


def names_hash(question: str) -> bytes:
    """Return the SHA-256 of the sense of a question."""
    return hashlib.sha256("\n".join(sense_of(question)).encode("utf-8", "replace")).digest()


def _kind(plain: str, *, japanese: bool) -> str:
    for kind, pattern in _KINDS:
        if pattern.search(plain):
            return kind
    if _JA_YES_OR_NO.search(plain) if japanese else _ASKS_YES_OR_NO.match(plain):
        return "whether"
    return "what"


def _roles(plain: str) -> Iterator[str]:
    """Yield each particle with the noun before it, which says who does what to whom."""
    noun, end = "", 0
    for piece in pieces(plain):
        if piece.kind.startswith(_JA_ROLES):
            yield f"{noun}/{piece.surface}"
            noun = ""
        elif not piece.kind or piece.kind.startswith(("名詞", "接頭詞")):
            noun = (noun if piece.start == end else "") + piece.surface.lower()
        else:
            noun = ""
        end = piece.start + len(piece.surface)


def _tense(plain: str, words: list[str], *, japanese: bool) -> str:
    if japanese:
        return "past" if _JA_PAST.search(plain) else ""
    if not _FUTURE.isdisjoint(words):
        return "future"
    return "past" if not _PAST.isdisjoint(words) or any(len(w) > 4 and w.endswith("ed") for w in words) else ""
