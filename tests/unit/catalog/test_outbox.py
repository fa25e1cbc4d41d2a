"""A store that is filled anew ends with every chunk where it belongs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import core
from core.model import Part, Publication
from tests.builders import add


@pytest.mark.parametrize("by", ["person", "upload"])
def test_a_version_published_while_a_store_is_told_everything_ends_in_head(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    add(kb, "a", "first medlar")
    kb.add_text("a", "second quince", draft=by == "person")
    if by == "person":
        kb.work_off()
    commit = kb.catalog.publications.commit

    def meeting(*args: object, **options: object) -> Publication | None:
        monkeypatch.setattr(kb.catalog.publications, "commit", commit)
        kb.catalog.outbox.add_everything("keyword")
        return commit(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(kb.catalog.publications, "commit", meeting)
    if by == "person":
        kb.publish("a.txt", 2)
    else:
        kb.work_off()
    kb._projector.flush()
    head = set(kb.catalog.chunks.ids_of(kb.version("a.txt", 2).id))
    assert {chunk for chunk, part in kb._keywords.ids() if part is Part.HEAD} == head
    assert {chunk for chunk, part in kb._vectors.ids() if part is Part.HEAD} == head


def test_who_wrote_late_without_the_part_of_a_store_has_it_written_again(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    add(kb, "a", "second quince")
    add(kb, "b", "third walnut")
    shown, hidden, gone = (
        kb.catalog.chunks.ids_of(kb.version(*of).id)[0] for of in (("a.txt", 2), ("a.txt", 1), ("b.txt", 1))
    )
    outbox = kb.catalog.outbox
    outbox.add_everything("keyword")
    late = outbox.next_batch("keyword", 10)
    assert late is not None and late.wanted[gone] is Part.HEAD
    stale = replace(late, wanted={shown: Part.HISTORY, hidden: Part.HEAD, gone: None})
    kb._projector.flush()
    kb.delete("b.txt")
    kb.purge("b.txt")
    kb._projector._apply(kb._active.now(), "keyword", stale)
    kb.catalog.outbox.done(stale, 1)
    again = outbox.next_batch("keyword", 10)
    assert again is not None and again.wanted == {shown: Part.HEAD, hidden: Part.HISTORY, gone: None}
    kb._projector.flush()
    assert set(kb._keywords.ids()) == {(shown, Part.HEAD), (hidden, Part.HISTORY)}


@pytest.mark.parametrize("has_been_done", [False, True])
def test_what_was_written_to_a_generation_that_serves_no_more_is_written_to_the_one_that_does(
    kb: core.KnowledgeBase, has_been_done: bool
) -> None:
    add(kb, "a", "first medlar")
    kb.generations.build("hash:64")
    kb.work_off()
    outbox = kb.catalog.outbox
    outbox.add_everything("keyword")
    late = outbox.next_batch("keyword", 10)
    assert late is not None
    if has_been_done:
        kb._projector.flush()
    kb.generations.switch(2)
    outbox.done(late, 1)
    (waits,) = (store for store in ("keyword", "keyword@1", "keyword@2") if outbox.next_batch(store, 10))
    assert waits == ("keyword@1" if has_been_done else "keyword")
