"""The keyword index on a server: Elasticsearch, over terms that ``core.text.analysis`` made.

The parts head and history are two indexes, so that the statistics behind a score are those of the part searched; each
has an alias, and both share one. The server keeps the text beside the terms for whoever looks at it there.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from threading import Event, RLock
from typing import Any

import numpy as np

from core.adapters.keyword.elastic_mapping import document, is_of, mappings, settings
from core.adapters.keyword.elastic_scores import term_scores
from core.adapters.keyword.elastic_server import ElasticServer, deleted, require_there, written
from core.errors import StoreUnavailable, WrongIndex
from core.model import IndexHit, Part
from core.model.terms import Clause
from core.ports import KeywordRow, StoredRows, TermAnalyser
from core.text.analysis import ANALYSER_ID
from core.text.vocabulary import PLAIN, counted

_PAGE = 1_000
"""Hits of one request; each comes with how its score was made."""
_STREAM_PAGE = 10_000
_MOST_CLAUSES = 1_000
_TERMS_OF_A_CLAUSE = 60_000
_KEPT_OPEN = "2m"
_LONGEST_HELD_S = 75.0
_HELD_PAUSE_S = 2.0
_ABSENT = 404
_BARE: Mapping[str, Any] = {
    "source": False,
    "stored_fields": "_none_",
    "track_total_hits": False,
    "allow_partial_search_results": False,
}
"""A search that gives what is asked for alone, and fails where a shard does not answer."""


class ElasticKeywordIndex:
    """BM25 with the score of every term; writes are on the disk and searchable when they return.

    Of a question the first thousand words count, as many as the smallest server takes. No page of a search is begun
    ``timeout_s`` after the first one.
    """

    engine = "Elasticsearch"

    def __init__(
        self,
        url: str,
        *,
        name: str = "rag_kb",
        key: str = "",
        ca_file: str = "",
        timeout_s: float = 10.0,
        attempts: int = 3,
        analyser: str = ANALYSER_ID,
    ) -> None:
        self._analyser = analyser
        self._timeout_s = timeout_s
        self._server = ElasticServer(url, key, ca_file, timeout_s, attempts)
        self._name = name.lower()
        self._aliases = {part: f"{self._name}-{part.value}" for part in Part}
        self._lock = RLock()
        self._is_open = False
        self._closing = Event()
        self._of_rows: TermAnalyser = PLAIN
        self._of_questions: TermAnalyser = PLAIN

    def use(self, of_rows: TermAnalyser, of_questions: TermAnalyser) -> None:
        self._of_rows, self._of_questions = of_rows, of_questions

    def open(self) -> None:
        """Find both indexes, or make them. Raises: ``StoreUnavailable``, ``WrongIndex``."""
        self._opened()

    # ---- writing

    def upsert(self, rows: Sequence[KeywordRow]) -> None:
        latest = {row.chunk_id: row for row in rows}
        terms = {chunk_id: " ".join(self._of_rows.analyse(row.text)) for chunk_id, row in latest.items()}
        with self._lock:
            server = self._opened()
            server.bulk(
                [
                    written(self._aliases[row.part], row.chunk_id, document(row, terms[row.chunk_id]))
                    for row in latest.values()
                ]
            )
            self._show({row.part for row in latest.values()})
            for part in Part:
                self._remove(part, [row.chunk_id for row in latest.values() if row.part is not part])

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._lock:
            for part in Part:
                self._remove(part, chunk_ids)

    def _remove(self, part: Part, chunk_ids: Sequence[int]) -> None:
        present = [
            chunk_id
            for at in range(0, len(chunk_ids), _PAGE)
            for chunk_id in self._present(part, chunk_ids[at : at + _PAGE])
        ]
        if present:
            self._opened().bulk([deleted(self._aliases[part], chunk_id) for chunk_id in present])
            self._show({part})

    def _present(self, part: Part, chunk_ids: Sequence[int]) -> list[int]:
        """Return the rows that a part has, also those that searches are not given yet."""
        names = [str(chunk_id) for chunk_id in chunk_ids]
        reply = self._opened().write(lambda client: client.mget(index=self._aliases[part], ids=names, source=False))
        for found in reply["docs"]:
            require_there(found)
        if any("error" in found for found in reply["docs"]):
            raise StoreUnavailable("Elasticsearch cannot tell which rows it has.")
        return [int(found["_id"]) for found in reply["docs"] if found["found"]]

    def _show(self, parts: Collection[Part]) -> None:
        """Give searches what was written."""
        if parts:
            names = [self._aliases[part] for part in parts]
            _require_whole(self._server.write(lambda client: client.indices.refresh(index=names)))

    # ---- searching

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        asked = self._of_questions.ask(text)[:_MOST_CLAUSES]
        server = self._opened()
        if not asked or limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        query = _query(asked, doc_ids)
        best: dict[int, IndexHit] = {}
        until = time.monotonic() + self._timeout_s
        for part in dict.fromkeys(parts):
            for hit in self._best(server, self._aliases[part], query, asked, limit, until):
                known = best.get(hit.chunk_id)
                if known is None or hit.score > known.score:
                    best[hit.chunk_id] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:limit]

    def _best(
        self,
        server: ElasticServer,
        alias: str,
        query: Mapping[str, Any],
        asked: Sequence[Clause],
        limit: int,
        until: float,
    ) -> Iterator[IndexHit]:
        after: list[Any] | None = None
        while limit > 0:
            # Who asked may have given up, and then nobody else ends this.
            if time.monotonic() > until:
                raise StoreUnavailable("Elasticsearch did not answer in time.")
            size = min(limit, _PAGE)
            hits = self._page(server, alias, query, size, after)
            for hit in hits:
                found = counted(asked, term_scores(hit["_explanation"]))
                yield IndexHit(int(hit["sort"][1]), fsum(part.score for part in found), found)
            if len(hits) < size:
                return
            limit -= size
            after = hits[-1]["sort"]

    def _page(
        self, server: ElasticServer, alias: str, query: Mapping[str, Any], size: int, after: list[Any] | None
    ) -> list[Any]:
        reply = server.read(
            lambda client: client.search(
                index=alias,
                query=query,
                size=size,
                search_after=after,
                sort=[{"_score": "desc"}, {"chunk_id": "asc"}],
                explain=True,
                # The statistics of all shards, and the same copy each time: no score depends on where a row is.
                search_type="dfs_query_then_fetch",
                preference=self._name,
                filter_path=["hits.hits.sort", "hits.hits._explanation", "_shards.failed"],
                **_BARE,
            )
        )
        return _hits(reply)

    def snapshot(self) -> object | None:
        return None

    def holding(
        self, term: str, edits: int, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[int]:
        server = self._opened()
        if not term or limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        near = {"fuzzy": {"terms": {"value": term, "fuzziness": edits, "prefix_length": 1, "transpositions": True}}}
        query = {"bool": {"filter": [near if edits else {"term": {"terms": {"value": term}}}, *_of_documents(doc_ids)]}}
        names = [self._aliases[part] for part in dict.fromkeys(parts)]
        reply = server.read(
            lambda client: client.search(
                index=names,
                query=query,
                size=min(limit, _PAGE),
                sort=[{"chunk_id": "asc"}],
                filter_path=["hits.hits.sort", "_shards.failed"],
                **_BARE,
            )
        )
        return list(dict.fromkeys(int(hit["sort"][0]) for hit in _hits(reply)))

    # ---- what it holds

    def count(self) -> Mapping[Part, int]:
        server = self._opened()
        return {part: self._count(server, alias) for part, alias in self._aliases.items()}

    @staticmethod
    def _count(server: ElasticServer, alias: str) -> int:
        reply = server.read(lambda client: client.count(index=alias))
        _require_whole(reply)
        return int(reply["count"])

    def ids(self) -> Iterator[tuple[int, Part]]:
        for rows in self.stored():
            for chunk_id, in_head in zip(rows.ids.tolist(), rows.in_head.tolist(), strict=True):
                yield chunk_id, Part.HEAD if in_head else Part.HISTORY

    def stored(self) -> Iterator[StoredRows]:
        """Yield the rows of one moment, by id."""
        server = self._opened()
        names = list(self._aliases.values())
        opened = server.write(lambda client: client.open_point_in_time(index=names, keep_alive=_KEPT_OPEN))
        moment = opened["id"]
        try:
            rows = self._moment(moment, None)
            while rows:
                yield StoredRows(
                    np.array([row[0] for row in rows], dtype=np.int64),
                    np.array([row[1] for row in rows], dtype=np.int64),
                    np.array([row[2] == Part.HEAD.value for row in rows], dtype=np.bool_),
                )
                rows = self._moment(moment, rows[-1])
        finally:
            server.write(lambda client: client.options(ignore_status=_ABSENT).close_point_in_time(id=moment))

    def _moment(self, moment: str, after: list[Any] | None) -> list[list[Any]]:
        """Return id, fingerprint and part of some rows, which the server reads from its columns to order them."""
        reply = self._server.write(
            lambda client: client.search(
                pit={"id": moment, "keep_alive": _KEPT_OPEN},
                size=_STREAM_PAGE,
                sort=["chunk_id", "fingerprint", {"part": "asc"}],
                search_after=after,
                filter_path=["hits.hits.sort", "_shards.failed"],
                **_BARE,
            )
        )
        return [hit["sort"] for hit in _hits(reply)]

    # ---- the indexes themselves

    def clear(self) -> None:
        """Put two empty indexes behind the aliases and remove those that were there, whatever had built them."""
        with self._lock:
            held = self._server.write(
                lambda client: client.options(ignore_status=_ABSENT).indices.get_alias(
                    index=[f"{alias}-*" for alias in self._aliases.values()]
                )
            )
            numbers = {index: index.rpartition("-")[2] for index in held if held.meta.status != _ABSENT}
            old = [index for index, number in numbers.items() if number.isdecimal()]
            number = max((int(numbers[index]) for index in old), default=0) + 1
            actions: list[dict[str, Any]] = [{"remove_index": {"index": index}} for index in old]
            for alias in self._aliases.values():
                new = f"{alias}-{number:06}"
                self._create(new, {})
                actions += [{"add": {"index": new, "alias": each}} for each in (alias, self._name)]
            self._server.write(lambda client: client.indices.update_aliases(actions=actions))
            self._is_open = True

    def _opened(self) -> ElasticServer:
        """Return the server once both indexes are there; what is new is made, but never what was there before."""
        if self._is_open:
            return self._server
        with self._lock:
            if not self._is_open:
                for alias in self._aliases.values():
                    held = self._server.read(partial(_mapping_of, alias))
                    if held.meta.status == _ABSENT:
                        self._create(f"{alias}-000001", {alias: {}, self._name: {}})
                    elif not all(is_of(self._analyser, index["mappings"]) for index in held.values()):
                        raise WrongIndex(f"The keyword index was not built by the analyser “{self._analyser}”.")
                self._is_open = True
        return self._server

    def _create(self, index: str, aliases: Mapping[str, Any]) -> None:
        reply = self._server.write(
            lambda client: client.options(ignore_status=400).indices.create(
                index=index, aliases=aliases, settings=settings(), mappings=mappings(self._analyser)
            )
        )
        kind = reply.get("error", {}).get("type", "") if reply.meta.status == 400 else ""
        # Another process may have made it at the same moment.
        if kind not in ("", "resource_already_exists_exception"):
            raise StoreUnavailable(f"Elasticsearch did not make the keyword index ({kind}).")

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Have segments with deleted rows written anew; tell whether no segment holds one.

        The server keeps deleted rows for its copies and looks twice a minute who needs them: that is waited for.
        """
        server, names = self._opened(), list(self._aliases.values())
        until = time.monotonic() + _LONGEST_HELD_S
        while True:
            for action in (_flush, _merge, _flush):
                _require_whole(server.write(partial(action, names)))
            stats = server.write(lambda client: client.indices.stats(index=names, metric="docs"))
            if not any(index["total"]["docs"]["deleted"] for index in stats["indices"].values()):
                return True
            if time.monotonic() > until or self._closing.wait(_HELD_PAUSE_S):
                return False

    def close(self) -> None:
        self._closing.set()
        self._server.close()


