"""Sentences are aligned to the passage that says the same; words settle most, vectors the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from core.errors import ModelUnavailable
from core.ports import Vector
from core.query.answer.citation_marks import read_sentences, without_marks
from core.query.answer.context import sources_of
from core.query.guard.attribution import SIMILAR, Support, SupportPassage, WrittenSentence, align
from tests.builders import hit

PLANT = "The Hakone plant was opened in 1987 and employs 3,776 people. It makes pumps and valves."
TOWN = "The town of Odawara has a castle. Its plant nursery sells roses, and 3,776 of them bloom in May."
JAPANESE = "箱根工場は1987年に開設された。従業員は三千七百七十六人で、ポンプを製造する。"


class Recorded:
    """An embedder whose texts are all as similar to the first as it is told."""

    def __init__(self, similarity: float = 0.0, error: Exception | None = None) -> None:
        self.asked: list[list[str]] = []
        self._similarity, self._error = similarity, error

    def __call__(self, texts: Sequence[str]) -> Vector:
        self.asked.append(list(texts))
        if self._error:
            raise self._error
        near = [self._similarity, (1 - self._similarity**2) ** 0.5]
        return np.array([[1.0, 0.0], *[near] * (len(texts) - 1)], dtype=np.float32)


def passages(*texts: str) -> list[SupportPassage]:
    return [
        SupportPassage.read(source) for source in sources_of([hit(n, text, rank=n) for n, text in enumerate(texts, 1)])
    ]


def support(sentence: str, *texts: str, embed: Recorded | None = None, hints: frozenset[int] = frozenset()) -> Support:
    return align([WrittenSentence(sentence, hints)], passages(*texts), embed)[0]


def span(found: Support) -> str:
    assert found.source is not None
    return found.source.hit.placed.chunk.text[found.start : found.end]


def test_a_sentence_is_aligned_to_the_sentence_that_says_it() -> None:
    found = support("It makes valves and pumps.", TOWN, PLANT)
    assert found.is_supported
    assert span(found) == "It makes pumps and valves."
    assert found.source is not None and found.source.number == 2


def test_words_that_settle_a_sentence_ask_for_no_vector() -> None:
    embed = Recorded()
    assert support("The plant employs 3,776 people.", PLANT, embed=embed).is_supported
    assert not support("Bananas ripen faster in paper bags.", PLANT, embed=embed).is_supported
    assert embed.asked == []


@pytest.mark.parametrize(("similarity", "supported"), [(SIMILAR["en"] + 0.01, True), (SIMILAR["en"] - 0.01, False)])
def test_vectors_decide_what_words_do_not(similarity: float, supported: bool) -> None:
    embed = Recorded(similarity)
    found = support("The factory employs numerous people.", PLANT, embed=embed)
    assert found.is_supported is supported
    assert found.similarity == pytest.approx(similarity, abs=1e-4)
    assert len(embed.asked) == 1


def test_without_vectors_what_words_do_not_settle_is_not_supported() -> None:
    broken = Recorded(error=ModelUnavailable("Gone."))
    assert not support("The factory employs numerous people.", PLANT, embed=broken).is_supported
    assert not support("The factory employs numerous people.", PLANT).is_supported


def test_however_many_sentences_are_open_one_batch_of_few_texts_is_asked_for() -> None:
    embed = Recorded(0.99)
    sentences = [WrittenSentence(f"{word} factories employ people.") for word in ("Kind", "Tall", "Glad", "Old")]
    align(sentences, passages(PLANT), embed)
    assert len(embed.asked) == 1
    assert len(embed.asked[0]) == 2


def test_a_figure_that_the_passage_does_not_hold_is_flagged_and_never_supported() -> None:
    found = support("The Hakone plant was opened in 1988 and employs 3,776 people.", PLANT, embed=Recorded(0.99))
    assert not found.is_supported
    assert found.foreign_figures == ("1988",)


def test_a_name_that_the_passage_does_not_hold_is_never_supported() -> None:
    found = support("The Nagoya plant was opened in 1987 and employs 3,776 people.", PLANT, embed=Recorded(0.99))
    assert (found.is_supported, found.foreign_names) == (False, ("Nagoya",))
    assert support("名古屋のバルブ工場は1987年に開設された。", JAPANESE).foreign_names == ("バルブ",)


@pytest.mark.parametrize(
    ("sentence", "passage", "names"),
    [
        ("The contract was signed by Ann.", "The planned contract was signed by Bob.", ("Ann",)),
        ("The seminar is held in May.", "The seminar may be held in March.", ("May",)),
        ("The seminar is held in May.", "The seminar in May is held here.", ()),
        ("The disk holds 5 GB.", "The disk holds 5GB.", ()),
        ("Javaで書く。", "JavaScriptで書く。", ("Java",)),
        ("Javaで書く。", "プログラムをJavaで書く。", ()),
    ],
)
def test_a_name_is_held_as_a_word_and_not_within_one(sentence: str, passage: str, names: tuple[str, ...]) -> None:
    assert support(sentence, passage).foreign_names == names


def test_a_figure_of_a_sentence_that_is_near_no_passage_is_flagged_where_none_holds_it() -> None:
    assert support("Parking costs 9,999 yen.", PLANT, TOWN).foreign_figures == ("9,999",)
    assert support("Parking costs 3,776 yen.", PLANT, TOWN).foreign_figures == ()


def test_the_passage_that_holds_the_figure_is_taken_before_one_with_more_words() -> None:
    found = support("The plant sells roses in 1987.", TOWN, "The plant sold roses, they say, in 1987.")
    assert found.source is not None and found.source.number == 2


def test_of_equal_passages_the_one_that_was_cited_is_taken() -> None:
    found = support("It makes pumps.", PLANT, PLANT, hints=frozenset({2}))
    assert found.source is not None and found.source.number == 2


def test_japanese_numerals_and_words_are_held_against_a_japanese_passage() -> None:
    found = support("箱根工場の従業員は3,776人です。", JAPANESE)
    assert found.is_supported
    assert found.foreign_figures == ()


def test_across_languages_vectors_decide_alone() -> None:
    assert support("The plant makes pumps.", JAPANESE, embed=Recorded(0.95)).is_supported
    assert not support("The plant makes pumps.", JAPANESE, embed=Recorded(0.5)).is_supported
    assert not support("The plant opened in 1999.", JAPANESE, embed=Recorded(0.95)).is_supported


def test_a_row_is_supported_by_its_header_and_its_cells() -> None:
    found = support("The price of quince is 300.", "Fruit | Price\nQuince | 300\nMedlar | 200")
    assert found.is_supported
    assert span(found) == "Quince | 300"


@pytest.mark.parametrize(
    "text",
    ["Fact [1].", "Fact. [1]", "Fact [1][2].", "Fact 【１】.", "Fact [Document 1].", "Fact [1, 2].", "Fact.[^1]"],
)
def test_citation_marks_are_read_as_hints_and_removed(text: str) -> None:
    (sentence,) = read_sentences(text, 100)
    assert sentence.text == "Fact."
    assert 1 in sentence.hints


def test_marks_belong_to_the_sentence_before_them() -> None:
    first, second = read_sentences("One is red. [1] Two is blue [2].", 100)
    assert (first.text, set(first.hints)) == ("One is red.", {1})
    assert (second.text, set(second.hints)) == ("Two is blue.", {2})


def test_fences_that_a_model_repeats_are_no_text() -> None:
    assert without_marks('<document number="1" name="x">Fact</document>').strip() == "Fact"


@pytest.mark.parametrize(
    ("text", "context", "shown", "hints"),
    [
        ("Use list[0] in it [1].", "use list[0] here", "Use list(0) in it.", {1}),
        ("Use args[1] in it [2].", "use args[1] here", "Use args(1) in it.", {2}),
        ("It uses args[1].", "it uses args", "It uses args.", {1}),
        ("Founded in Tokyo[1].", "founded in tokyo[1].", "Founded in Tokyo.", {1}),
        ("It uses args [1].", "it uses args [1]", "It uses args.", {1}),
        ("In [2020], it rose [1].", "", "In (2020), it rose.", {1}),
        ("引数はargs[1]に入る[2]。", "args[1]に入る", "引数はargs(1)に入る。", {2}),
    ],
)
def test_years_and_code_of_the_passages_are_no_marks(text: str, context: str, shown: str, hints: set[int]) -> None:
    (sentence,) = read_sentences(text, 100, context)
    assert (sentence.text, set(sentence.hints)) == (shown, hints)


def test_a_mark_inside_another_leaves_no_mark() -> None:
    assert without_marks("One is red [1[2]] and [1[2[3]]].") == "One is red (1) and [1(2)]."
    (sentence,) = read_sentences("One is red [1[2]].", 100)
    assert (sentence.text, sentence.hints) == ("One is red (1).", {2})


def test_sentences_beyond_the_last_read_one_lend_it_no_marks() -> None:
    read = read_sentences("One is red [1]. Two is blue [2]. Three is green [3].", 2)
    assert [(one.text, one.hints) for one in read] == [("One is red.", {1}), ("Two is blue.", {2})]
