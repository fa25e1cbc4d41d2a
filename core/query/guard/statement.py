"""Reads a sentence as what it states: its words in order with the part each plays, its figures, names and negations.

English and Japanese alike. Nothing is parsed: of a word it is known what stands beside it, in which clause, and by
which preposition or particle it is attached, which tells words that were swapped from those that were moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from core.query.guard.little_words import AUXILIARIES, DETERMINERS, PREPOSITIONS
from core.query.guard.numbers import PlacedFigure, placed_figures
from core.query.guard.opposites import POLES, same_terms
from core.text.analysis import AnalysedPiece, commas_within_numbers, normalise, pieces
from core.text.languages import language_of

_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*|(?<![\w/])/(?:[\w.+-]+/)*[\w.+-]*\w|\b\w+(?:_\w+)+|\b[a-z\d]+[A-Z]\w*|\b[A-Z]{1,8}-?\d[\w-]*"
    r"|[%$@][A-Za-z_]\w*|\b[A-Za-z]:\\[\w\\.]*",
    re.ASCII,
)
_CAPITAL = re.compile(r"[A-Z][\w’'&-]*")
_KATAKANA = re.compile("[ァ-ヺ][ァ-ヺー]{2,}")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿々]")
_BREAK = re.compile(r"[,;:()（）、。，；：！？!?\n「」『』\[\]\"“”|–—]|\.(?=\s|$)")
_ENGLISH_NEGATION = re.compile(
    r"(?:not|no|never|neither|nor|none|nobody|nothing|without|cannot|hardly|\w+n['’]t|non|unless|except|fail|fails|failed"
    r"|refuse|refuses|refused|lack|lacks|lacked|barely|rarely|seldom)",
    re.IGNORECASE,
)
_PREFIXES = ("非", "不", "未", "無")
_EXCEPT = ("以外",)
_NOT_ONLY = re.compile(
    r"\bnot (?:only|just|merely)\b|\bno(?:t)? (?:later|earlier|sooner) than\b|\bwhether or not\b", re.IGNORECASE
)
_AT_MOST = re.compile(r"\b(?:no|not(?: be)?) (?:more|greater|higher|larger|longer) than\b", re.IGNORECASE)
_AT_LEAST = re.compile(r"\b(?:no|not(?: be)?) (?:less|fewer|lower|smaller|shorter) than\b", re.IGNORECASE)
_OBLIGED = re.compile(
    r"(?:な(?:ければ|くては)|ねば)(?:なら(?:ない|ず|なかった)|なりません|いけ(?:ない|ません|なかった))|ざるを得(?:ない|ず|ません)|だけで(?:は)?なく|のみなら[ずぬ]"
    r"|かもしれ(?:ない|ません)|に(?:違い|ちがい)(?:ない|ありません)|に(?:過ぎ|すぎ)(?:ない|ません)|(?:やむを|止むを)得(?:ず|ない)"
)
AUXILIARY_NAMES = frozenset(("May", "Will"))
"""Names that are auxiliaries too; no other little word is a name for being capitalised, as in titles."""
_DERIVED = r"(?:s|y|n|an|ian|er|ese|ish)?"
_SHORTEST_STEM = 4
_LATIN = "A-Za-zÀ-ɏ"
_LISTED = frozenset(("and", "or", "と", "や", "・", "および", "及び", "または", "又は"))
_MODAL = {
    word: modal
    for modal, words in {
        "must": "must shall required",
        "may": "may might can could",
        "should": "should",
        "only": "only しか のみ だけ",
        "all": "all every always すべて 全て 常に 必ず",
        "some": "some sometimes 一部 時々",
    }.items()
    for word in words.split()
}
_PRONOMINAL = re.compile(r"\W*(?:it|he|she|they|this|these|its|his|her|their|such|both|the)\b", re.IGNORECASE)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|been|being|be)\b(?:\s+\w+)?\s+\w+(?:ed|en|wn|lt|de|nt|ught|ung|t)\b|[らさ]れ"
)


@dataclass(frozen=True, slots=True)
class StatedWord:
    """A word that says something; ``terms`` are what it is found by, ``role`` is what attaches it."""

    text: str
    terms: frozenset[str]
    clause: int
    start: int
    end: int
    role: str = ""
    is_name: bool = False
    is_noun: bool = False
    is_listed: bool = False
    is_figure: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, read.

    ``negated`` has of each negation the terms of the word that it denies and of those near it; ``poles`` the axis and
    side of each word that has an opposite, what stands beside it, and what of that in its clause.
    """

    text: str
    tokens: tuple[StatedWord, ...]
    figures: tuple[PlacedFigure, ...]
    identifiers: frozenset[str]
    negated: tuple[tuple[frozenset[str], frozenset[str]], ...]
    poles: tuple[tuple[str, int, frozenset[str], frozenset[str]], ...]
    modals: frozenset[str]
    is_passive: bool
    is_japanese: bool
    clauses: tuple[frozenset[str], ...] = field(default=())

    @property
    def is_pronominal(self) -> bool:
        """Whether a sentence before may tell what it is about: it begins with a pronoun, or has no subject."""
        if self.is_japanese:
            return not any(token.role == "が" for token in self.tokens[:4])
        return _PRONOMINAL.match(self.text) is not None

    @property
    def terms(self) -> frozenset[str]:
        return frozenset().union(*(token.terms for token in self.tokens))


