"""tantivy keeps the contract, ranks as the formula says, and survives kill -9 and broken folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.keyword.memory import MemoryKeywordIndex
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.errors import StoreUnavailable, WrongIndex
from core.text.analysis import ANALYSER_ID
from tests.contracts.keyword_index import (
    BOTH,
    HEAD,
    HISTORY,
    KeywordIndexContract,
    generated_rows,
    ids_of,
    questions,
    row,
)

WRITER = """
import itertools, sys
from pathlib import Path
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from tests.contracts.keyword_index import HISTORY, row

index = TantivyKeywordIndex(Path(sys.argv[1]))
for start in itertools.count(0, 5):
    index.upsert([row(start + n, f"harbour number{start + n}") for n in range(5)])
    index.upsert([row(start, "harbour moved", HISTORY)])
    index.delete([start + 1])
    print(start, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keywords"


@pytest.fixture
def index(folder: Path) -> Iterator[TantivyKeywordIndex]:
    opened = TantivyKeywordIndex(folder)
    yield opened
    opened.close()


class TestTantivyKeywordIndex(KeywordIndexContract):
    pass


def engine_scores(index: TantivyKeywordIndex, question: str) -> dict[int, float]:
    """The scores that tantivy itself gives, by id."""
    part = index._parts[HEAD]
    searcher = part.snapshot.searcher
    query = part._any_of([part._term("terms", word, "freq") for word in question.split()])
    hits = searcher.search(query, 100).hits
    ids = searcher.fast_field_values("id", [address for _, address in hits])
    return {chunk_id: score for chunk_id, (score, _) in zip(ids, hits, strict=True)}


def test_score_is_the_one_that_the_engine_gives(index: TantivyKeywordIndex) -> None:
    index.upsert(generated_rows(150))
    index.upsert(generated_rows(150, seed=8, first_id=500))
    index.delete(range(1, 40))
    for question in questions(10):
        engine = engine_scores(index, question)
        for hit in index.search(question, 50, [HEAD]):
            assert hit.score == pytest.approx(engine[hit.chunk_id], abs=1e-4)


def test_idf_is_the_one_that_the_engine_explains(index: TantivyKeywordIndex) -> None:
    index.upsert(generated_rows(100))
    index.delete([1, 2, 3])
    part = index._parts[HEAD]
    searcher = part.snapshot.searcher
    [hit] = index.search("kalik", 1, [HEAD])
    query = part._term("terms", "kalik", "freq")
    [(_, address)] = searcher.search(query, 1).hits
    explained = {
        each["description"][:3]: each["value"]
        for each in json.loads(query.explain(searcher, address).to_json())["details"]
    }
    assert hit.terms[0].idf == pytest.approx(explained["idf"], abs=1e-5)


def test_tantivy_and_memory_rank_alike(index: TantivyKeywordIndex) -> None:
    memory = MemoryKeywordIndex()
    rows = generated_rows(400)
    index.upsert(rows)
    memory.upsert(rows)
    overlaps = []
    for question in questions(40):
        first, second = ids_of(index, question, [HEAD], limit=10), ids_of(memory, question, [HEAD], limit=10)
        overlaps.append(len(set(first) & set(second)) / 10)
    assert sum(overlaps) / len(overlaps) >= 0.9


def test_rows_are_there_after_a_reopen(folder: Path) -> None:
    index = TantivyKeywordIndex(folder)
    index.upsert([row(1, "harbour"), row(2, "harbour", HISTORY)])
    index.close()
    again = TantivyKeywordIndex(folder)
    assert ids_of(again, "harbour", [HEAD]) == [1]
    again.upsert([row(3, "harbour")])
    assert sorted(ids_of(again, "harbour")) == [1, 2, 3]
    again.close()


@pytest.mark.long
def test_every_acknowledged_row_survives_kill_9(folder: Path) -> None:
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            acknowledged = [int(writer.stdout.readline()) for _ in range(3)]
            writer.kill()
        index = TantivyKeywordIndex(folder)
        held = dict(index.ids())
        for start in acknowledged:
            assert held[start] is HISTORY
            assert start + 1 not in held
            assert all(held[start + n] is HEAD for n in (2, 3, 4))
            assert ids_of(index, f"number{start + 2}", [HEAD]) == [start + 2]
        index.upsert([row(10**6, "lighthouse")])
        assert ids_of(index, "lighthouse") == [10**6]
        index.close()


def test_id_in_both_parts_is_reported_once(index: TantivyKeywordIndex) -> None:
    """As a crash between the two commits of a move leaves it."""
    for part in BOTH:
        index._parts[part].put([(row(1, "harbour", part), "harbour")])
    index._show()
    assert ids_of(index, "harbour") == [1]
    index.upsert([row(1, "harbour", HISTORY)])
    assert list(index.ids()) == [(1, HISTORY)]


def test_index_of_another_analyser_is_refused(folder: Path) -> None:
    TantivyKeywordIndex(folder).close()
    (folder / "analyser.txt").write_text("something older")
    with pytest.raises(WrongIndex, match="something older") as refused:
        TantivyKeywordIndex(folder)
    assert ANALYSER_ID in refused.value.message


def test_index_whose_rows_have_no_fingerprint_is_refused(folder: Path) -> None:
    TantivyKeywordIndex(folder).close()
    (folder / "rows.txt").unlink()
    with pytest.raises(WrongIndex, match="earlier"):
        TantivyKeywordIndex(folder)


def test_rows_are_given_back_by_ranges_of_ids_and_as_they_were(
    index: TantivyKeywordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.adapters.keyword.tantivy._STORED_AT_ONCE", 7)
    rows = [row(n**5 * (-1) ** n, "harbour", fingerprint=n) for n in range(60)]
    index.upsert(rows)
    given = index.stored()
    first = next(given)
    index.delete([each.chunk_id for each in rows])
    everything = [first, *given]
    assert max(len(some.ids) for some in everything) <= 7
    found = {
        int(chunk_id): int(mark)
        for some in everything
        for chunk_id, mark in zip(some.ids, some.fingerprints, strict=True)
    }
    assert found == {each.chunk_id: each.fingerprint for each in rows}
    assert list(index.stored()) == []


def test_folder_that_holds_something_else_is_an_error(folder: Path) -> None:
    (folder / "head").mkdir(parents=True)
    (folder / "head" / "meta.json").write_text("{ not json")
    with pytest.raises(StoreUnavailable):
        TantivyKeywordIndex(folder)


def test_second_writer_on_the_folder_is_an_error_that_passes(folder: Path, index: TantivyKeywordIndex) -> None:
    index.upsert([row(1, "harbour")])
    second = TantivyKeywordIndex(folder)
    with pytest.raises(StoreUnavailable):
        second.upsert([row(2, "harbour")])
    index.close()
    second.upsert([row(2, "harbour")])
    assert ids_of(second, "harbour") == [1, 2]
    second.close()


def test_failed_write_is_undone_and_the_next_one_works(index: TantivyKeywordIndex) -> None:
    index.upsert([row(1, "harbour")])
    with pytest.raises(StoreUnavailable):
        index.upsert([row(2, "harbour"), row(2**70, "harbour")])
    assert ids_of(index, "harbour") == [1]
    index.upsert([row(3, "harbour")])
    assert ids_of(index, "harbour") == [1, 3]


def test_closed_index_is_an_error_and_not_an_empty_result(folder: Path) -> None:
    index = TantivyKeywordIndex(folder)
    index.upsert([row(1, "harbour")])
    index.close()
    with pytest.raises(StoreUnavailable):
        index.search("harbour", 5, [HEAD])
    with pytest.raises(StoreUnavailable):
        index.upsert([row(2, "harbour")])


def test_a_row_that_moves_while_both_parts_are_searched_is_found(
    index: TantivyKeywordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.upsert([row(1, "harbour", HISTORY)])
    head = index._parts[HEAD]
    search = head.search

    def search_then_move(*arguments: object) -> object:
        found = search(*arguments)  # type: ignore[arg-type]
        index.upsert([row(1, "harbour", HEAD)])
        return found

    monkeypatch.setattr(head, "search", search_then_move)

    assert [hit.chunk_id for hit in index.search("harbour", 10, BOTH)] == [1]
