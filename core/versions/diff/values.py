"""Numbers and dates that differ between two texts that belong together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from rapidfuzz.distance import Indel

from core.model import Change, Segment
from core.text.contents import is_entry
from core.versions.diff.value_patterns import VALUE, addresses_in, is_clock, is_value, may_replace, plain

_CONTEXT_CHARS = 48
_MOST_ALIGNED = 40
_SHORT, _RELATED = 9, 0.3
"""Words that a rewritten place has more of on both sides, and how like each other they are in one that is not."""
_PARTS = re.compile("[A-Za-z]+|\\d+|[\u3041-\u309f]|[\u30a1-\u30ff]+|[\u3005-\u3007\u3400-\u9fff]|[^\\W\\d_]+")
LONGEST_TEXT = 20_000


_Span = tuple[int, int, int]


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
    """Return the numbers and dates of a text in order, but those within addresses of the web."""
    return [value for value in _all_values(text) if is_value(value.text)]


def _all_values(text: str) -> list[Value]:
    """Return "one" alone too, which is a number where it became another one."""
    # Every sign keeps its place, so that spans hold in the text as it is written.
    narrow = text if text.isascii() else text.translate(_NARROW)
    addresses = addresses_in(narrow)
    found = []
    for match in VALUE.finditer(narrow):
        start, end = match.span()
        start += len(narrow[start:end]) - len(narrow[start:end].lstrip())
        if any(first < end and start < last for first, last in addresses):
            continue
        found.append(Value(str(match.lastgroup), text[start:end].rstrip(), start, end))
    return found


_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0xFFE5: 0xA5, 0x3000: 0x20}


def changed_values(old: str, new: str, words: Sequence[Segment]) -> list[Changed]:
    """Return the numbers and dates that differ; ``words`` tells where the texts do, without it all are compared.

    Of entries of a table of contents there are none: their pages say nothing of the document.
    """
    if len(old) > LONGEST_TEXT or len(new) > LONGEST_TEXT or (is_entry(old or new) and is_entry(new or old)):
        return []
    old_values, new_values = _all_values(old), _all_values(new)
    if not old_values and not new_values:
        return []
    if not words:
        return list(_paired(*_without_common(old_values, new_values), old, new))
    found: list[Changed] = []
    for before, after, is_rewritten in _regions(old_values, new_values, words):
        sides: list[tuple[list[Value], list[Value]]] = (
            [(before, []), ([], after)] if is_rewritten else [(before, after)]
        )
        for was, now in sides:
            found.extend(_paired(was, now, old, new))
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
) -> Iterable[tuple[list[Value], list[Value], bool]]:
    """Yield the values of each place where the texts differ, and whether that is another text altogether.

    A value that lies in two such places joins them. What stands for a part of such a value on the other side belongs to
    it, though it is the same: "45" in "30–45".
    """
    changes, equals = _spans(words)
    regions: tuple[dict[int, list[int]], ...] = ({}, {})
    for side, values in enumerate((old, new)):
        for at, value in enumerate(values):
            found = [r for start, end, r in changes[side] if start < value.end and end > value.start]
            if found:
                regions[side][at] = found
    joined: dict[int, int] = {}
    left = [(side, at) for side in (0, 1) for at in regions[side]]
    while left:
        side, at = left.pop()
        value, mine = (old, new)[side][at], regions[side][at]
        for each in mine[1:]:
            _join(joined, each, mine[0])
        for other in _counterparts(value, (new, old)[side], side, equals):
            if other in regions[1 - side]:
                _join(joined, regions[1 - side][other][0], mine[0])
            else:
                regions[1 - side][other] = [mine[0]]
                left.append((1 - side, other))
    members: dict[int, tuple[list[Value], list[Value]]] = {}
    for side, values in enumerate((old, new)):
        for at in sorted(regions[side]):
            members.setdefault(_root(joined, regions[side][at][0]), ([], []))[side].append(values[at])
    rewritten = {_root(joined, region) for region in _rewritten(words)}
    return [(*members[root], root in rewritten) for root in sorted(members)]


def _rewritten(words: Sequence[Segment]) -> list[int]:
    """Return the numbers of the places where a longer text took the place of one that it has little in common with."""
    found: list[int] = []
    for region, (gone, came) in enumerate(_replaced(words)):
        before, after = _PARTS.findall(gone), _PARTS.findall(came)
        if min(len(before), len(after)) > _SHORT and Indel.normalized_similarity(before, after) < _RELATED:
            found.append(region)
    return found


def _replaced(words: Sequence[Segment]) -> Iterable[tuple[str, str]]:
    """Yield what was removed and what was added at each place where the texts differ."""
    for is_equal, run in groupby(words, lambda word: word.change is Change.EQUAL):
        if not is_equal:
            parts = list(run)
            gone = "".join(part.text for part in parts if part.change is Change.REMOVED)
            yield gone, "".join(part.text for part in parts if part.change is Change.ADDED)


def _spans(words: Sequence[Segment]) -> tuple[tuple[list[_Span], list[_Span]], list[_Span]]:
    """Return where each side differs, with the number of the place, and where both are equal, with the length."""
    changes: tuple[list[_Span], list[_Span]] = ([], [])
    equals: list[_Span] = []
    at, region, was_equal = [0, 0], -1, True
    for word in words:
        is_equal = word.change is Change.EQUAL
        region += was_equal and not is_equal
        was_equal = is_equal
        if is_equal:
            equals.append((at[0], at[1], len(word.text)))
        for side, other in ((0, Change.ADDED), (1, Change.REMOVED)):
            # Where nothing stands on this side, a value that goes on across the place is touched as well.
            size = 0 if word.change is other else len(word.text)
            if not is_equal:
                changes[side].append((at[side], at[side] + size, region))
            at[side] += size
    return changes, equals


def _counterparts(value: Value, others: Sequence[Value], side: int, equals: Sequence[_Span]) -> list[int]:
    """Return which values of the other side share signs with a value where both sides are equal."""
    found: list[int] = []
    for span in equals:
        start, end = max(value.start - span[side], 0), min(value.end - span[side], span[2])
        if start < end:
            first, last = span[1 - side] + start, span[1 - side] + end
            found += [at for at, other in enumerate(others) if other.start < last and other.end > first]
    return found


def _join(joined: dict[int, int], one: int, other: int) -> None:
    first, second = sorted((_root(joined, one), _root(joined, other)))
    joined[second] = first


def _root(joined: dict[int, int], region: int) -> int:
    while joined.get(region, region) != region:
        region = joined[region]
    return region


def _paired(before: Sequence[Value], after: Sequence[Value], old: str, new: str) -> Iterable[Changed]:
    pairs: list[tuple[Value | None, Value | None]] = []
    for kind in ("date", "number"):
        left = [value for value in before if value.kind == kind]
        right = [value for value in after if value.kind == kind]
        pairs += _in_pairs(left, right) if kind == "number" else zip_longest(left, right)
    for was, now in _with_bare_hours(pairs):
        if was and now and (was.plain == now.plain or _is_cut(was, old, now) or _is_cut(now, new, was)):
            continue
        value = now or was
        if value is None or ((was is None or now is None) and not is_value(value.text)):
            continue
        kind = "date" if "date" in {one.kind for one in (was, now) if one} else "number"
        yield Changed(kind, was.text if was else None, now.text if now else None, _context(new if now else old, value))


def _with_bare_hours(pairs: list[tuple[Value | None, Value | None]]) -> list[tuple[Value | None, Value | None]]:
    """Pair the one time of day that has no partner with the one number that says no more than an hour: "at 6"."""
    sole = [pair for pair in pairs if None in pair]
    values = [was or now for was, now in sole]
    if len(sole) == 2 and (sole[0][0] is None) != (sole[1][0] is None):
        are_one = sum(map(_is_hour, values)) == 1 and any(value and is_clock(value.text) for value in values)
        if are_one:
            was, now = sole[0][0] or sole[1][0], sole[0][1] or sole[1][1]
            return [*(pair for pair in pairs if None not in pair), (was, now)]
    return pairs


def _is_hour(value: Value | None) -> bool:
    return value is not None and value.kind == "number" and value.plain.isdecimal() and int(value.plain) <= 24


def _is_cut(value: Value, text: str, whole: Value) -> bool:
    """Tell whether a value is another one without its unit, which stands in the next line."""
    unit = whole.plain.removeprefix(value.plain)
    return unit != whole.plain and not text[value.end :].strip() and unit.isalpha()


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
