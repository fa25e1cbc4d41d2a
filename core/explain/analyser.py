"""What the analyser makes of a text: its words with their places, readings and terms, and what each engine indexes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from core.errors import InvalidInput
from core.model import AnalysedText, Token, Vocabulary
from core.text.analysis import AnalysedPiece, commas_within_numbers, normalise, pieces
from core.text.language import is_storable
from core.text.languages import language_asked
from core.text.vocabulary import Words, terms_of

LONGEST_TEXT = 10_000
USER_WORD = "user_word"

_MOST_JOINED = 32
"""How many signs become one at most; without an end to them, long runs of marks take minutes."""

Place = tuple[str, int, int]
"""A sign of the normalised text, and where in the given text it begins and ends."""


def analysed(text: str, words: Words, vocabulary: Vocabulary, engines: Sequence[str]) -> AnalysedText:
    """Return what a text becomes with a vocabulary, which ``words`` is to the analyser. Raises: ``InvalidInput``."""
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"The text has {len(text):,} characters; at most {LONGEST_TEXT:,} are analysed.",
            remedy="Analyse a part of it.",
        )
    if not text.strip() or not is_storable(text):
        raise InvalidInput("There is no text to analyse.", remedy="Write a word or a sentence.")
    places = _places(text)
    normalised = "".join(sign for sign, _, _ in places)
    commas = set(commas_within_numbers(normalised))
    kept = [place for at, place in enumerate(places) if at not in commas]
    indexed = tuple(words.analyse(text))
    readings = {entry[0]: entry[1] for entry in vocabulary.words}
    found = [*_words(text, kept, words), *_whole_words(text, places, words, readings)]
    return AnalysedText(
        text=text,
        language=language_asked(normalised),
        tokens=tuple(sorted(chain(found, _signs(text, found)), key=_place)),
        indexed=indexed,
        asked=tuple(terms_of(words.ask(text))),
        engines=dict.fromkeys(engines, indexed),
    )


def _place(token: Token) -> tuple[int, bool]:
    """Order tokens by their places, a word of the vocabulary before its parts."""
    return token.start, token.part_of_speech != USER_WORD


def _words(text: str, places: Sequence[Place], words: Words) -> Iterator[Token]:
    found = list(pieces("".join(sign for sign, _, _ in places)))
    synonyms = words.synonyms_in([term for piece in found for term in piece.terms])
    at = 0
    for piece in found:
        meant = [word for place in range(at, at + len(piece.terms)) for word in synonyms.get(place, ())]
        at += len(piece.terms)
        yield replace(_token(text, piece, places), synonyms=tuple(dict.fromkeys(meant)))


def _token(text: str, piece: AnalysedPiece, places: Sequence[Place]) -> Token:
    start, end = places[piece.start][1], places[piece.end - 1][2]
    return Token(text[start:end], start, end, piece.terms + piece.spoken, piece.reading, piece.kind, piece.stopped)


def _whole_words(text: str, places: Sequence[Place], words: Words, readings: Mapping[str, str]) -> Iterator[Token]:
    for found in words.find("".join(sign for sign, _, _ in places)):
        start, end = places[found.start][1], places[found.end - 1][2]
        yield Token(text[start:end], start, end, (found.term,), readings.get(found.word, ""), USER_WORD)


def _signs(text: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield what stands between the words and is no blank."""
    covered = bytearray(len(text))
    for token in tokens:
        covered[token.start : token.end] = b"\1" * (token.end - token.start)
    start: int | None = None
    for at in range(len(text) + 1):
        is_sign = at < len(text) and not covered[at] and not text[at].isspace()
        if is_sign and start is None:
            start = at
        elif not is_sign and start is not None:
            yield Token(text[start:at], start, at, (), stopped="punctuation")
            start = None


def _places(text: str) -> list[Place]:
    """Return the signs of the normalised text with the places that they come from."""
    found: list[Place] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < min(len(text), start + _MOST_JOINED) and _joins(text[start:end], text[end]):
            end += 1
        found += [(sign, start, end) for sign in normalise(text[start:end])]
        start = end
    return found


def _joins(before: str, sign: str) -> bool:
    """Tell whether a sign becomes another one after what stands before it."""
    if sign.isascii():
        return False
    together = unicodedata.normalize("NFKC", before + sign)
    return together != unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", sign)
