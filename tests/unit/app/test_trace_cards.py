"""The five cards: they say what the trace says, and draw nothing that a user could turn into markup."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import flask
import pytest
from dash import html

from app.components.ask import figures
from app.components.ask.rank_chart import MOST_PASSAGES, NOT_FOUND, THICK, RankPath, bump, rank_paths, rankings
from app.components.ask.trace_cards import trace_cards
from app.components.ask.trace_facts import reranking_words
from app.components.ask.trace_tables import fusion_table, keyword_table, vector_table
from app.components.ask.waterfall import REST, TOTAL, spans, waterfall
from app.components.ask.why_not_panel import why_not_panel
from app.components.shared.design_tokens import tokens
from core.model import (
    Analysis,
    Answer,
    AnswerType,
    Chunk,
    Citation,
    Hit,
    IndexHit,
    Leg,
    LegPlace,
    LegRank,
    Locator,
    Obstacle,
    Query,
    Reranking,
    RerankScore,
    TermScore,
    Trace,
    WhyNot,
)
from tests.builders import placed
from tests.unit.app.drawn import by_class, by_id, parts, text

HOSTILE = "<b>report</b> & %{y}.pdf"
TERMS = (TermScore("pump", 2.4, 2.0, 1.2, 14), TermScore("点検", 0.9, 1.5, 0.6, 30))


def passage(chunk_id: int, name: str = "handbook.pdf"):
    chunk = Chunk(0, f"text {chunk_id}", 0, 6, locator=Locator(page=chunk_id))
    return replace(placed(chunk_id), name=name, chunk=chunk)


def trace_of(count: int = 12, name: str = "handbook.pdf") -> Trace:
    """A trace whose vector leg ranks ``count`` chunks, and whose keyword leg found the third of them alone."""
    vector = tuple(IndexHit(i, 0.5 + i / 100) for i in range(1, count + 1))
    hits = tuple(
        Hit(
            i,
            passage(i, name),
            1 / (60 + i) + (1 / 61 if i == 3 else 0),
            LegRank(i, 0.5 + i / 100, 1 / (60 + i)),
            LegRank(1, 3.3, 1 / 61, TERMS) if i == 3 else None,
            merged=(900,) if i == 2 else (),
        )
        for i in range(1, count + 1)
    )
    return Trace(
        id="abc",
        asked_at=datetime(2026, 5, 1, tzinfo=UTC),
        query=Query("How often is the pump checked?"),
        sequence=7,
        analysis=Analysis("en", "how often is the pump checked?", ("pump", "check"), "answer-en"),
        vector=Leg("vector", "memory", vector, count, 0, 1.5),
        keyword=Leg("keyword", "tantivy", (IndexHit(3, 3.3, TERMS),), 1, 0, 0.7),
        hits=hits[:5],
        candidates=hits,
        context="context",
        prompt="<script>alert(1)</script>",
        answer=Answer("Every 14 days. [1]", AnswerType.EXTRACTIVE),
        timings_ms={"analyse": 0.2, "both_legs": 3.0, "total": 4.0},
        generation={"rrf_k": 60, "template": "Answer from {documents}", "generator": "none"},
    )


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_cards_stand_in_the_order_of_the_flow_in_each_language(lang: str) -> None:
    with flask.Flask("test").test_request_context(headers={"Accept-Language": lang}):
        drawn = trace_cards(trace_of())
    cards = [part.id for part in parts(drawn, html.Section)]
    assert cards == ["trace-analysis", "trace-vector", "trace-keyword", "trace-fusion", "trace-generation"]


def test_fusion_shows_the_rank_and_the_fraction_of_each_leg() -> None:
    rows = list(parts(fusion_table(trace_of()), html.Tr))
    both, one = text(rows[3]), text(rows[1])
    assert "0.01587" in both and "rank 3 · 1/(60+3)" in both and "rank 1 · 1/(60+1)" in both and "0.03227" in both
    assert "rank 1 · 1/(60+1)" in one and "not found" in one


def test_weighted_leg_shows_its_weight_in_the_fraction() -> None:
    trace = trace_of()
    heavy = replace(trace.candidates[0], vector=LegRank(1, 0.51, 2 / 61))
    assert "2/(60+1)" in text(fusion_table(replace(trace, candidates=(heavy,))))


def test_keyword_table_shows_what_each_term_added() -> None:
    shown = text(keyword_table(trace_of()))
    assert "rarity 2.00 in 14 passages" in shown and "2.400" in shown and "× 1.200" in shown and "点検" in shown


def test_keyword_table_shows_dashes_for_statistics_that_are_not_told() -> None:
    trace = trace_of()
    told = replace(trace.keyword, hits=(IndexHit(3, 3.3, (TermScore("pump", 2.4),)),))
    shown = text(keyword_table(replace(trace, keyword=told)))
    assert "rarity – in – passages" in shown and "2.400" in shown and "× –" in shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_names_of_the_code_are_said_in_words_and_stay_as_titles(lang: str) -> None:
    with_error = {"reader": {"error": "model_unavailable"}, "recording": {"id": "r1", "error": {"code": "disk_full"}}}
    trace = replace(trace_of(), generation={"generator": "none", "stopped": "max_answer_bytes", **with_error})
    with flask.Flask("test").test_request_context(headers={"Accept-Language": lang}):
        drawn = trace_cards(trace)
    shown = text(drawn)
    raw = ("answer-en", "idf", "df", "tf", "none", "max_answer_bytes", "model_unavailable", "disk_full", "recording id")
    assert [name for name in raw if re.search(rf"\b{name}\b", shown)] == []
    titles = {part.title for part in parts(drawn) if getattr(part, "title", None)}
    assert titles >= set(raw) - {"recording id"}


@pytest.mark.parametrize(
    ("obstacle", "detail", "said"),
    [
        (Obstacle.NOT_SHOWN, "v2 (draft), v1", "状態：v2 (下書き), v1"),
        (Obstacle.NOT_SHOWN, "unpublish", "状態：非公開"),
        (Obstacle.FILTERED, "doc: a.md, b.md, tag: x", "除いている条件：文書: a.md, b.md, タグ: x"),
        (Obstacle.FILTERED, "syntax", "除いている条件：条件"),
        (Obstacle.TOO_DEEP, "exact scan in memory (NumPy)", "メモリ内の全件比較（NumPy） は近いクラスタだけを調べます"),
    ],
)
def test_why_not_says_states_and_filters_in_the_language(obstacle: Obstacle, detail: str, said: str) -> None:
    place = LegPlace(None, None, 0, None)
    found = WhyNot(trace_of(), 1, "a.md", 1, 0, "", obstacle, detail, None, None, place, place, (), ())
    with flask.Flask("test").test_request_context(headers={"Accept-Language": "ja"}):
        assert said in text(why_not_panel(found))


@pytest.mark.parametrize(("lang", "said"), [("en", "for “pump”"), ("ja", "「pump」として")])
def test_keyword_table_says_which_word_a_synonym_or_a_translation_was_found_for(lang: str, said: str) -> None:
    trace = trace_of()
    found = replace(trace.keyword, hits=(IndexHit(3, 3.3, (TermScore("ポンプ", 2.4, stands_for="pump"),)),))
    with flask.Flask("test").test_request_context(headers={"Accept-Language": lang}):
        assert said in text(keyword_table(replace(trace, keyword=found)))
        assert "pump" not in text(keyword_table(replace(trace, keyword=replace(found, hits=()))))


def test_vector_table_shows_distance_and_cosine() -> None:
    first = text(list(parts(vector_table(trace_of()), html.Tr))[1])
    assert "0.5100" in first and "0.8700" in first


def test_first_ten_rows_are_drawn_and_the_rest_on_demand() -> None:
    trace = trace_of(30)
    drawn = by_id(trace_cards(trace), "trace-vector")
    assert len(list(parts(drawn, html.Tr))) == 11 and "Show all 30" in text(drawn)
    assert len(list(parts(vector_table(trace, 100), html.Tr))) == 31


def test_cards_stay_light_with_fifty_hits() -> None:
    assert len(list(parts(trace_cards(trace_of(50))))) < 700


def test_failed_leg_shows_its_code_and_remedy_in_its_card() -> None:
    error = {"code": "store_unavailable", "message": "No answer from the store.", "remedy": "Start it again."}
    trace = replace(trace_of(), keyword=Leg("keyword", "tantivy", error=error))
    shown = text(by_id(trace_cards(trace), "trace-keyword"))
    assert "store_unavailable" in shown and "No answer from the store." in shown and "Start it again." in shown


def test_merged_passages_are_told() -> None:
    assert "1 identical passage merged" in text(by_id(trace_cards(trace_of()), "trace-fusion"))


def test_prompt_and_template_are_text() -> None:
    shown = [text(part) for part in parts(trace_cards(trace_of()), html.Pre)]
    assert shown == ["Answer from {documents}", "<script>alert(1)</script>"]


def test_names_are_escaped_in_figures() -> None:
    bars = figures.stacked([figures.Bar(HOSTILE, {"<i>term</i>": 1.0})], "axis", ["<i>term</i>", "rest"])
    ways = bump([RankPath(HOSTILE, (1, None, 1), (2,))], ("<i>a</i>", "b", "c"))
    dots = figures.dots([HOSTILE], [0.9], "axis")
    for figure in (bars, ways, dots):
        drawn = figure.to_json().replace("\\u003c", "<").replace("\\u003e", ">")
        assert "<b>report" not in drawn and "<i>" not in drawn


def reranked(trace: Trace) -> Trace:
    """The same trace, its candidates in the reverse of fusion's order, the first of it cited."""
    turned = [
        replace(hit, rank=rank, rerank=RerankScore(hit.rank, 2.0, {"cosine": 0.5, "reader": 1.5, "pairs": 0.0}))
        for rank, hit in enumerate(reversed(trace.candidates), 1)
    ]
    cited = Citation(3, "handbook.pdf", 1, turned[0].placed.id, 0, "handbook.pdf", "text", 0, 4)
    return replace(
        trace, candidates=tuple(turned), hits=tuple(turned[:5]), answer=Answer("", AnswerType.EXTRACTIVE, (cited,))
    )


