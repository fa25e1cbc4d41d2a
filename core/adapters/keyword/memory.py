"""A keyword index in memory: the same contract and the same formula as tantivy, with exact document lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock

import numpy as np

from core.model import IndexHit, Part, TermScore
from core.model.terms import Clause
from core.ports import KeywordRow, StoredRows, TermAnalyser
from core.text import bm25
from core.text.near_terms import near_terms
from core.text.vocabulary import PLAIN, counted, terms_of

_STORED_AT_ONCE = 4_096


@dataclass(slots=True)
class _Entry:
    doc_id: int
    frequencies: Counter[str]
    length: int
    fingerprint: int


@dataclass(slots=True)
class _PartIndex:
    """The rows and postings of one part, with the statistics that its scores need."""

    entries: dict[int, _Entry] = field(default_factory=dict)
    postings: dict[str, set[int]] = field(default_factory=dict)
    total_length: int = 0

    def add(self, chunk_id: int, entry: _Entry) -> None:
        self.entries[chunk_id] = entry
        self.total_length += entry.length
        for term in entry.frequencies:
            self.postings.setdefault(term, set()).add(chunk_id)

    def remove(self, chunk_id: int) -> None:
        entry = self.entries.pop(chunk_id, None)
        if entry is None:
            return
        self.total_length -= entry.length
        for term in entry.frequencies:
            holders = self.postings[term]
            holders.discard(chunk_id)
            if not holders:
                del self.postings[term]

    def search(self, asked: Sequence[Clause], doc_ids: frozenset[int] | None) -> list[IndexHit]:
        found: dict[int, dict[str, TermScore]] = {}
        mean_length = self.total_length / len(self.entries) if self.entries else 1.0
        for term in terms_of(asked):
            holders = self.postings.get(term, ())
            idf = bm25.idf(len(self.entries), len(holders))
            for chunk_id in holders:
                entry = self.entries[chunk_id]
                if doc_ids is None or entry.doc_id in doc_ids:
                    tf = bm25.tf_part(entry.frequencies[term], entry.length, mean_length)
                    score = TermScore(term, idf * tf, idf, tf, len(holders))
                    found.setdefault(chunk_id, {})[term] = score
        counting = {chunk_id: counted(asked, scores) for chunk_id, scores in found.items()}
        return [IndexHit(chunk_id, sum(t.score for t in scores), scores) for chunk_id, scores in counting.items()]


class MemoryKeywordIndex:
    """Rows live as long as the object; for tests and for ``EVOSPIKENET_TEST_MODE=1``."""

    engine = "memory"

    def __init__(self) -> None:
        self._lock = RLock()
        self._parts = {part: _PartIndex() for part in Part}
        self._of_rows: TermAnalyser = PLAIN
        self._of_questions: TermAnalyser = PLAIN

    def use(self, of_rows: TermAnalyser, of_questions: TermAnalyser) -> None:
        self._of_rows, self._of_questions = of_rows, of_questions

    def upsert(self, rows: Sequence[KeywordRow]) -> None:
        analysed = [(row, Counter(self._of_rows.analyse(row.text))) for row in rows]
        with self._lock:
            for row, frequencies in analysed:
                self.delete([row.chunk_id])
                entry = _Entry(row.doc_id, frequencies, frequencies.total(), row.fingerprint)
                self._parts[row.part].add(row.chunk_id, entry)

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._lock:
            for part in self._parts.values():
                for chunk_id in chunk_ids:
                    part.remove(chunk_id)

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        asked = self._of_questions.ask(text)
        allowed = None if doc_ids is None else frozenset(doc_ids)
        with self._lock:
            hits = [hit for part in dict.fromkeys(parts) for hit in self._parts[part].search(asked, allowed)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)]

    def snapshot(self) -> object | None:
        return None

    def holding(
        self, term: str, edits: int, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[int]:
        allowed = None if doc_ids is None else frozenset(doc_ids)
        found: dict[int, None] = {}
        with self._lock:
            for part in dict.fromkeys(parts):
                index = self._parts[part]
                for each in near_terms(term, index.postings, edits):
                    holders = index.postings[each]
                    found.update(
                        (chunk_id, None)
                        for chunk_id in holders
                        if allowed is None or index.entries[chunk_id].doc_id in allowed
                    )
        return list(found)[: max(limit, 0)]

    def count(self) -> Mapping[Part, int]:
        with self._lock:
            return {part: len(index.entries) for part, index in self._parts.items()}

    def ids(self) -> Iterator[tuple[int, Part]]:
        with self._lock:
            return iter([(chunk_id, part) for part, index in self._parts.items() for chunk_id in index.entries])

    def stored(self) -> Iterator[StoredRows]:
        with self._lock:
            rows = [
                (chunk_id, entry.fingerprint, part is Part.HEAD)
                for part, index in self._parts.items()
                for chunk_id, entry in index.entries.items()
            ]
        for at in range(0, len(rows), _STORED_AT_ONCE):
            ids, fingerprints, in_head = zip(*rows[at : at + _STORED_AT_ONCE], strict=True)
            yield StoredRows(np.array(ids, np.int64), np.array(fingerprints, np.int64), np.array(in_head, np.bool_))

    def clear(self) -> None:
        with self._lock:
            self._parts = {part: _PartIndex() for part in Part}

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Tell that nothing is left: what is in memory alone leaves no trace on the disk."""
        return True

    def close(self) -> None:
        """Keep the rows: there is nothing to let go of."""
