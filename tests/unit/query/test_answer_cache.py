"""Kept answers: given again to the same question of the same documents, and to nobody and nothing else."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest

import core
from core.access import acting
from core.errors import GenerationFailed, GenerationTimedOut, InvalidInput, NotFound, StoreUnavailable
from core.model import (
    AnalysisStep,
    AnswerStep,
    AnswerType,
    DoneStep,
    Filters,
    PassagesStep,
    Principal,
    Query,
    Role,
    Trace,
    VersionRef,
    WritingStep,
)
from core.settings import settings_elsewhere
from tests.builders import add, knowledge_base
from tests.doubles import BrokenOff, QueuedGenerator, use

QUESTION = "When does the museum open?"
LIKE_IT = "At what time does the museum open?"
ANN, BOB = Principal("ann", Role.EDITOR, 2), Principal("bob", Role.EDITOR, 3)
WHOLE = "The museum opens at {}."


def settled(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """Bring the indexes to what is shown: answers are kept from then on."""
    kb._projector.flush()
    return kb


@pytest.fixture
def rag(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "hours", WHOLE.format("nine"))
    add(kb, "fees", "The yearly fee is twelve euros.")
    return core.EvoRAG(kb=settled(kb))


def near(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all questions have the same embedding."""
    vector = kb._embedder.embed_query(QUESTION)
    monkeypatch.setattr(type(kb._embedder), "embed_query", lambda self, text: vector)


def test_the_same_question_is_answered_from_the_cache(rag: core.EvoRAG) -> None:
    first, again = rag.ask(QUESTION), rag.ask(f"  {QUESTION} ")
    assert first.cache is None and again.cache is not None
    assert (again.cache.kind, again.cache.trace_id, again.cache.question) == ("exact", first.id, QUESTION)
    assert (again.answer, again.hits, again.candidates) == (first.answer, first.hits, first.candidates)
    assert [summary.id for summary in rag.kb.history()] == [again.id, first.id]
    assert rag.kb.trace(again.id) == again
    assert set(again.timings_ms) == {"analyse", "cache", "total"}


def test_a_kept_answer_comes_in_the_steps_of_any_answer(rag: core.EvoRAG) -> None:
    first = rag.ask(QUESTION)
    steps = list(rag.ask_events(QUESTION))
    assert [type(step) for step in steps] == [AnalysisStep, PassagesStep, AnswerStep, DoneStep]
    assert steps[-1].trace.cache.trace_id == first.id


