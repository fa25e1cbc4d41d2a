"""The benchmarks of servers run, each at its smallest size."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tests.smallest import ON_SERVERS, missing_numbers, question_set, report_of

STARTED = {"agreement": "elastic", "milvus_parts": "milvus"}
"""The server that a benchmark is given; the others start theirs themselves."""
NEEDED = {"catalogues": ("postgres",), "stores": ("milvus", "elastic")}


@pytest.mark.shard
@pytest.mark.parametrize("module", ON_SERVERS)
def test_benchmark_measures_what_it_is_for(module: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for name in NEEDED.get(module, ()):
        if reason := import_module(f"tests.servers.{name}").missing():
            pytest.skip(reason)
    places = {"set": str(question_set(tmp_path))}
    if name := STARTED.get(module):
        server = request.getfixturevalue(name)
        places |= {name: server.url, "token": getattr(server, "token", "")}
    smallest = ON_SERVERS[module]
    assert missing_numbers(report_of(module, smallest, places, tmp_path), smallest.numbers) == []
