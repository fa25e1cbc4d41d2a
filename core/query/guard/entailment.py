"""Tells whether a span says what a sentence claims, and if not, why: figures, names, negation, direction, places.

The span may be said in other words and order, and may say more. What has no place in it counts against the sentence by
what it is: a figure or a name at once, words by their share. Reasons: ``figure``, ``unit``, ``name``, ``identifier``,
``negation``, ``direction``, ``agents``, ``words``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise

from core.query.guard.frames import without_frame
from core.query.guard.numbers import PlacedFigure
from core.query.guard.opposites import are_opposite_compounds, canonical_unit
from core.query.guard.statement import FigureContext, StatedWord, Statement, figure_contexts, holds_name, read_statement

MOST_FOREIGN = {"en": 0.25, "ja": 0.25}
"""Share of a sentence's words that may be foreign to its span."""
_FEW = 1
_ENDS = " .。"
FOREIGN_WORDS = "words"
MOST_BEFORE = 3


_CLOCK = re.compile(r"(?<![\d:.])0?(\d{1,2}:[0-5]\d)(?::00)?(?![:\d])")
_VERSION = re.compile(r"(?:\b(?:versions?|release|ver\.?|v)|バージョン)\s?(\d+(?:\.\d+)+)(?!\.?\d)", re.IGNORECASE)


def contradiction_of(claim: str, span: str, context: str = "") -> str:
    """Return why a span does not say what a claim does, or nothing; names may stand in the ``context`` of the span."""
    said, held, near = read_statement(without_frame(claim)), read_statement(span), read_statement(context)
    if any(line.strip(_ENDS) == said.text.strip(_ENDS) for line in held.text.splitlines()):
        return ""
    return (
        _figures(said, held, near)
        or _written(said, held, near)
        or _direction(said, held)
        or _names(said, held, near)
        or _negation(said, held)
        or _places(said, held)
        or _words(said, held, near)
    )


def _figures(said: Statement, held: Statement, near: Statement) -> str:
    contexts = dict(figure_contexts(said))
    free = list(held.figures)
    lacking: list[PlacedFigure] = []
    for figure in said.figures:
        same = [one for one in free if one.readings & figure.readings]
        if not same:
            lacking.append(figure)
            continue
        fitting = [one for one in same if _same_unit(figure, one)]
        if not fitting:
            return "unit"
        bounded = [one for one in fitting if figure.limit == one.limit]
        if not bounded:
            return "direction"
        free.remove(bounded[0])
        if _elsewhere(figure, contexts.get(figure), held):
            return "figure"
    for figure in lacking:
        beside = any(one.readings & figure.readings and _same_unit(figure, one) for one in near.figures)
        if not beside or any(_same_unit(figure, one) for one in free):
            return "figure"
    return ""


def _written(said: Statement, held: Statement, near: Statement) -> str:
    """Tell whether a time or a version is another as it is written, whose parts or value the span may well hold."""
    clocks = _CLOCK.findall(held.text)
    if clocks and not {*_CLOCK.findall(said.text)} <= {*clocks, *_CLOCK.findall(near.text)}:
        return "figure"
    for version in _VERSION.findall(said.text):
        # Version 3.10 is said of 3.10.4, not of 3.1.
        whole = re.compile(rf"(?<![\d.]){re.escape(version.removesuffix('.0'))}(?!\d)")
        if not (whole.search(held.text) or whole.search(near.text)):
            return "figure"
    return ""


def _same_unit(one: PlacedFigure, other: PlacedFigure) -> bool:
    first, second = canonical_unit(one.unit), canonical_unit(other.unit)
    if first or second:
        return first == second
    if one.follows and other.follows and not one.follows.isascii():
        return one.follows[:1] == other.follows[:1]
    return True


def _elsewhere(figure: PlacedFigure, context: FigureContext | None, held: Statement) -> bool:
    """Tell whether a figure is said of another thing in the span, and its own thing has another figure there."""
    own = [number for number, clause in enumerate(held.clauses) if figure.readings & clause]
    if context is None or not own or len(context.beside) < 2:
        return False
    shares = [len(context.beside & clause) for clause in held.clauses]
    most = max(shares[number] for number in own)
    if (most or not held.is_japanese) and not _is_said_of_another(own, context.clause, held):
        return False
    rivals = [one for one in held.figures if not one.readings & figure.readings and _same_unit(figure, one)]
    return any(
        share >= 2 and share > most and n not in own and any(one.readings & held.clauses[n] for one in rivals)
        for n, share in enumerate(shares)
    )


def _is_said_of_another(own: Sequence[int], claimed: Set[str], held: Statement) -> bool:
    """Tell whether each of the clauses names what the claim does not: a clause may leave out what was named before."""
    named = {
        token.clause
        for token in held.tokens
        if not token.is_figure and not token.terms & claimed and (token.role == "が" or not held.is_japanese)
    }
    return named.issuperset(own)


