"""What memory says is shown is what the catalogue shows, whatever was published, hidden, scheduled or purged."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

import core
from core.catalog.documents.shown import ShownChunks
from core.catalog.documents.views import View
from core.catalog.schema import version_chunks
from core.errors import EvoRAGError
from tests.builders import add, knowledge_base

NAMES = ("fees", "hours", "lunch", "pumps")


def ever(kb: core.KnowledgeBase) -> set[int]:
    with kb.catalog.database.read() as tx:
        return set(tx.scalars(select(version_chunks.c.chunk_id)))


def check(kb: core.KnowledgeBase, chunk_ids: set[int]) -> None:
    """See that every view shows of the chunks what the catalogue, asked for each of them, shows."""
    visibility, newest = kb.catalog.visibility, kb.sequence()
    for sequence in {newest, max(0, newest - 1), newest // 2}:
        for view in (View(sequence), View(sequence, viewer=0)):
            truth = visibility._read(sorted(chunk_ids), view)
            for _ in range(2):
                assert visibility.visible(chunk_ids, view) == truth


def actions(kb: core.KnowledgeBase, rng: random.Random) -> list[Callable[[], object]]:
    name = rng.choice(NAMES)
    key = f"{name}.txt"
    words = " ".join(rng.choices(("apple", "pear", "plum", "quince", "medlar"), k=4))
    later = datetime.now(UTC) + timedelta(days=1)

    def upload() -> None:
        add(kb, name, f"The {name} of {words}.\n\nAlways the same end of {name}.")

    def draft() -> None:
        number = kb.add_text(name, f"The {name} to come: {words}.", draft=True).version
        kb.work_off()
        kb.schedule(key, number, later)

    return [
        *[upload] * 4,
        draft,
        lambda: kb.rollback(key),
        lambda: kb.unpublish(key),
        lambda: kb.delete(key),
        lambda: kb.restore(key),
        lambda: kb.purge(key, 1),
        lambda: kb.purge(key),
        lambda: kb.publish_due(later + timedelta(days=1)),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_memory_shows_what_the_catalogue_shows(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with knowledge_base(tmp_path) as kb:
        known: set[int] = set()
        for _ in range(30):
            # What cannot be done, such as to delete what is not there, changes nothing.
            try:
                rng.choice(actions(kb, rng))()
            except EvoRAGError:
                continue
            known |= ever(kb)
            check(kb, known)
        assert len(kb.catalog.visibility._shown._shown.ids)
    with knowledge_base(tmp_path) as again:
        again._background.join()
        assert again.catalog.visibility._shown._shown.sequence == again.sequence()
        check(again, known)


def test_what_is_shown_is_the_same_in_many_steps_as_in_one(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        for number in range(12):
            add(kb, NAMES[number % 4], f"Text {number}.\n\nA text of all versions.")
        kb.delete("lunch.txt")
        with kb.catalog.database.read() as tx:
            whole = ShownChunks().later(tx, kb.sequence(), 10**6)
            steps, count = ShownChunks(), 0
            while steps.sequence < kb.sequence():
                steps, count = steps.later(tx, kb.sequence(), 1), count + 1
    assert count > 6
    assert steps.ids.tolist() == whole.ids.tolist() == sorted(whole.ids.tolist())
    assert steps.version_ids.tolist() == whole.version_ids.tolist()
    assert steps.doc_ids.tolist() == whole.doc_ids.tolist()
    assert len(set(whole.doc_ids.tolist())) == 3


def test_passages_stay_in_memory_while_others_are_published_and_go_with_a_purge(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        rag = core.EvoRAG(kb=kb)
        add(kb, "hours", "The shop opens at eight.")
        assert rag.search("When does the shop open?").hits
        shown = kb.catalog.visibility._shown
        held = dict(shown._known)
        assert held
        add(kb, "fees", "Entry is free.")
        rag.search("What is the fee?")
        assert held.items() <= shown._known.items()
        kb.delete("hours.txt")
        kb.purge("hours.txt")
        rag.search("When does the shop open?")
        assert not held.keys() & shown._known.keys()
