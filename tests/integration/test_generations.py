"""A generation is built beside what serves, and one commit lets it serve, or the former one again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.event import listen

import core
from core import bootstrap
from core.adapters.embedding.hash_embedder import HashEmbedder
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.catalog.generations import Made
from core.catalog.schema import generations as table
from core.errors import Conflict, InvalidInput, ModelUnavailable, NotFound, StoreUnavailable, WrongIndex
from core.indexes import generations
from core.indexes.active import Model
from core.model import Generation, GenerationState, Part
from core.platform import failpoints
from core.platform.data_folder import DataFolder
from core.ports import Embedder
from core.settings import Settings
from core.text.analysis import ANALYSER_ID
from tests.builders import add, knowledge_base

OTHER = "hash:64"
READY, SERVING, BUILDING = GenerationState.READY, GenerationState.SERVING, GenerationState.BUILDING
REMOVING = GenerationState.REMOVING


def states(kb: core.KnowledgeBase) -> dict[int, GenerationState]:
    return {each.number: each.state for each in kb.generations.list()}


def rows(kb: core.KnowledgeBase, number: int) -> list[set[tuple[int, Part]]]:
    """What both stores of a generation hold."""
    opened = kb._active.of(number)
    return [set(opened.vectors.ids()), set(opened.keywords.ids())]


def found(kb: core.KnowledgeBase, word: str) -> list[str]:
    """The documents that both searches find, of which none may have failed."""
    trace = core.EvoRAG(kb=kb).search(word)
    assert not trace.degraded
    assert trace.vector.hits
    return [hit.placed.doc_key for hit in trace.candidates if hit.keyword is not None]


def filled(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    for name in ("quince", "medlar", "walnut"):
        add(kb, name, f"The {name} is harvested late.")
    add(kb, "quince", "The quince is harvested in October.")
    return kb


def test_a_generation_is_built_beside_the_one_that_serves(kb: core.KnowledgeBase) -> None:
    filled(kb)
    begun = kb.generations.build(OTHER)
    assert (begun.number, begun.state, begun.dimension, begun.done) == (2, BUILDING, 64, 0)
    assert kb._embedder.id == "hash-384" and found(kb, "medlar") == ["medlar.txt"]
    kb.work_off()
    built = kb.generations.list()[1]
    assert (built.state, built.done, built.total, built.waiting) == (READY, 4, 4, 0)
    assert rows(kb, 2) == rows(kb, 1)
    assert kb._embedder.id == "hash-384"


def test_what_is_added_replaced_and_purged_meanwhile_is_in_both(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "SLICE", 1)
    filled(kb)
    kb.generations.build(OTHER)
    assert kb.generations._step()
    add(kb, "fig", "The fig is harvested twice.")
    add(kb, "medlar", "The medlar is eaten when it is soft.")
    kb.delete("walnut.txt")
    kb.purge("walnut.txt")
    kb.work_off()
    assert states(kb)[2] is READY
    assert rows(kb, 2) == rows(kb, 1)
    assert len(rows(kb, 2)[0]) == 5


def test_one_commit_lets_it_serve_and_one_more_the_former_again(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    kb.generations.switch(2)
    assert states(kb) == {1: READY, 2: SERVING}
    assert kb._embedder.id == "hash-64"
    assert found(kb, "medlar") == ["medlar.txt"]
    add(kb, "fig", "The fig is harvested twice.")
    assert found(kb, "fig") == ["fig.txt"]
    kb.work_off()
    kb.generations.switch(1)
    assert (kb._embedder.id, found(kb, "fig")) == ("hash-384", ["fig.txt"])
    assert rows(kb, 2) == rows(kb, 1)


def test_a_version_that_is_being_indexed_during_the_switch_is_whole_afterwards(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    kb.add_text("fig", "The fig is harvested twice.")

    def switch(name: str) -> None:
        if name == "ingest.embeddings.computed":
            failpoints.on_failpoint(None)
            kb.generations.switch(2)

    failpoints.on_failpoint(switch)
    try:
        kb.work_off()
    finally:
        failpoints.on_failpoint(None)
    assert (kb._embedder.id, found(kb, "fig")) == ("hash-64", ["fig.txt"])
    assert rows(kb, 2) == rows(kb, 1)


def test_a_switch_waits_for_rows_that_are_being_written(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    kb.add_text("fig", "The fig is harvested twice.")
    switching = threading.Thread(target=kb.generations.switch, args=(2,))

    def begin(name: str) -> None:
        if name == "index.batch.applied":
            failpoints.on_failpoint(None)
            switching.start()
            switching.join(timeout=0.2)
            assert kb._active.follow().number == 1

    failpoints.on_failpoint(begin)
    try:
        kb.work_off()
    finally:
        failpoints.on_failpoint(None)
    switching.join(timeout=30)
    kb.work_off()
    assert (states(kb)[2], found(kb, "fig")) == (SERVING, ["fig.txt"])
    assert rows(kb, 2) == rows(kb, 1)


def test_questions_are_answered_whole_while_generations_change(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, cache_answers=False) as kb:
        kb.finish(str(kb.add_text("medlar", "The medlar is harvested late.").job_id))
        kb.generations.build(OTHER, switch=True)
        asked: list[list[str]] = []
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set():
                asked.append(found(kb, "medlar"))

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            for number in range(8):
                kb.finish(str(kb.add_text(f"t{number}", f"The tree {number} is small.", early=False).job_id))
                if states(kb).get(2) is not BUILDING:
                    kb.generations.switch(1 + number % 2)
        finally:
            stop.set()
            asking.join()
        assert asked and all(keys == ["medlar.txt"] for keys in asked)


def test_what_makes_no_sense_is_refused(kb: core.KnowledgeBase) -> None:
    add(kb, "medlar", "The medlar is harvested late.")
    for name in ("hash", "hash:384"):
        with pytest.raises(Conflict, match="Generation 1 was built with “hash-384”"):
            kb.generations.build(name)
    for name in ("a\0b", "n" * 2_000):
        with pytest.raises(InvalidInput):
            kb.generations.build(name)
    with pytest.raises(ModelUnavailable):
        kb.generations.build("no/such-model")
    kb.generations.build(OTHER)
    with pytest.raises(Conflict, match="being built"):
        kb.generations.build("hash:32")
    with pytest.raises(Conflict, match="0 of 1"):
        kb.generations.switch(2)
    with pytest.raises(Conflict, match="serves"):
        kb.generations.remove(1)
    for act in (kb.generations.switch, kb.generations.remove):
        with pytest.raises(NotFound):
            act(7)


def test_a_removed_generation_leaves_nothing_and_its_number_is_not_given_again(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    kb.generations.remove(2)
    with kb.catalog.database.read() as tx:
        left = tx.exec_driver_sql("SELECT count(*) FROM embeddings WHERE model = 'hash-64'").scalar()
        waiting = tx.exec_driver_sql("SELECT count(*) FROM outbox").scalar()
    assert (left, waiting, states(kb)) == (0, 0, {1: SERVING})
    assert kb.generations.build(OTHER).number == 3


def test_a_generation_whose_stores_do_not_answer_is_being_removed_until_they_do(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    keywords = kb._active.of(2).keywords

    def down() -> None:
        raise StoreUnavailable("The store is down.")

    monkeypatch.setattr(keywords, "clear", down)
    kb.generations.remove(2)
    told = kb.generations.list()[1]
    assert told.state is REMOVING and told.error is not None and told.error["message"] == "The store is down."
    with pytest.raises(Conflict, match="being removed"):
        kb.generations.switch(2)
    kb.delete("walnut.txt")
    kb.purge("walnut.txt")
    assert kb.catalog.purges.pending()
    kb.work_off()
    assert states(kb) == {1: SERVING}
    assert kb._purge.finish() and not kb.catalog.purges.pending()


def test_a_generation_that_a_killed_process_was_removing_is_emptied_before_its_row_goes(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    keywords = kb._active.of(2).keywords
    kb.catalog.generations.leave(2)
    kb._active.follow()
    opened = replace(kb._active._factories, keywords=lambda _: keywords)
    kb._active._factories = opened
    add(kb, "fig", "The fig is harvested twice.")
    with kb.catalog.database.read() as tx:
        assert tx.exec_driver_sql("SELECT count(*) FROM outbox").scalar() == 0
    kb.generations.start(in_background=False)
    assert states(kb) == {1: SERVING}
    assert not sum(keywords.count().values())


def test_vectors_of_a_model_that_was_at_work_when_its_generation_went_are_gone_after_a_start(
    kb: core.KnowledgeBase,
) -> None:
    filled(kb)
    content = kb.catalog.chunks.ids_of(1)[0]
    texts = kb.catalog.generations.lacking([content], "hash-64")
    kb.catalog.generations.keep("hash-64", list(texts), HashEmbedder(64).embed_passages(list(texts.values())))
    kb.generations.start(in_background=False)
    with kb.catalog.database.read() as tx:
        models = tx.exec_driver_sql("SELECT DISTINCT model FROM embeddings").scalars().all()
    assert models == ["hash-384"]


def test_what_another_process_leaves_behind_is_looked_for_while_nobody_begins_a_generation(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tidied: list[bool] = []

    def tidy(_: object) -> None:
        with ThreadPoolExecutor(1) as other:
            tidied.append(other.submit(is_free).result())

    def is_free() -> bool:
        with kb.catalog.database.if_free("generations") as is_ours:
            return is_ours

    monkeypatch.setattr(kb.generations, "_factories", replace(kb.generations._factories, tidy=tidy))
    kb.generations.start(in_background=False)
    assert tidied == [False]


def test_building_counts_no_chunks(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "SLICE", 1)
    filled(kb).generations.build(OTHER)
    kb.generations._step()
    said: list[str] = []
    listen(kb.catalog.database.engine, "before_cursor_execute", lambda *told: said.append(told[2]))
    kb.generations._step()
    assert said and not [each for each in said if "count(*)" in each and "FROM chunks" in each]


def test_a_model_that_fails_is_named_and_tried_again(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    embedder = kb._active.of(2).embedder

    def failing(texts: object) -> None:
        raise ModelUnavailable("The model is gone.")

    with monkeypatch.context() as broken:
        broken.setattr(embedder, "embed_passages", failing)
        kb.work_off()
        told = kb.generations.list()[1]
        assert told.state is BUILDING and told.error is not None and told.error["message"] == "The model is gone."
        assert found(kb, "medlar") == ["medlar.txt"]
    kb.work_off()
    assert (states(kb)[2], kb.generations.list()[1].error) == (READY, None)


def test_a_purge_ends_while_the_model_of_a_generation_beside_is_gone(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    kb.generations.switch(2)
    beside = kb._active.of(1)

    def gone(name: str) -> Embedder:
        raise ModelUnavailable("The model is gone.")

    kb._active._opened[1] = replace(beside, model=Model(kb.catalog.generations.get(1), gone))
    kb.add_text("fig", "The fig is harvested twice.")
    kb.work_off()
    (chunk,) = kb.catalog.chunks.ids_of(kb.version("walnut.txt", 1).id)
    kb.delete("walnut.txt")
    kb.purge("walnut.txt")
    assert not kb.catalog.purges.pending()
    assert all(chunk not in dict(store) for store in rows(kb, 1))
    with pytest.raises(ModelUnavailable):
        kb.generations.switch(1)
    assert states(kb) == {1: READY, 2: SERVING}


def test_kept_answers_are_forgotten_with_the_switch(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb._projector.flush()
    rag = core.EvoRAG(kb=kb)
    rag.ask("When is the medlar harvested?")
    assert rag.ask("When is the medlar harvested?").cache is not None
    kb.generations.build(OTHER)
    kb.work_off()
    kb.generations.switch(2)
    assert rag.ask("When is the medlar harvested?").cache is None


def test_another_process_follows_the_switch(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build(OTHER)
    kb.work_off()
    kb.catalog.generations.switch(2)
    assert kb._embedder.id == "hash-384"
    kb._active.follow()
    assert (kb._embedder.id, found(kb, "medlar")) == ("hash-64", ["medlar.txt"])


def test_who_looked_before_a_switch_does_not_undo_it(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.generations.build(OTHER)
    kb.work_off()
    look, has_looked, goes_on = kb.catalog.generations.states, threading.Event(), threading.Event()
    late = threading.Thread(target=kb._active.follow)
    switching = threading.Thread(target=kb.generations.switch, args=(2,))

    def slow() -> dict[int, GenerationState]:
        seen = look()
        if threading.current_thread() is late:
            has_looked.set()
            goes_on.wait(30)
        return seen

    monkeypatch.setattr(kb.catalog.generations, "states", slow)
    late.start()
    has_looked.wait(30)
    switching.start()
    switching.join(timeout=0.2)
    goes_on.set()
    for thread in (late, switching):
        thread.join(timeout=30)
    assert kb._active.now().number == 2


def test_a_restart_goes_on_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "SLICE", 1)
    with knowledge_base(tmp_path) as kb:
        filled(kb).generations.build(OTHER, switch=True)
        kb.generations._step()
    with knowledge_base(tmp_path, embedder=OTHER) as kb:
        assert (kb.generations.list()[1].done, kb._embedder.id) == (1, "hash-384")
        kb.work_off()
        assert states(kb) == {1: READY, 2: SERVING}
        assert rows(kb, 2) == rows(kb, 1)
        assert kb.generations.remark() == ""


# ---- what built the index


def test_an_embedder_that_is_gone_is_named_with_the_one_that_is_configured(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb, kb.catalog.database.write() as tx:
        tx.execute(table.update().values(embedder="no/such-model", model="such-model@1"))
    with pytest.raises(WrongIndex, match=r"such-model@1.*“hash:64” is configured"):
        knowledge_base(tmp_path, embedder=OTHER)


def test_an_index_of_an_earlier_release_goes_on_with_the_embedder_that_built_it(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb, kb.catalog.database.write() as tx:
        tx.execute(table.delete())
    with knowledge_base(tmp_path, embedder=OTHER) as kb:
        assert (kb._embedder.id, kb.generations.list()[0].embedder) == ("hash-384", "hash")


def test_the_same_model_by_another_name_is_the_same(tmp_path: Path) -> None:
    knowledge_base(tmp_path).close()
    with knowledge_base(tmp_path, embedder="hash:384") as kb:
        assert (kb.generations.list()[0].embedder, kb.generations.remark()) == ("hash:384", "")


# ---- on the disk


def keywords_on_disk(settings: Settings, folder: DataFolder, suffix: str, analyser: str) -> TantivyKeywordIndex:
    return TantivyKeywordIndex(folder.root / f"{folder.keywords.name}{suffix}", analyser)


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the keyword indexes of test mode on the disk."""
    monkeypatch.setattr(bootstrap, "_keyword_store", keywords_on_disk)


