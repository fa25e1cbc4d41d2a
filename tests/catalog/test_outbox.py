"""A store that is filled anew ends with every chunk where it belongs."""

from __future__ import annotations

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
