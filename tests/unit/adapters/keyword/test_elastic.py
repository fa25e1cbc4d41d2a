"""What of Elasticsearch's index needs no server: a search that nobody waits for any more ends."""

from __future__ import annotations

import time
from typing import Any

import pytest

from core.adapters.keyword.elastic import ElasticKeywordIndex
from core.errors import StoreUnavailable
from core.model import Part


def test_no_page_is_begun_once_the_time_of_a_search_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    index = ElasticKeywordIndex("http://127.0.0.1:9", timeout_s=0.05)
    index._is_open = True
    pages: list[int] = []

    def slow_page(_server: object, _alias: str, _query: object, size: int, _after: object) -> list[Any]:
        pages.append(size)
        time.sleep(0.06)
        explanation = {"value": 0.0, "description": "", "details": []}
        return [{"_explanation": explanation, "sort": [1.0, chunk_id]} for chunk_id in range(size)]

    monkeypatch.setattr(index, "_page", slow_page)
    with pytest.raises(StoreUnavailable, match="in time"):
        index.search("medlar", 3_000, [Part.HEAD])
    assert len(pages) < 3
    index.close()