def identifiers_in(plain: str) -> frozenset[str]:
    """Return the options, paths, variables and codes of a normalised text, in the case that they are written in."""
    return frozenset(_IDENTIFIER.findall(plain))


def holds_name(text: str, name: str) -> bool:
    """Tell whether a text has a name, not within a longer word but in one that is derived from it: Japan in Japanese.

    A name that is an auxiliary too counts only in its case.
    """
    if not re.match(f"[{_LATIN}]", name):
        return name.casefold() in text.casefold()
    derived = _DERIVED if len(name) >= _SHORTEST_STEM else "s?"
    ends = rf"(?![{_LATIN}]|(?<=\d)\d)"
    flags = re.NOFLAG if name in AUXILIARY_NAMES else re.IGNORECASE
    if re.search(rf"(?<![{_LATIN}]){re.escape(name)}{derived}{ends}", text, flags) is not None:
        return True
    # Languages that write words together: the Frist of a Kündigungsfrist.
    return len(name) > _SHORTEST_STEM and name.casefold() in text.casefold() and language_of(text) not in ("en", "ja")


@lru_cache(maxsize=512)
def read_statement(text: str) -> Statement:
    """Return what a text states."""
    plain = normalise(text)
    for place in reversed(commas_within_numbers(plain)):
        plain = plain[:place] + plain[place + 1 :]
    plain = _AT_MOST.sub(lambda match: "at most".rjust(len(match.group())), plain)
    plain = _AT_LEAST.sub(lambda match: "at least".rjust(len(match.group())), plain)
    plain = _NOT_ONLY.sub(lambda match: " " * len(match.group()), plain)
    plain = _OBLIGED.sub(lambda match: "〓" * len(match.group()), plain)
    found = list(pieces(plain))
    is_japanese = bool(_JAPANESE.search(plain))
    breaks = [match.start() for match in _BREAK.finditer(plain)]
    figures = tuple(placed_figures(plain))
    tokens: list[StatedWord] = []
    negations: list[tuple[int, bool]] = []
    excluded: list[frozenset[str]] = []
    poles: list[tuple[str, int, int, int]] = []
    modals: set[str] = set()
    clause = at_break = begins = 0
    capitals, same = _inner_capitals(plain), same_terms()
    for number, piece in enumerate(found):
        while at_break < len(breaks) and breaks[at_break] < piece.start:
            begins = breaks[at_break]
            at_break += 1
            clause += bool(tokens) and tokens[-1].clause == clause
        word = piece.surface
        low = word.lower()
        if not is_japanese and low in ("but", "which", "who", "while", "where"):
            clause += bool(tokens) and tokens[-1].clause == clause
        if low == "and" and _joins_clauses(figures, piece.start, piece.end, begins):
            clause += bool(tokens) and tokens[-1].clause == clause
        if modal := _MODAL.get(low):
            modals.add(modal)
        for part in low.split("-"):
            if pole := POLES.get(part):
                poles.append((pole[0], pole[1], len(tokens), clause))
        pole = POLES.get(low)
        if _is_negation(piece, is_japanese):
            if word not in _EXCEPT or (tokens and tokens[-1].end == piece.start):
                negations.append((len(tokens), not is_japanese or "接頭詞" in piece.kind))
            continue
        figure = next((one for one in figures if one.start <= piece.start < one.end), None)
        is_auxiliary = low in AUXILIARIES and not (word in AUXILIARY_NAMES and word in capitals)
        if is_auxiliary or (piece.stopped and figure is None and word not in capitals and not pole):
            continue
        if not piece.terms and figure is None:
            continue
        is_name = word in capitals or _KATAKANA.fullmatch(word) is not None or "固有名詞" in piece.kind
        is_name = is_name or (is_japanese and word.isalpha() and len(word) > 1 and not _JAPANESE.search(word))
        terms = frozenset(figure.readings) if figure is not None else frozenset(same.get(t, t) for t in piece.terms)
        if figure is not None and tokens and tokens[-1].is_figure and figure.start <= tokens[-1].start < figure.end:
            continue
        if (rest := _behind_prefix(piece)) and figure is None:
            excluded.append(frozenset(same.get(t, t) for t in rest))
        role = _particle(found, number, plain) if is_japanese else _preposition(found, number, plain)
        tokens.append(
            StatedWord(
                word,
                terms or frozenset((low,)),
                clause,
                piece.start,
                piece.end,
                role,
                is_name,
                "名詞" in piece.kind or is_name,
                _is_listed(found, number, plain),
                figure is not None,
            )
        )
    clauses = [frozenset[str]().union(*(t.terms for t in tokens if t.clause == n)) for n in range(clause + 1)]
    return Statement(
        text=plain,
        tokens=tuple(tokens),
        figures=figures,
        identifiers=identifiers_in(plain),
        negated=(*(_head(tokens, place, is_ahead) for place, is_ahead in negations), *((one, one) for one in excluded)),
        poles=tuple((axis, side, *_beside(tokens, *at)) for axis, side, *at in poles),
        modals=frozenset(modals),
        is_passive=_PASSIVE.search(plain) is not None,
        is_japanese=is_japanese,
        clauses=tuple(clauses),
    )


