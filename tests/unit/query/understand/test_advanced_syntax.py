"""The advanced syntax demands phrases, excludes words and names fields; it is never an error, and off by default."""

from __future__ import annotations

import pytest

import core
from core import Query
from core.errors import InvalidInput
from core.model import Syntax
from core.query.understand.advanced_syntax import is_met, parse
from tests.builders import add, placed
from tests.unit.query.test_pipeline import LITERAL


@pytest.mark.parametrize(
    ("text", "left", "syntax"),
    [
        ('"walnut tree" harvest', "walnut tree harvest", Syntax(phrases=("walnut tree",))),
        ("harvest -pump", "harvest", Syntax(excluded=("pump",))),
        ('harvest -"pump room"', "harvest", Syntax(excluded=("pump room",))),
        ("title:policy meals", "meals", Syntax(fields=(("title", "policy"),))),
        ('doc:"travel policy" meals', "meals", Syntax(fields=(("doc", "travel policy"),))),
        ("「日当」 tag:旅費", "「日当」", Syntax(fields=(("tag", "旅費"),))),
        ("multi-agent a-b", "multi-agent a-b", Syntax()),
        ("a:b http://x", "a:b http://x", Syntax()),
        ("type:unknown meals", "type:unknown meals", Syntax()),
        ("-meals", "-meals", Syntax()),
        ('"never closed', '" never closed', Syntax()),
        ("type:pdf", "pdf", Syntax(fields=(("type", "pdf"),))),
    ],
)
def test_what_can_be_read_is_demanded_and_the_rest_is_literal(text: str, left: str, syntax: Syntax) -> None:
    parsed = parse(text)
    assert (parsed.text, parsed.syntax) == (left, syntax)


def test_no_question_is_an_error(kb: core.KnowledgeBase) -> None:
    add(kb, "held", "Any sign stands here.")
    for question in (*LITERAL, '""', '-"', "title:", ":", "-- --", '" " -" " tag:""', "-a " * 900):
        assert not core.EvoRAG(kb=kb).search(Query(question, syntax="advanced")).degraded


def test_phrases_and_excluded_words_are_literal() -> None:
    passage = placed(1, "The walnut\nTREE of the party; price 5,000円。")
    assert is_met(Syntax(phrases=("walnut tree", "5,000円")), passage)
    assert not is_met(Syntax(phrases=("tree walnut",)), passage)
    assert is_met(Syntax(excluded=("art", "par")), passage)
    assert not is_met(Syntax(excluded=("party",)), passage)
    assert not is_met(Syntax(excluded=("円",)), passage)
    assert not is_met(Syntax(phrases=(".*",)), passage)


def test_fields_and_demands_limit_what_is_found(kb: core.KnowledgeBase) -> None:
    kb.add_text("travel policy", "Meals are paid abroad.")
    add(kb, "fair.md", "Meals at the fair are free.")
    rag = core.EvoRAG(kb=kb)

    def keys(question: str, syntax: str = "advanced") -> set[str]:
        return {hit.placed.doc_key for hit in rag.search(Query(question, syntax=syntax)).hits}

    assert keys("title:TRAVEL meals") == {"travel policy.txt"}
    assert keys("doc:fair meals") == {"fair.md"}
    assert keys("type:markdown meals") == {"fair.md"}
    assert keys("meals -fair") == {"travel policy.txt"}
    assert keys('"paid abroad" meals') == {"travel policy.txt"}
    assert keys("tag:none meals") == set()
    assert keys("title:TRAVEL meals -fair", "plain") == {"travel policy.txt", "fair.md"}


def test_the_legs_are_read_deeper_for_what_is_demanded(kb: core.KnowledgeBase) -> None:
    kb.add_texts([(f"n{number}", "", f"medlar medlar medlar {number}") for number in range(9)])
    add(kb, "last", "One medlar, and much else besides, of which nobody has ever asked: the blue gate.")
    trace = core.EvoRAG(kb=kb).search(Query("medlar", top_k=3, depth=3, syntax="plain"))
    assert "last.txt" not in {hit.placed.doc_key for hit in trace.candidates}
    trace = core.EvoRAG(kb=kb).search(Query('medlar -"medlar medlar"', depth=3, syntax="advanced"))
    assert [hit.placed.doc_key for hit in trace.hits] == ["last.txt"]
    assert trace.hits[0].rank == 1


def test_an_unknown_syntax_is_refused(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        core.EvoRAG(kb=kb).search(Query("meals", syntax="lucene"))


def test_neither_a_phrase_nor_an_excluded_word_is_met_by_its_translation() -> None:
    passage = placed(1, "プリンターの設定を変更します。")
    assert not is_met(Syntax(phrases=("printer",)), passage)
    assert is_met(Syntax(excluded=("printer",)), passage)
