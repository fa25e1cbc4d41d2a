"""What changed inside a line: its words, Japanese ones as morphemes, with numbers and dates kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from rapidfuzz.distance import Indel, Postfix, Prefix

from core.model import Change, Segment
from core.text import japanese

_CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_MARKS = "\u0300-\u036f\u200d\ufe0e\ufe0f\u3099\u309a"
_ERA_YEAR = "(?:令和|平成|昭和|大正|明治)(?:[0-9０-９]+|元|[〇一二三四五六七八九十]+)年"
_MONTH = "(?:[0-9０-９]+|[一二三四五六七八九十]+)月(?:(?:[0-9０-９]+|[一二三四五六七八九十]+)日)?"
_DATE = "|".join(rf"\d{{4}}{sign}\d{{1,2}}{sign}\d{{1,2}}(?!\d)" for sign in ("-", "/", r"\."))
_TIME = r"\d{1,2}時(?:\d{1,2}分|半)(?!間)"
_NUMBER = rf"(?=\d)(?:{_DATE}|\d+年(?:{_MONTH})?|\d+月\d+日|\d{{1,2}}:\d\d(?::\d\d)?(?!\d)|{_TIME}|\d+(?:[.,]\d+)*)"
_WORD = rf"[^\W\d{_CJK}][^\W{_CJK}]*(?:(?<=\d)\.\d+|['’][^\W{_CJK}]+|[{_MARKS}][^\W{_CJK}]*)*"
_TOKEN = re.compile(
    rf"{_WORD}|\s+|{_NUMBER}|{_ERA_YEAR}(?:{_MONTH})?|(?:(?!{_ERA_YEAR})[{_CJK}][{_MARKS}]*)+|.[{_MARKS}]*", re.DOTALL
)
_JAPANESE = re.compile(f"(?!{_ERA_YEAR})[{_CJK}]")
_SCRIPTS = re.compile(
    f"[\u30a1-\u30ff\uff66-\uff9f{_MARKS}]+|[\u3041-\u309f][{_MARKS}]*|[\u3005-\u3007\u3400-\u9fff]+|.[{_MARKS}]*",
    re.DOTALL,
)
_BORDER = re.compile(r"[\s。、，．,.;:!?！？「」()（）|]")
_LAST_BORDER = re.compile(rf".*{_BORDER.pattern}", re.DOTALL)
_REACH = 200
_MOST_TOKENS = 20_000


class _Step(NamedTuple):
    """A stretch of words: what is equal, else what was removed and what was added, and how many words each side has."""

    equal: str
    removed: str
    added: str
    old_words: int = 0
    new_words: int = 0

    @property
    def words(self) -> int:
        return max(self.old_words, self.new_words)


def words_between(old: str, new: str) -> tuple[Segment, ...]:
    """Return the segments from the old line to the new one; of what differs, removed comes before added."""
    before, after = _common_ends(old, new)
    last = len(old) - after
    removed, added = old[before:last], new[before : len(new) - after]
    if _is_plain(removed) and _is_plain(added):
        # A word for another one, as in most short lines: there is nothing to align.
        return _segments((_Step(old[:before], "", ""), _Step("", removed, added), _Step(old[last:], "", "")))
    inner = _steps(removed, added)
    steps = _joined([_Step(old[:before], "", ""), *inner, _Step(old[last:], "", "")])
    return _segments(_without_islands(steps))


def ends_between(old: str, new: str) -> tuple[Segment, ...]:
    """Return what is equal at both ends and all between as removed and added; for lines that are too long for more."""
    before, after = _common_ends(old, new)
    last = len(old) - after
    inner = _Step("", old[before:last], new[before : len(new) - after])
    return _segments(_joined([_Step(old[:before], "", ""), inner, _Step(old[last:], "", "")]))


def _is_plain(text: str) -> bool:
    """Tell whether a text is one word, or none."""
    return not text or (text.isascii() and text[0].isalpha() and text.isalnum())


def mirrored(words: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return the segments as they are when the sides are swapped."""
    steps = []
    for segment in words:
        texts = {Change.EQUAL: "", Change.REMOVED: "", Change.ADDED: "", segment.change: segment.text}
        steps.append(_Step(texts[Change.EQUAL], texts[Change.ADDED], texts[Change.REMOVED]))
    return _segments(_joined(steps))


