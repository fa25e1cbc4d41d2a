"""Generations on the command line, on a data folder and on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import core
from tests.builders import knowledge_base
from tests.live import served


def test_generation_is_built_switched_to_gone_back_from_and_removed(filled: Any) -> None:
    status, out, err = filled("generations", "build", "--embedder", "hash:64", "--json")
    assert status == 0, err
    built = json.loads(out)
    assert (built["number"], built["state"], built["done"]) == (2, "ready", built["total"])
    assert json.loads(filled("generations", "switch", 2, "--json")[1])["state"] == "serving"
    _, out, _ = filled("generations", "list")
    assert "hash:64" in out and "serving" in out
    assert filled("search", "leave", "--json")[0] == 0
    status, _, err = filled("generations", "remove", 2)
    assert status == 1 and "Generation 2 serves" in err
    filled("generations", "switch", 1)
    assert [each["number"] for each in json.loads(filled("generations", "remove", 2, "--json")[1])] == [1]


def test_generation_of_a_server_is_built_and_serves(evorag: Any, tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "served", job_workers=1) as kb, served(kb) as address:
        kb.finish(str(kb.add_text("medlar", "The medlar is harvested late.").job_id))
        at = ("--url", address, "--json")
        built = json.loads(evorag("generations", "build", "--embedder", "hash:64", "--switch", *at)[1])
        assert (built["state"], kb._embedder.id) == ("serving", "hash-64")
        assert json.loads(evorag("generations", "switch", 1, *at)[1])["state"] == "serving"
        evorag("generations", "remove", 2, *at)
        assert [each.number for each in kb.generations.list()] == [1]
        with core.RagClient(address) as client:
            assert client.generations.list() == kb.generations.list()
