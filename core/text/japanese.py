"""Japanese words as kuromoji gives them in search mode without compounds: the parts of IPADIC's words, in base form.

Compounds beside their parts were measured too: they count the same evidence twice and rank worse, here as in kuromoji.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

_PIECE_CHARS = 1_000
_FULL_STOP = "。"
"""Ends what is decomposed: lindera leaves a compound whole where the text ends with it."""
_PART_OF_SPEECH, _CONJUGATION, _BASE_FORM, _READING = 0, 4, 6, 7

_STOPPED = frozenset(["助詞", "助動詞", "接続詞", "記号", "フィラー", "非言語音", "その他"])
_STOP_LINES = """
    ある いる する なる できる おる れる られる せる させる いう 言う 教える 下さる くださる ない
    の ん こと もの ため よう とき ところ うち 他 さん これ それ あれ ここ そこ そう この その あの こんな そんな という
    何 なに なん 何と 誰 だれ いつ どこ どれ どちら どなた どう どの どんな なぜ いくつ いくら 及び および また
"""
STOP_WORDS = frozenset(_STOP_LINES.split())


class Word(NamedTuple):
    """A word of the dictionary, or an unknown one: its base form, and whether it says nothing by itself."""

    surface: str
    base: str
    stopped: bool
    is_noun: bool


def words(text: str) -> Iterator[Word]:
    """Yield the words of a run of Japanese script, in order; compounds stay whole."""
    normal = _tokenizers()[0]
    for start in range(0, len(text), _PIECE_CHARS):
        for token in normal.tokenize(text[start : start + _PIECE_CHARS]):
            yield _unknown(token.surface) if token.is_unknown else _known(token)


def terms(text: str) -> list[str]:
    """Return the index terms of a run of Japanese script: base forms, of a compound noun those of its parts."""
    normal, found = _tokenizers()[0], list[str]()
    for start in range(0, len(text), _PIECE_CHARS):
        for token in normal.tokenize(text[start : start + _PIECE_CHARS]):
            if token.is_unknown:
                found += terms_of(_unknown(token.surface))
                continue
            own = _terms_by_id.get(token.word_id)
            if own is None:
                own = _terms_by_id[token.word_id] = terms_of(_known(token))
            found += own
    return found


def terms_of(word: Word) -> tuple[str, ...]:
    """Return the index terms of one word, none where it says nothing by itself."""
    if word.is_noun and len(word.surface) > 2:
        return _parts(word)
    return () if word.stopped else (stem(word.base),)


class Described(NamedTuple):
    """A word as the dictionary tells of it; ``stopped`` is why it says nothing by itself, if it does not."""

    word: Word
    reading: str
    part_of_speech: str
    stopped: str


def described(text: str) -> Iterator[Described]:
    """Yield the words of a run of Japanese script with what the dictionary tells of them; readings are in katakana."""
    normal = _tokenizers()[0]
    for start in range(0, len(text), _PIECE_CHARS):
        for token in normal.tokenize(text[start : start + _PIECE_CHARS]):
            word = _unknown(token.surface) if token.is_unknown else _known(token)
            details = token.details
            kinds = [kind for kind in details[:_CONJUGATION] if kind != "*"][:2]
            reading = details[_READING] if len(details) > _READING and details[_READING] != "*" else ""
            by_kind = not token.is_unknown and details[_PART_OF_SPEECH] in _STOPPED
            stopped = ("part_of_speech" if by_kind else "stop_word") if word.stopped else ""
            yield Described(word, reading, "" if token.is_unknown else "・".join(kinds), stopped)


@lru_cache(maxsize=65_536)
def _parts(noun: Word) -> tuple[str, ...]:
    tokens = _tokenizers()[1].tokenize(noun.surface + _FULL_STOP)[:-1]
    found = [_unknown(token.surface) if token.is_unknown else _known(token) for token in tokens]
    parts = tuple(stem(word.base) for word in found if not word.stopped)
    return parts if len(found) > 1 and parts else () if noun.stopped else (stem(noun.base),)


# As many entries as the dictionary has words, at most.
_words_by_id: dict[int, Word] = {}
_terms_by_id: dict[int, tuple[str, ...]] = {}


def _known(token: Any) -> Word:
    word = _words_by_id.get(token.word_id)
    if word is None:
        details = token.details
        word = _words_by_id[token.word_id] = _word(token.surface, details)
    return word


def _word(surface: str, details: list[str]) -> Word:
    base = details[_BASE_FORM] if len(details) > _BASE_FORM and details[_BASE_FORM] != "*" else surface
    kind = details[_PART_OF_SPEECH]
    return Word(surface, base, kind in _STOPPED or base in STOP_WORDS, kind == "名詞")


def _unknown(surface: str) -> Word:
    return Word(surface, surface, surface in STOP_WORDS, True)


def stem(word: str) -> str:
    """Drop the long-vowel mark that katakana words end in or not (サーバー, サーバ)."""
    return word[:-1] if len(word) > 3 and word[-1] == "ー" else word


@cache
def _tokenizers() -> tuple[Any, Any]:
    import lindera

    dictionary = lindera.load_dictionary("embedded://ipadic")
    return lindera.Tokenizer(dictionary, mode="normal"), lindera.Tokenizer(dictionary, mode="decompose")