def test_picture_shows_the_ranks_that_the_trace_holds() -> None:
    trace = reranked(trace_of(12))
    paths = rank_paths(trace)
    assert [path.ranks for path in paths] == [
        (
            hit.vector.rank if hit.vector else None,
            hit.keyword.rank if hit.keyword else None,
            hit.rerank.fused_rank if hit.rerank else None,
            hit.rank,
        )
        for hit in trace.candidates[:MOST_PASSAGES]
    ]
    assert [path.cited for path in paths] == [(3,), *[()] * (MOST_PASSAGES - 1)]
    drawn = bump(paths, rankings(trace))
    shown = [list(part.text) for part in drawn.data if part.mode == "markers+text"]
    assert shown == [[NOT_FOUND if rank is None else str(rank) for rank in path.ranks] for path in paths]


def test_picture_has_two_searches_and_the_final_order_where_nothing_was_ordered_anew() -> None:
    trace = trace_of(4)
    assert rankings(trace) == ("Vector search", "Keyword search", "Final order")
    assert [path.ranks for path in rank_paths(trace)] == [(1, None, 1), (2, None, 2), (3, 1, 3), (4, None, 4)]


def test_passages_of_one_document_without_pages_are_told_apart_by_what_they_stand_under() -> None:
    trace = trace_of(3, "Handbook of the pumps in every hall.docx")
    headings = ("Daily checks", "Weekly checks of each pump", "ポンプの点検と清掃の手順")
    candidates = tuple(
        replace(
            hit,
            placed=replace(
                hit.placed, chunk=replace(hit.placed.chunk, locator=Locator(heading_path=("Pumps", heading)))
            ),
        )
        for hit, heading in zip(trace.candidates, headings, strict=True)
    )
    labels = [path.label for path in rank_paths(replace(trace, candidates=candidates))]
    assert labels == ["Handbook… · Daily chec…", "Handbook… · Weekly che…", "Handbook… · ポンプの点…"]


