"""Citation marks: those that a generator wrote are read as hints, and those of the final answer are ours."""

from __future__ import annotations

import re
from bisect import bisect_left

from core.query.guard.attribution import WrittenSentence
from core.text.sentences import split_sentences

_MARK = re.compile(
    r"\s{0,3}[\[【［〔]\s{0,3}\^?\s{0,3}(?:documents?|doc|sources?|文書|資料|出典)?\s{0,3}(?:number|no\.?|#|番号)?"
    r"\s{0,3}[:=]?\s{0,3}"
    r"(?P<numbers>\d{1,6}(?:\s{0,3}(?:[-–,、，;]|and|と)\s{0,3}\d{1,6}){0,8})\s{0,3}[\]】］〕]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"</?document\b[^<>\n]{0,200}>", re.IGNORECASE)
_AS_TEXT = str.maketrans("[【［〔]】］〕", "(" * 4 + ")" * 4)
_MOST_SOURCES = 999
_LONGEST_IDENTIFIER = 64
_CLOSES = re.compile(r"\s*(?:[.。,、;；:!?！？)）\[【]|\Z)")
_CODED = re.compile(r"[_\d]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


def without_marks(text: str, context: str = "") -> str:
    """Return the text without citation marks and without the fences of the prompt.

    What becomes a mark only when another is gone, as in ``[1[2]]``, is text and gets round brackets; so do a year and
    an index, as in ``args[1]``, that the ``context``, the folded text of the passages, holds.
    """
    once = _MARK.sub(lambda mark: _as_text(mark) if _is_text(mark, context) else "", _FENCE.sub(" ", text))
    return _MARK.sub(_as_text, once)


def _as_text(mark: re.Match[str]) -> str:
    return mark.group().translate(_AS_TEXT)


def _is_text(mark: re.Match[str], context: str) -> bool:
    """Tell whether what looks like a mark cites nothing: by a number that no source has, or as an index in code."""
    if not all(int(number) <= _MOST_SOURCES for number in _NUMBER.findall(mark["numbers"])):
        return True
    name = _IDENTIFIER.search(mark.string, max(0, mark.start() - _LONGEST_IDENTIFIER), mark.start())
    if name is None or mark.group()[0].isspace():
        return False
    word = name.group().casefold()
    if f"{word}{mark.group()}".casefold() not in context:
        return False
    # A paper sets its footnotes so, too, behind what they are about: "founded in Tokyo[1]."
    is_last = _CLOSES.match(mark.string, mark.end()) is not None
    return not is_last or f"{word}[0]" in context or _CODED.search(word) is not None


def read_sentences(text: str, most: int, context: str = "") -> list[WrittenSentence]:
    """Return the first sentences of the text without marks, each with the numbers by which it cited."""
    text = _FENCE.sub(" ", text)
    plain = without_marks(text, context)
    spans = split_sentences(plain)
    starts = [start for start, _ in spans]
    hints: list[set[int]] = [set() for _ in spans[:most]]
    removed = 0
    for match in _MARK.finditer(text):
        cited = bisect_left(starts, match.start() - removed) - 1
        if cited >= most:
            break
        if _is_text(match, context):
            continue
        if cited >= 0:
            hints[cited].update(int(number) for number in _NUMBER.findall(match["numbers"]))
        removed += len(match.group())
    ends = [0, *(end for _, end in spans)]
    return [
        WrittenSentence(plain[start:end], frozenset(said), "\n" in plain[before:start])
        for (start, end), said, before in zip(spans, hints, ends, strict=False)
    ]
