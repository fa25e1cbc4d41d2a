"""Chunks: no text lost, exact spans, bounded sizes, whole rows, borders that an edit does not move."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.chunk import chunk_text_auto
from core.model import BLOCK_JOINT, Block, BlockKind, Chunk, Locator
from core.text.language import estimate_tokens
from tests.proportion import grows_in_proportion

_NOUNS = (
    "harbour",
    "ferry",
    "valve",
    "pump",
    "archive",
    "tower",
    "bridge",
    "garden",
    "ledger",
    "lantern",
    "engine",
    "museum",
)
_VERBS = ("opens", "closes", "measures", "carries", "repairs", "records", "crosses", "floods", "warms", "empties")
_J_NOUNS = ("港", "渡船", "弁", "ポンプ", "書庫", "塔", "橋", "庭園", "台帳", "灯籠", "機関", "博物館")
_J_VERBS = ("開く", "閉じる", "測る", "運ぶ", "直す", "記録する", "渡る", "溢れる", "温める")


def english(chance: random.Random, sentences: int) -> str:
    return " ".join(
        f"The {chance.choice(_NOUNS)} {chance.randint(1, 999)} {chance.choice(_VERBS)} the {chance.choice(_NOUNS)} "
        f"of {chance.choice(_NOUNS)} {chance.randint(1, 99)}."
        for _ in range(sentences)
    )


def japanese(chance: random.Random, sentences: int) -> str:
    return "".join(
        f"第{chance.randint(1, 999)}{chance.choice(_J_NOUNS)}は{chance.choice(_J_NOUNS)}の"
        f"{chance.choice(_J_NOUNS)}を{chance.choice(_J_VERBS)}。"
        for _ in range(sentences)
    )


def paragraphs(count: int, seed: int = 1) -> list[Block]:
    chance = random.Random(seed)
    return [Block((japanese if chance.random() < 0.3 else english)(chance, chance.randint(1, 9))) for _ in range(count)]


def heading(text: str, level: int = 1, path: tuple[str, ...] = ()) -> Block:
    return Block(text, BlockKind.HEADING, Locator(heading_path=path or (text,)), level=level)


def chunks_of(blocks: Sequence[Block], target: int = 400) -> list[Chunk]:
    return list(chunk_text_auto(blocks, target_chunk_tokens=target))


def parsed(blocks: Sequence[Block]) -> str:
    return BLOCK_JOINT.join(block.text for block in blocks)


def assert_nothing_lost(blocks: Sequence[Block], chunks: Sequence[Chunk]) -> None:
    text, done = parsed(blocks), 0
    for position, chunk in enumerate(chunks):
        assert chunk.position == position
        assert chunk.start >= done
        assert text[done : chunk.start].strip() == ""
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        done = chunk.end
    assert text[done:].strip() == ""


_texts = st.one_of(
    st.text(alphabet=st.sampled_from("ab C1.。！「」\n |-、あ漢\u3000\ud800🙂\u0301"), max_size=200),
    st.builds(lambda seed, n: english(random.Random(seed), n), st.integers(0, 99), st.integers(1, 30)),
    st.builds(lambda seed, n: japanese(random.Random(seed), n), st.integers(0, 99), st.integers(1, 30)),
    st.integers(1, 600).map(lambda n: "x" * n),
)
_locators = st.builds(
    Locator,
    page=st.one_of(st.none(), st.integers(1, 3)),
    slide=st.one_of(st.none(), st.integers(1, 3)),
    sheet=st.sampled_from([None, "A", "B"]),
)
_blocks = st.lists(
    st.builds(
        Block, _texts, st.sampled_from(BlockKind), _locators, st.integers(0, 6), st.sampled_from(["", "Name | Price"])
    ),
    max_size=12,
)


@given(_blocks, st.sampled_from([20, 60, 400]))
def test_no_text_is_lost_and_spans_are_exact(blocks: list[Block], target: int) -> None:
    assert_nothing_lost(blocks, chunks_of(blocks, target))


@given(_blocks, st.sampled_from([60, 400]))
def test_sizes_are_bounded_unless_a_row_is_larger(blocks: list[Block], target: int) -> None:
    for chunk in chunks_of(blocks, target):
        rows = [estimate_tokens(line) for line in chunk.text.split("\n")] if chunk.kind is BlockKind.TABLE else [0]
        assert estimate_tokens(chunk.text) <= max(1.5 * target, max(rows) + 0.5 * target) + 1


@given(_blocks)
def test_same_blocks_give_same_chunks(blocks: list[Block]) -> None:
    assert chunks_of(blocks, 60) == chunks_of(list(blocks), 60)


@given(
    st.lists(
        st.lists(st.sampled_from(["salt", "3", "a long cell of words", "港の事務所"]), min_size=2, max_size=5),
        min_size=1,
        max_size=60,
    )
)
def test_rows_stay_whole_and_a_cut_table_repeats_its_header(cells: list[list[str]]) -> None:
    rows = [f"{n} | {' | '.join(row)}" for n, row in enumerate(cells)]
    table = Block("\n".join(["No | Goods", *rows]), BlockKind.TABLE)
    chunks = chunks_of([table], 40)
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == ["No | Goods", *rows]
    assert [chunk.header for chunk in chunks] == ["", *["No | Goods"] * (len(chunks) - 1)]


def test_row_group_without_its_header_line_repeats_the_header() -> None:
    groups = [
        Block("Name | Price\nSalt | 3", BlockKind.TABLE, Locator(sheet="Stock", cells="A1:B2")),
        Block(
            "\n".join(f"Item {n} | {n}" for n in range(90)),
            BlockKind.TABLE,
            Locator(sheet="Stock", cells="A3:B62"),
            header="Name | Price",
        ),
    ]
    chunks = chunks_of(groups, 100)
    assert chunks[0].text.startswith("Name | Price")
    assert chunks[0].locator.cells == "A1:B62"
    assert len(chunks) > 2
    assert {chunk.header for chunk in chunks[1:]} == {"Name | Price"}


def test_table_of_another_header_starts_a_chunk() -> None:
    blocks = [
        Block("Name | Price\nSalt | 3", BlockKind.TABLE),
        Block("Rome | 5", BlockKind.TABLE, header="City | Size"),
    ]
    assert [(chunk.text, chunk.header) for chunk in chunks_of(blocks)] == [
        ("Name | Price\nSalt | 3", ""),
        ("Rome | 5", "City | Size"),
    ]


def test_giant_row_stays_whole_up_to_what_stores_take() -> None:
    row = "cell " * 1_500
    table = Block(f"head | er\n{row.strip()}\nlast | row", BlockKind.TABLE)
    assert row.strip() in [line for chunk in chunks_of([table]) for line in chunk.text.split("\n")]
    larger = Block("cell " * 20_000, BlockKind.TABLE)
    assert max(len(chunk.text) for chunk in chunks_of([larger])) <= 16_000


def test_heading_starts_a_chunk_and_stays_with_its_text() -> None:
    chance = random.Random(2)
    blocks = []
    for n in range(6):
        blocks += [heading(f"Section {n}", 2, ("Manual", f"Section {n}"))]
        blocks += [Block(english(chance, 12), locator=Locator(heading_path=("Manual", f"Section {n}")))]
    chunks = chunks_of(blocks)
    assert [chunk.text.split("\n")[0] for chunk in chunks] == [f"Section {n}" for n in range(6)]
    assert [chunk.locator.heading_path[-1] for chunk in chunks] == [f"Section {n}" for n in range(6)]
    assert {chunk.kind for chunk in chunks} == {BlockKind.PARAGRAPH}


def test_nested_headings_stay_with_the_first_text_below() -> None:
    text = Block(english(random.Random(3), 5), locator=Locator(heading_path=("Manual", "Pumps", "Priming")))
    blocks = [heading("Manual"), heading("Pumps", 2), heading("Priming", 3), text]
    [chunk] = chunks_of(blocks)
    assert chunk.locator.heading_path == ("Manual", "Pumps", "Priming")


def test_tiny_sections_of_one_parent_share_a_chunk() -> None:
    blocks = []
    for n in range(4):
        blocks += [heading(f"Question {n}", 2), Block(f"The answer to question {n} is short.")]
    assert len(chunks_of(blocks)) == 1


def test_tiny_section_of_another_parent_starts_a_chunk() -> None:
    long_text = Block(english(random.Random(8), 15))
    blocks = [heading("A"), heading("A1", 2), long_text, heading("A2", 2), Block("Short."), heading("B"), Block("Too.")]
    assert [chunk.text.split("\n")[0] for chunk in chunks_of(blocks)] == ["A", "A2", "B"]


def test_chunks_end_with_sentences() -> None:
    chunks = chunks_of(paragraphs(120))
    assert len(chunks) > 10
    assert all(chunk.text.endswith((".", "。")) for chunk in chunks)


@pytest.mark.parametrize("lead", ["Then run this command:", "次のコマンドを実行します："])
def test_no_chunk_ends_with_what_leads_on(lead: str) -> None:
    blocks = []
    for number, block in enumerate(paragraphs(200)):
        blocks += [block, Block(lead), Block(f"pump --start {number}", BlockKind.CODE)]
    assert not [chunk for chunk in chunks_of(blocks) if chunk.text.endswith((":", "："))]


def test_a_term_stays_with_its_explanation() -> None:
    blocks = []
    for number, block in enumerate(paragraphs(200)):
        blocks += [Block(f"--option-{number}"), replace(block, header=f"--option-{number}")]
    chunks = chunks_of(blocks)
    assert len(chunks) > 10
    assert not [chunk for chunk in chunks if chunk.text.rsplit("\n", 1)[-1].startswith("--option")]


def test_sizes_are_near_the_target() -> None:
    sizes = [chunk.token_count for chunk in chunks_of(paragraphs(500))]
    assert 300 <= sum(sizes) / len(sizes) <= 420
    assert min(sizes[:-1]) >= 0.15 * 400


def test_locator_spans_the_pages_of_the_chunk() -> None:
    blocks = [Block("First page text.", locator=Locator(page=3)), Block("Next page text.", locator=Locator(page=4))]
    [chunk] = chunks_of(blocks)
    assert (chunk.locator.page, chunk.locator.page_end) == (3, 4)
    [alone] = chunks_of(blocks[:1])
    assert (alone.locator.page, alone.locator.page_end) == (3, None)


def test_sheets_and_slides_are_not_mixed() -> None:
    chance = random.Random(4)
    sheets = [Block("a | b\n1 | 2", BlockKind.TABLE, Locator(sheet=name)) for name in ("One", "Two")]
    assert [chunk.locator.sheet for chunk in chunks_of(sheets)] == ["One", "Two"]
    slides = [Block(english(chance, 4), locator=Locator(slide=n)) for n in (1, 2, 3)]
    assert [chunk.locator.slide for chunk in chunks_of(slides)] == [1, 2, 3]


def changed(before: Sequence[Chunk], after: Sequence[Chunk]) -> int:
    known = {chunk.text for chunk in before}
    return sum(chunk.text not in known for chunk in after)


@pytest.mark.parametrize("length", [1, 3, 8, 20, 60])
def test_paragraph_inserted_at_the_top_changes_few_chunks(length: int) -> None:
    blocks = paragraphs(500)
    before = chunks_of(blocks)
    inserted = Block(english(random.Random(99), length))
    after = chunks_of([inserted, *blocks])
    assert len(before) > 60
    assert changed(before, after) <= 12


def test_scattered_edits_change_about_as_many_chunks() -> None:
    blocks = paragraphs(2_000)
    before = chunks_of(blocks)
    edited = list(blocks)
    for n in random.Random(5).sample(range(len(blocks)), 4):
        edited[n] = Block(english(random.Random(n), 5))
    assert changed(before, chunks_of(edited)) <= 0.05 * len(before)


@pytest.mark.parametrize("words", [(20, 20), (10, 40), (30, 90)])
def test_tiny_section_inserted_at_the_top_changes_few_chunks(words: tuple[int, int]) -> None:
    chance = random.Random(7)
    sections = []
    for n in range(600):
        answer = " ".join(chance.choice(_NOUNS) for _ in range(chance.randint(*words)))
        sections += [heading(f"Question {n}", 2, ("Top", f"Question {n}")), Block(f"{answer}.")]
    inserted = [heading("What is new", 2, ("Top", "What is new")), Block("A short answer.")]
    before = chunks_of([heading("Top"), *sections])
    after = chunks_of([heading("Top"), *inserted, *sections])
    assert len(before) > 80
    assert changed(before, after) <= 6


def test_monster_without_a_break_is_cut_between_characters() -> None:
    text = "e\u0301" * 5_000 + "👩\u200d👧" * 3_000
    chunks = chunks_of([Block(text)])
    assert_nothing_lost([Block(text)], chunks)
    assert all(chunk.text[0] not in "\u0301\u200d" for chunk in chunks)
    assert all(chunk.text[-1] != "\u200d" for chunk in chunks)
    assert max(chunk.token_count for chunk in chunks) <= 600


def test_blocks_are_read_as_chunks_are_taken() -> None:
    taken = 0

    def endless() -> Iterator[Block]:
        nonlocal taken
        chance = random.Random(6)
        while True:
            taken += 1
            yield Block(english(chance, 5))

    chunks = chunk_text_auto(endless())
    for _ in range(5):
        next(chunks)
    assert taken < 60


def test_nothing_gives_no_chunks() -> None:
    assert chunks_of([]) == []
    assert chunks_of([Block(""), Block(" \n\t"), heading("\u3000")]) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", BlockKind)
@pytest.mark.parametrize("unit", ["x", " ", "a\n", "。", "\u200b\n", "e\u0301"])
def test_one_long_block_costs_time_in_proportion(unit: str, kind: BlockKind) -> None:
    def chunk(length: int) -> None:
        for _ in chunk_text_auto([Block((unit * length)[:length], kind)]):
            pass

    assert grows_in_proportion(chunk, 20_000, 100_000)


def test_chunks_follow_each_other() -> None:
    for first, second in pairwise(chunks_of(paragraphs(50))):
        assert first.end <= second.start
