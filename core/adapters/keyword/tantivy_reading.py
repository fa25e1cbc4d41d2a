"""Reading one tantivy index: a searcher with what its scores count, and the best rows in their one order."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Any

_SAME_SCORE = 1e-5


class Snapshot:
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


def top(searcher: Any, query: Any, limit: int) -> dict[int, Any]:
    """Return the addresses of the best rows by id; of rows that score alike at the end, those with the lowest ids."""
    read = limit + 1
    while True:
        hits = searcher.search(query, read, count=False).hits
        least = hits[limit - 1][0] if len(hits) >= limit else 0.0
        if len(hits) < read or hits[-1][0] < least - _SAME_SCORE:
            break
        read *= 4
    ids = searcher.fast_field_values("id", [address for _, address in hits])
    # The best come first, so that those that score alike stand together.
    worse = [-score for score, _ in hits]
    begin, end = bisect_left(worse, -(least + _SAME_SCORE)), bisect_right(worse, -(least - _SAME_SCORE))
    chosen = list(zip(ids[:begin], hits, strict=False))
    chosen += sorted(zip(ids[begin:end], hits[begin:end], strict=True), key=itemgetter(0))
    return {chunk_id: address for chunk_id, (_, address) in chosen[:limit]}
