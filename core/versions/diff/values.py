"""Numbers and dates that differ between two texts that belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.model import Change, Segment
from core.versions.diff.value_patterns import VALUE, is_value, may_replace, plain

_CONTEXT_CHARS = 48
_MOST_ALIGNED = 40
LONGEST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Value:
    kind: str
    text: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        """The value without what is only writing."""
        return plain(self.text)


@dataclass(frozen=True, slots=True)
class Changed:
    """A value on both sides, or on one; ``context`` is the text around it, of the new side where there is one."""

    kind: str
    old: str | None
    new: str | None
    context: str


def values_in(text: str) -> list[Value]:
    """Return the numbers and dates of a text in order."""
    # Every sign keeps its place, so that spans hold in the text as it is written.
    narrow = text if text.isascii() else text.translate(_NARROW)
    found = []
    for match in VALUE.finditer(narrow):
        start, end = match.span()
        start += len(narrow[start:end]) - len(narrow[start:end].lstrip())
        if not is_value(narrow[start:end]):
            continue
        found.append(Value(str(match.lastgroup), text[start:end].rstrip(), start, end))
    return found


_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0xFFE5: 0xA5, 0x3000: 0x20}


def changed_values(old: str, new: str, words: Sequence[Segment]) -> list[Changed]:
    """Return the numbers and dates that differ; ``words`` tells where the texts do, without it all are compared."""
    if len(old) > LONGEST_TEXT or len(new) > LONGEST_TEXT:
        return []
    old_values, new_values = values_in(old), values_in(new)
    if not old_values and not new_values:
        return []
    if not words:
        return list(_paired(*_without_common(old_values, new_values), old, new))
    found: list[Changed] = []
    for before, after in _regions(old_values, new_values, words):
        found.extend(_paired(before, after, old, new))
    return found


def _without_common(old: Sequence[Value], new: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    spare = Counter(value.plain for value in old) & Counter(value.plain for value in new)
    sides = []
    for values in (old, new):
        left, side = spare.copy(), []
        for value in values:
            if left[value.plain]:
                left[value.plain] -= 1
            else:
                side.append(value)
        sides.append(side)
    return sides[0], sides[1]


def _regions(
    old: Sequence[Value], new: Sequence[Value], words: Sequence[Segment]
) -> Iterable[tuple[list[Value], list[Value]]]:
    """Yield the values of each place where the texts differ; a value that lies in two such places joins them."""
    spans: tuple[list[tuple[int, int, int]], ...] = ([], [])
    at, region, was_equal = [0, 0], -1, True
    for word in words:
        is_equal = word.change is Change.EQUAL
        region += was_equal and not is_equal
        was_equal = is_equal
        for side, other in ((0, Change.ADDED), (1, Change.REMOVED)):
            if word.change is not other:
                if not is_equal:
                    spans[side].append((at[side], at[side] + len(word.text), region))
                at[side] += len(word.text)
            elif word.change is other:
                # Nothing stands here on this side: a value that goes on across the place is touched as well.
                spans[side].append((at[side], at[side], region))
    joined: dict[int, int] = {}
    members: dict[int, tuple[list[Value], list[Value]]] = {}
    touched: list[tuple[int, Value, list[int]]] = []
    for side, values in enumerate((old, new)):
        for value in values:
            regions = [r for start, end, r in spans[side] if start < value.end and end > value.start]
            if regions:
                touched.append((side, value, regions))
                first = min(_root(joined, r) for r in regions)
                for each in regions:
                    joined[_root(joined, each)] = first
    for side, value, regions in touched:
        members.setdefault(_root(joined, regions[0]), ([], []))[side].append(value)
    return [members[root] for root in sorted(members)]


def _root(joined: dict[int, int], region: int) -> int:
    while joined.get(region, region) != region:
        region = joined[region]
    return region


def _paired(before: Sequence[Value], after: Sequence[Value], old: str, new: str) -> Iterable[Changed]:
    for kind in ("date", "number"):
        left = [value for value in before if value.kind == kind]
        right = [value for value in after if value.kind == kind]
        for was, now in _in_pairs(left, right) if kind == "number" else zip_longest(left, right):
            if was and now and was.plain == now.plain:
                continue
            context = _context(new, now) if now else _context(old, was) if was else ""
            yield Changed(kind, was.text if was else None, now.text if now else None, context)


def _in_pairs(left: Sequence[Value], right: Sequence[Value]) -> Iterable[tuple[Value | None, Value | None]]:
    """Pair numbers in order, those that count the same first; what counts something else is no partner."""
    if len(left) * len(right) > _MOST_ALIGNED**2:
        yield from zip_longest(left, right)
        return
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for one in range(len(left) - 1, -1, -1):
        for other in range(len(right) - 1, -1, -1):
            worth = _worth(left[one], right[other])
            paired = best[one + 1][other + 1] + worth if worth else 0
            best[one][other] = max(best[one + 1][other], best[one][other + 1], paired)
    one = other = 0
    while one < len(left) and other < len(right):
        worth = _worth(left[one], right[other])
        if worth and best[one][other] == best[one + 1][other + 1] + worth:
            yield left[one], right[other]
            one, other = one + 1, other + 1
        elif best[one][other] == best[one + 1][other]:
            yield left[one], None
            one += 1
        else:
            yield None, right[other]
            other += 1
    yield from ((value, None) for value in left[one:])
    yield from ((None, value) for value in right[other:])


def _worth(old: Value, new: Value) -> int:
    return may_replace(old.text, new.text) + (old.plain == new.plain)


def _context(text: str, value: Value) -> str:
    start, end = max(value.start - _CONTEXT_CHARS, 0), min(value.end + _CONTEXT_CHARS, len(text))
    # Whole words at both ends, where the text has words that end.
    if start and (space := text.find(" ", start, value.start)) >= 0:
        start = space + 1
    if end < len(text) and (space := text.rfind(" ", value.end, end)) >= 0:
        end = space
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"
