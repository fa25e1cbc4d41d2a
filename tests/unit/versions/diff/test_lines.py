"""Lines: nothing of the parsed text is lost, spans are exact, and lines follow from the text alone."""

from __future__ import annotations

import random

from hypothesis import given

from core.model import Block, BlockKind, Locator
from core.versions.diff.difference import lines_of
from core.versions.diff.lines import Lines
from tests.unit.versions.texts import ANY_BLOCKS, Blocks, no_deadline, paragraphs, parsed


@no_deadline
@given(ANY_BLOCKS)
def test_lines_and_joints_are_the_parsed_text(blocks: Blocks) -> None:
    assert "".join(line.joint + line.text for line in lines_of(blocks)) == parsed(blocks)


@no_deadline
@given(ANY_BLOCKS)
def test_every_line_stands_where_it_says(blocks: Blocks) -> None:
    text = parsed(blocks)
    for number, line in enumerate(lines_of(blocks), 1):
        assert line.number == number
        assert text[line.start : line.start + len(line.text)] == line.text
        assert line.joint in ("", "\n", "\n\n")


def test_lines_follow_from_the_text_whatever_the_blocks_were() -> None:
    as_blocks = paragraphs("one", "two", "", "three")
    as_code = [Block(parsed(as_blocks), BlockKind.CODE)]

    assert [(line.joint, line.text) for line in lines_of(as_blocks)] == [
        (line.joint, line.text) for line in lines_of(as_code)
    ]


def test_a_line_knows_the_section_it_stands_in() -> None:
    blocks = [
        Block("Part", BlockKind.HEADING, level=1),
        Block("Chapter", BlockKind.HEADING, level=2),
        Block("text", locator=Locator(page=3)),
        Block("Next part", BlockKind.HEADING, level=1),
        Block("more"),
        Block("as the parser said", locator=Locator(heading_path=("Elsewhere",))),
    ]

    lines = list(lines_of(blocks))

    assert lines[2].locator == Locator(page=3, heading_path=("Part", "Chapter"))
    assert lines[4].locator.heading_path == ("Next part",)
    assert lines[5].locator.heading_path == ("Elsewhere",)
    assert (lines[1].kind, lines[1].level) == (BlockKind.HEADING, 2)


def test_lines_of_one_place_share_one_locator() -> None:
    blocks = [Block(f"text {number}", locator=Locator(page=1)) for number in range(50)]

    lines = Lines.of([Block("Title", BlockKind.HEADING, level=1), *blocks])

    assert len({id(line.locator) for line in lines.lines(1, 51)}) == 1


def test_a_long_line_is_cut_at_sentences_and_an_edit_moves_few_borders() -> None:
    chance = random.Random(7)
    sentences = [f"Sentence {chance.random()} has a number of its own and some more words." for _ in range(400)]
    old = [line.text for line in lines_of(paragraphs(" ".join(sentences)))]
    new = [line.text for line in lines_of(paragraphs(" ".join(["Put in front.", *sentences])))]

    assert all(piece.endswith(". ") for piece in old[:-1])
    assert len(set(old) - set(new)) <= 2


def test_a_line_without_sentences_is_cut_by_its_contents() -> None:
    text = "".join(random.Random(8).choices("abcdefgh日本語", k=60_000))
    old = [line.text for line in lines_of(paragraphs(text))]
    new = [line.text for line in lines_of(paragraphs("zz" + text))]

    assert max(map(len, old)) <= 2_000
    assert len(set(old) - set(new)) <= 3


def test_half_a_surrogate_pair_passes() -> None:
    assert [line.text for line in lines_of(paragraphs("a\ud800b", "😀c"))] == ["a\ud800b", "😀c"]