def _joins_clauses(figures: Sequence[PlacedFigure], start: int, end: int, begins: int) -> bool:
    """Tell whether an "and" joins what is said of two figures, and not two figures: pay 10 euros and children 5."""
    return (
        any(begins <= figure.start < start for figure in figures)
        and any(figure.start > end for figure in figures)
        and not any(figure.start == end + 1 or figure.start <= start < figure.end for figure in figures)
    )


def _inner_capitals(plain: str) -> frozenset[str]:
    """Return the words that are capitalised though no sentence begins with them."""
    found = set()
    for match in _CAPITAL.finditer(plain):
        before = plain[: match.start()].rstrip(" \"'“‘(（[*「『")
        begins = not before or before[-1] in ".!?。！？:\n|"
        word = match.group()
        if not begins or (len(word) > 1 and word.isupper()):
            found.add(word)
    return frozenset(found)


def _behind_prefix(piece: AnalysedPiece) -> tuple[str, ...]:
    """Return the terms of what a word excludes by its prefix: of members in non-members, of 参加 in 不参加."""
    if piece.surface.lower().startswith("non-"):
        return piece.terms[2:]
    return piece.terms[1:] if len(piece.terms) > 1 and piece.terms[0] in _PREFIXES else ()


def _is_negation(piece: AnalysedPiece, is_japanese: bool) -> bool:
    if piece.surface in _EXCEPT or (piece.surface in _PREFIXES and "接頭詞" in piece.kind):
        return True
    if is_japanese and _JAPANESE.search(piece.surface):
        base = piece.surface
        if base in ("なかっ", "なく", "なけれ", "ない", "なし", "無い", "無かっ", "ぬ", "ず", "まい"):
            return True
        return base == "ん" and "助動詞" in piece.kind
    return _ENGLISH_NEGATION.fullmatch(piece.surface) is not None