def test_after_a_change_of_the_analyser_the_old_index_serves_until_the_new_one_does(
    tmp_path: Path, on_disk: None
) -> None:
    with knowledge_base(tmp_path) as kb, kb.catalog.database.write() as tx:
        tx.execute(table.update().values(analyser="older/1"))
    (tmp_path / "data" / "keywords" / "analyser.txt").write_text("older/1")
    with knowledge_base(tmp_path) as kb:
        filled(kb)
    with knowledge_base(tmp_path) as kb:
        kb._projector.flush()
        assert found(kb, "medlar") == ["medlar.txt"]
        kb.work_off()
        # The former one, which nobody goes back to, is not kept up.
        kb.work_off()
        assert {each.number: (each.state, each.analyser) for each in kb.generations.list()} == {
            2: (SERVING, ANALYSER_ID)
        }
        assert found(kb, "medlar") == ["medlar.txt"]
    assert {path.name for path in (tmp_path / "data").glob("keywords*")} == {"keywords-2"}
    with knowledge_base(tmp_path) as kb:
        kb._projector.flush()
        assert (states(kb), found(kb, "medlar")) == ({2: SERVING}, ["medlar.txt"])


POINTS = ("generation.embedded", "generation.switching", "generation.switched", "generation.leaving")
KILLED = """
import os, pathlib, shutil, signal, sys
from core import bootstrap; from core.platform import failpoints as points
from tests.integration import test_generations as tests
from tests.builders import add, knowledge_base
bootstrap._keyword_store = tests.keywords_on_disk

first = pathlib.Path(sys.argv[1])

def live(name):
    shutil.copytree(first / "data", first / name / "data")
    with knowledge_base(first / name) as kb:
        points.on_failpoint(lambda reached: os.kill(os.getpid(), signal.SIGKILL) if reached == name else None)
        kb.generations.build(tests.OTHER, switch=True)
        kb.work_off()
        kb.generations.remove(1)

for name in sys.argv[2:]:
    if not os.fork():
        live(name)
        os._exit(0)
    assert os.WTERMSIG(os.wait()[1]) == signal.SIGKILL, name
"""