def test_passages_of_a_ranking_never_share_a_place_and_stand_in_its_order() -> None:
    trace = reranked(trace_of(12))
    markers = [part for part in bump(rank_paths(trace), rankings(trace)).data if part.mode == "markers+text"]
    for column in range(4):
        places = sorted((part.y[column], part.text[column]) for part in markers)
        assert len({place for place, _ in places}) == len(markers)
        ranks = [int(rank) for _, rank in places if rank != NOT_FOUND]
        assert ranks == sorted(ranks) and [rank for _, rank in places][len(ranks) :] == [NOT_FOUND] * (
            len(markers) - len(ranks)
        )


def test_a_cited_passage_has_a_thick_line_and_its_number_at_both_ends() -> None:
    trace = reranked(trace_of(4))
    drawn = bump(rank_paths(trace), rankings(trace))
    thick = {part.line.color for part in drawn.data if part.mode == "lines" and part.line.width == THICK}
    assert thick == {figures.SERIES[0]}
    assert sum("[3]" in label.text for label in drawn.layout.annotations) == 2
    assert len(drawn.layout.annotations) == 8


def test_final_score_is_the_last_column_and_its_parts_are_one() -> None:
    first = list(parts(fusion_table(reranked(trace_of())), html.Tr))[1]
    cells = [text(cell) for cell in parts(first, html.Td)]
    assert len(cells) == 7 and cells[-1] == "2.0000"
    assert " ".join(cells[5].split()) == "Reader 1.5000 + Cosine share 0.5000"


