"""What a label names, and whether a question names it: an option, a setting, a directive, the first cell of a row.

Manuals say what something does under its name, and mention the name anywhere: only the former answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from core.model import LABEL_JOINT

_WORD = re.compile(
    r"(?:--?|[%$@.])?[a-z0-9](?:[a-z0-9_.:+-]*[a-z0-9_+])?|(?<!\S)[!*?^&|#]+(?!\S)|[\u3040-\u30ff\u3400-\u9fff々]+"
)
_NEGATABLE = re.compile(r"--\[no-?\]-?")
_ASIDE = re.compile(r"[(（\[［<＜{][^)）\]］>＞}]*[)）\]］>＞}]?")
_NEXT = re.compile(r"[,、;/|\n]|\bor\b")
_SET_APART = re.compile(r"[-\s‐‑]")
_CAMEL = re.compile(r"\b[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*\b")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*[A-Za-z0-9_+]")
_KANA = re.compile("[\u3040-\u30ff]")
_SIGN_BEFORE = re.compile(r"(?<![A-Za-z0-9])[-%$@‐‑–—−－][A-Za-z0-9ａ-ｚＡ-Ｚ]")
_LETTER_OPTION = re.compile(r"(?<![\w-])-([A-Za-z])(?![\w-])")
_DASHED = re.compile("(?<![a-z0-9])(?:(?P<long>[–—])(?=[a-z]{2})|[‐‑–—−](?=[a-z]))")
"""An option whose hyphens a word processor made into a dash."""
_LONGEST_LABEL = 200
_LONGEST_QUESTION = 2_000
SURE, _CALLED = 1.0, 0.6
"""How much it says that a question holds a name that can be nothing else, or a word that may be meant otherwise."""


@lru_cache(maxsize=64)
def question_words(question: str) -> frozenset[str]:
    """Return the words of a question as labels are written, hyphens and underscores included."""
    return frozenset(_WORD.findall(_folded(question)[:_LONGEST_QUESTION]))


@lru_cache(maxsize=4_000)
def names_of(label: str) -> Mapping[str, float]:
    """Return what the innermost part of a label names: ``-k, --keep (since 2.1)`` names ``-k`` and ``--keep``."""
    last = label.rsplit(LABEL_JOINT, 1)[-1]
    if len(last) > _LONGEST_LABEL:
        return {}
    plain = _ASIDE.sub(" ", _NEGATABLE.sub("--", last))
    parts = _parts(plain)
    found = {words[0]: _CALLED for words in parts if len(words) == 1}
    found |= {word: SURE for words in parts for word in words if is_name(word) and not _is_figure(word)}
    return found | {word.casefold(): SURE for word in _CAMEL.findall(plain)}


def _parts(plain: str) -> list[list[str]]:
    return [_WORD.findall(part) for part in _NEXT.split(_folded(plain))]


def unmistakable_names(question: str) -> frozenset[str]:
    """Return what nobody writes but as it is: ``work_mem``, ``--dry-run``, ``RestartSec``."""
    written = unicodedata.normalize("NFKC", question)[:_LONGEST_QUESTION]
    plain = written.casefold()
    marked = {
        word
        for word in question_words(question)
        # A dash may be one after all.
        if "_" in word.strip("_") or (len(word) > 4 and word[:2] == "--" and word in plain)
    }
    return frozenset(marked.union(map(str.casefold, _CAMEL.findall(written))))


def is_known(name: str, text: str) -> bool:
    """Tell whether a text has an unmistakable name, however it is set: ``Wi-Fi``, ``--[no-]verify``."""
    plain = _folded(_NEGATABLE.sub("--", text))
    return name in plain or (name.isalnum() and name in _SET_APART.sub("", plain))


def written_names(question: str) -> frozenset[str]:
    """Return the words of a question that are names by how they are written: with capitals, digits or Latin letters.

    The last where the question is Japanese; the first word of another one is none for its capital.
    """
    written = unicodedata.normalize("NFKC", question)[:_LONGEST_QUESTION]
    words = [(match.start(), match.group()) for match in _LATIN.finditer(written)]
    if _KANA.search(written):
        return frozenset(word.casefold() for _, word in words)
    return frozenset(
        word.casefold()
        for start, word in words
        if any(map(str.isdigit, word)) or any(map(str.isupper, word[1:])) or (start > 0 and word[0].isupper())
    )


def is_name(word: str) -> bool:
    """Tell whether a word can hardly be anything but the name of an option, a setting, a file or the like."""
    return word[0] in "-%$@." or "_" in word or (not word.isdigit() and any(map(str.isdigit, word)))


def _is_figure(word: str) -> bool:
    """Tell whether a word is only digits and signs, such as the number of a heading."""
    return word[0].isdigit() and not any(map(str.isalpha, word))


def options_in(text: str) -> frozenset[str]:
    """Return the names in a text that begin with a sign, such as ``-a`` and ``%d``, of which no term is left."""
    if not _SIGN_BEFORE.search(text):
        return frozenset()
    return frozenset(word for word in _WORD.findall(_folded(text)) if len(word) > 1 and word[0] in "-%$@")


def named(label: str, question: str, title: str = "") -> float:
    """Return how surely a question names what a label of a document with a title does, 0 to 1.

    A name in the title tells one document from others, and no label that has more words from those beside it.
    """
    if not label:
        return 0.0
    words = question_words(question)
    if title and (whole := words & question_words(title)):
        words = words.difference(name for name in whole if not _is_all_of(label, name))
    return max(
        (
            sure if _is_written_so(name, label, question) else _CALLED
            for name, sure in names_of(label).items()
            if name in words or (len(name) > 1 and not name.isascii() and any(name in word for word in words))
        ),
        default=0.0,
    )


@lru_cache(maxsize=4_000)
def _is_all_of(label: str, name: str) -> bool:
    """Tell whether a label, or one of the names it lists, is a name and nothing else."""
    last = label.rsplit(LABEL_JOINT, 1)[-1][:_LONGEST_LABEL]
    return [name] in _parts(_ASIDE.sub(" ", _NEGATABLE.sub("--", last)))


def _is_written_so(name: str, label: str, question: str) -> bool:
    """Tell whether a question writes an option of one letter as its label does: ``-d`` is not ``-D``."""
    if len(name) != 2 or name[0] != "-":
        return True
    letters = {letter for letter in _letter_options(label) if letter.lower() == name[1]}
    return not letters or not letters.isdisjoint(_letter_options(question))


@lru_cache(maxsize=4_000)
def _letter_options(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFKC", text)
    return frozenset(_LETTER_OPTION.findall(plain if plain.isascii() else re.sub("[‐‑–—−]", "-", plain)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.casefold()
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _DASHED.sub(lambda match: "--" if match["long"] else "-", plain)
