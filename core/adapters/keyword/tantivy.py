"""The keyword index of one machine: tantivy, in a folder, over terms that ``core.text.analysis`` made.

The parts head and history are two indexes, so that the statistics behind a score are those of the part searched.
Files are held against their checksums when they are opened, and when something fails: a damaged index is
``WrongIndex`` then and ``IndexLost`` later, and ``clear`` makes its folder anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import fsum
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from core.adapters.keyword.made_by import check_made_by
from core.adapters.keyword.tantivy_files import damage_in
from core.adapters.keyword.tantivy_reading import Snapshot, top
from core.errors import EvoRAGError, IndexLost, StoreUnavailable, WrongIndex
from core.model import IndexHit, Part, TermScore
from core.model.terms import Clause
from core.platform.precedence import give_way
from core.ports import KeywordRow, StoredRows, TermAnalyser
from core.text import bm25
from core.text.analysis import ANALYSER_ID
from core.text.near_terms import near_terms
from core.text.vocabulary import PLAIN, counted, terms_of

_WRITER_BYTES = 64_000_000
_FEW_IDS = 256
_FEW_ROWS = 500
"""So many rows are read in the time in which fifty of them are looked up."""
_NEAREST = 50
"""So many terms near another one are asked for."""
_STORED_AT_ONCE = 50_000
_LEAST_ID, _LARGEST_ID = -(1 << 63), (1 << 63) - 1
_ROWS = "id doc terms fingerprint"
_SUMMED_BYTES = 256 * 1024 * 1024
"""Of so many bytes checksums are computed; a second, at most, of a start."""
_WRITTEN_ANEW = (
    "Nothing needs to be done: it is written anew from the catalogue, and the other search answers meanwhile."
)


class TantivyKeywordIndex:
    """BM25 with the score of every term; writes are committed, synced and searchable when they return."""

    engine = "tantivy"

    def __init__(self, folder: Path, analyser: str = ANALYSER_ID) -> None:
        """Open the index of a folder whose rows ``analyser`` made; those that are written are of this release's."""
        self._folder = folder
        with _translated():
            folder.mkdir(parents=True, exist_ok=True)
            is_new = check_made_by(folder, _ROWS, analyser)
        if not is_new and (name := self._damage()):
            raise WrongIndex(f"The keyword index is damaged ({name}).")
        try:
            with _translated():
                self._parts = {part: _PartIndex(folder / part.value) for part in Part}
        except StoreUnavailable as error:
            # What the system refuses, such as room, says so; anything else is in the files.
            if is_new or "os error" in str(error.__cause__):
                raise
            raise WrongIndex("The keyword index is damaged.") from error
        self._lock = RLock()
        self._of_rows: TermAnalyser = PLAIN
        self._of_questions: TermAnalyser = PLAIN
        self._show()

    def use(self, of_rows: TermAnalyser, of_questions: TermAnalyser) -> None:
        self._of_rows, self._of_questions = of_rows, of_questions

    def _show(self) -> None:
        """Give searches both parts as they are now, in one step: a row on its way is in one of them at least."""
        self._shown = {part: index.snapshot for part, index in self._parts.items()}

    def upsert(self, rows: Sequence[KeywordRow]) -> None:
        latest = {row.chunk_id: row for row in rows}
        terms = {chunk_id: self._terms(row) for chunk_id, row in latest.items()}
        with self._lock, self._watched():
            for part, index in self._parts.items():
                index.put([(row, terms[chunk_id]) for chunk_id, row in latest.items() if row.part is part])
            self._show()
            for part, index in self._parts.items():
                index.remove([chunk_id for chunk_id, row in latest.items() if row.part is not part])
            self._show()

    def _terms(self, row: KeywordRow) -> str:
        give_way()
        return " ".join(self._of_rows.analyse(row.text))

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._lock, self._watched():
            for index in self._parts.values():
                index.remove(chunk_ids)
            self._show()

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        asked = self._of_questions.ask(text)
        best: dict[int, IndexHit] = {}
        shown = self._shown
        with self._watched():
            for part in dict.fromkeys(parts):
                for hit in self._parts[part].search(shown[part], asked, limit, doc_ids):
                    known = best.get(hit.chunk_id)
                    if known is None or hit.score > known.score:
                        best[hit.chunk_id] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)]

    def snapshot(self) -> object | None:
        return self._shown

    def holding(
        self, term: str, edits: int, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[int]:
        shown, found = self._shown, dict[int, None]()
        with self._watched():
            for part in dict.fromkeys(parts):
                found.update(dict.fromkeys(self._parts[part].holding(shown[part], term, edits, limit, doc_ids)))
        return list(found)[: max(limit, 0)]

    def count(self) -> Mapping[Part, int]:
        with self._watched():
            return {part: index.snapshot.searcher.num_docs for part, index in self._parts.items()}

    def ids(self) -> Iterator[tuple[int, Part]]:
        with self._watched():
            return iter([(chunk_id, part) for part, index in self._parts.items() for chunk_id in index.ids()])

    def stored(self) -> Iterator[StoredRows]:
        shown = self._shown
        with self._watched():
            for part, index in self._parts.items():
                for ids, fingerprints in index.stored(shown[part]):
                    in_head = np.full(len(ids), part is Part.HEAD)
                    yield StoredRows(np.array(ids, np.int64), np.array(fingerprints, np.int64), in_head)

    def clear(self) -> None:
        with self._lock:
            if self._damage():
                self._renew()
            else:
                with self._watched():
                    for index in self._parts.values():
                        index.clear()
            self._show()

    def _renew(self) -> None:
        """Remove the folders of both parts and begin anew; nothing can be asked of what was opened from them."""
        with _translated():
            for part in Part:
                self._parts[part].abandon()
                shutil.rmtree(self._folder / part.value, ignore_errors=True)
                self._parts[part] = _PartIndex(self._folder / part.value)

    def _damage(self) -> str:
        """Return the name of a damaged file, empty where there is none."""
        with _translated():
            found = ((part, damage_in(self._folder / part.value, _SUMMED_BYTES)) for part in Part)
            return next((f"{part.value}/{name}" for part, name in found if name), "")

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Say of what fails whether a damaged file is why. Raises: ``IndexLost``, ``StoreUnavailable``."""
        try:
            with _translated():
                yield
        except IndexLost:
            raise
        except StoreUnavailable:
            if name := self._damage():
                raise IndexLost(f"The keyword index is damaged ({name}).", remedy=_WRITTEN_ANEW) from None
            raise

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Tell whether no segment holds a deleted row; a segment goes when all its rows were deleted or replaced."""
        with self._lock, self._watched():
            free = [index.is_free_of(chunk_ids) for index in self._parts.values()]
            self._show()
            return all(free)

    def close(self) -> None:
        """Finish merging and let go of the folder; the index cannot be used after it."""
        with self._lock, _translated():
            for index in self._parts.values():
                index.close()


class _PartIndex:
    """One tantivy index: ``id`` and ``doc`` as indexed columns, ``fingerprint`` as one, ``terms`` cut at blanks."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("id", indexed=True, fast=True)
        builder.add_integer_field("doc", indexed=True, fast=True)
        builder.add_integer_field("fingerprint", fast=True)
        builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
        self._schema = builder.build()
        folder.mkdir(exist_ok=True)
        self._index = tantivy.Index(self._schema, path=str(folder))
        self._index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
        self._index.config_reader("manual")
        self._open_writer: Any = None
        self._closed = False
        self._reload()

    @property
    def snapshot(self) -> Snapshot:
        self._require_open()
        return self._snapshot

    def _require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The keyword index is closed.")

    def put(self, rows: Sequence[tuple[KeywordRow, str]]) -> None:
        if rows:
            with self._committed() as writer:
                for row, terms in rows:
                    writer.delete_documents_by_term("id", row.chunk_id)
                    document = self._tantivy.Document()
                    document.add_integer("id", row.chunk_id)
                    document.add_integer("doc", row.doc_id)
                    document.add_integer("fingerprint", row.fingerprint)
                    document.add_text("terms", terms)
                    writer.add_document(document)

    def remove(self, chunk_ids: Sequence[int]) -> None:
        searcher = self.snapshot.searcher
        present = [chunk_id for chunk_id in chunk_ids if searcher.doc_freq("id", chunk_id)]
        if present:
            with self._committed() as writer:
                for chunk_id in present:
                    writer.delete_documents_by_term("id", chunk_id)

    def is_free_of(self, chunk_ids: Collection[int]) -> bool:
        """Tell whether no file holds one of the rows, deleted ones included; what nothing needs is deleted."""
        with self._committed() as writer:
            writer.garbage_collect_files()
        searcher = self.snapshot.searcher
        return not any(searcher.doc_freq("id", chunk_id) for chunk_id in chunk_ids)

    def clear(self) -> None:
        with self._committed() as writer:
            writer.delete_all_documents()

    def ids(self) -> list[int]:
        searcher = self.snapshot.searcher
        if not searcher.num_docs:
            return []
        found = searcher.search(self._tantivy.Query.all_query(), searcher.num_docs, count=False).hits
        return list(searcher.fast_field_values("id", [address for _, address in found]))

    def stored(self, snapshot: Snapshot) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Yield ids and fingerprints of the rows, by ranges of ids that are halved until each holds few."""
        searcher, spans = snapshot.searcher, [(_LEAST_ID, _LARGEST_ID)]
        while spans:
            self._require_open()
            low, high = spans.pop()
            rows = self._tantivy.Query.range_query(self._schema, "id", self._tantivy.FieldType.Integer, low, high)
            addresses = [address for _, address in searcher.search(rows, _STORED_AT_ONCE + 1, count=False).hits]
            if len(addresses) > _STORED_AT_ONCE and low < high:
                middle = (low + high) // 2
                spans += [(middle + 1, high), (low, middle)]
            elif addresses:
                fingerprints = searcher.fast_field_values("fingerprint", addresses)
                yield searcher.fast_field_values("id", addresses), fingerprints

    def close(self) -> None:
        self._closed = True
        writer, self._open_writer = self._open_writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def abandon(self) -> None:
        """Let go of files that are damaged; what was not committed goes with them."""
        self._closed = True
        self._open_writer = None

    def search(
        self, snapshot: Snapshot, asked: Sequence[Clause], limit: int, doc_ids: Sequence[int] | None
    ) -> list[IndexHit]:
        self._require_open()
        searcher = snapshot.searcher
        frequencies = {term: searcher.doc_freq("terms", term) for term in terms_of(asked)}
        queries = {term: self._term("terms", term, "freq") for term, count in frequencies.items() if count}
        if not queries or limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        query = self._any_of([found for clause in asked if (found := self._best_of(clause, queries)) is not None])
        if doc_ids is not None:
            query = self._all_of(self._rows_with("doc", doc_ids), query)
        chosen = top(searcher, query, min(limit, searcher.num_docs))
        if not chosen:
            return []
        documents = snapshot.documents(self._any_of(list(queries.values())), next(iter(chosen.values())))
        parts: dict[int, dict[str, TermScore]] = {chunk_id: {} for chunk_id in chosen}
        at = {(address.segment_ord, address.doc): chunk_id for chunk_id, address in chosen.items()}
        few = max(len(chosen), _FEW_ROWS)
        rows = self._rows_with("id", list(chosen)) if max(frequencies.values()) > few else None
        for term, term_query in queries.items():
            frequency = frequencies[term]
            idf = bm25.idf(documents, frequency)
            # All rows with a rare term are sooner read than those of them that were chosen.
            wanted = term_query if frequency <= few else self._all_of(rows, term_query)
            for score, address in searcher.search(wanted, few, count=False).hits:
                if (chunk_id := at.get((address.segment_ord, address.doc))) is not None:
                    parts[chunk_id][term] = TermScore(term, score, idf, score / idf, frequency)
        counting = {chunk_id: counted(asked, scores) for chunk_id, scores in parts.items()}
        return [IndexHit(chunk_id, fsum(part.score for part in found), found) for chunk_id, found in counting.items()]

    def holding(
        self, snapshot: Snapshot, term: str, edits: int, limit: int, doc_ids: Sequence[int] | None
    ) -> Sequence[int]:
        self._require_open()
        if limit < 1 or not term or (doc_ids is not None and not doc_ids) or not snapshot.searcher.num_docs:
            return []
        terms = [term]
        if edits:
            begin_alike = (each for each, _ in snapshot.searcher.terms_with_prefix("terms", term[0]))
            terms = near_terms(term, begin_alike, edits)[:_NEAREST]
        query = self._any_of([self._term("terms", each, "freq") for each in terms])
        query = self._tantivy.Query.const_score_query(query, 0.0)
        if doc_ids is not None:
            query = self._all_of(self._rows_with("doc", doc_ids), query)
        hits = snapshot.searcher.search(query, limit, count=False).hits
        return list(snapshot.searcher.fast_field_values("id", [address for _, address in hits])) if hits else []

    def _best_of(self, clause: Clause, queries: Mapping[str, Any]) -> Any | None:
        """Match the rows that a clause asks for, with the score of its best alternative; None where no row has one."""
        held = [[queries[term] for term in terms if term in queries] for terms in clause.alternatives]
        alternatives = [few[0] if len(few) == 1 else self._any_of(few) for few in held if few]
        if len(alternatives) > 1:
            return self._tantivy.Query.disjunction_max_query(alternatives)
        return alternatives[0] if alternatives else None

    def _rows_with(self, column: str, values: Sequence[int]) -> Any:
        """Match the rows with any of the values; adds nothing to a score."""
        if len(values) > _FEW_IDS:
            query = self._tantivy.Query.term_set_query(self._schema, column, list(values))
        else:
            query = self._any_of([self._term(column, value, "basic") for value in values])
        return self._tantivy.Query.const_score_query(query, 0.0)

    def _term(self, field: str, value: str | int, option: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, field, value, option)

    def _any_of(self, queries: Sequence[Any]) -> Any:
        return self._tantivy.Query.boolean_query([(self._tantivy.Occur.Should, query) for query in queries])

    def _all_of(self, *queries: Any) -> Any:
        return self._tantivy.Query.boolean_query([(self._tantivy.Occur.Must, query) for query in queries])

    @contextmanager
    def _committed(self) -> Iterator[Any]:
        """Give the writer, commit when the block ends, undo what an error left half done."""
        self._require_open()
        if self._open_writer is None:
            self._open_writer = self._index.writer(_WRITER_BYTES, 1)
        try:
            yield self._open_writer
            self._open_writer.commit()
        except BaseException:
            self._undo()
            raise
        self._reload()

    def _undo(self) -> None:
        try:
            self._open_writer.rollback()
        except Exception:
            self._open_writer = None

    def _reload(self) -> None:
        self._index.reload()
        self._snapshot = Snapshot(self._index.searcher())


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except EvoRAGError:
        raise
    except Exception as error:
        raise StoreUnavailable(f"The keyword index cannot be used ({type(error).__name__}).") from error
    except BaseException as error:
        # What panics in Rust is no Exception, which nobody else would catch.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexLost("The keyword index is damaged.", remedy=_WRITTEN_ANEW) from None
