"""The keyword index of one machine in SQLite: FTS5 over terms that ``core.text.analysis`` made.

Each part is a table of rows and an FTS5 index of their terms. FTS5's own score is that of Robertson's formula, which
takes words of more than half of the rows for worthless; what it says of one term at a time gives the part of the term's
frequency, and this adapter multiplies that with the idf of the port.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from math import fsum, log
from pathlib import Path
from threading import RLock, local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from core.adapters.keyword.made_by import check_made_by
from core.errors import EvoRAGError, StoreUnavailable
from core.model import IndexHit, Part, TermScore
from core.model.terms import Clause
from core.platform.precedence import give_way
from core.ports import KeywordRow, StoredRows, TermAnalyser
from core.text import bm25
from core.text.analysis import ANALYSER_ID
from core.text.near_terms import near_terms
from core.text.vocabulary import PLAIN, counted, terms_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_ROWS = "fts5: id doc terms fingerprint"
_STORED_AT_ONCE = 50_000
_BUSY_S = 30.0
_NEAREST = 50
"""So many terms near another one are asked for."""
_LEAST_IDF = 1e-6
"""What FTS5 takes for the idf of a term that more than half of the rows hold."""
_SIGNS = re.compile(r"[^a-z0-9\u0080-\ud7ff\ue000-\U0010ffff]")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS {part}_rows (id INTEGER PRIMARY KEY, doc INTEGER NOT NULL, terms TEXT NOT NULL,
    fingerprint INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS {part}_docs ON {part}_rows (doc, fingerprint);
CREATE VIRTUAL TABLE IF NOT EXISTS {part}_terms USING fts5(terms, content='{part}_rows', content_rowid='id',
    tokenize="ascii tokenchars '_'");
"""


class _Posting(NamedTuple):
    """The rows that hold a term, rising, what its frequency is worth in each, and its idf."""

    ids: Ints
    parts: Floats
    idf: float


