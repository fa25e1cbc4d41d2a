"""The measures of an evaluation, checked by hand on small rankings and on answers given as traces."""

import json
import math
from datetime import UTC, datetime

import pytest

from core.errors import InvalidInput
from core.evaluation.measure_folder import (
    Question,
    evaluate,
    observe,
    read_passages,
    read_questions,
    read_set,
    summarise,
)
from core.evaluation.metrics import (
    MAX_ANSWER_CHARS,
    contains_answer,
    deciding_part,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank_at,
)
from core.model import (
    Analysis,
    Answer,
    AnswerType,
    Chunk,
    Hit,
    IndexHit,
    Leg,
    PlacedChunk,
    Preview,
    Query,
    Trace,
)

SET = {"a": [1, 2], "b": [3], "c": [4]}
PASSAGE_OF = {chunk_id: name for name, ids in SET.items() for chunk_id in ids}


def placed(chunk_id, name="a"):
    return PlacedChunk(chunk_id, 1, name, name, name, 1, Chunk(0, "text", 0, 4))


def trace(vector=(), keyword=(), fused=(), answer="", answer_type=AnswerType.EXTRACTIVE, merged=()):
    hits = tuple(Hit(rank, placed(i), 1 / (60 + rank), merged=tuple(merged)) for rank, i in enumerate(fused, 1))
    return Trace(
        id="t",
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
        query=Query("q"),
        sequence=1,
        analysis=Analysis("en", "q", (), "question"),
        vector=Leg("vector", "x", tuple(IndexHit(i, 0.5) for i in vector)),
        keyword=Leg("keyword", "x", tuple(IndexHit(i, 2.0) for i in keyword)),
        hits=hits[:1],
        candidates=hits,
        context="",
        prompt="",
        answer=Answer(answer, answer_type, confidence=0.6),
        timings_ms={},
    )


def question(*passages, answers=("four",), answerable=True, text="how many?"):
    return Question("q", text, passages, answers, answerable)


class ScriptedBase:
    """Gives each passage's chunks and one prepared trace per question text."""

    def __init__(self, traces):
        self.traces = traces
        self.kept = []

    def preview(self, doc_key, version, start=0, count=50):
        return Preview(doc_key, version, len(SET[doc_key]), tuple(placed(i, doc_key) for i in SET[doc_key]))

    def ask(self, query, *, keep=True):
        self.kept.append(keep)
        return self.traces[query.text]


def test_ranking_measures_of_one_relevant_document():
    ranked = ["x", "y", "a"]
    assert recall_at(ranked, ["a"], 1) == 0
    assert recall_at(ranked, ["a"], 10) == 1
    assert reciprocal_rank_at(ranked, ["a"], 10) == pytest.approx(1 / 3)
    assert ndcg_at(ranked, ["a"], 10) == pytest.approx(1 / math.log2(4))
    assert reciprocal_rank_at(["x"] * 10 + ["a"], ["a"], 10) == 0


def test_ndcg_of_several_relevant_documents_is_one_only_when_they_lead():
    assert ndcg_at(["a", "b", "x"], ["a", "b"], 10) == pytest.approx(1)
    ideal = 1 + 1 / math.log2(3)
    assert ndcg_at(["a", "x", "b"], ["a", "b"], 10) == pytest.approx((1 + 1 / math.log2(4)) / ideal)
    assert recall_at(["a", "x"], ["a", "b"], 10) == 0.5


def test_answer_is_compared_without_width_case_space_and_marks():
    assert contains_answer("It was founded in\n１９８５ [1].", ["in 1985"])
    assert contains_answer("The DELTA Works [2]", ["delta works"])
    assert not contains_answer("Nobody knows. [1]", ["1"])
    assert not contains_answer("anything", [""])


def test_of_a_long_answer_what_is_marked_counts_with_what_stands_around_it():
    text = f"{'a' * 300} seven days {'b' * 300}"
    at = text.index("seven")
    part = deciding_part(text, ((at, at + 10),))
    assert len(part) == MAX_ANSWER_CHARS and contains_answer(part, ["seven days"])
    assert deciding_part(text, ()) == text and not contains_answer(text, ["seven days"])
    assert deciding_part("seven days", ((0, 5),)) == "seven days"
    early = f"It is seven days. {'b' * 400}"
    assert deciding_part(early, ((6, 16),)) == early[:MAX_ANSWER_CHARS]


