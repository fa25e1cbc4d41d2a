"""A pool keeps children that can go on, as many as it may, and replaces those that cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from core.ingest.parsers.reading import ParserLimits
from core.platform.child_pool import ChildPool
from core.platform.child_process import ChildLost

MODULE = "core.ingest.parse_worker"


@pytest.fixture
def pools() -> Iterator[list[ChildPool]]:
    made: list[ChildPool] = []
    yield made
    for pool in made:
        pool.close()


def order(folder: Path, name: str, **limits: Any) -> dict[str, Any]:
    (folder / name).write_text("A text that is read.")
    return {
        "source": str(folder / name),
        "extension": "txt",
        "target": str(folder / f"{name}.out"),
        "limits": asdict(ParserLimits(**limits)),
    }


def test_no_more_children_stay_than_may(pools: list[ChildPool], tmp_path: Path) -> None:
    pool = ChildPool(MODULE, tmp_path, max_idle=1)
    pools.append(pool)
    threads = [threading.Thread(target=pool.ask, args=(order(tmp_path, name), 30)) for name in ("a.txt", "b.txt")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert pool.at_work == 0
    assert len(pool._idle) == 1


def test_a_child_ends_after_its_orders(pools: list[ChildPool], tmp_path: Path) -> None:
    pool = ChildPool(MODULE, tmp_path, max_orders=2)
    pools.append(pool)
    pool.ask(order(tmp_path, "a.txt"), 30)
    assert len(pool._idle) == 1
    pool.ask(order(tmp_path, "b.txt"), 30)
    assert not pool._idle


def test_a_child_that_says_it_is_spent_is_not_asked_again(pools: list[ChildPool], tmp_path: Path) -> None:
    pool = ChildPool(MODULE, tmp_path)
    pools.append(pool)
    assert pool.ask(order(tmp_path, "a.txt", output_bytes=1), 30)["spent"]
    assert not pool._idle


def test_whoever_asks_a_closed_pool_is_told(pools: list[ChildPool], tmp_path: Path) -> None:
    pool = ChildPool(MODULE, tmp_path)
    pool.close()
    with pytest.raises(ChildLost):
        pool.ask(order(tmp_path, "a.txt"), 30)
    assert not pool._idle
