"""Meets typos of English questions: a word that no passage of the scope holds is read as the nearest one that does.

Names, codes and short words are left as they are, and so is every word that is known to be English: "threw" is not
"three". Only words of passages that the asker may see are offered, so that nothing is told of others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA

from core.catalog.documents.views import View
from core.catalog.revisions import Revision
from core.errors import EvoRAGError
from core.indexes.active import IndexHandle
from core.model import Analysis, Correction, Part, PlacedChunk, Query
from core.query.search.search import SearchResult
from core.text.analysis import analyse_query
from core.text.irregular_forms import IRREGULAR_FORMS
from core.text.near_terms import near_terms
from core.text.translations import translations

if TYPE_CHECKING:
    from core.catalog import Catalog

_WORD = re.compile(r"(?<![\w.@#/'’-])[A-Za-z]{5,}(?![\w@#/-]|['’.]\w)")
_MOST_CHARS = 1_000
_MOST_WORDS = 4
"""Absent words that are looked for in one question; one of many of them is no English, or not of these documents."""
_MOST_ROWS = 200
_MOST_PUSHED_DOWN = 2_000
_ENDING = 5
_SHORTEST_CUT = 5
_SHORTEST_WORD = 4
"""Letters of a word of a passage that may be what was meant."""
_MOST_KNOWN = 1_000
_TWO_EDITS = 8
"""Letters of a word that may be two edits away from what it is read as."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What words have meant, in a state of the keyword index and the catalogue; empty where they meant nothing."""

    snapshot: object = None
    revision: Revision | None = None
    words: dict[tuple[View, tuple[Part, ...], str], str] = field(default_factory=dict)


class Spelling:
    def __init__(self, catalog: Catalog, serving: Callable[[], IndexHandle]) -> None:
        self._catalog = catalog
        self._serving = serving
        self._known = _Known()

    def corrected(self, query: Query, analysis: Analysis, found: SearchResult) -> Analysis | None:
        """Return the analysis with the words that the question meant; None where it has no typo."""
        keyword = found.retrieved.keyword
        text = analysis.searched or analysis.normalised
        if analysis.language != "en" or analysis.syntax is not None or keyword.error or len(text) > _MOST_CHARS:
            return None
        terms = [term for hit in keyword.hits for term in hit.terms]
        stood_for = {term.stands_for for term in terms if term.stands_for}
        held = {term.term for term in terms} | stood_for | set(chain.from_iterable(map(_terms, stood_for)))
        absent = [match for match in _asked_words(text) if not held.intersection(_terms(match.group()))]
        absent = [match for match in absent if _id(match.group()) not in query.dismissed]
        absent = [match for match in absent if not _is_english(match.group().lower())]
        if not absent or len(absent) > _MOST_WORDS:
            return None
        made: list[Correction] = []
        try:
            for match in reversed(absent):
                word = match.group()
                meant = self._known_or_meant(word, found)
                if meant:
                    meant = meant.capitalize() if word[0].isupper() else meant
                    text = f"{text[: match.start()]}{meant}{text[match.end() :]}"
                    made.append(Correction(_id(word), word, meant))
        except EvoRAGError:
            # What was found as it was typed stands.
            return None
        return replace(analysis, searched=text, corrections=tuple(reversed(made))) if made else None

    def _known_or_meant(self, word: str, found: SearchResult) -> str:
        """Return what a word meant when it was asked last, where neither index nor catalogue has changed since."""
        revision, scope = self._catalog.visibility.revision(), found.scope
        snapshot = self._serving().keywords.snapshot()
        if revision is None or snapshot is None or scope.doc_ids is not None:
            return self._meant(word, found)
        known = self._known
        if known.snapshot is not snapshot or known.revision != revision or len(known.words) >= _MOST_KNOWN:
            known = self._known = _Known(snapshot, revision)
        asked = scope.view, scope.parts, word.lower()
        meant = known.words.get(asked)
        if meant is None:
            meant = known.words[asked] = self._meant(word, found)
        return meant

    def _meant(self, word: str, found: SearchResult) -> str:
        """Return the word of a passage that is nearest to one that none holds; empty where none is near."""
        (term,) = _terms(word)
        held, is_all = self._rows(term, 0, found)
        if held or not is_all:
            return ""
        low = word.lower()
        # A typo in its ending keeps the stem of a word from being found: then it is cut letter by letter.
        cut = [low[:length] for length in range(len(low) - 1, len(low) - _ENDING, -1) if length >= _SHORTEST_CUT]
        for edits in (1, 2) if len(low) >= _TWO_EDITS else (1,):
            for begun in dict.fromkeys((term, *cut)):
                rows, _ = self._rows(begun, edits, found)
                alike = _words_like(low, edits)
                held_words = Counter(each.lower() for row in rows for each in alike.findall(row.chunk.text))
                near = {each: held_words[each] for each in near_terms(low, held_words, edits)}
                if near:
                    return min(near, key=lambda each: (OSA.distance(low, each), -near[each], each))
        return ""

    def _rows(self, term: str, edits: int, found: SearchResult) -> tuple[Collection[PlacedChunk], bool]:
        """Return visible passages with a term so near, and whether more than were read cannot be."""
        scope = found.scope
        doc_ids: Sequence[int] | None = scope.doc_ids
        pushed = doc_ids if doc_ids is None or len(doc_ids) <= _MOST_PUSHED_DOWN else None
        if doc_ids is None:
            pushed = self._catalog.visibility.searched(scope.view, _MOST_PUSHED_DOWN)
        ids = self._serving().keywords.holding(term, edits, _MOST_ROWS, scope.parts, pushed)
        seen = self._catalog.visibility.visible(set(ids), scope.view).values()
        allowed = None if doc_ids is None else set(doc_ids)
        rows = [chunk for chunk in seen if allowed is None or chunk.doc_id in allowed]
        return rows, len(ids) < _MOST_ROWS


def _asked_words(text: str) -> Iterator[re.Match[str]]:
    """Yield the words of a question that may be misspelt: no names, which begin with a capital within it."""
    for match in _WORD.finditer(text):
        word = match.group()
        is_first = not text[: match.start()].strip() or text[: match.start()].rstrip().endswith((".", "?", "!"))
        if (word.islower() or (is_first and word[1:].islower())) and len(_terms(word)) == 1:
            yield match


def _is_english(word: str) -> bool:
    """Tell whether a word is known to be one: the list of translations has it, or it is an irregular form."""
    return word in IRREGULAR_FORMS or any(translations(word, "en").values())


def _terms(word: str) -> list[str]:
    return analyse_query(word)


@lru_cache(maxsize=16)
def _words_like(word: str, edits: int) -> re.Pattern[str]:
    """Match the words of a text that begin as one does and are about as long."""
    least, most = max(_SHORTEST_WORD, len(word) - edits) - 1, len(word) + edits - 1
    begun = f"[{word[0]}{word[0].upper()}]"
    return re.compile(rf"(?<![A-Za-z]){begun}[A-Za-z]{{{least},{most}}}(?![A-Za-z])")


def _id(word: str) -> str:
    return f"spelling:{word.lower()}"
