"""Generators by name and by task."""

from __future__ import annotations

import pytest

from core.errors import InvalidInput
from core.generators import Generators
from core.model import Task
from tests.doubles import QueuedGenerator


def made() -> tuple[Generators, list[str]]:
    opened: list[str] = []

    def opener(label: str):
        return lambda: opened.append(label) or QueuedGenerator()  # type: ignore[func-returns-value]

    openers = {"one": opener("one"), "two": opener("two")}
    tasks = {Task.ANSWER: "one", Task.STANDALONE: ""}
    return Generators(openers, tasks, {("two", Task.STANDALONE): opener("two for standalone")}), opened


def test_generator_is_opened_once_and_when_it_is_first_used() -> None:
    generators, opened = made()
    assert generators.names() == ("none", "one", "two") and opened == []
    assert generators.get("one") is generators.get("one", Task.STANDALONE)
    assert opened == ["one"]


def test_task_may_have_a_generator_of_its_own_under_the_same_name() -> None:
    generators, opened = made()
    assert generators.get("two", Task.STANDALONE) is not generators.get("two")
    assert opened == ["two for standalone", "two"]


def test_choice_comes_first_and_nothing_means_none() -> None:
    generators, _ = made()
    assert generators.chosen(Task.ANSWER) == "one" and generators.chosen(Task.ANSWER, "two") == "two"
    assert generators.chosen(Task.STANDALONE) == "none" and generators.get("none") is None


def test_unknown_name_is_refused_with_those_that_are_known() -> None:
    generators, _ = made()
    for refused in (lambda: generators.chosen(Task.ANSWER, "x"), lambda: generators.get("x")):
        with pytest.raises(InvalidInput) as error:
            refused()
        assert "none, one, two" in error.value.remedy