def _head(tokens: Sequence[StatedWord], place: int, is_ahead: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms of the word that a negation denies, and of those near it."""
    first, wide = (place, slice(place, place + 3)) if is_ahead else (place - 1, slice(max(0, place - 3), place))
    head = tokens[first].terms if 0 <= first < len(tokens) else frozenset[str]()
    return head, frozenset[str]().union(*(token.terms for token in tokens[wide]))


def _beside(tokens: Sequence[StatedWord], place: int, clause: int) -> tuple[frozenset[str], frozenset[str]]:
    near = [*tokens[max(0, place - 2) : place], *tokens[place + 1 : place + 3]]
    inside = (token.terms for token in near if token.clause == clause)
    return frozenset[str]().union(*(token.terms for token in near)), frozenset[str]().union(*inside)


def _preposition(found: Sequence[AnalysedPiece], number: int, plain: str) -> str:
    """Return the preposition that a word hangs on, over its article and the words of its name."""
    for back in range(number - 1, max(-1, number - 5), -1):
        word = found[back].surface.lower()
        if _BREAK.search(plain[found[back].end : found[back + 1].start]):
            return ""
        if word in PREPOSITIONS:
            return word
        if word not in DETERMINERS and not found[back].surface[:1].isupper():
            return ""
    return ""


def _particle(found: Sequence[AnalysedPiece], number: int, plain: str) -> str:
    """Return the particle behind a word, over the rest of its compound."""
    for ahead in range(number + 1, min(len(found), number + 6)):
        if _BREAK.search(plain[found[ahead - 1].end : found[ahead].start]):
            return ""
        piece = found[ahead]
        if "助詞" in piece.kind:
            return "が" if piece.surface in ("は", "が", "も") else piece.surface
        if "名詞" not in piece.kind and piece.kind:
            return ""
    return ""


def _is_listed(found: Sequence[AnalysedPiece], number: int, plain: str) -> bool:
    """Tell whether a conjunction stands beside the compound of a word, so that it may change places."""
    last = len(found) - 1
    first, end = number, number
    while first and number - first < 4 and _is_compound(found, first - 1, plain):
        first -= 1
    while end < last and end - number < 4 and _is_compound(found, end, plain):
        end += 1
    around = plain[max(0, found[first].start - 2) : found[first].start] + plain[found[end].end : found[end].end + 2]
    if any(sign in around for sign in "・/"):
        return True
    near = [found[at].surface.lower() for at in (first - 1, end + 1) if 0 <= at <= last]
    return any(word in _LISTED for word in near)


def _is_compound(found: Sequence[AnalysedPiece], number: int, plain: str) -> bool:
    """Tell whether a word is one with the next: nouns without a blank, or English words side by side."""
    one, other = found[number], found[number + 1]
    gap = plain[one.end : other.start]
    if one.surface.isascii() and other.surface.isascii():
        return gap == " " and not {one.surface.lower(), other.surface.lower()} & (_LISTED | PREPOSITIONS | AUXILIARIES)
    return not gap and all("名詞" in piece.kind or not piece.kind for piece in (one, other))


@dataclass(frozen=True, slots=True)
class FigureContext:
    """The terms that stand nearest to a figure in its clause, and all terms of that clause."""

    beside: frozenset[str]
    clause: frozenset[str]


def figure_contexts(statement: Statement) -> Iterator[tuple[PlacedFigure, FigureContext]]:
    """Yield each figure with what stands around it."""
    tokens = statement.tokens
    for figure in statement.figures:
        at = next((n for n, t in enumerate(tokens) if figure.start <= t.start < figure.end), None)
        if at is not None:
            clause = tokens[at].clause
            near = [t for t in (*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 3]) if t.clause == clause]
            beside = frozenset[str]().union(*(t.terms for t in near if not t.is_figure))
            yield figure, FigureContext(beside, statement.clauses[clause])