def _names(said: Statement, held: Statement, near: Statement) -> str:
    for one in said.identifiers - held.identifiers - near.identifiers:
        written = one[0].lower() + one[1:] if said.text.startswith(one) else one
        if all(text not in both for text in (one, written) for both in (held.text, near.text)):
            return "identifier"
    terms, around, claimed = held.terms, near.terms, said.terms
    leaves_names = any(token.is_name and not token.terms & claimed for token in held.tokens)
    may_resolve = held.is_pronominal and not leaves_names
    for place, token in enumerate(said.tokens):
        is_foreign_noun = said.is_japanese and token.is_noun and not token.is_figure
        if not (token.is_name or is_foreign_noun) or token.terms <= terms or holds_name(held.text, token.text):
            continue
        if place <= MOST_BEFORE and may_resolve and (token.terms <= around or holds_name(near.text, token.text)):
            continue
        return "name"
    return ""


def _negation(said: Statement, held: Statement) -> str:
    denied = frozenset[str]().union(*(wide for _, wide in held.negated))
    stated = frozenset[str]().union(*(wide for _, wide in said.negated))
    claimed = said.terms
    if len(said.negated) > len(held.negated):
        return "negation"
    if any(wide and not wide & denied for _, wide in said.negated):
        return "negation"
    if any(head and head <= claimed and not head & stated for head, _ in held.negated):
        return "negation"
    for strict, loose in (("must", "may"), ("all", "some")):
        if strict in said.modals - held.modals and loose in held.modals - said.modals:
            return "negation"
    return "negation" if "only" in said.modals - held.modals else ""


def _direction(said: Statement, held: Statement) -> str:
    sides = Counter((axis, side) for axis, side, *_ in held.poles)
    stated = Counter((axis, side) for axis, side, *_ in said.poles)
    for axis, side, beside, _ in said.poles:
        if stated[axis, side] > sides[axis, side] and sides[axis, 1 - side] > stated[axis, 1 - side]:
            return "direction"
        if sides[axis, side] and sides[axis, 1 - side]:
            right = [near for one, two, near, _ in held.poles if (one, two) == (axis, side)]
            wrong = [near for one, two, _, near in held.poles if (one, two) == (axis, 1 - side)]
            if max(len(beside & near) for near in wrong) > max(len(beside & near) for near in right):
                return "direction"
    left = [token for token in held.tokens if not token.terms & said.terms]
    if any(are_opposite_compounds(one.text, other.text) for one in said.tokens for other in left):
        return "direction"
    return ""


def _places(said: Statement, held: Statement) -> str:
    """Tell whether words have changed places: by what attaches them, and by more breaks of order than a move makes."""
    pairs = _paired(said.tokens, held.tokens)
    if said.is_passive == held.is_passive and (_have_swapped(pairs) or _are_mixed(said.tokens, held)):
        return "agents"
    order = [other.start for one, other in pairs if not (one.is_listed and other.is_listed)]
    breaks = sum(second < first for first, second in pairwise(order))
    if breaks >= 2 and said.is_passive == held.is_passive:
        return "agents"
    return ""


def _have_swapped(pairs: Sequence[tuple[StatedWord, StatedWord]]) -> bool:
    """Tell whether two nouns hang on what the other hung on."""
    moved = [
        (one.role, other.role)
        for one, other in pairs
        if (one.is_name or one.is_noun) and one.role != other.role and not (one.is_listed and other.is_listed)
    ]
    return any((was, now) in moved for now, was in moved)


def _are_mixed(said: Sequence[StatedWord], held: Statement) -> bool:
    """Tell whether a name is one with another noun than in the span, where that noun stands elsewhere."""
    joined = {(one.terms, other.terms) for one, other in pairwise(held.tokens) if _is_one(one, other)}
    for one, other in pairwise(said):
        if not _is_one(one, other) or not (one.is_name or other.is_name) or (one.terms, other.terms) in joined:
            continue
        followed = any(first == one.terms for first, _ in joined)
        preceded = any(second == other.terms for _, second in joined)
        if followed and preceded and not other.is_figure and not one.is_figure:
            return True
    return False


def _is_one(one: StatedWord, other: StatedWord) -> bool:
    is_apart = one.text.isascii() or other.text.isascii()
    return 0 <= other.start - one.end <= is_apart and (one.is_noun or one.is_name) and (other.is_noun or other.is_name)


def _paired(said: Sequence[StatedWord], held: Sequence[StatedWord]) -> list[tuple[StatedWord, StatedWord]]:
    """Pair equal words in the order of ``said``, each with the next of its kind, else the first."""
    free: dict[frozenset[str], list[StatedWord]] = {}
    for token in held:
        free.setdefault(token.terms, []).append(token)
    pairs: list[tuple[StatedWord, StatedWord]] = []
    last = -1
    for token in said:
        if same := free.get(token.terms):
            other = next((one for one in same if one.start > last), same[0])
            same.remove(other)
            pairs.append((token, other))
            last = other.start
    return pairs


def foreign_words(said: Statement, held: Statement, near: Statement) -> list[StatedWord]:
    terms = held.terms
    return [
        token
        for token in said.tokens
        if not token.terms & terms and not (token.is_name and token.terms & near.terms) and not token.is_figure
    ]


def _words(said: Statement, held: Statement, near: Statement) -> str:
    foreign = foreign_words(said, held, near)
    most = max(_FEW, MOST_FOREIGN["ja" if said.is_japanese else "en"] * len(said.tokens))
    if len(said.tokens) and len(foreign) == len(said.tokens):
        return FOREIGN_WORDS
    return FOREIGN_WORDS if len(foreign) > most else ""
