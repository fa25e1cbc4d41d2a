"""Slots by id: what was put last counts, however much was put since."""

from __future__ import annotations

import numpy as np
import pytest

from core.adapters.vector import slot_table
from core.adapters.vector.slot_table import NOWHERE, SlotTable


@pytest.mark.parametrize("most_recent", [0, 3, 10_000])
def test_a_table_finds_what_a_dictionary_would(monkeypatch: pytest.MonkeyPatch, most_recent: int) -> None:
    monkeypatch.setattr(slot_table, "MOST_RECENT", most_recent)
    table, known = SlotTable(), dict[int, int]()
    random = np.random.default_rng(2)
    for start in range(0, 400, 20):
        ids = random.choice(1_000, 20, replace=False).tolist()
        table.put(ids, start)
        known |= dict(zip(ids, range(start, start + 20), strict=True))
    asked = list(range(1_000))
    assert table.find(asked).tolist() == [known.get(chunk_id, NOWHERE) for chunk_id in asked]


def test_a_renewed_table_has_the_ids_that_are_there() -> None:
    table = SlotTable()
    table.put([5, 6, 7], 0)
    table.renew(np.array([9, -1, 5]))
    assert table.find([5, 6, 9, -1]).tolist() == [2, NOWHERE, 0, NOWHERE]
    assert SlotTable().find([1]).tolist() == [NOWHERE]
