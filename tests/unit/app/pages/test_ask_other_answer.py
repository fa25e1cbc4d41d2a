"""Who wrote an answer stands with it, an answer that disagrees stands below it, and naming a generator is a choice."""

from __future__ import annotations

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.components.ask.answer_card import answer_card
from app.components.ask.options import Offer, answer_fields
from core.model import AnswerType, GeneratorHealth, GeneratorState, Query, Task
from tests.builders import add
from tests.doubles import QueuedGenerator, use
from tests.unit.app.drawn import by_class, by_id, open_page, text
from tests.unit.app.pages.test_ask import ask

WHEN = "When does the harvest of the orchard begin?"
BREAD = "The bakery sells bread made of rye from six in the morning."


@pytest.fixture
def orchard(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(
        kb,
        "orchard.txt",
        "The orchard in Suwa holds 240 apple trees. The harvest of the orchard begins on 12 September.",
    )
    add(kb, "bakery.txt", BREAD)
    return kb


def test_an_answer_that_disagrees_stands_below_with_its_own_citation(
    window: Dash, client: FlaskClient, orchard: core.KnowledgeBase
) -> None:
    use(orchard, QueuedGenerator(BREAD))
    trace = core.EvoRAG(kb=orchard).ask(Query(WHEN, generator="queued"))
    card = by_id(open_page(window, f"/ask?trace={trace.id}"), "ask-answer-card")
    [other] = by_class(card, "other-answer")
    assert "bread made of rye" in text(other) and "by queued: queue" in text(other) and "[1]" in text(other)
    assert "12 September" in text(card) and "Extracted" in text(card)
    assert "disagree" in text(card)


@pytest.mark.parametrize(
    ("written", "who"),
    [
        ("The harvest of the orchard begins on 12 September.", "by queued: queue"),
        ("Bananas ripen faster inside paper bags.", "instead of what queued: queue wrote"),
    ],
)
def test_who_wrote_is_said_of_what_was_written_and_of_what_replaced_it(
    window: Dash, orchard: core.KnowledgeBase, written: str, who: str
) -> None:
    use(orchard, QueuedGenerator(written))
    trace = core.EvoRAG(kb=orchard).ask(Query(WHEN, generator="queued"))
    assert who in text(answer_card(trace)) and not by_class(answer_card(trace), "other-answer")


def test_naming_the_usual_generator_is_a_choice_and_leaving_it_open_is_none(
    window: Dash, client: FlaskClient, orchard: core.KnowledgeBase
) -> None:
    use(orchard, QueuedGenerator())
    orchard.generators._tasks[Task.ANSWER] = "queued"
    for chosen, sent in (("queued", "queued"), ("usual", None), ("none", "none")):
        asked = ask(window, client, WHEN, **{"ask-generator.value": chosen})
        if chosen == "none":
            assert "gen=none" in asked["ask-go"]["data"]["search"]
        else:
            assert asked["ask-stream"]["data"]["body"].get("generator") == sent
    answered = core.EvoRAG(kb=orchard).ask(Query(WHEN))
    assert answered.answer.type is AnswerType.EXTRACTIVE


def test_the_choice_offers_extraction_first_where_a_generator_is_usual(window: Dash) -> None:
    ready = GeneratorHealth("openai", "m", GeneratorState.READY)
    usual = by_id(answer_fields(Query("q"), Offer((ready,), "openai")), "ask-generator")
    assert (usual.value, usual.options[0]["value"]) == ("usual", "usual")
    none = by_id(answer_fields(Query("q"), Offer((ready,))), "ask-generator")
    assert none.value == "none" and "usual" not in [option["value"] for option in none.options]