def tokens(text: str) -> list[str]:
    """Return words, numbers, dates, signs and white space; joined they are the text."""
    found: list[str] = _TOKEN.findall(text)
    if text.isascii() or not _JAPANESE.search(text):
        return found
    parts = (_morphemes(token) if _JAPANESE.match(token) else (token,) for token in found)
    return list(chain.from_iterable(parts))


@lru_cache(maxsize=8_192)
def _morphemes(run: str) -> tuple[str, ...]:
    found = tuple(word.surface for word in japanese.words(run))
    return found if "".join(found) == run else tuple(_SCRIPTS.findall(run))


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """Return how many characters are the same before and after what differs, up to borders of words."""
    if old == new:
        return len(old), 0
    before = _border_before(old, new, Prefix.similarity(old, new))
    return before, _border_after(old, new, Postfix.similarity(old[before:], new[before:]))


def _border_before(old: str, new: str, before: int) -> int:
    low = max(0, before - _REACH)
    found = _LAST_BORDER.match(old, low, before)
    place = found.end() if found else low
    return 0 if _parts_number(old, place) or _parts_number(new, place) else place


def _border_after(old: str, new: str, after: int) -> int:
    first = len(old) - after
    high = min(len(old), first + _REACH)
    found = _BORDER.search(old, first, high)
    place = found.start() if found else high
    kept = len(old) - place
    return 0 if _parts_number(old, place) or _parts_number(new, len(new) - kept) else kept


def _parts_number(text: str, place: int) -> bool:
    return 0 < place < len(text) and sum(sign.isdigit() for sign in text[max(0, place - 2) : place + 2]) > 1


def _steps(old: str, new: str) -> Iterator[_Step]:
    old_tokens, new_tokens = tokens(old), tokens(new)
    if min(len(old_tokens), len(new_tokens)) == 0 or max(len(old_tokens), len(new_tokens)) > _MOST_TOKENS:
        yield _Step("", old, new)
        return
    for code in Indel.opcodes(old_tokens, new_tokens):
        removed, added = old_tokens[code.src_start : code.src_end], new_tokens[code.dest_start : code.dest_end]
        counts = _word_count(removed), _word_count(added)
        if code.tag == "equal":
            yield _Step("".join(removed), "", "", *counts)
        else:
            yield _Step("", "".join(removed), "".join(added), *counts)


def _word_count(found: list[str]) -> int:
    return sum(map(str.isalnum, map(itemgetter(0), found)))


def _joined(steps: Iterable[_Step]) -> list[_Step]:
    """Join neighbours of one kind and leave out what is empty."""
    joined: list[_Step] = []
    for step in steps:
        if not (step.equal or step.removed or step.added):
            continue
        if joined and bool(joined[-1].equal) == bool(step.equal):
            last = joined.pop()
            words = last.old_words + step.old_words, last.new_words + step.new_words
            step = _Step(last.equal + step.equal, last.removed + step.removed, last.added + step.added, *words)
        joined.append(step)
    return joined


def _without_islands(steps: list[_Step]) -> list[_Step]:
    """Take into two changes what is equal between them by chance: signs alone, or few words between many."""
    while True:
        kept = list(steps)
        for place in range(1, len(steps) - 1):
            step, before, after = steps[place], steps[place - 1], steps[place + 1]
            if not step.equal or (step.words and 2 * step.words > min(before.words, after.words)):
                continue
            if step.words or not (_is_value(before) and _is_value(after)):
                kept[place] = _Step("", step.equal, step.equal, step.old_words, step.new_words)
        joined = _joined(kept)
        if len(joined) == len(steps):
            return joined
        steps = joined


def _is_value(step: _Step) -> bool:
    """Tell whether one number or date was replaced by another."""
    return step.words == 1 and step.removed[:1].isdigit() and step.added[:1].isdigit()


def _segments(steps: Iterable[_Step]) -> tuple[Segment, ...]:
    segments = []
    for step in steps:
        if step.equal:
            segments.append(Segment(Change.EQUAL, step.equal))
        if step.removed:
            segments.append(Segment(Change.REMOVED, step.removed))
        if step.added:
            segments.append(Segment(Change.ADDED, step.added))
    return tuple(segments)
