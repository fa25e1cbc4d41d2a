"""A question as of a version, of all versions, or with thousands of hidden rows before the first visible one."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import core
from core.errors import Conflict, InvalidInput, NotFound, Purged, StoreUnavailable
from core.model import Part, Query, VersionRef
from tests.builders import add, knowledge_base

WHEN = "When does the shop open?"


@pytest.fixture
def shop(kb: core.KnowledgeBase) -> core.EvoRAG:
    """A document that has shown eight, nine and ten, and another one beside it."""
    for hour in ("eight", "nine", "ten"):
        add(kb, "hours", f"The shop opens at {hour}. It closes at noon.")
    add(kb, "fees", "The yearly fee is twelve euros.")
    return core.EvoRAG(kb=kb)


def said(rag: core.EvoRAG, question: str = WHEN, **asked: object) -> str:
    return rag.ask(Query(question, **asked)).answer.text  # type: ignore[arg-type]


def versions(rag: core.EvoRAG, question: str = WHEN, **asked: object) -> set[tuple[str, int]]:
    trace = rag.search(Query(question, **asked))  # type: ignore[arg-type]
    return {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}


@pytest.mark.parametrize(("number", "hour"), [(1, "eight"), (2, "nine"), (3, "ten")])
def test_each_version_answers_for_itself(shop: core.EvoRAG, number: int, hour: str) -> None:
    trace = shop.ask(Query(WHEN, as_of=VersionRef("hours.txt", number)))
    assert f"opens at {hour}" in trace.answer.text
    assert {(each.doc_key, each.version) for each in trace.answer.citations} == {("hours.txt", number)}


def test_beside_the_version_asked_of_all_others_show_what_they_show_now(shop: core.EvoRAG) -> None:
    add(shop.kb, "fees", "The yearly fee is fifteen euros.")
    assert versions(shop, "shop fee", as_of=VersionRef("hours.txt", 1)) == {("hours.txt", 1), ("fees.txt", 2)}
    shop.kb.delete("fees.txt")
    assert versions(shop, "shop fee", as_of=VersionRef("hours.txt", 1)) == {("hours.txt", 1)}


@pytest.mark.long
def test_versions_of_a_deleted_document_can_still_be_asked(shop: core.EvoRAG) -> None:
    shop.kb.delete("hours.txt")
    assert "opens at nine" in said(shop, as_of=VersionRef("hours.txt", 2))
    assert ("hours.txt", 3) not in versions(shop)


def test_a_version_that_is_shown_now_is_searched_as_now(shop: core.EvoRAG) -> None:
    shop.kb._projector.flush()
    now = shop.search(Query(WHEN))
    same = shop.search(Query(WHEN, as_of=VersionRef("hours.txt", 3)))
    assert [(hit.placed.id, hit.score, hit.keyword) for hit in same.candidates] == [
        (hit.placed.id, hit.score, hit.keyword) for hit in now.candidates
    ]


@pytest.mark.long
def test_a_version_that_there_is_not_is_not_found(shop: core.EvoRAG) -> None:
    for ref in (VersionRef("hours.txt", 4), VersionRef("none.txt", 1), VersionRef("'; --", 1)):
        with pytest.raises(NotFound):
            shop.search(Query(WHEN, as_of=ref))


@pytest.mark.long
def test_a_purged_version_says_so(shop: core.EvoRAG) -> None:
    shop.kb.purge("hours.txt", 2)
    with pytest.raises(Purged):
        shop.search(Query(WHEN, as_of=VersionRef("hours.txt", 2)))
    assert versions(shop, as_of=2) == set()
    assert "opens at eight" in said(shop, as_of=1)


def test_a_version_without_text_yet_is_a_conflict(shop: core.EvoRAG) -> None:
    shop.kb.add_text("hours", "The shop opens at eleven.")
    with pytest.raises(Conflict):
        shop.search(Query(WHEN, as_of=VersionRef("hours.txt", 4)))
    assert "opens at ten" in said(shop)


@pytest.mark.long
def test_all_versions_are_found_each_with_its_number(shop: core.EvoRAG) -> None:
    trace = shop.search(Query(WHEN, versions="all", per_document=0))
    assert {
        (hit.placed.version, hit.placed.versions) for hit in trace.candidates if hit.placed.doc_key == "hours.txt"
    } == {
        (1, (1,)),
        (2, (2,)),
        (3, (3,)),
    }


@pytest.mark.long
def test_a_passage_of_several_versions_stands_in_the_newest_of_them(shop: core.EvoRAG) -> None:
    [hit] = [
        hit for hit in shop.search(Query("yearly fee", versions="all")).candidates if "fee" in hit.placed.chunk.text
    ]
    assert (hit.placed.version, hit.placed.versions) == (1, (1,))
    shared = "The yearly fee is twelve euros.\n\n" + "A dog may come along. " * 60
    add(shop.kb, "fees", shared)
    add(shop.kb, "fees", shared + "\n\n" + "No bicycles. " * 60)
    found = {hit.placed.versions for hit in shop.search(Query("yearly fee dog", versions="all")).candidates}
    assert (2, 3) in found


@pytest.mark.long
def test_a_passage_that_is_shown_again_stands_in_the_version_shown(shop: core.EvoRAG) -> None:
    kept = "\n\n".join(f"Rule {number}: " + "please be kind to everyone here. " * 50 for number in range(3))
    add(shop.kb, "rules", kept + "\n\nThe gate closes at six.")
    add(shop.kb, "rules", kept + "\n\nThe gate closes at seven.")
    shop.kb.rollback("rules.txt")
    places = {
        (hit.placed.version, hit.placed.versions)
        for hit in shop.search(Query("rule kind gate", versions="all", top_k=20, per_document=0)).candidates
        if hit.placed.doc_key == "rules.txt"
    }
    assert (1, (1, 2)) in places and (2, (1, 2)) not in places


def test_a_passage_under_another_title_is_told_with_all_the_versions_that_hold_it(kb: core.KnowledgeBase) -> None:
    for title in ("Old title", "New title"):
        kb.add_text("fees", "The yearly fee is twelve euros.", title=title)
        kb.work_off()
    [hit] = core.EvoRAG(kb=kb).search(Query("yearly fee", versions="all")).candidates
    assert hit.placed.versions == (1, 2)
    assert len(hit.merged) == 1


@pytest.mark.long
def test_all_versions_of_a_deleted_document_are_gone(shop: core.EvoRAG) -> None:
    shop.kb.delete("hours.txt")
    assert versions(shop, versions="all") <= {("fees.txt", 1)}
    shop.kb.restore("hours.txt")
    assert ("hours.txt", 1) in versions(shop, versions="all")


def test_all_versions_as_of_a_moment_are_those_shown_up_to_then(shop: core.EvoRAG) -> None:
    assert versions(shop, versions="all", as_of=2) == {("hours.txt", 1), ("hours.txt", 2)}
    first = shop.kb.publications("hours.txt")[-1].at
    assert versions(shop, versions="all", as_of=first) == {("hours.txt", 1)}


@pytest.mark.long
def test_a_version_that_was_never_shown_is_not_among_all_versions(shop: core.EvoRAG) -> None:
    shop.kb.add_text("hours", "The shop opens at midnight.", draft=True)
    shop.kb.work_off()
    assert ("hours.txt", 4) not in versions(shop, versions="all")
    assert "opens at midnight" in said(shop, as_of=VersionRef("hours.txt", 4))
    assert "opens at ten" in said(shop)


@pytest.mark.long
@pytest.mark.parametrize(
    "asked",
    [
        {"versions": "all", "as_of": VersionRef("hours.txt", 1)},
        {"versions": "some"},
        {"versions": None},
        {"as_of": VersionRef("hours.txt", 0)},
        {"as_of": VersionRef("hours.txt", True)},
        {"as_of": VersionRef("\ud800", 1)},
        {"as_of": VersionRef(7, 1)},
        {"as_of": "hours.txt#v1"},
        {"as_of": 10**6},
        {"as_of": -1},
        {"as_of": datetime(2026, 1, 1)},
        {"as_of": datetime(9000, 1, 1, tzinfo=UTC)},
    ],
)
def test_senseless_moments_are_refused(shop: core.EvoRAG, asked: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        shop.search(Query(WHEN, **asked))  # type: ignore[arg-type]


def test_a_kept_trace_of_a_version_is_read_back_as_it_was(shop: core.EvoRAG) -> None:
    for asked in ({"as_of": VersionRef("hours.txt", 2)}, {"versions": "all"}, {"as_of": datetime.now(UTC)}):
        trace = shop.ask(Query(WHEN, **asked))  # type: ignore[arg-type]
        assert shop.kb.trace(trace.id) == trace


@pytest.mark.long
def test_ten_thousand_hidden_rows_do_not_hide_the_visible_ones(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, chunk_tokens=16) as kb:
        add(kb, "quinces", "Far away a medlar stood.")
        book = "\n\n".join(f"The medlar grows at place {number}, medlar." for number in range(10_000))
        kb.add_file("quinces.txt", BytesIO(book.encode()))
        kb.work_off()
        assert kb.version("quinces.txt", 2).chunk_count >= 10_000
        rag = core.EvoRAG(kb=kb)
        for asked in ({"as_of": 1}, {"as_of": VersionRef("quinces.txt", 1)}):
            trace = rag.search(Query("The medlar grows at place, medlar.", **asked))  # type: ignore[arg-type]
            assert [hit.chunk_id for hit in trace.vector.hits] == [hit.chunk_id for hit in trace.keyword.hits]
            assert [hit.placed.version for hit in trace.hits] == [1]
            assert trace.hits[0].vector is not None and trace.hits[0].keyword is not None


@pytest.mark.long
def test_an_exact_scan_ranks_as_the_store_does(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.query.search import retrieve

    for number in range(30):
        add(kb, "tale", f"Part {number} of the tale of the medlar.")
    for number in range(30):
        add(kb, f"note {number}", f"Note {number} on the medlar and its fruit.")
    rag = core.EvoRAG(kb=kb)
    plain = rag.search(Query("tale of the medlar", depth=10, as_of=40))
    monkeypatch.setattr(retrieve, "_ROUNDS", 0)
    scanned = rag.search(Query("tale of the medlar", depth=10, as_of=40))
    assert scanned.vector.engine != plain.vector.engine
    assert [hit.chunk_id for hit in scanned.vector.hits] == [hit.chunk_id for hit in plain.vector.hits]
    assert [hit.score for hit in scanned.vector.hits] == pytest.approx(
        [hit.score for hit in plain.vector.hits], abs=1e-3
    )


def test_history_alone_is_never_searched(shop: core.EvoRAG) -> None:
    seen: list[tuple[Part, ...]] = []
    search = shop.kb._keywords.search

    def watching(text: str, limit: int, parts: tuple[Part, ...], doc_ids: object = None) -> object:
        seen.append(tuple(parts))
        return search(text, limit, parts, doc_ids)  # type: ignore[arg-type]

    shop.kb._keywords.search = watching  # type: ignore[method-assign, assignment]
    shop.kb._projector.flush()
    for asked in (
        {},
        {"versions": "all"},
        {"as_of": VersionRef("hours.txt", 1)},
        {"as_of": VersionRef("hours.txt", 3)},
    ):
        shop.search(Query(WHEN, **asked))  # type: ignore[arg-type]
    both = (Part.HEAD, Part.HISTORY)
    assert seen == [(Part.HEAD,), both, both, (Part.HEAD,)]


class Clock:
    """A time that passes only when ``pass_by`` says so, however busy the machine is."""

    perf_counter = staticmethod(time.perf_counter)

    def __init__(self) -> None:
        self._ahead_s = 0.0

    def monotonic(self) -> float:
        return self._ahead_s

    def pass_by(self, seconds: float) -> None:
        self._ahead_s += seconds


class LateStore:
    """The keyword store of a book whose first reading takes ``spent_s`` of an hour, and whose second one hangs."""

    def __init__(self, kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, first: str, spent_s: float) -> None:
        self.asked: list[int] = []
        self.is_over = Event()
        self._search, self._visible = kb._keywords.search, kb.catalog.visibility.visible
        self._clock, self._spent_s = Clock(), spent_s
        add(kb, "book", first)
        add(kb, "book", "\n\n".join(f"The medlar grows at place {number}, medlar." for number in range(9)))
        kb._projector.flush()
        monkeypatch.setattr("core.query.search.retrieve.time", self._clock)
        monkeypatch.setattr(kb._keywords, "search", self.search)
        monkeypatch.setattr(kb.catalog.visibility, "visible", self.visible)

    def search(self, text: str, limit: int, *where: Any) -> Any:
        self.asked.append(limit)
        if len(self.asked) > 1:
            self.is_over.wait(60)
        return self._search(text, limit, *where)

    def visible(self, *asked: Any) -> Any:
        if len(self.asked) == 1:
            self._clock.pass_by(self._spent_s)
        return self._visible(*asked)


@pytest.mark.parametrize(
    ("spent_s", "searches"), [(3600, 1), (3599.9, 2)], ids=["is not begun late", "is given up when it hangs"]
)
def test_reading_deeper_ends_with_the_time_of_the_question_which_has_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spent_s: float, searches: int
) -> None:
    with knowledge_base(tmp_path, chunk_tokens=16, leg_timeout_s=3600) as kb:
        store = LateStore(kb, monkeypatch, "The medlar, the medlar, the medlar.", spent_s)
        monkeypatch.setattr(kb._vectors, "search", lambda *_: [])
        trace = core.EvoRAG(kb=kb).search(Query("medlar", depth=4, as_of=1))
        store.is_over.set()
        assert trace.degraded == ("keyword",)
        assert [hit.placed.version for hit in trace.hits] == [1]
        assert len(store.asked) == searches


def test_legs_that_gave_nothing_visible_in_time_are_an_error_and_never_no_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> object:
        raise StoreUnavailable("The store is ailing.")

    with knowledge_base(tmp_path, chunk_tokens=16, leg_timeout_s=3600) as kb:
        LateStore(kb, monkeypatch, "Far away a quince stood.", 3600)
        monkeypatch.setattr(kb._vectors, "search", down)
        with pytest.raises(StoreUnavailable, match="Neither"):
            core.EvoRAG(kb=kb).search(Query("medlar", depth=4, as_of=1))


def test_what_is_loaded_of_the_past_is_what_the_store_has_of_it(shop: core.EvoRAG) -> None:
    kb = shop.kb
    kb._projector.flush()
    held = {part: {number for number, of in kb._vectors.ids() if of is part} for part in Part}
    model = kb._active.now().model.id
    shown = {chunk_id for chunk_id, _, _ in kb.catalog.embeddings.head_vectors(model)}
    past = {chunk_id for chunk_id, _, _ in kb.catalog.embeddings.past_vectors(model)}
    assert (shown, past) == (held[Part.HEAD], held[Part.HISTORY]) and past
