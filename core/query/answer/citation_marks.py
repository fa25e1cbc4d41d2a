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


def without_marks(text: str) -> str:
    """Return the text without citation marks and without the fences of the prompt.

    What becomes a mark only when another is gone, as in ``[1[2]]``, is text and gets round brackets.
    """
    once = _MARK.sub("", _FENCE.sub(" ", text))
    return _MARK.sub(lambda mark: mark.group().translate(_AS_TEXT), once)


def read_sentences(text: str, most: int) -> list[WrittenSentence]:
    """Return the first sentences of the text without marks, each with the numbers by which it cited."""
    text = _FENCE.sub(" ", text)
    plain = without_marks(text)
    spans = split_sentences(plain)
    starts = [start for start, _ in spans]
    hints: list[set[int]] = [set() for _ in spans[:most]]
    removed = 0
    for match in _MARK.finditer(text):
        cited = bisect_left(starts, match.start() - removed) - 1
        if cited >= most:
            break
        if cited >= 0:
            hints[cited].update(int(number) for number in _NUMBER.findall(match["numbers"]))
        removed += len(match.group())
    ends = [0, *(end for _, end in spans)]
    return [
        WrittenSentence(plain[start:end], frozenset(said), "\n" in plain[before:start])
        for (start, end), said, before in zip(spans, hints, ends, strict=False)
    ]