def test_a_process_that_is_killed_at_any_point_leaves_what_the_next_one_goes_on_with(
    tmp_path: Path, on_disk: None
) -> None:
    with knowledge_base(tmp_path) as kb:
        filled(kb)
    environment = {**os.environ, "PYTHONPATH": ".", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), *POINTS], env=environment, check=True)
    for name in POINTS:
        with knowledge_base(tmp_path / name) as kb:
            kb._projector.flush()
            assert found(kb, "medlar") == ["medlar.txt"], name
            kb.work_off()
            if 2 not in states(kb):
                kb.generations.build(OTHER, switch=True)
                kb.work_off()
            assert states(kb)[2] is SERVING, name
            assert (kb._embedder.id, found(kb, "quince")[0]) == ("hash-64", "quince.txt"), name
            chunks = set(kb.catalog.chunks.ids_of(1) + kb.catalog.chunks.ids_of(2))
            assert all(chunks <= {chunk for chunk, _ in store} for store in rows(kb, 2)), name
            places = [path.name for path in (tmp_path / name / "data").glob("keywords*")]
            assert sorted(places) == sorted({1: "keywords", 2: "keywords-2"}[number] for number in states(kb)), name


def test_a_generation_is_made_of_what_its_row_says(kb: core.KnowledgeBase) -> None:
    number = kb.catalog.generations.add(Made("hash:16", "hash-999", 16, ANALYSER_ID), switches=False)
    with pytest.raises(WrongIndex, match=r"hash-999.*hash-16"):
        kb._active.ready(number)
    assert isinstance(kb.catalog.generations.get(number), Generation)
