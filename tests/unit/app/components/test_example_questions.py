"""Examples on the start page can be understood without the document that they come from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.components.ask.example_questions import examples_of, own_questions
from core.model import Chunk, Document, Label, Locator

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def document(language: str = "en") -> Document:
    told: dict[str, Any] = {"tags": (), "size_bytes": 1, "state": "published", "created_at": NOW, "updated_at": NOW}
    counted = {"published_version": 1, "latest_version": 1, "version_count": 1, "chunk_count": 1}
    return Document(1, "m.md", "m.md", title="Manual", extension="md", language=language, **told, **counted)


def under(*headings: str) -> list[Chunk]:
    return [Chunk(at, "Text.", 0, 5, locator=Locator(heading_path=(each,))) for at, each in enumerate(headings)]


def entry(label: str) -> Chunk:
    return Chunk(0, "Text.", 0, 5, labels=(Label(0, label),))


@pytest.mark.parametrize(
    "heading", ["What is this FAQ?", "How exact is it?", "Who are they?", "これは何ですか", "本書はどこにありますか"]
)
def test_no_question_is_offered_that_only_its_document_explains(heading: str) -> None:
    assert examples_of(document(), under(heading)) == []


@pytest.mark.parametrize(
    "heading", ["Before work", "When it rains", "Synopsis", "パスワードを忘れました", "地震のとき"]
)
def test_nothing_is_asked_about_a_heading_that_names_no_thing(heading: str) -> None:
    assert examples_of(document(), under(heading)) == []


def test_questions_of_the_document_come_first() -> None:
    chunks = [*under("Washing a mirror", "How long does delivery take?"), entry("Does moonlight damage the detector?")]
    own = ["How long does delivery take?", "Does moonlight damage the detector?"]
    assert own_questions(document(), chunks) == own
    assert examples_of(document(), chunks, 3) == [*own, "What does “Manual” say about washing a mirror?"]


def test_headings_in_capitals_keep_them() -> None:
    assert examples_of(document(), under("File Open Routines")) == ["What does “Manual” say about File Open Routines?"]


def test_options_are_asked_for_where_headings_say_nothing() -> None:
    chunks = [*under("Options"), entry("--verbose, -v"), entry("-o FILE"), entry("- an item"), entry("A | B")]
    assert examples_of(document(), chunks, 5) == ["What does --verbose do?", "What does -o do?"]
    assert examples_of(document("ja"), chunks) == ["--verbose は何をするオプションですか？"]
