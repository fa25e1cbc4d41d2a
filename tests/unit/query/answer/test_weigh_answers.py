"""A generator of the settings writes what extraction is unsure of; where the two disagree, evidence decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from core.generators import NONE
from core.model import AnswerType, Query, Task, Trace
from core.query.answer.weigh_answers import needs_writing
from tests.builders import add, knowledge_base
from tests.doubles import QueuedGenerator, use

SURE = "When does the Hakone shop open?"
UNSURE = "Which drinks can visitors of the shop taste on rainy afternoons?"
PASSAGES = {
    "shop": "The Hakone shop opens at nine in the morning. Only cash is taken there.",
    "tea": "Visitors may taste green tea in the room behind the garden. The garden was laid out in 1932.",
}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        for name, text in PASSAGES.items():
            add(opened, name, text)
        yield opened


def asked(kb: core.KnowledgeBase, question: str, written: str, generator: str = "") -> tuple[Trace, QueuedGenerator]:
    """Ask with a generator that is that of the settings, and is chosen where ``generator`` names it."""
    writer = QueuedGenerator(written)
    use(kb, writer)
    kb.generators._tasks[Task.ANSWER] = writer.name
    return core.EvoRAG(kb=kb).ask(Query(question, generator=generator, fresh=True)), writer


def test_generator_of_the_settings_leaves_a_sure_extracted_answer_alone(kb: core.KnowledgeBase) -> None:
    trace, writer = asked(kb, SURE, "The Hakone shop opens at nine.")
    assert trace.answer.type is AnswerType.EXTRACTIVE and trace.answer.confidence >= kb.settings.sure_confidence
    assert writer.prompts == [] and "writes_reason" not in trace.generation


def test_generator_that_the_question_names_writes_however_sure_extraction_is(kb: core.KnowledgeBase) -> None:
    trace, _ = asked(kb, SURE, "The Hakone shop opens at nine.", "queued")
    assert trace.answer.type is AnswerType.GENERATIVE and trace.answer.other is None
    assert (trace.answer.generator, trace.generation["writes_reason"]) == ("queued: queue", "chosen")


def test_generator_of_the_settings_writes_where_extraction_is_unsure(kb: core.KnowledgeBase) -> None:
    trace, _ = asked(kb, UNSURE, "Visitors may taste green tea.")
    assert trace.answer.text.startswith("Visitors may taste green tea.")
    assert trace.generation["writes_reason"] == "unsure"


@pytest.mark.parametrize(
    ("question", "is_needed"),
    [
        ("Compare the opening hours of both shops.", True),
        ("What is the difference between a draft and a version?", True),
        ("Summarise the leave rules.", True),
        ("出張規程を要約してください", True),
        ("有給休暇と特別休暇の違いは何ですか", True),
        ("When does the Hakone shop open?", False),
        ("How do I restart the server?", False),
        ("箱根店は何時に開きますか", False),
    ],
)
def test_form_that_no_sentence_has_needs_writing(question: str, is_needed: bool) -> None:
    assert needs_writing(question) is is_needed


def test_generator_of_the_settings_writes_the_form_that_needs_it(kb: core.KnowledgeBase) -> None:
    trace, _ = asked(kb, "Summarise when the Hakone shop opens.", "The Hakone shop opens at nine.")
    assert (trace.answer.type, trace.generation["writes_reason"]) == (AnswerType.GENERATIVE, "form")


def test_sure_extraction_wins_over_a_supported_sentence_that_answers_something_else(kb: core.KnowledgeBase) -> None:
    trace, _ = asked(kb, SURE, "Visitors may taste green tea in the room behind the garden.", "queued")
    answer = trace.answer
    assert answer.type is AnswerType.EXTRACTIVE and "nine" in answer.text and answer.reason == "disagreement"
    assert answer.other is not None and "green tea" in answer.other.text
    assert (answer.generator, answer.other.generator) == (NONE, "queued: queue")
    assert kb.trace(trace.id).answer == answer


def test_supported_writing_wins_over_unsure_extraction_that_says_something_else(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, sure_confidence=2.0) as kb:
        for name, text in PASSAGES.items():
            add(kb, name, text)
        trace, _ = asked(kb, SURE, "Visitors may taste green tea in the room behind the garden.")
    assert trace.answer.type is AnswerType.GENERATIVE
    assert trace.answer.other is not None and "nine" in trace.answer.other.text


def test_writer_that_finds_no_answer_does_not_take_a_sure_one_away(kb: core.KnowledgeBase) -> None:
    trace, _ = asked(kb, SURE, "The documents do not contain this information.", "queued")
    assert trace.answer.type is AnswerType.EXTRACTIVE
    assert trace.answer.other is not None and trace.answer.other.type is AnswerType.INSUFFICIENT


def test_only_repeating_the_question_is_another_answer(kb: core.KnowledgeBase) -> None:
    trace, _ = asked(kb, SURE, "The Hakone shop opens.", "queued")
    assert trace.answer.type is not AnswerType.GENERATIVE and "nine" in trace.answer.text


# ---- generate()


def test_generate_writes_with_llm_type_and_says_what_wrote(kb: core.KnowledgeBase) -> None:
    writer = QueuedGenerator("The Hakone shop opens at nine.", "Bananas ripen faster in paper bags.")
    use(kb, writer)
    rag = core.EvoRAG("queued", kb)
    passages = rag.retrieve(SURE)
    text = rag.generate(SURE, passages)
    assert text == "The Hakone shop opens at nine. [1]" and isinstance(text, str)
    assert text.answer.generator == "queued: queue" and text.answer.citations[0].doc_key == "shop.txt"
    assert PASSAGES["shop"] in writer.prompts[0].as_text()
    unsupported = rag.generate(SURE, passages)
    assert unsupported.answer.type is AnswerType.HALLUCINATION_FALLBACK and "nine" in unsupported
    assert rag.generate(SURE, []).answer.type is AnswerType.INSUFFICIENT and len(writer.prompts) == 2


def test_generate_extracts_where_nothing_shall_write_and_where_extraction_is_sure(kb: core.KnowledgeBase) -> None:
    writer = QueuedGenerator()
    use(kb, writer)
    kb.generators._tasks[Task.ANSWER] = writer.name
    for llm_type in ("none", ""):
        rag = core.EvoRAG(llm_type, kb)
        text = rag.generate(SURE, rag.retrieve(SURE))
        assert "nine" in text and text.answer.generator == NONE
