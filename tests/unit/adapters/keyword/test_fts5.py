"""FTS5 keeps the contract, scores by the port's formula, survives kill -9, and takes any term as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from core.adapters.keyword.embedded import opened_in
from core.adapters.keyword.fts5 import Fts5KeywordIndex
from core.adapters.keyword.memory import MemoryKeywordIndex
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.errors import StoreUnavailable, WrongIndex
from core.model.terms import Clause
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
from core.adapters.keyword.fts5 import Fts5KeywordIndex
from tests.contracts.keyword_index import HISTORY, row

index = Fts5KeywordIndex(Path(sys.argv[1]))
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
def index(folder: Path) -> Iterator[Fts5KeywordIndex]:
    opened = Fts5KeywordIndex(folder)
    yield opened
    opened.close()


class TestFts5KeywordIndex(KeywordIndexContract):
    pass


def test_scores_are_those_of_the_formula_to_the_last_digits(index: Fts5KeywordIndex) -> None:
    memory = MemoryKeywordIndex()
    for store in (index, memory):
        store.upsert(generated_rows(300))
        store.upsert(generated_rows(100, seed=8, first_id=200))
        store.delete(range(1, 40))
    for question in questions(40):
        own, exact = (store.search(question, 30, [HEAD]) for store in (index, memory))
        assert [hit.chunk_id for hit in own] == [hit.chunk_id for hit in exact]
        for mine, true in zip(own, exact, strict=True):
            assert mine.score == pytest.approx(true.score, rel=1e-9)
            assert [t.term for t in mine.terms] == [t.term for t in true.terms]


class _AsTheyAre:
    """An analyser whose terms are the pieces between line breaks, whatever they hold."""

    def analyse(self, text: str) -> list[str]:
        return [term for term in text.split("\n") if term]

    def ask(self, text: str) -> list[Clause]:
        return [Clause(((term,),)) for term in dict.fromkeys(self.analyse(text))]


_TERMS = [
    '"',
    "a b",
    "c++",
    "NEAR(",
    "near",
    "Near",
    "é",
    "e",
    "_",
    "_5f_",
    "\0",
    "\ud800",
    "日本",
    "日",
    "ยา",
    "ยาก",
    "* -",
]


def test_a_term_is_found_as_it_is_and_as_no_other(index: Fts5KeywordIndex) -> None:
    words = _AsTheyAre()
    index.use(words, words)  # type: ignore[arg-type]
    index.upsert([row(number, term) for number, term in enumerate(_TERMS, 1)])
    for number, term in enumerate(_TERMS, 1):
        assert ids_of(index, term) == [number], term
    assert ids_of(index, "\n".join(_TERMS)) == list(range(1, len(_TERMS) + 1))


def test_rows_are_there_after_a_reopen(folder: Path) -> None:
    first = Fts5KeywordIndex(folder)
    first.upsert([row(1, "harbour"), row(2, "harbour", HISTORY)])
    first.close()
    again = Fts5KeywordIndex(folder)
    assert ids_of(again, "harbour", [HEAD]) == [1]
    again.upsert([row(3, "harbour")])
    assert sorted(ids_of(again, "harbour")) == [1, 2, 3]
    again.close()


@pytest.mark.long
def test_every_acknowledged_row_survives_kill_9(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(3)]
        writer.kill()
    index = Fts5KeywordIndex(folder)
    held = dict(index.ids())
    for start in acknowledged:
        assert held[start] is HISTORY
        assert start + 1 not in held
        assert all(held[start + n] is HEAD for n in (2, 3, 4))
        assert ids_of(index, f"number{start + 2}", [HEAD]) == [start + 2]
    index.close()


def test_nothing_of_a_purged_row_is_on_the_disk(folder: Path, index: Fts5KeywordIndex) -> None:
    index.upsert([*generated_rows(200), row(900, "quaggaquoll"), row(901, "quaggaquoll zebra", HISTORY)])
    assert any(b"quaggaquo" in file.read_bytes() for file in folder.iterdir())
    index.delete([900])
    index.upsert([row(901, "zebra", HISTORY)])
    assert index.expunge([900, 901])
    assert not [file.name for file in folder.iterdir() if b"quaggaquo" in file.read_bytes()]


def test_index_of_another_analyser_or_store_is_refused(tmp_path: Path) -> None:
    for first, second in (("tantivy", "fts5"), ("fts5", "tantivy")):
        folder = tmp_path / first
        opened_in(folder, first, ANALYSER_ID).close()
        with pytest.raises(WrongIndex, match="terms"):
            opened_in(folder, second, ANALYSER_ID)
        with pytest.raises(WrongIndex, match=re.escape(ANALYSER_ID)):
            opened_in(folder, first, "something newer")
    assert isinstance(opened_in(tmp_path / "tantivy", "tantivy", ANALYSER_ID), TantivyKeywordIndex)


def test_failed_write_is_undone_and_the_next_one_works(index: Fts5KeywordIndex) -> None:
    index.upsert([row(1, "harbour")])
    with pytest.raises(StoreUnavailable):
        index.upsert([row(2, "harbour"), row(2**70, "harbour")])
    assert ids_of(index, "harbour") == [1]
    index.upsert([row(3, "harbour")])
    assert ids_of(index, "harbour") == [1, 3]


def test_file_that_holds_something_else_is_an_error(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "terms.sqlite3").write_bytes(b"no database at all" * 300)
    with pytest.raises(StoreUnavailable):
        Fts5KeywordIndex(folder)


def test_closed_index_is_an_error_and_not_an_empty_result(folder: Path) -> None:
    index = Fts5KeywordIndex(folder)
    index.upsert([row(1, "harbour")])
    asked: list[list[int]] = []
    other = Thread(target=lambda: asked.append(ids_of(index, "harbour")))
    other.start()
    other.join()
    assert asked == [[1]]
    index.close()
    for use in (
        lambda: index.search("harbour", 5, BOTH),
        lambda: index.upsert([row(2, "x")]),
        lambda: list(index.ids()),
    ):
        with pytest.raises(StoreUnavailable):
            use()


def test_rows_are_given_back_as_they_were(index: Fts5KeywordIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.adapters.keyword.fts5._STORED_AT_ONCE", 7)
    rows = [row(number, "harbour", fingerprint=-number) for number in range(60)]
    index.upsert(rows)
    given = index.stored()
    first = next(given)
    index.delete([each.chunk_id for each in rows])
    everything = [first, *given]
    assert max(len(some.ids) for some in everything) == 7
    assert sum(len(some.ids) for some in everything) == 60
    assert list(index.stored()) == []
