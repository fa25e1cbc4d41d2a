"""A citation opens its passage whatever became of the document since; after a purge the page says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dash import Dash, html

import core
from app.components.shared.links import citation_href
from core.model import Citation
from tests.builders import add
from tests.unit.app.drawn import by_id, open_page, parts, text

FILLER = "Members keep the rules of the house and greet each other on the stairs. " * 40
OLD = f"The yearly fee is twelve euros.\n\n{FILLER}\n\nThe gate closes at six."
NEW = f"A new opening paragraph.\n\n{FILLER}\n\nThe gate closes at nine, and the yearly fee is fifteen euros."


@pytest.fixture
def cited(kb: core.KnowledgeBase) -> Citation:
    """The citation of an answer from version 1."""
    add(kb, "fees.txt", OLD)
    trace = core.EvoRAG(kb=kb).ask("What is the yearly fee?")
    return trace.answer.citations[0]


def later_uploads(kb: core.KnowledgeBase) -> None:
    add(kb, "fees.txt", NEW)
    add(kb, "fees.txt", "Something else altogether.")


def rollback(kb: core.KnowledgeBase) -> None:
    later_uploads(kb)
    kb.rollback("fees.txt", 2)


def deletion(kb: core.KnowledgeBase) -> None:
    kb.delete("fees.txt")


def unpublication(kb: core.KnowledgeBase) -> None:
    later_uploads(kb)
    kb.unpublish("fees.txt")


def deletion_and_return(kb: core.KnowledgeBase) -> None:
    deletion(kb)
    add(kb, "fees.txt", NEW)


def purge_of_others(kb: core.KnowledgeBase) -> None:
    later_uploads(kb)
    kb.purge("fees.txt", 2)


@pytest.mark.long
@pytest.mark.parametrize(
    "change", [later_uploads, rollback, deletion, unpublication, deletion_and_return, purge_of_others]
)
def test_a_citation_opens_its_sentence_after_whatever_came_since(
    window: Dash, kb: core.KnowledgeBase, cited: Citation, change: Callable[[core.KnowledgeBase], None]
) -> None:
    change(kb)
    page = open_page(window, citation_href(cited))
    assert [mark.children for mark in parts(page, html.Mark)] == ["The yearly fee is twelve euros."]
    assert "chunk-target" in by_id(page, f"chunk-{cited.position}").className


@pytest.mark.parametrize("whole", [False, True])
def test_a_citation_of_what_was_purged_says_so(
    window: Dash, kb: core.KnowledgeBase, cited: Citation, whole: bool
) -> None:
    later_uploads(kb)
    kb.purge("fees.txt", None if whole else 1)
    page = open_page(window, citation_href(cited))
    assert "Version 1 was removed for good" in text(page)
    assert "twelve euros" not in text(page)
    assert not list(parts(page, html.Mark))


def test_a_citation_names_document_version_and_chunk(kb: core.KnowledgeBase, cited: Citation) -> None:
    assert (cited.doc_key, cited.version) == ("fees.txt", 1)
    [chunk] = kb.preview("fees.txt", 1, cited.position, 1).chunks
    assert chunk.id == cited.chunk_id
    assert kb.text_of("fees.txt", 1)[cited.start : cited.end] == cited.text == "The yearly fee is twelve euros."