def test_marks_of_documents_are_their_text_and_those_of_answers_are_not():
    extracted = "It opens at nine (12). [1]"
    assert contains_answer(extracted, ["at nine [12]"])
    assert contains_answer(extracted, ["at nine (12)"])
    assert contains_answer("It opens at nine. [1]", ["opens [2] at nine [1]"])
    assert not contains_answer(extracted, ["at nine (13)"])


def test_answer_over_250_characters_counts_as_wrong():
    assert contains_answer("x" * 246 + "four", ["four"])
    assert not contains_answer("x" * 247 + "four", ["four"])


def test_percentile_is_a_value_of_the_list():
    assert percentile([5, 1, 3, 2, 4], 0.5) == 3
    assert percentile(list(range(1, 101)), 0.95) == 95
    assert percentile([], 0.5) == 0


def test_document_stands_where_its_first_chunk_stands():
    outcome = observe(question("a"), trace(vector=[3, 2, 1, 9], keyword=[4], fused=[2, 3]), PASSAGE_OF.get)
    fused = ("a", "b")
    assert outcome.rankings == {"vector": ("b", "a"), "keyword": ("c",), "fused": fused, "final": fused}


def test_identical_passage_that_was_merged_counts_as_found():
    outcome = observe(question("c"), trace(fused=[1], merged=[4]), PASSAGE_OF.get)
    assert outcome.rankings["fused"] == ("a", "c")


def test_report_separates_answerable_from_unanswerable_questions():
    right = observe(question("a"), trace(vector=[1], fused=[1], answer="four [1]"), PASSAGE_OF.get, 10)
    wrong = observe(question("b"), trace(vector=[1], fused=[1, 3], answer="five [1]"), PASSAGE_OF.get, 20)
    silent = trace(answer="Not enough information.", answer_type=AnswerType.INSUFFICIENT)
    refused = observe(question(answers=(), answerable=False), silent, PASSAGE_OF.get, 30)
    invented = observe(question(answers=(), answerable=False), trace(answer="six"), PASSAGE_OF.get, 40)
    report = summarise(3, [right, wrong, refused, invented])
    assert (report.answerable, report.unanswerable) == (2, 2)
    assert report.answers.contains_gold == 0.5
    assert report.answers.answerable_insufficient == 0
    assert report.answers.unanswerable_insufficient == 0.5
    assert report.ranks["vector"].recall_at_1 == 0.5
    assert report.ranks["fused"].recall_at_10 == 1
    assert report.ranks["keyword"].ndcg_at_10 == 0
    assert (report.p50_ms, report.p95_ms) == (20, 40)


def test_gold_words_inside_an_insufficient_answer_do_not_count():
    silent = trace(answer="four", answer_type=AnswerType.INSUFFICIENT)
    report = summarise(3, [observe(question("a"), silent, PASSAGE_OF.get)])
    assert report.answers.contains_gold == 0


def test_share_of_a_missing_kind_is_none_and_report_is_plain_data():
    report = summarise(3, [observe(question("a"), trace(answer="four"), PASSAGE_OF.get)])
    assert report.answers.unanswerable_insufficient is None
    assert json.loads(json.dumps(report.as_dict()))["fused"]["ndcg_at_10"] == 0


def test_evaluation_asks_every_question_without_keeping_it():
    base = ScriptedBase({"one?": trace(fused=[1], answer="four"), "two?": trace(fused=[1, 4], answer="no")})
    seen = []
    report = evaluate(
        base,
        base,
        {name: name for name in SET},
        [question("a", text="one?"), question("b", "c", text="two?")],
        lambda done, total: seen.append((done, total)),
    )
    assert base.kept == [False, False]
    assert seen == [(1, 2), (2, 2)]
    assert report.ranks["fused"].recall_at_10 == 0.75
    assert report.answers.contains_gold == 0.5


def write_set(folder, questions, passages=({"id": "P1", "title": "T", "text": "body"},)):
    for name, rows in (("passages", passages), ("questions", questions)):
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_question_carries_one_passage_or_several_or_none(tmp_path):
    write_set(
        tmp_path,
        [
            {"id": "1", "question": "a\u2028b", "passage_id": "P1", "answers": ["x"], "answerable": True},
            {"id": "2", "question": "b", "passage_ids": ["P1", "P2"], "answers": ["y", "z"]},
            {"id": "3", "question": "c", "passage_id": None, "answerable": False},
        ],
    )
    one, several, none = read_questions(tmp_path)
    assert one == Question("1", "a\u2028b", ("P1",), ("x",), True)
    assert several.passage_ids == ("P1", "P2")
    assert several.answerable
    assert none == Question("3", "c", (), (), False)
    assert read_passages(tmp_path)[0].text == "body"