class Fts5KeywordIndex:
    """BM25 with the score of every term; writes are committed, synced and searchable when they return."""

    engine = "fts5"

    def __init__(self, folder: Path, analyser: str = ANALYSER_ID) -> None:
        """Open the index of a folder whose rows ``analyser`` made; those that are written are of this release's."""
        self._lock = RLock()
        self._closed = False
        self._of_thread = local()
        self._readers: list[sqlite3.Connection] = []
        self._file = folder / "terms.sqlite3"
        self._of_rows: TermAnalyser = PLAIN
        self._of_questions: TermAnalyser = PLAIN
        with _translated():
            folder.mkdir(parents=True, exist_ok=True)
            check_made_by(folder, _ROWS, analyser)
            self._writer = self._connected()
            for part in Part:
                self._writer.executescript(_SCHEMA.format(part=part.value))

    def use(self, of_rows: TermAnalyser, of_questions: TermAnalyser) -> None:
        self._of_rows, self._of_questions = of_rows, of_questions

    def upsert(self, rows: Sequence[KeywordRow]) -> None:
        latest = {row.chunk_id: row for row in rows}
        terms = {chunk_id: self._terms(row) for chunk_id, row in latest.items()}
        if not latest:
            return
        with self._written() as writer:
            self._remove(writer, list(latest))
            for part in Part:
                values = [
                    (row.chunk_id, row.doc_id, terms[row.chunk_id], row.fingerprint)
                    for row in latest.values()
                    if row.part is part
                ]
                writer.executemany(f"INSERT INTO {part.value}_rows VALUES (?, ?, ?, ?)", values)
                indexed = ((chunk_id, text) for chunk_id, _doc, text, _fingerprint in values)
                writer.executemany(f"INSERT INTO {part.value}_terms (rowid, terms) VALUES (?, ?)", indexed)

    def _terms(self, row: KeywordRow) -> str:
        give_way()
        return " ".join(map(_written_as, self._of_rows.analyse(row.text)))

    def delete(self, chunk_ids: Sequence[int]) -> None:
        if chunk_ids:
            with self._written() as writer:
                self._remove(writer, chunk_ids)

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        asked = self._of_questions.ask(text)
        hits: dict[int, IndexHit] = {}
        if limit < 1 or (doc_ids is not None and not doc_ids):
            self._require_open()
            return []
        with self._read() as reader:
            for part in dict.fromkeys(parts):
                for hit in _search(reader, part, asked, limit, doc_ids):
                    known = hits.get(hit.chunk_id)
                    if known is None or hit.score > known.score:
                        hits[hit.chunk_id] = hit
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:limit]

    def snapshot(self) -> object | None:
        return None

    def holding(
        self, term: str, edits: int, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[int]:
        found: dict[int, None] = {}
        with self._read() as reader:
            for part in dict.fromkeys(parts):
                found.update(dict.fromkeys(_holding(reader, part, term, edits, limit, doc_ids)))
        return list(found)[: max(limit, 0)]

    def count(self) -> Mapping[Part, int]:
        with self._read() as reader:
            return {part: _count(reader, part) for part in Part}

    def ids(self) -> Iterator[tuple[int, Part]]:
        with self._read() as reader:
            found = [
                (int(chunk_id), part)
                for part in Part
                for (chunk_id,) in reader.execute(f"SELECT id FROM {part.value}_rows")
            ]
        return iter(found)

    def stored(self) -> Iterator[StoredRows]:
        with _translated(), closing(self._connected()) as reader:
            # One transaction from the first row to the last: what is written meanwhile is not seen in part.
            reader.execute("BEGIN")
            for part in Part:
                self._require_open()
                cursor = reader.execute(f"SELECT id, fingerprint FROM {part.value}_rows")
                while rows := cursor.fetchmany(_STORED_AT_ONCE):
                    ids, fingerprints = (np.array(column, np.int64) for column in zip(*rows, strict=True))
                    yield StoredRows(ids, fingerprints, np.full(len(ids), part is Part.HEAD))

    def clear(self) -> None:
        with self._written() as writer:
            for part in Part:
                writer.execute(f"INSERT INTO {part.value}_terms ({part.value}_terms) VALUES ('delete-all')")
                writer.execute(f"DELETE FROM {part.value}_rows")

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Tell whether nothing of deleted rows is on the disk: lists of terms are merged, freed pages are zeros."""
        with self._written() as writer:
            for part in Part:
                writer.execute(f"INSERT INTO {part.value}_terms ({part.value}_terms) VALUES ('optimize')")
        with self._lock, _translated():
            is_busy, _pages, _moved = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not is_busy

    def close(self) -> None:
        with self._lock, _translated():
            self._closed = True
            for connection in (*self._readers, self._writer):
                connection.close()
            self._readers.clear()

    # ---- connections

    def _require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The keyword index is closed.")

    def _connected(self) -> sqlite3.Connection:
        self._require_open()
        connection = sqlite3.connect(self._file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        for part in Part:
            # Reads the dictionary of terms; it is this connection's own and nothing on the disk.
            words = f"temp.{part.value}_words USING fts5vocab(main, {part.value}_terms, row)"
            connection.execute(f"CREATE VIRTUAL TABLE {words}")
        return connection

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """Give this thread's connection, which sees both parts as they are at one moment."""
        with _translated():
            self._require_open()
            reader: sqlite3.Connection | None = getattr(self._of_thread, "reader", None)
            if reader is None:
                with self._lock:
                    reader = self._of_thread.reader = self._connected()
                    self._readers.append(reader)
            reader.execute("BEGIN")
            try:
                yield reader
            finally:
                if not self._closed:
                    reader.execute("ROLLBACK")

    @contextmanager
    def _written(self) -> Iterator[sqlite3.Connection]:
        """Give the writer, commit when the block ends, undo what an error left half done."""
        with self._lock, _translated():
            self._require_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise

    @staticmethod
    def _remove(writer: sqlite3.Connection, chunk_ids: Sequence[int]) -> None:
        for part in Part:
            wanted = f"SELECT id, terms FROM {part.value}_rows WHERE id IN (SELECT value FROM json_each(?))"
            rows = writer.execute(wanted, (_listed(chunk_ids),)).fetchall()
            # The index is told which terms it loses: it keeps no text of its own.
            told = f"INSERT INTO {part.value}_terms ({part.value}_terms, rowid, terms) VALUES ('delete', ?, ?)"
            writer.executemany(told, rows)
            writer.executemany(f"DELETE FROM {part.value}_rows WHERE id = ?", ((chunk_id,) for chunk_id, _ in rows))


def _search(
    reader: sqlite3.Connection, part: Part, asked: Sequence[Clause], limit: int, doc_ids: Sequence[int] | None
) -> list[IndexHit]:
    documents = _count(reader, part)
    postings = {
        term: posting for term in terms_of(asked) if (posting := _posting(reader, part, term, documents)) is not None
    }
    if not postings:
        return []
    every = np.unique(np.concatenate([posting.ids for posting in postings.values()]))
    total = np.zeros(len(every))
    for clause in asked:
        alternatives = []
        for terms in clause.alternatives:
            scores = np.zeros(len(every))
            for term in terms:
                if term in postings:
                    scores[np.searchsorted(every, postings[term].ids)] += postings[term].parts * postings[term].idf
            alternatives.append(scores)
        total += np.max(alternatives, axis=0)
    is_allowed = total > 0.0
    if doc_ids is not None:
        is_allowed &= np.isin(every, _of_documents(reader, part, doc_ids))
    places = np.flatnonzero(is_allowed)
    best = places[np.lexsort((every[places], -total[places]))[:limit]]
    return [_hit(int(every[place]), asked, postings) for place in best.tolist()]


def _holding(
    reader: sqlite3.Connection, part: Part, term: str, edits: int, limit: int, doc_ids: Sequence[int] | None
) -> list[int]:
    asked = _written_as(term)
    if not asked or limit < 1 or (doc_ids is not None and not doc_ids):
        return []
    terms = [asked]
    if edits:
        first, after = asked[0], chr(ord(asked[0]) + 1)
        every = reader.execute(f"SELECT term FROM {part.value}_words WHERE term >= ? AND term < ?", (first, after))
        terms = near_terms(asked, (row[0] for row in every), edits)[:_NEAREST]
    if not terms:
        return []
    wanted = f"SELECT rowid FROM {part.value}_terms WHERE {part.value}_terms MATCH ? LIMIT ?"
    matched = " OR ".join(f'"{each}"' for each in terms)
    if doc_ids is None:
        return [int(row[0]) for row in reader.execute(wanted, (matched, limit))]
    rows = np.array([row[0] for row in reader.execute(wanted, (matched, -1))], np.int64)
    return [int(each) for each in rows[np.isin(rows, _of_documents(reader, part, doc_ids))][:limit]]


def _hit(chunk_id: int, asked: Sequence[Clause], postings: Mapping[str, _Posting]) -> IndexHit:
    scores: dict[str, TermScore] = {}
    for term, (ids, parts, idf) in postings.items():
        at = int(np.searchsorted(ids, chunk_id))
        if at < len(ids) and ids[at] == chunk_id:
            tf = float(parts[at])
            scores[term] = TermScore(term, idf * tf, idf, tf, len(ids))
    counting = counted(asked, scores)
    return IndexHit(chunk_id, fsum(part.score for part in counting), counting)


def _posting(reader: sqlite3.Connection, part: Part, term: str, documents: int) -> _Posting | None:
    table = f"{part.value}_terms"
    # Quoted, the term is a literal whatever it holds; what could end the quotes is written otherwise in it.
    asked = f"SELECT rowid, bm25({table}) FROM {table} WHERE {table} MATCH ?"
    rows = reader.execute(asked, (f'"{_written_as(term)}"',)).fetchall()
    if not rows:
        return None
    ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    scores = np.fromiter((row[1] for row in rows), np.float64, len(rows))
    own_idf = log((documents - len(rows) + 0.5) / (len(rows) + 0.5))
    return _Posting(ids, -scores / (own_idf if own_idf > 0.0 else _LEAST_IDF), bm25.idf(documents, len(rows)))


def _of_documents(reader: sqlite3.Connection, part: Part, doc_ids: Sequence[int]) -> Ints:
    wanted = f"SELECT id FROM {part.value}_rows WHERE doc IN (SELECT value FROM json_each(?))"
    return np.array([row[0] for row in reader.execute(wanted, (_listed(doc_ids),))], np.int64)


def _count(reader: sqlite3.Connection, part: Part) -> int:
    return int(reader.execute(f"SELECT count(*) FROM {part.value}_rows INDEXED BY {part.value}_docs").fetchone()[0])


def _listed(numbers: Collection[int]) -> str:
    return orjson.dumps([int(number) for number in numbers]).decode()


def _written_as(term: str) -> str:
    """Return a term as letters and digits that FTS5 takes for one word: any other sign by its number."""
    return _SIGNS.sub(lambda sign: f"_{ord(sign[0]):x}_", term)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except EvoRAGError:
        raise
    except Exception as error:
        raise StoreUnavailable(f"The keyword index cannot be used ({type(error).__name__}).") from error
