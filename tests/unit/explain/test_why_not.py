"""The account of a passage names the step that leaves it out, and its advice brings it up when it is followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import core
from core.access import acting
from core.errors import NotFound, Purged
from core.model import Filters, Obstacle, Principal, Query, Role, VersionRef, WhyNot
from tests.builders import add, knowledge_base

NOTES = 26
LAPTOP = "Every laptop is replaced after four years. The workshop keeps spare batteries."
QUESTION = Query("When is a laptop replaced?")


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("why-not")) as opened:
        for n in range(NOTES):
            opened.add_text(
                f"note-{n}.txt", f"Travel note {n}. Office {n} pays the train expenses within {n + 3} days."
            )
        opened.add_text("laptop.txt", LAPTOP, tags=["it"])
        opened.add_text("draft.txt", "A laptop is cleaned once a year.")
        opened.work_off()
        opened.add_text("draft.txt", "A laptop is cleaned twice a year.", draft=True)
        opened.add_text("gone.txt", "A laptop that is lost is reported.")
        opened.work_off()
        opened.delete("gone.txt")
        opened._projector.flush()
        yield opened


def followed(kb: core.KnowledgeBase, found: WhyNot, query: Query) -> bool:
    """Whether the passage is among what the changed question shows."""
    trace = kb.queries.run(query, answering=False)
    return found.chunk_id in {hit.placed.id for hit in trace.hits}


def codes(found: WhyNot) -> dict[str, dict[str, str]]:
    return {advice.code: advice.values for advice in found.advice}


@pytest.mark.long
def test_passage_that_is_shown_has_no_obstacle(kb: core.KnowledgeBase) -> None:
    found = kb.insight.why_not(QUESTION, "laptop.txt")
    assert (found.obstacle, found.final_rank, found.advice) == (Obstacle.NONE, 1, ())
    assert found.vector.rank == found.keyword.rank == 1
    assert found.keyword.score == pytest.approx(sum(part.score for part in found.keyword.terms))
    assert set(found.present_terms) == {"laptop", "replaced"} and found.missing_terms == ()


def test_places_without_limit_are_those_of_a_search_of_everything(kb: core.KnowledgeBase) -> None:
    query = Query("Who pays the train expenses of a laptop?", depth=1)
    everything = kb.queries.run(replace(query, depth=100), answering=False)
    for name in ("note-3.txt", "note-17.txt", "laptop.txt"):
        found = kb.insight.why_not(query, name)
        for place, leg in ((found.vector, everything.vector), (found.keyword, everything.keyword)):
            at = [hit.chunk_id for hit in leg.hits].index(found.chunk_id)
            assert (place.rank, place.depth_needed) == (at + 1, at + 1)
            assert place.score == pytest.approx(leg.hits[at].score, abs=1e-3)
        assert found.vector.of == len(everything.vector.hits)


def test_passage_that_neither_search_reaches_is_too_deep_and_its_depth_reaches_it(kb: core.KnowledgeBase) -> None:
    query = Query("Which office pays train expenses?", depth=2)
    found = kb.insight.why_not(query, "note-20.txt")
    assert (found.obstacle, found.fused_rank, found.final_rank) == (Obstacle.TOO_DEEP, None, None)
    advice = codes(found)
    deeper = replace(query, depth=int(advice["raise_depth"]["depth"]))
    more = replace(deeper, top_k=int(advice.get("raise_top_k", {}).get("top_k", query.top_k)))
    assert followed(kb, found, more) and not followed(kb, found, query)


def test_passage_without_a_word_of_the_question_says_so_and_which_of_its_words_help(kb: core.KnowledgeBase) -> None:
    query = Query("When are train expenses paid?", depth=3)
    found = kb.insight.why_not(query, "laptop.txt")
    assert found.obstacle is Obstacle.NO_COMMON_TERM
    assert (found.keyword.rank, found.present_terms) == (None, ())
    assert set(found.missing_terms) == {"train", "expenses", "paid"}
    words = [advice.values["term"] for advice in found.advice if advice.code == "ask_with_term"]
    assert words and all(followed(kb, found, replace(query, text=f"{query.text} {word}")) for word in words)


def test_outranked_passage_is_shown_by_a_larger_answer(kb: core.KnowledgeBase) -> None:
    query = Query("Which office pays train expenses?")
    found = kb.insight.why_not(query, "note-25.txt")
    assert found.obstacle is Obstacle.OUTRANKED
    top_k = int(codes(found)["raise_top_k"]["top_k"])
    assert followed(kb, found, replace(query, top_k=top_k))
    assert not followed(kb, found, replace(query, top_k=top_k - 1))


@pytest.mark.parametrize(
    ("filters", "kind"),
    [
        (Filters(tags=("hr",)), "tag"),
        (Filters(doc_keys=("note-1.txt",)), "doc"),
        (Filters(extensions=("pdf",)), "type"),
    ],
)
def test_filter_that_leaves_a_passage_out_is_named_and_without_it_the_passage_is_shown(
    kb: core.KnowledgeBase, filters: Filters, kind: str
) -> None:
    found = kb.insight.why_not(replace(QUESTION, filters=replace(filters, tags=filters.tags or ("it",))), "laptop.txt")
    assert (found.obstacle, found.obstacle_detail.split(":")[0]) == (Obstacle.FILTERED, kind)
    assert codes(found) == {"remove_filter": {"filter": kind, "rank": "1"}}
    assert (found.keyword.rank, found.keyword.depth_needed) == (1, None)


def test_filter_that_was_read_from_the_question_is_named(kb: core.KnowledgeBase) -> None:
    found = kb.insight.why_not(Query("When is a laptop replaced according to note-3.txt?"), "laptop.txt")
    assert found.obstacle is Obstacle.FILTERED
    assert codes(found)["dismiss_filter"]["words"]


def test_excluded_word_leaves_a_passage_out(kb: core.KnowledgeBase) -> None:
    found = kb.insight.why_not(Query("laptop -batteries", syntax="advanced"), "laptop.txt")
    assert (found.obstacle, found.obstacle_detail) == (Obstacle.FILTERED, "syntax")
    assert "ask_plainly" in codes(found)


def test_draft_can_be_published_or_asked(kb: core.KnowledgeBase) -> None:
    found = kb.insight.why_not(QUESTION, "draft.txt", version=2)
    assert found.obstacle is Obstacle.NOT_SHOWN and "v2" in found.obstacle_detail and "v1" in found.obstacle_detail
    assert codes(found)["publish"] == {"doc": "draft.txt", "version": "2"}
    assert followed(kb, found, replace(QUESTION, as_of=VersionRef("draft.txt", 2)))


def test_what_was_not_there_yet_is_found_by_asking_now(kb: core.KnowledgeBase) -> None:
    found = kb.insight.why_not(replace(QUESTION, as_of=3), "laptop.txt")
    assert found.obstacle is Obstacle.NOT_SHOWN
    assert codes(found) == {"ask_now": {}}


def test_deleted_document_can_be_restored(kb: core.KnowledgeBase) -> None:
    found = kb.insight.why_not(QUESTION, "gone.txt")
    assert found.obstacle is Obstacle.DELETED
    assert codes(found)["restore"] == {"doc": "gone.txt"}


def test_best_passage_of_a_document_is_meant_where_none_is_named(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, chunk_tokens=40) as kb:
        parts = [f"Chapter {n} tells of thing{n} and of nothing else, line after line of it." for n in range(12)]
        add(kb, "book.txt", "\n\n".join(part * 3 for part in parts))
        add(kb, "other.txt", "thing7 " * 5)
        found = kb.insight.why_not(Query("What of thing7?", depth=1, top_k=1), "book.txt")
        assert "thing7" in found.text
        assert kb.insight.why_not(Query("What of thing7?"), "book.txt", position=0).position == 0


def test_document_with_enough_passages_and_identical_passages(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, chunk_tokens=40) as kb:
        lines = [f"The harbour gate number {n} closes at night, the harbour keeper says. " * 2 for n in range(6)]
        add(kb, "harbour.txt", "\n\n".join(lines))
        query = Query("When does the harbour gate close?", top_k=8, per_document=1)
        first = kb.queries.run(query, answering=False).hits[0].placed
        others = [position for position in range(3) if position != first.chunk.position]
        found = kb.insight.why_not(query, "harbour.txt", position=others[0])
        assert found.obstacle is Obstacle.DOCUMENT_FULL
        limit = int(codes(found)["raise_per_document"]["per_document"])
        assert followed(kb, found, replace(query, per_document=limit))
        add(kb, "copy.txt", "\n\n".join(lines))
        copies = [kb.insight.why_not(replace(query, per_document=0), name) for name in ("harbour.txt", "copy.txt")]
        assert sorted(each.obstacle for each in copies) == [Obstacle.MERGED, Obstacle.NONE]


def test_what_somebody_does_not_see_is_not_found(kb: core.KnowledgeBase) -> None:
    kb.accounts.create_user("admin", "a long enough password", Role.ADMIN)
    owner = kb.accounts.create_user("mori", "a long enough password", Role.EDITOR)
    with acting(Principal("mori", Role.EDITOR, owner.id)):
        upload = kb.add_text("secret.txt", "A laptop is hidden here.", private=True)
    kb.work_off()
    with acting(Principal("mori", Role.EDITOR, owner.id)):
        own = kb.insight.why_not(QUESTION, upload.doc_key)
        assert own.vector.of == NOTES + 3
    with acting(Principal("other", Role.EDITOR, owner.id + 1)):
        with pytest.raises(NotFound):
            kb.insight.why_not(QUESTION, upload.doc_key)
        assert kb.insight.why_not(QUESTION, "laptop.txt").vector.of == NOTES + 2


def test_what_is_not_there_is_not_found(kb: core.KnowledgeBase) -> None:
    for key, position, version in (("nothing.txt", None, None), ("laptop.txt", 99, None), ("laptop.txt", None, 9)):
        with pytest.raises(NotFound):
            kb.insight.why_not(QUESTION, key, position, version)


def test_purged_version_has_no_passages(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a.txt", "One thing.")
        add(kb, "a.txt", "Another thing.")
        kb.purge("a.txt", 1, "no longer allowed")
        with pytest.raises(Purged):
            kb.insight.why_not(Query("thing"), "a.txt", version=1)