def test_broken_question_set_names_the_file_and_line(tmp_path):
    with pytest.raises(InvalidInput, match=r"questions\.jsonl"):
        read_questions(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"id": 1, "question": "a"}\n{"id": 2}\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 2"):
        read_questions(tmp_path)


def test_a_question_without_a_judgement_is_in_no_measure_of_answers_and_ranks():
    judged = [
        observe(question("a"), trace(vector=[1], fused=[1], answer="four [1]"), PASSAGE_OF.get, 10),
        observe(question("b"), trace(fused=[1]), PASSAGE_OF.get, 10),
    ]
    silent = trace(answer="Not enough information.", answer_type=AnswerType.INSUFFICIENT)
    unjudged = [observe(question(answers=()), each, PASSAGE_OF.get, 10) for each in (silent, trace(answer="four"))]
    plain, found = summarise(3, judged), summarise(3, [*judged, *unjudged])
    assert (found.questions, found.answerable, found.unjudged) == (4, 2, 2)
    assert found.ranks == plain.ranks
    assert found.answers.contains_gold == plain.answers.contains_gold
    assert found.answers.answerable_insufficient == plain.answers.answerable_insufficient == 0
    assert summarise(3, unjudged).as_dict()["answers"]["contains_gold"] is None
    assert "final" not in summarise(3, unjudged).as_dict()


def lines_of(folder, name, *lines):
    (folder / name).write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))


def test_lines_that_cannot_be_read_are_named_and_left_out(tmp_path):
    lines_of(
        tmp_path,
        "passages.jsonl",
        '\ufeff{"id": "a", "text": "words"}',
        '{"id": "b", "text": ',
        "",
        '["c"]',
        '{"id": "d"}',
        '{"id": "e", "text": 5}',
        '{"id": "f", "text": "\\ud800"}',
        '{"id": "g", "text": " "}',
        b'{"id": "h", "text": "\xff"}',
        "[" * 100_000,
        '{"id": 9, "title": null, "text": "more words"}',
    )
    lines_of(
        tmp_path,
        "questions.jsonl",
        '{"id": 1, "question": "Which?", "passage_id": 9, "answers": "more words"}',
        '{"id": 2, "question": "Which?", "passage_ids": "a"}',
        '{"id": 3, "question": "Which?", "answerable": "no"}',
        '{"id": 4, "question": "Which?", "answers": ["", 7]}',
        '{"id": 5, "question": "Which?", "answers": [["7"]]}',
        '{"id": null, "question": "Which?"}',
    )
    read = read_set(tmp_path)
    assert [(each.id, each.text, each.line) for each in read.passages] == [("a", "words", 1), ("9", "more words", 11)]
    assert [(each.id, each.passage_ids, each.answers) for each in read.questions] == [
        ("1", ("9",), ("more words",)),
        ("4", (), ("7",)),
    ]
    passages = {2: "", 4: "", 5: "d", 6: "e", 7: "f", 8: "g", 9: "", 10: ""}
    questions = {2: "2", 3: "3", 5: "5", 6: ""}
    for file, ids in (("passages.jsonl", passages), ("questions.jsonl", questions)):
        assert {each.line: each.id for each in read.left_out if each.file == file} == ids
    assert str(read.left_out[2]) == "passages.jsonl, line 5 (d): it needs id, text."


def test_a_set_of_which_nothing_can_be_read_is_refused_with_the_first_reason(tmp_path):
    write_set(tmp_path, [{"id": "1", "question": "a"}], [{"id": "P1"}, {"id": "P2"}])
    with pytest.raises(InvalidInput, match=r"Nothing of passages\.jsonl can be used\. passages\.jsonl, line 1 \(P1\)"):
        read_set(tmp_path)
    write_set(tmp_path, [])
    with pytest.raises(InvalidInput, match=r"questions\.jsonl is empty"):
        read_set(tmp_path)


def test_a_question_that_cannot_be_asked_is_left_out():
    class Strict(ScriptedBase):
        def ask(self, query, *, keep=True):
            if query.text == "two?":
                raise InvalidInput("The question is too long.")
            return super().ask(query, keep=keep)

    base = Strict({"one?": trace(fused=[1], answer="four")})
    asked = [question("a", text="one?"), Question("q2", "two?", ("a",), (), True, 7)]
    report = evaluate(base, base, {name: name for name in SET}, asked)
    assert (report.questions, report.ranks["fused"].recall_at_10) == (1, 1)
    assert [str(each) for each in report.left_out] == ["questions.jsonl, line 7 (q2): The question is too long."]
