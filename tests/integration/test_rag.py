"""The seed system's operations under their own names, and the debug dictionary behind its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import core
from core.errors import Conflict, InvalidInput, NotFound
from core.model import Evidence, Reason, VersionRef
from core.settings import Settings
from tests.builders import add, knowledge_base


@pytest.fixture
def rag(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "hours", "The museum opens at nine. It closes at six on weekdays.")
    add(kb, "fees", "The yearly fee is twelve euros. Children pay nothing.")
    add(kb, "long", "The garden has a pond. " * 40)
    return core.EvoRAG(llm_type="none", kb=kb)


def test_retrieve_returns_the_texts_of_the_best_passages(rag: core.EvoRAG) -> None:
    passages = rag.retrieve("When does the museum open?", top_k=2)
    assert len(passages) == 2
    assert passages[0].startswith("The museum opens at nine.")


def test_retrieve_accounts_for_itself_when_asked(rag: core.EvoRAG) -> None:
    passages, info = rag.retrieve("yearly fee of the garden", top_k=3, return_debug_info=True)
    assert passages
    for results in (info["vector_results"], info["keyword_results"]):
        assert results
        for result in results:
            assert isinstance(result["doc_id"], str)
            assert isinstance(result["score"], float)
            assert 0 < len(result["text_preview"]) <= 200
    ranks = {name: [r["doc_id"] for r in info[name]] for name in ("vector_results", "keyword_results")}
    for doc_id, score in info["rrf_scores"].items():
        parts = [1 / (60 + ids.index(doc_id) + 1) for ids in ranks.values() if doc_id in ids]
        assert score == pytest.approx(sum(parts))
    assert json.loads(json.dumps(info)) == info


def test_generate_answers_from_the_passages_that_it_is_given(rag: core.EvoRAG) -> None:
    passages = rag.retrieve("What is the yearly fee?")
    assert "twelve euros" in rag.generate("What is the yearly fee?", passages)
    assert "twelve euros" not in rag.generate("What is the yearly fee?", [])


def test_rag_answers_with_type_and_citations_and_keeps_the_question(rag: core.EvoRAG) -> None:
    result = rag.rag("What is the yearly fee?", return_debug_info=True)
    assert "twelve euros" in result["answer"]
    assert result["answer_type"] == "extractive"
    assert result["citations"][0]["doc_key"] == "fees.txt"
    assert result["debug_info"]["generation"]["answer_type"] == "extractive"
    assert "debug_info" not in rag.rag("What is the yearly fee?")
    assert len(rag.kb.history()) == 2


def test_what_the_documents_do_not_tell_is_not_answered(rag: core.EvoRAG) -> None:
    assert rag.rag("Who invented the zeppelin?")["answer_type"] == "insufficient"


def test_documents_are_added_listed_updated_and_deleted_by_id(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1) as kb:
        rag = core.EvoRAG(kb=kb)
        doc_id = rag.add_user_text("The pond is deep.", source="garden")
        assert rag.get_all_data() == [
            {
                "id": doc_id,
                "text": "The pond is deep.",
                "source": "garden.txt#v1",
                "doc_key": "garden.txt",
                "version": 1,
            }
        ]
        assert rag.update_document(doc_id, "The pond is shallow.") == 2
        assert rag.update_document(doc_id, "The pond is shallow.") == 2
        assert rag.add_user_text("The pond is shallow.", source="garden") == doc_id
        assert "shallow" in rag.retrieve("pond")[0]
        rag.delete_document(str(doc_id))
        assert rag.get_all_data() == []
        assert rag.retrieve("pond") == []
        with pytest.raises(NotFound):
            rag.delete_document(10**30)


def test_the_functions_of_the_seed_system_work_on_the_environments_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.bootstrap import default_knowledge_base

    monkeypatch.setenv("EVORAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVOSPIKENET_TEST_MODE", "1")
    default_knowledge_base.cache_clear()
    try:
        doc_id = core.add_user_text("The pond is deep.")
        core.update_document(doc_id, "The pond is shallow.")
        assert [entry["text"] for entry in core.get_all_data()] == ["The pond is shallow."]
        core.delete_document(doc_id)
        assert core.get_all_data() == []
    finally:
        default_knowledge_base().close()
        default_knowledge_base.cache_clear()


def test_test_mode_keeps_both_indexes_in_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVOSPIKENET_TEST_MODE", "1")
    with core.build(Settings(data_dir=tmp_path / "data")) as kb:
        engines = {store.name: store.engine for store in kb.health().stores}
    assert engines["keyword"] == "memory"
    assert "memory" in engines["vector"]
    assert engines["embedder"].startswith("hash")


def test_every_generator_has_its_name_and_no_other_is_taken(kb: core.KnowledgeBase) -> None:
    assert core.EvoRAG(kb=kb).llm_type == ""
    for name in ("none", "huggingface", "standard", "snn", "openai", "command"):
        assert core.EvoRAG(llm_type=name, kb=kb).llm_type == name
    with pytest.raises(InvalidInput):
        core.EvoRAG(llm_type="oracle", kb=kb)


FEES = "The yearly fee of the club is {} euros. Children pay nothing at all."


@pytest.fixture
def clubs(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "fees", FEES.format("twelve"))
    add(kb, "fees", FEES.format("fifteen"))
    add(kb, "hours", "The club opens at nine in the morning.")
    return core.EvoRAG(kb=kb)


def test_two_versions_answer_the_same_question_side_by_side(clubs: core.EvoRAG) -> None:
    compared = clubs.compare_answers("What is the yearly fee?", VersionRef("fees.txt", 1), VersionRef("fees.txt", 2))
    assert "twelve" in compared.old.answer.text and "fifteen" in compared.new.answer.text
    assert compared.is_changed
    [change] = compared.evidence
    assert (change.evidence, change.reason) == (Evidence.STAYED, Reason.TEXT)
    assert change.old is not None and change.old.placed.version == 1
    assert change.new is not None and change.new.placed.version == 2
    assert clubs.kb.history() == []


def test_the_same_version_on_both_sides_changes_nothing(clubs: core.EvoRAG) -> None:
    same = VersionRef("fees.txt", 1)
    compared = clubs.compare_answers("What is the yearly fee?", same, same, alone=False)
    assert not compared.is_changed
    assert {change.reason for change in compared.evidence} == {Reason.NONE}


def test_both_sides_are_ranked_with_the_same_statistics(clubs: core.EvoRAG) -> None:
    compared = clubs.compare_answers(
        "When does the club open?", VersionRef("fees.txt", 1), VersionRef("fees.txt", 2), alone=False
    )
    scores = [
        {
            hit.placed.id: hit.keyword.score
            for hit in trace.candidates
            if hit.keyword and hit.placed.doc_key == "hours.txt"
        }
        for trace in (compared.old, compared.new)
    ]
    assert scores[0] and scores[0] == scores[1]
    assert not compared.is_changed


def test_alone_only_the_documents_compared_are_asked(clubs: core.EvoRAG) -> None:
    old, new = VersionRef("fees.txt", 1), VersionRef("hours.txt", 1)
    alone = clubs.compare_answers("the club", old, new)
    assert {hit.placed.doc_key for hit in alone.old.candidates} == {"fees.txt"}
    assert {hit.placed.doc_key for hit in alone.new.candidates} == {"hours.txt"}
    beside = clubs.compare_answers("the club", old, new, alone=False, top_k=1)
    assert {hit.placed.doc_key for hit in beside.old.candidates} == {"fees.txt", "hours.txt"}
    assert len(beside.old.hits) == 1


def test_versions_that_cannot_be_asked_are_not_compared(clubs: core.EvoRAG) -> None:
    with pytest.raises(NotFound):
        clubs.compare_answers("fee", VersionRef("fees.txt", 1), VersionRef("fees.txt", 9))
    clubs.kb.add_text("fees", FEES.format("twenty"))
    with pytest.raises(Conflict):
        clubs.compare_answers("fee", VersionRef("fees.txt", 1), VersionRef("fees.txt", 3))
    with pytest.raises(Conflict):
        clubs.impact("fees.txt", 3, [])


def test_impact_tells_which_saved_answers_would_change(clubs: core.EvoRAG) -> None:
    saved = [clubs.kb.catalog.saved.save(text) for text in ("What is the yearly fee?", "When does the club open?")]
    seen: list[tuple[int, int]] = []
    impacts = list(clubs.impact("fees.txt", 1, saved, progress=lambda done, total: seen.append((done, total))))
    assert [(impact.question, impact.comparison.is_changed) for impact in impacts] == [
        (saved[0], True),
        (saved[1], False),
    ]
    assert "fifteen" in impacts[0].comparison.old.answer.text and "twelve" in impacts[0].comparison.new.answer.text
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert clubs.kb.history() == []


def test_impact_of_a_document_that_shows_nothing_starts_from_nothing(clubs: core.EvoRAG) -> None:
    clubs.kb.delete("fees.txt")
    saved = clubs.kb.catalog.saved.save("What is the yearly fee?")
    [impact] = clubs.impact("fees.txt", 2, [saved])
    assert {hit.placed.doc_key for hit in impact.comparison.old.candidates} <= {"hours.txt"}
    assert "fifteen" in impact.comparison.new.answer.text
    assert Evidence.APPEARED in {change.evidence for change in impact.comparison.evidence}


def test_what_is_published_between_the_two_questions_changes_neither(
    clubs: core.EvoRAG, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = clubs.kb.queries.run

    def run_then_publish(*arguments: object, **named: object) -> object:
        trace = run(*arguments, **named)  # type: ignore[arg-type]
        add(clubs.kb, "elsewhere.txt", f"The yearly fee is {trace.id}. Yearly fee, yearly fee.")
        return trace

    monkeypatch.setattr(clubs.kb.queries, "run", run_then_publish)
    fees = VersionRef("fees.txt", 1)

    found = clubs.compare_answers("What is the yearly fee?", fees, fees, alone=False)

    assert found.old.sequence == found.new.sequence
    assert not found.is_changed
    assert all(each.reason is Reason.NONE for each in found.evidence)
