"""A store that is down, hangs or flaps: questions go on with the other leg, uploads wait and go on by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from app.components.ask.answer_card import degraded_notices
from app.main import create_app
from core.adapters.embedding.hash_embedder import HashEmbedder
from core.adapters.guarded import GuardedKeywordIndex, GuardedVectorIndex
from core.adapters.keyword.memory import MemoryKeywordIndex
from core.adapters.vector.memory import MemoryVectorIndex
from core.errors import EvoRAGError, IndexLost, StoreUnavailable, WrongIndex
from core.model import JobState, Part
from tests.ailing import Ailing
from tests.builders import add, knowledge_base
from tests.indexes import assert_indexes_follow_the_catalogue

QUESTION = "medlar"


class Stores:
    """The stores of the knowledge bases that a test opens."""

    def __init__(self) -> None:
        self.pause_s, self.timeout_s = 60.0, 60.0
        self.begin()

    def begin(self) -> None:
        """Be empty, as servers are that have lost their volumes."""
        self.vectors = Ailing(MemoryVectorIndex(HashEmbedder().dimension))
        self.keywords = Ailing(MemoryKeywordIndex())

    def both(self) -> tuple[Ailing, Ailing]:
        return self.vectors, self.keywords


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    """Have knowledge bases use these, guarded as stores on servers are."""
    made = Stores()
    monkeypatch.setattr(
        "core.bootstrap._vectors", lambda *_: GuardedVectorIndex(made.vectors, made.pause_s, made.timeout_s)
    )
    monkeypatch.setattr(
        "core.bootstrap._keywords", lambda *_: GuardedKeywordIndex(made.keywords, made.pause_s, made.timeout_s)
    )
    monkeypatch.setattr("core.platform.retrying._PAUSE_S", 0.01)
    yield made
    for store in made.both():
        store.recover()


def hang(index: object, store: Ailing) -> None:
    """Let searches of a store hang, and be waited for a moment only."""
    index._guard._timeout_s = 0.05  # type: ignore[attr-defined]
    store.hangs = {"search", "count"}


def test_a_question_goes_on_without_the_keyword_store_and_says_so(stores: Stores, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        hang(kb._keywords, stores.keywords)
        trace = core.EvoRAG(kb=kb).ask(QUESTION)
        assert trace.degraded == ("keyword",)
        assert [hit.placed.doc_key for hit in trace.hits] == ["a.txt"]
        assert trace.keyword.error is not None
        assert "did not answer" in trace.keyword.error["message"]
        [notice] = degraded_notices(trace)
        assert "did not answer" in str(notice)


def test_a_question_goes_on_without_the_vector_store_and_says_so(stores: Stores, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        hang(kb._vectors, stores.vectors)
        trace = core.EvoRAG(kb=kb).ask(QUESTION)
        assert trace.degraded == ("vector",)
        assert [hit.placed.doc_key for hit in trace.hits] == ["a.txt"]


def test_only_the_first_question_waits_for_a_store_that_hangs(stores: Stores, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        hang(kb._keywords, stores.keywords)
        for number in range(5):
            assert core.EvoRAG(kb=kb).ask(f"{QUESTION} {number}").degraded == ("keyword",)
        assert stores.keywords.asked["search"] == 1


def test_without_both_stores_a_question_is_an_error_and_never_no_hits(stores: Stores, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        for store in stores.both():
            store.fails = {"search"}
        with pytest.raises(StoreUnavailable):
            core.EvoRAG(kb=kb).ask(QUESTION)


def test_health_tells_which_store_is_down_and_when_it_is_back(stores: Stores, tmp_path: Path) -> None:
    stores.pause_s = 0
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        client = create_app(kb).server.test_client()
        assert client.get("/health").status_code == 200
        stores.keywords.fails = {"count"}
        answer = client.get("/health")
        assert answer.status_code == 503
        states = {store["name"]: store["state"] for store in answer.get_json()["stores"]}
        assert (states["vector"], states["keyword"]) == ("ok", "down")
        assert client.get("/health/live").status_code == 200
        stores.keywords.recover()
        assert client.get("/health").status_code == 200


def test_health_waits_for_no_store_that_hangs(stores: Stores, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        kb._row_counts._wait_s = 0.05
        stores.keywords.hangs = {"count"}
        assert {store.name: store.state for store in kb.health().stores}["keyword"] == "down"
        stores.keywords.recover()
        kb._row_counts._wait_s = 60
        assert {store.name: store.state for store in kb.health().stores}["keyword"] == "ok"


def test_a_process_whose_catalogue_is_down_is_alive_and_says_what_is_down(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = create_app(kb).server.test_client()

    def down() -> None:
        raise StoreUnavailable("The catalogue does not answer.")

    with monkeypatch.context() as broken:
        broken.setattr(kb.catalog.database, "read", down)
        assert [(store.name, store.state) for store in kb.health().stores] == [("catalog", "down")]
        assert client.get("/health/live").status_code == 200
        assert client.get("/health").get_json()["detail"] == "The catalogue does not answer."
    assert client.get("/health").status_code == 200


def test_uploads_wait_for_stores_that_flap_and_nothing_is_lost(stores: Stores, tmp_path: Path) -> None:
    stores.pause_s = 0
    with knowledge_base(tmp_path, job_workers=2) as kb:
        for store in stores.both():
            store.every = 2
        ids = [
            str(kb.add_text(f"doc {number}", f"Medlar number {number}, of edition {edition}.").job_id)
            for edition in range(2)
            for number in range(4)
        ]
        assert {job.state for job in kb.wait(ids, 60)} == {JobState.DONE}
        for store in stores.both():
            assert store.asked["upsert"] > 1
            store.recover()
        assert_indexes_follow_the_catalogue(kb)
        assert {document.published_version for document in kb.documents()} == {2}


def test_what_waits_for_a_store_that_was_down_goes_on_by_itself(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.indexes.projector._FIRST_WAIT_S", 0.01)
    stores.pause_s = 0
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First medlar.")
        add(kb, "a", "Second medlar.")
        stores.keywords.fails = {"upsert"}
        kb.rollback("a.txt")
        assert kb.health().outbox > 0
        stores.keywords.recover()
        # The projector's thread tries again without being told.
        for _ in range(1000):
            if not kb.health().outbox:
                break
            kb.closing.wait(0.01)
        assert {store.name: store.state for store in kb.health().stores}["keyword"] == "ok"


def test_an_empty_store_that_was_down_at_the_start_is_filled_once_it_is_back(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.indexes.projector._FIRST_WAIT_S", 0.01)
    stores.pause_s = 0
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
    stores.begin()
    stores.keywords.fails = {"count", "stored", "upsert"}
    with knowledge_base(tmp_path) as kb:
        assert core.EvoRAG(kb=kb).ask(QUESTION).keyword.hits == ()
        stores.keywords.recover()
        for _ in range(1000):
            if stores.keywords.count()[Part.HEAD]:
                break
            kb.closing.wait(0.01)
        assert core.EvoRAG(kb=kb).search(QUESTION).keyword.hits


def test_an_empty_store_that_answers_late_lacks_nothing_once_an_upload_was_written(
    stores: Stores, tmp_path: Path
) -> None:
    stores.pause_s = 0
    with knowledge_base(tmp_path) as kb:
        add(kb, "old", "The medlar is brown.")
    stores.begin()
    for store in stores.both():
        store.fails = {"count", "stored"}
    with knowledge_base(tmp_path) as kb:
        for store in stores.both():
            store.recover()
        add(kb, "new", "The quince is yellow.")
        assert_indexes_follow_the_catalogue(kb)
        assert [(check.stored, check.missing) for check in kb.check()] == [(2, 0), (2, 0)]


def test_a_store_that_takes_long_for_its_first_count_is_filled(stores: Stores, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "old", "The medlar is brown.")
    stores.begin()
    stores.timeout_s = 0.001
    stores.keywords.hangs = {"count"}
    with knowledge_base(tmp_path) as kb:
        kb._projector.flush()
        assert len(list(stores.keywords.ids())) == 1


@pytest.mark.parametrize("error", [WrongIndex("It was not made by EvoRAG."), ValueError("What it answers is odd.")])
def test_a_vector_store_that_cannot_be_used_keeps_no_words_from_the_keyword_store(
    stores: Stores, tmp_path: Path, error: Exception
) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
    stores.begin()

    def refusing(*_: object) -> None:
        raise error

    stores.vectors.stored = stores.vectors.upsert = refusing
    with knowledge_base(tmp_path) as kb:
        with pytest.raises(type(error)):
            kb._projector.flush()
        assert core.EvoRAG(kb=kb).search(QUESTION).keyword.hits
        assert kb.catalog.outbox.pending()["keyword"] == 0
        assert {store.name: store.state for store in kb.health().stores}["vector"] == "down"


@pytest.mark.parametrize("error", [WrongIndex("Another analyser built it."), IndexLost("It is gone.")])
def test_a_keyword_index_that_is_another_or_gone_is_built_anew_by_whoever_writes(
    stores: Stores, tmp_path: Path, error: EvoRAGError, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores.pause_s = 0
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "The medlar is brown.")
        stores.keywords.clear()
        clear = stores.keywords._inner.clear

        def refusing(*_: object) -> None:
            raise error

        def cleared() -> None:
            monkeypatch.undo()
            clear()

        for name in ("stored", "upsert", "count"):
            monkeypatch.setattr(stores.keywords._inner, name, refusing)
        monkeypatch.setattr(stores.keywords._inner, "clear", cleared)
        kb.reindex("keyword")
        kb.work_off()
        assert core.EvoRAG(kb=kb).search(QUESTION).keyword.hits
        assert kb.check("keyword")[0].is_sound
