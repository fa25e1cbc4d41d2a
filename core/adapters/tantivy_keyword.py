"""The keyword index of one machine: tantivy, in a folder, over terms that ``core.text.analysis`` made.

The parts head and history are two indexes, so that the statistics behind a score are those of the part searched.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import fsum
from pathlib import Path
from threading import RLock
from typing import Any

from core.errors import EvoRAGError, StoreUnavailable, WrongIndex
from core.model import IndexHit, Part, TermScore
from core.ports import KeywordRow
from core.text import bm25
from core.text.analysis import ANALYSER_ID, analyse, analyse_query

_WRITER_BYTES = 64_000_000
_FEW_IDS = 256
_SAME_SCORE = 1e-5


class TantivyKeywordIndex:
    """BM25 with the score of every term; writes are committed, synced and searchable when they return."""

    engine = "tantivy"

    def __init__(self, folder: Path) -> None:
        with _translated():
            folder.mkdir(parents=True, exist_ok=True)
            _check_analyser(folder / "analyser.txt")
            self._parts = {part: _PartIndex(folder / part.value) for part in Part}
        self._lock = RLock()
        self._show()

    def _show(self) -> None:
        """Give searches both parts as they are now, in one step: a row on its way is in one of them at least."""
        self._shown = {part: index.snapshot for part, index in self._parts.items()}

    def upsert(self, rows: Sequence[KeywordRow]) -> None:
        latest = {row.chunk_id: row for row in rows}
        terms = {chunk_id: " ".join(analyse(row.text)) for chunk_id, row in latest.items()}
        with self._lock, _translated():
            for part, index in self._parts.items():
                index.put([(row, terms[chunk_id]) for chunk_id, row in latest.items() if row.part is part])
            self._show()
            for part, index in self._parts.items():
                index.remove([chunk_id for chunk_id, row in latest.items() if row.part is not part])
            self._show()

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._lock, _translated():
            for index in self._parts.values():
                index.remove(chunk_ids)
            self._show()

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        terms = analyse_query(text)
        best: dict[int, IndexHit] = {}
        shown = self._shown
        with _translated():
            for part in dict.fromkeys(parts):
                for hit in self._parts[part].search(shown[part], terms, limit, doc_ids):
                    known = best.get(hit.chunk_id)
                    if known is None or hit.score > known.score:
                        best[hit.chunk_id] = hit
        return sorted(best.values(), key=_best_first)[: max(limit, 0)]

    def count(self) -> Mapping[Part, int]:
        with _translated():
            return {part: index.snapshot.searcher.num_docs for part, index in self._parts.items()}

    def ids(self) -> Iterator[tuple[int, Part]]:
        with _translated():
            return iter([(chunk_id, part) for part, index in self._parts.items() for chunk_id in index.ids()])

    def clear(self) -> None:
        with self._lock, _translated():
            for index in self._parts.values():
                index.clear()
            self._show()

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Tell whether no segment holds a deleted row; a segment goes when all its rows were deleted or replaced."""
        with self._lock, _translated():
            free = [index.is_free_of(chunk_ids) for index in self._parts.values()]
            self._show()
            return all(free)

    def close(self) -> None:
        """Finish merging and let go of the folder; the index cannot be used after it."""
        with self._lock, _translated():
            for index in self._parts.values():
                index.close()


class _PartIndex:
    """One tantivy index: ``id`` and ``doc`` as indexed columns, ``terms`` cut at white space."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("id", indexed=True, fast=True)
        builder.add_integer_field("doc", indexed=True, fast=True)
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
    def snapshot(self) -> _Snapshot:
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

    def close(self) -> None:
        self._closed = True
        writer, self._open_writer = self._open_writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def search(
        self, snapshot: _Snapshot, terms: Sequence[str], limit: int, doc_ids: Sequence[int] | None
    ) -> list[IndexHit]:
        self._require_open()
        searcher = snapshot.searcher
        frequencies = {term: searcher.doc_freq("terms", term) for term in terms}
        queries = {term: self._term("terms", term, "freq") for term in terms if frequencies[term]}
        if not queries or limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        query = self._any_of(list(queries.values()))
        if doc_ids is not None:
            query = self._all_of(self._rows_with("doc", doc_ids), query)
        chosen = _top(searcher, query, min(limit, searcher.num_docs))
        if not chosen:
            return []
        documents = snapshot.documents(query, next(iter(chosen.values())))
        parts: dict[int, list[TermScore]] = {chunk_id: [] for chunk_id in chosen}
        at = {(address.segment_ord, address.doc): chunk_id for chunk_id, address in chosen.items()}
        rows = self._rows_with("id", list(chosen))
        for term, term_query in queries.items():
            frequency = frequencies[term]
            idf = bm25.idf(documents, frequency)
            for score, address in searcher.search(self._all_of(rows, term_query), len(chosen), count=False).hits:
                chunk_id = at[address.segment_ord, address.doc]
                parts[chunk_id].append(TermScore(term, score, idf, score / idf, frequency))
        return [
            IndexHit(chunk_id, fsum(part.score for part in found), tuple(found)) for chunk_id, found in parts.items()
        ]

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
        self._snapshot = _Snapshot(self._index.searcher())


class _Snapshot:
    """A searcher and the number of documents that its scores count, which includes deleted rows not yet merged away."""

    def __init__(self, searcher: Any) -> None:
        self.searcher = searcher
        self._documents = 0

    def documents(self, query: Any, address: Any) -> int:
        if not self._documents:
            explanation = json.loads(query.explain(self.searcher, address).to_json())
            self._documents = _total_documents(explanation) or self.searcher.num_docs
        return self._documents


def _total_documents(explanation: dict[str, Any]) -> int:
    if explanation["description"].startswith("N, total number of docs"):
        return int(explanation["value"])
    return max((_total_documents(detail) for detail in explanation.get("details") or ()), default=0)


def _top(searcher: Any, query: Any, limit: int) -> dict[int, Any]:
    """Return the addresses of the best rows by id; of rows that score alike at the end, those with the lowest ids."""
    read = limit + 1
    while True:
        hits = searcher.search(query, read, count=False).hits
        least = hits[limit - 1][0] if len(hits) >= limit else 0.0
        if len(hits) < read or hits[-1][0] < least - _SAME_SCORE:
            break
        read *= 4
    ids = searcher.fast_field_values("id", [address for _, address in hits])
    found = [(score, chunk_id, address) for (score, address), chunk_id in zip(hits, ids, strict=True)]
    best = [row for row in found if row[0] > least + _SAME_SCORE]
    level = sorted((row for row in found if abs(row[0] - least) <= _SAME_SCORE), key=lambda row: row[1])
    return {chunk_id: address for _, chunk_id, address in [*best, *level][:limit]}


def _best_first(hit: IndexHit) -> tuple[float, int]:
    return -hit.score, hit.chunk_id


def _check_analyser(record: Path) -> None:
    if not record.exists():
        draft = record.with_suffix(".new")
        draft.write_text(ANALYSER_ID, encoding="utf-8")
        draft.replace(record)
    elif (built_by := record.read_text(encoding="utf-8")) != ANALYSER_ID:
        raise WrongIndex(f"The keyword index was built by the analyser “{built_by}”; this is “{ANALYSER_ID}”.")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except EvoRAGError:
        raise
    except Exception as error:
        raise StoreUnavailable(f"The keyword index cannot be used ({type(error).__name__}).") from error