def test_no_part_of_a_final_score_is_broken_between_two_lines() -> None:
    trace = reranked(trace_of())
    facts = reranking_words(replace(trace, rerank=Reranking("mix", {"bm25": 0.08, "document": 0.38}, 30)))
    first = list(parts(fusion_table(trace), html.Tr))[1]
    assert [text(part) for part in by_class(facts, "text-nowrap")] == ["BM25 share 0.08 ·", "Names its document 0.38"]
    assert [text(part) for part in by_class(first, "text-nowrap")] == ["Reader 1.5000 +", "Cosine share 0.5000"]


def test_picture_has_room_for_the_longest_label_with_its_numbers() -> None:
    [path, *_] = rank_paths(reranked(trace_of(12, name="a" * 40 + ".pdf")))
    drawn = bump([replace(path, cited=(1, 2))], ("a", "b", "c", "d"))
    label = drawn.layout.annotations[0]
    # In bold, a sign of Latin of this size takes about 7 pixels.
    assert 7 * len(re.sub("<.*?>", "", label.text)) + abs(label.xshift) <= drawn.layout.margin.l


def test_headings_say_the_order() -> None:
    drawn = text(trace_cards(trace_of()))
    for heading in ("Vector hits, nearest first", "Keyword hits, highest BM25 first", "The final order, best first"):
        assert heading in drawn


def test_axis_that_does_not_begin_at_zero_says_so() -> None:
    near = figures.dots(["a", "b"], [0.8, 0.9], "Cosine")
    low = near.layout.xaxis.range[0]
    assert low > 0 and near.layout.xaxis.title.text == f"Cosine;<br>the axis begins at {low:.2f}"


def test_times_add_up_to_the_whole() -> None:
    times = {"both_legs": 3.0, "embed_question": 2.0, "vector_search": 0.5, "keyword_search": 1.0, "analyse": 0.2}
    rows = spans({**times, "brewing": 0.3, "total": 4.0})
    steps = [row for row in rows if not row.is_part and row.name != TOTAL]
    assert [row.name for row in steps] == ["analyse", "both_legs", "brewing", REST]
    assert sum(row.took for row in steps) == pytest.approx(4.0) == rows[-1].took
    assert all(after.began == pytest.approx(one.began + one.took) for one, after in pairwise(steps))
    begins = {row.name: row.began for row in rows if row.is_part}
    assert begins == {"embed_question": 0.2, "vector_search": 2.2, "keyword_search": 0.2}
    assert list(waterfall(times).data[0].base) == [row.began for row in spans(times)]


def test_every_time_of_a_trace_has_its_row() -> None:
    for known in ({"total": 1.0}, {"extract": 1.0, "total": 1.0}, {"answer": 2.0}, {}):
        assert {row.name for row in spans(known)} >= {TOTAL, *known}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", [*figures.SERIES, figures.NEUTRAL])
def test_series_are_readable_on_both_grounds(theme: str, colour: str) -> None:
    first, second = luminance(colour), luminance(tokens(theme)["surface"])
    assert (max(first, second) + 0.05) / (min(first, second) + 0.05) >= 3


def test_download_names_the_trace() -> None:
    links = [part.href for part in by_class(trace_cards(trace_of()), "btn-secondary")]
    assert "/api/v1/traces/abc.json" in links


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