def _mapping_of(alias: str, client: Any) -> Any:
    return client.options(ignore_status=_ABSENT).indices.get_mapping(index=alias)


def _flush(names: list[str], client: Any) -> Any:
    """Write out the rows and drop the log of the writes, in which deleted ones stand."""
    return client.indices.flush(index=names, force=True, wait_if_ongoing=True)


def _merge(names: list[str], client: Any) -> Any:
    return client.indices.forcemerge(index=names, only_expunge_deletes=True)


def _query(asked: Sequence[Clause], doc_ids: Sequence[int] | None) -> dict[str, Any]:
    """Ask for any of the clauses, each literally; a filter adds nothing to a score."""
    query: dict[str, Any] = {"should": [_clause(clause) for clause in asked], "minimum_should_match": 1}
    if doc_ids is not None:
        query["filter"] = _of_documents(doc_ids)[0]
    return {"bool": query}


def _of_documents(doc_ids: Sequence[int] | None) -> list[dict[str, Any]]:
    """Return the filter that keeps rows of documents, none where all are asked for."""
    if doc_ids is None:
        return []
    wanted = sorted(set(doc_ids))
    pieces = [wanted[at : at + _TERMS_OF_A_CLAUSE] for at in range(0, len(wanted), _TERMS_OF_A_CLAUSE)]
    return [{"bool": {"should": [{"terms": {"doc_id": piece}} for piece in pieces]}}]


def _clause(clause: Clause) -> dict[str, Any]:
    alternatives = [_any_of(terms) for terms in clause.alternatives]
    return alternatives[0] if len(alternatives) == 1 else {"dis_max": {"queries": alternatives}}


def _any_of(terms: Sequence[str]) -> dict[str, Any]:
    queries = [{"term": {"terms": {"value": term}}} for term in terms]
    return queries[0] if len(queries) == 1 else {"bool": {"should": queries}}


def _hits(reply: Mapping[str, Any]) -> list[Any]:
    _require_whole(reply)
    found: list[Any] = reply.get("hits", {}).get("hits", [])
    return found


def _require_whole(reply: Mapping[str, Any]) -> None:
    if reply.get("_shards", {}).get("failed", 0):
        raise StoreUnavailable("A part of the keyword index does not answer.")