def test_a_question_in_like_words_is_answered_from_the_cache(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    near(rag.kb, monkeypatch)
    first, again = rag.ask(QUESTION), rag.ask(LIKE_IT)
    assert again.cache is not None
    assert (again.cache.kind, again.cache.trace_id) == ("semantic", first.id)
    assert again.query.text == LIKE_IT and again.cache.similarity > 0.99


@pytest.mark.parametrize("other", ["When did the museum open?", "When does the museum close?", "Where is the museum?"])
def test_a_near_embedding_alone_is_no_likeness(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    near(rag.kb, monkeypatch)
    rag.ask(QUESTION)
    assert rag.ask(other).cache is None


def test_like_words_with_another_embedding_are_no_likeness(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {text: rag.kb._embedder.embed_query(word) for text, word in ((QUESTION, "museum"), (LIKE_IT, "euros"))}
    monkeypatch.setattr(type(rag.kb._embedder), "embed_query", lambda self, text: vectors[text])
    rag.ask(QUESTION)
    assert rag.ask(LIKE_IT).cache is None


def test_asking_afresh_replaces_the_kept_answer(rag: core.EvoRAG) -> None:
    rag.ask(QUESTION)
    afresh = rag.ask(Query(QUESTION, fresh=True))
    again = rag.ask(QUESTION)
    assert afresh.cache is None
    assert again.cache is not None and again.cache.trace_id == afresh.id
    assert rag.kb.catalog.answers.count() == 1


def test_what_is_not_kept_neither_uses_nor_fills_the_cache(rag: core.EvoRAG) -> None:
    rag.ask(QUESTION, keep=False)
    assert rag.kb.catalog.answers.count() == 0
    rag.ask(QUESTION)
    assert rag.ask(QUESTION, keep=False).cache is None


def test_whatever_changes_an_answer_makes_another_question_of_it(rag: core.EvoRAG) -> None:
    use(rag.kb, QueuedGenerator("The museum opens at nine. [1]"))
    rag.ask(QUESTION)
    for options in (
        {"top_k": 1},
        {"depth": 3},
        {"fusion": "mix"},
        {"rerank": "none"},
        {"recency": True},
        {"versions": "all"},
        {"filters": Filters(doc_keys=("hours.txt",))},
        {"as_of": VersionRef("hours.txt", 1)},
        {"generator": "queued"},
    ):
        assert rag.ask(Query(QUESTION, **options)).cache is None, options  # type: ignore[arg-type]


def test_a_question_without_days_is_the_same_in_every_time_zone(rag: core.EvoRAG) -> None:
    first, again = rag.ask(QUESTION), rag.ask(Query(QUESTION, zone="Asia/Tokyo"))
    assert again.cache is not None and again.cache.trace_id == first.id


def test_a_question_of_days_is_another_one_where_they_begin_at_another_time(rag: core.EvoRAG) -> None:
    question = "When does the museum open, in the documents since yesterday?"
    first = rag.ask(Query(question, zone="Pacific/Kiritimati"))
    assert [each.kind for each in first.analysis.read_filters] == ["updated"]
    assert rag.ask(Query(question, zone="Pacific/Pago_Pago")).cache is None
    again = rag.ask(Query(question, zone="Pacific/Kiritimati"))
    assert again.cache is not None and again.cache.trace_id == first.id


def test_other_settings_make_other_answers(tmp_path: Path) -> None:
    for number, context_chars in enumerate((3_000, 2_000, 3_000)):
        with knowledge_base(tmp_path, context_chars=context_chars, log_level=["INFO", "DEBUG"][number % 2]) as kb:
            if not number:
                add(kb, "hours", WHOLE.format("nine"))
            assert (core.EvoRAG(kb=settled(kb)).ask(QUESTION).cache is not None) == (number == 2)


def test_tags_that_change_ask_other_documents(rag: core.EvoRAG) -> None:
    tagged = Query(QUESTION, filters=Filters(tags=("open",)))
    assert rag.ask(tagged).answer.type is AnswerType.INSUFFICIENT
    rag.kb.set_tags("hours.txt", ["open"])
    found = rag.ask(tagged)
    assert found.cache is None and "nine" in found.answer.text


CHANGES = {
    "publish": lambda kb: add(kb, "hours", WHOLE.format("ten")),
    "unpublish": lambda kb: kb.unpublish("hours.txt"),
    "delete": lambda kb: kb.delete("hours.txt"),
    "purge": lambda kb: kb.purge("hours.txt"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_document_drops_the_answers_that_rest_on_it_at_once(rag: core.EvoRAG, change: str) -> None:
    rag.ask(QUESTION)
    CHANGES[change](rag.kb)
    assert rag.kb.catalog.answers.count() == 0
    settled(rag.kb)
    found = rag.ask(QUESTION)
    assert found.cache is None and "nine" not in found.answer.text


def test_a_change_that_does_not_happen_drops_nothing(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    first = rag.ask(QUESTION)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(import_module("core.catalog.documents.publications"), "place", die)
        rag.kb.unpublish("hours.txt")
    again = rag.ask(QUESTION)
    assert again.cache is not None and again.cache.trace_id == first.id


def test_a_restored_document_is_asked_afresh(rag: core.EvoRAG) -> None:
    rag.kb.delete("hours.txt")
    settled(rag.kb)
    assert rag.ask(QUESTION).answer.type is AnswerType.INSUFFICIENT
    rag.kb.restore("hours.txt")
    settled(rag.kb)
    assert "nine" in rag.ask(QUESTION).answer.text


def test_a_new_document_that_would_be_found_now_is_found(rag: core.EvoRAG) -> None:
    assert rag.ask("Who founded the museum?").answer.type is AnswerType.INSUFFICIENT
    add(rag.kb, "history", "Ada Byron founded the museum.")
    settled(rag.kb)
    found = rag.ask("Who founded the museum?")
    assert found.cache is None and "Ada Byron" in found.answer.text


@pytest.mark.long
def test_answers_as_of_a_moment_that_has_passed_stay(rag: core.EvoRAG) -> None:
    sequence, moment = rag.kb.sequence(), datetime.now(UTC)
    add(rag.kb, "hours", WHOLE.format("ten"))
    settled(rag.kb)
    first = rag.ask(Query(QUESTION, as_of=sequence))
    add(rag.kb, "hours", WHOLE.format("eleven"))
    settled(rag.kb)
    for as_of in (sequence, moment):
        again = rag.ask(Query(QUESTION, as_of=as_of))
        assert again.cache is not None and again.cache.trace_id == first.id
    assert "nine" in first.answer.text


def test_a_moment_that_has_not_come_is_refused_though_an_answer_is_kept(rag: core.EvoRAG) -> None:
    rag.ask(QUESTION)
    for as_of in (rag.kb.sequence() + 1, datetime.now(UTC) + timedelta(days=1)):
        with pytest.raises(InvalidInput):
            rag.ask(Query(QUESTION, as_of=as_of))


def test_nothing_purged_is_given_again_as_of_an_earlier_moment(rag: core.EvoRAG) -> None:
    sequence = rag.kb.sequence()
    add(rag.kb, "hours", WHOLE.format("ten"))
    settled(rag.kb)
    rag.ask(Query(QUESTION, as_of=sequence))
    rag.kb.purge("hours.txt", 1)
    settled(rag.kb)
    again = rag.ask(Query(QUESTION, as_of=sequence))
    assert again.cache is None
    assert "nine" not in str(again)


def test_what_was_purged_while_it_was_answered_is_not_kept_for_others(
    rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(rag.kb, "hours", WHOLE.format("ten"))
    settled(rag.kb)
    keep = rag.kb.catalog.questions.keep

    def purge_then_keep(trace: Trace, *more: object) -> None:
        rag.kb.purge("hours.txt", 1)
        keep(trace, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(rag.kb.catalog.questions, "keep", purge_then_keep)
    rag.ask(Query(QUESTION, as_of=1))
    assert rag.kb.catalog.answers.count() == 0


def test_nobody_is_given_the_answer_of_somebody_else(rag: core.EvoRAG) -> None:
    with acting(ANN):
        rag.kb.add_text("secret", WHOLE.format("midnight, for friends"), private=True)
    rag.kb.work_off()
    settled(rag.kb)
    with acting(ANN):
        assert "midnight" in rag.ask(QUESTION).answer.text
        assert rag.ask(QUESTION).cache is not None
    with acting(BOB):
        found = rag.ask(QUESTION)
        assert found.cache is None and "midnight" not in str(found)


def test_answers_without_one_of_the_legs_are_not_kept(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise StoreUnavailable("down")

    with monkeypatch.context() as patched:
        patched.setattr(rag.kb._vectors, "search", broken)
        assert rag.ask(QUESTION).degraded == ("vector",)
    assert rag.ask(QUESTION).cache is None


@pytest.mark.parametrize(
    "failure", [GenerationFailed("it broke"), "", BrokenOff("The museum", GenerationTimedOut("late"))]
)
def test_answers_of_generators_that_failed_are_not_kept(
    rag: core.EvoRAG, failure: GenerationFailed | str | BrokenOff
) -> None:
    use(rag.kb, QueuedGenerator(failure, "The museum opens at nine. [1]"))
    asked = Query(QUESTION, generator="queued")
    assert rag.ask(asked).answer.generator_failure is not None
    written = rag.ask(asked)
    assert written.answer.type is AnswerType.GENERATIVE and written.answer.generator_failure is None
    assert written.cache is None
    again = rag.ask(asked)
    assert again.cache is not None and again.answer == written.answer


def test_whoever_goes_while_it_is_written_stops_the_generator_and_leaves_nothing(rag: core.EvoRAG) -> None:
    generator = QueuedGenerator("The museum opens at nine. [1]")
    use(rag.kb, generator)
    steps = rag.ask_events(Query(QUESTION, generator="queued"))
    assert any(isinstance(step, WritingStep) for step in steps)
    steps.close()
    assert generator.closed_early
    assert rag.kb.history() == [] and rag.kb.catalog.answers.count() == 0


def test_account_is_kept_once_the_answer_is_out_and_also_for_whoever_goes_then(rag: core.EvoRAG) -> None:
    for _ in ("answered", "from the cache"):
        before = len(rag.kb.history())
        steps = rag.ask_events(QUESTION)
        assert next(step for step in steps if isinstance(step, AnswerStep)).text
        assert len(rag.kb.history()) == before
        assert isinstance(list(steps)[-1], DoneStep)
        assert len(rag.kb.history()) == before + 1
        seen = rag.ask_events(QUESTION)
        assert any(isinstance(step, AnswerStep) for step in seen)
        seen.close()
        assert len(rag.kb.history()) == before + 2


def test_answers_are_not_kept_while_rows_wait_for_an_index(rag: core.EvoRAG) -> None:
    rag.kb.catalog.outbox.add_everything("vector")
    rag.ask(QUESTION)
    assert rag.kb.catalog.answers.count() == 0


def test_of_too_many_answers_the_oldest_go(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, cache_entries=2) as kb:
        add(kb, "hours", WHOLE.format("nine"))
        rag = core.EvoRAG(kb=settled(kb))
        for word in ("museum", "library", "garden"):
            rag.ask(f"When does the {word} open?")
        assert [rag.ask(f"When does the {word} open?").cache is not None for word in ("garden", "library")] == [
            True
        ] * 2
        assert rag.ask(QUESTION).cache is None


def test_the_cache_can_be_switched_off(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, cache_answers=False) as kb:
        add(kb, "hours", WHOLE.format("nine"))
        rag = core.EvoRAG(kb=settled(kb))
        assert [rag.ask(QUESTION).cache for _ in range(2)] == [None, None]


def test_all_kept_answers_are_forgotten_on_demand(rag: core.EvoRAG) -> None:
    rag.ask(QUESTION)
    assert rag.kb.forget_answers() == 1
    assert rag.ask(QUESTION).cache is None


def test_kept_answers_outlive_the_process(tmp_path: Path) -> None:
    for is_kept in (False, True):
        with knowledge_base(tmp_path) as kb:
            if not is_kept:
                add(kb, "hours", WHOLE.format("nine"))
            assert (core.EvoRAG(kb=settled(kb)).ask(QUESTION).cache is not None) == is_kept


@pytest.mark.long
def test_many_who_ask_the_same_at_once_get_the_same_answer(rag: core.EvoRAG) -> None:
    together = threading.Barrier(64)

    def ask(_: int) -> Trace:
        together.wait()
        return rag.ask(QUESTION)

    with ThreadPoolExecutor(64) as threads:
        traces = list(threads.map(ask, range(64)))
    assert {trace.answer.text for trace in traces} == {traces[0].answer.text} and "nine" in traces[0].answer.text
    assert len({trace.id for trace in traces}) == len(rag.kb.history()) == 64
    assert rag.kb.catalog.answers.count() == 1
    assert rag.ask(QUESTION).cache is not None


def test_a_version_that_cannot_be_asked_is_refused_though_an_answer_is_kept(rag: core.EvoRAG) -> None:
    rag.ask(QUESTION)
    with pytest.raises(NotFound):
        rag.ask(Query(QUESTION, as_of=VersionRef("hours.txt", 9)))


ELSEWHERE_LINES = """
    data_dir test_mode log_level url key host port server_threads header_timeout_s body_rate_bytes stream_limit access
    trusted_proxies public_names session_hours rate_limit sign_in_limit max_upload_bytes max_request_bytes log_format
    upload_part_bytes upload_expiry_hours user_quota_bytes min_free_bytes archive_members archive_bytes
    archive_ratio max_text_chars parser_timeout_s parser_patience_s parser_memory_bytes parser_output_bytes
    table_cell_budget ocr office_check chunk_tokens diff_timeout_s diff_memory_bytes diff_cache_bytes page_cache_bytes
    embedder_threads device job_workers job_batch job_lease_s leg_timeout_s max_question_chars generation_timeout_s
    llm_device llm_threads openai_key
    cache_answers cache_similarity cache_entries recording_bytes recording_upload_bytes recording_prompt_tokens
    recording_traces confirm_minutes keep_questions_days keep_conversations_days keep_jobs_days keep_audit_days
    low_disk_bytes disk_reserve_bytes second_factor
"""


def test_settings_that_change_no_answer_are_these_and_no_others() -> None:
    assert settings_elsewhere() == set(ELSEWHERE_LINES.split())


def test_nothing_is_kept_while_the_model_of_a_generator_is_not_known(rag: core.EvoRAG) -> None:
    generator = QueuedGenerator(*["The museum opens at nine. [1]"] * 3)
    generator.model = ""
    use(rag.kb, generator)
    asked = Query(QUESTION, generator="queued")
    assert [rag.ask(asked).cache for _ in range(2)] == [None, None]
    assert rag.kb.catalog.answers.count() == 0
    generator.model = "known"
    assert rag.ask(asked).cache is None
    assert rag.ask(asked).cache is not None


@pytest.mark.parametrize(("what", "value"), [("FORMAT", -1), ("_release", lambda: "another")])
def test_another_release_answers_afresh(
    rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch, what: str, value: object
) -> None:
    rag.ask(QUESTION)
    assert rag.ask(QUESTION).cache is not None
    monkeypatch.setattr(f"core.query.answer_cache.{what}", value)
    assert rag.ask(QUESTION).cache is None


def test_another_model_in_the_same_folder_answers_afresh(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"1")
    with knowledge_base(tmp_path / "data", llm_model=str(folder)) as kb:
        add(kb, "hours", WHOLE.format("nine"))
        rag = core.EvoRAG(kb=settled(kb))
        assert [rag.ask(QUESTION).cache is not None for _ in range(2)] == [False, True]
        (folder / "model.safetensors").write_bytes(b"22")
        assert rag.ask(QUESTION).cache is None
