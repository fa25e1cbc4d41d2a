"""What every keyword index does, whatever the technology; subclass it and give an ``index`` fixture."""

from __future__ import annotations

import random
from collections.abc import Sequence
from threading import Thread

import numpy as np
import pytest

from core.model import Part
from core.ports import KeywordIndex, KeywordRow
from core.text.vocabulary import PLAIN, Words

HEAD, HISTORY = Part.HEAD, Part.HISTORY
BOTH = (HEAD, HISTORY)
NOTHING = {HEAD: 0, HISTORY: 0}

OTHER_FORMS = (
    ("Welcher Ingenieur hat die Brücken gebaut?", "Die Brücke wurde von einem Ingenieur aus Wien gebaut."),
    (
        "Quelle entreprise a construit le pont des ingénieurs ?",
        "Les ponts furent construits par un ingénieur lyonnais.",
    ),
    ("Какими инженерами построены мосты?", "Мост построил инженер из Казани."),
    ("温度傳感器多久校準一次？", "仓库里的温度传感器每六个月校准一次。"),
    ("철교를 지은 기술자", "오래된 철교는 대구의 기술자가 지었다."),
    ("เครื่องวัดอุณหภูมิ", "ในคลังสินค้ามีเครื่องวัดอุณหภูมิสี่สิบเครื่อง"),
)
"""Questions in other languages than English and Japanese, and passages that say their words in other forms."""

ODD_BUT_FOUND = (
    ("don't", "Please don't feed the crows."),
    ("multi-agent", "A multi-agent planner came later."),
    ("20.04", "It runs on release 20.04 only."),
    ("@nasa", "The photo is by @nasa again."),
    ("a AND", "The gate computes a AND b."),
    ("NEAR(", "They live near the harbour."),
    ("a:b", "The ratio a:b stays constant."),
    ("日本語 OR", "資料は日本語で書かれている。"),
    ("\0 zero\0", "Count down to zero."),
    ('"crows', "Please feed the crows."),
    ("*planner*", "A planner came later."),
    ("-constant", "It stays constant."),
    ("(((harbour", "They live near the harbour."),
    ('d7" or 1 == 1 or dk == "', "The flag d7 is set."),
    ("PPR-9087", "Order PPR-9087 has left."),
    ("ＰＰＲ－９０８７", "Order PPR-9087 has left."),
    ("C++", "Written in C++ by two people."),
    ("ｻｰﾊﾞｰ", "サーバを再起動する。"),
    ("lone \ud800 harbour", "They live near the harbour."),
    ("harbour " + "/*/*/*" * 10_000, "They live near the harbour."),
)
NOTHING_TO_ASK = ("", "   ", '"', "*", "-", "(((", "what is the", "これは何ですか", "🙂🙂", "\0", "/*/*/*" * 10_000)

_WORDS = [
    first + second for first in ("ka", "mo", "ri", "tu", "ze", "no", "po") for second in ("lik", "bant", "dor", "fep")
]


def row(chunk_id: int, text: str, part: Part = HEAD, doc_id: int = 1, fingerprint: int = 0) -> KeywordRow:
    return KeywordRow(chunk_id, doc_id, part, text, f"doc-{doc_id}.txt#v1", fingerprint)


def stored_in(index: KeywordIndex) -> list[tuple[int, int, Part]]:
    """Every row as the store keeps it: id, fingerprint and part, by id."""
    rows: list[tuple[int, int, Part]] = []
    for some in index.stored():
        assert (some.ids.dtype, some.fingerprints.dtype, some.in_head.dtype) == (np.int64, np.int64, np.bool_)
        assert len(some.ids) == len(some.fingerprints) == len(some.in_head)
        parts = [HEAD if in_head else HISTORY for in_head in some.in_head]
        rows += zip(some.ids.tolist(), some.fingerprints.tolist(), parts, strict=True)
    return sorted(rows, key=lambda each: each[0])


def generated_rows(count: int, seed: int = 5, first_id: int = 1) -> list[KeywordRow]:
    """Rows of 5 to 60 made-up words, frequent and rare ones, ten rows a document."""
    chance = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(_WORDS) + 1)]
    texts = [" ".join(chance.choices(_WORDS, weights, k=chance.randint(5, 60))) for _ in range(count)]
    return [row(first_id + n, text, doc_id=n // 10) for n, text in enumerate(texts)]


def questions(count: int = 20, seed: int = 6) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.sample(_WORDS, 4)) for _ in range(count)]


def ids_of(index: KeywordIndex, text: str, parts: Sequence[Part] = BOTH, limit: int = 50, **more) -> list[int]:
    return [hit.chunk_id for hit in index.search(text, limit, parts, **more)]


class KeywordIndexContract:
    """Tests of the port; ``index`` is empty."""

    def test_empty_index_gives_no_hits(self, index: KeywordIndex) -> None:
        assert index.search("harbour", 5, BOTH) == []
        assert dict(index.count()) == NOTHING
        assert list(index.ids()) == []

    def test_rows_are_found_by_the_words_they_hold(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "The ferry leaves at noon."), row(2, "東京の天気は晴れだった。")])
        assert ids_of(index, "When do ferries leave?") == [1]
        assert ids_of(index, "東京の天気は？") == [2]
        assert ids_of(index, "volcano") == []

    def test_upsert_twice_leaves_one_row_with_the_newer_text(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "old harbour")])
        index.upsert([row(1, "old harbour")])
        index.upsert([row(1, "new lighthouse")])
        assert dict(index.count()) == {HEAD: 1, HISTORY: 0}
        assert ids_of(index, "harbour") == []
        assert ids_of(index, "lighthouse") == [1]

    def test_last_row_of_one_upsert_wins(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "harbour"), row(1, "lighthouse", HISTORY)])
        assert list(index.ids()) == [(1, HISTORY)]
        assert ids_of(index, "lighthouse harbour") == [1]

    def test_upsert_with_the_other_part_moves_the_row(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "harbour lights"), row(2, "harbour master")])
        index.upsert([row(2, "harbour master", HISTORY)])
        assert ids_of(index, "harbour", [HEAD]) == [1]
        assert ids_of(index, "harbour", [HISTORY]) == [2]
        assert sorted(ids_of(index, "harbour")) == [1, 2]
        index.upsert([row(2, "harbour master", HEAD)])
        assert sorted(ids_of(index, "harbour", [HEAD])) == [1, 2]
        assert dict(index.count()) == {HEAD: 2, HISTORY: 0}

    def test_deleted_row_is_not_found(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "harbour"), row(2, "harbour"), row(3, "harbour", HISTORY)])
        index.delete([1, 3])
        assert ids_of(index, "harbour") == [2]
        index.upsert([row(1, "harbour")])
        assert ids_of(index, "harbour") == [1, 2]

    def test_deleting_or_upserting_nothing_changes_nothing(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "harbour")])
        index.delete([999, -1])
        index.delete([])
        index.upsert([])
        assert list(index.ids()) == [(1, HEAD)]

    def test_search_keeps_to_the_documents_asked_for(self, index: KeywordIndex) -> None:
        index.upsert([row(n, "harbour", doc_id=n) for n in range(1, 40)])
        assert ids_of(index, "harbour", doc_ids=[7, 3, 7]) == [3, 7]
        assert ids_of(index, "harbour", doc_ids=[999]) == []
        assert ids_of(index, "harbour", doc_ids=[]) == []
        assert ids_of(index, "harbour", doc_ids=[*range(30, 5_000), 10**15]) == list(range(30, 40))

    def test_terms_a_few_edits_away_are_held_by_rows(self, index: KeywordIndex) -> None:
        texts = ("receive", "retrieve", "deceive", "harbour", "harbor")
        index.upsert([row(number, text, doc_id=number) for number, text in enumerate(texts, 1)])
        index.upsert([row(9, "receive", HISTORY)])

        def near(
            text: str, edits: int, parts: Sequence[Part] = BOTH, doc_ids: Sequence[int] | None = None
        ) -> list[int]:
            (term,) = PLAIN.analyse(text)
            return sorted(index.holding(term, edits, 10, parts, doc_ids))

        assert near("receive", 0) == [1, 9] and near("recieve", 0) == []
        assert near("recieve", 1) == [1, 9]
        assert near("recieve", 1, [HEAD]) == [1] and near("recieve", 1, doc_ids=[2, 9]) == []
        assert near("harbuor", 1) == [4, 5]
        assert near("retreive", 1) == [2] and near("retreive", 2) == [1, 2, 9]
        assert near("eceive", 1) == []
        assert len(index.holding(PLAIN.analyse("receive")[0], 0, 1, BOTH)) == 1

    def test_restriction_to_documents_does_not_change_scores(self, index: KeywordIndex) -> None:
        index.upsert(generated_rows(60))
        free = {hit.chunk_id: hit.score for hit in index.search("kalik bant modor", 60, [HEAD])}
        for hit in index.search("kalik bant modor", 60, [HEAD], doc_ids=[2, 3]):
            assert hit.score == pytest.approx(free[hit.chunk_id], abs=1e-4)

    def test_term_scores_sum_to_the_score(self, index: KeywordIndex) -> None:
        index.upsert(generated_rows(200))
        for question in questions():
            for hit in index.search(question, 50, [HEAD]):
                assert sum(term.score for term in hit.terms) == pytest.approx(hit.score, abs=1e-4)
                for term in hit.terms:
                    assert term.score == pytest.approx(term.idf * term.tf, abs=1e-4)
                    assert 0 < term.tf <= 2.2

    def test_each_term_carries_its_document_frequency(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "harbour harbour ferry"), row(2, "harbour"), row(3, "ferry timetable"), row(4, "x")])
        [hit] = [hit for hit in index.search("the harbour timetable, ferries", 9, [HEAD]) if hit.chunk_id == 1]
        assert {term.term: term.document_frequency for term in hit.terms} == {"harbour": 2, "ferri": 2}

    def test_rare_term_weighs_more_than_a_frequent_one(self, index: KeywordIndex) -> None:
        index.upsert([row(n, "harbour ferry town") for n in range(1, 9)] + [row(9, "harbour zeppelin town")])
        [best, *_] = index.search("harbour zeppelin", 5, [HEAD])
        weight = {term.term: term.score for term in best.terms}
        assert best.chunk_id == 9
        assert weight["zeppelin"] > weight["harbour"]

    def test_best_comes_first_and_equal_scores_are_ordered_by_id(self, index: KeywordIndex) -> None:
        index.upsert([row(n, "harbour town") for n in (9, 3, 7, 1, 5)])
        index.upsert([row(n, "harbour town") for n in (4, 8)] + [row(6, "harbour harbour")])
        assert ids_of(index, "harbour", [HEAD]) == [6, 1, 3, 4, 5, 7, 8, 9]
        assert ids_of(index, "harbour", [HEAD], limit=3) == [6, 1, 3]
        assert ids_of(index, "harbour", [HEAD], limit=1) == [6]

    def test_limit_bounds_the_hits(self, index: KeywordIndex) -> None:
        index.upsert(generated_rows(80))
        everything = index.search("kalik kabant", 1_000, [HEAD])
        assert [hit.score for hit in everything] == sorted((hit.score for hit in everything), reverse=True)
        assert index.search("kalik kabant", 7, [HEAD]) == everything[:7]
        assert index.search("kalik kabant", 0, [HEAD]) == []

    def test_history_does_not_change_the_scores_of_head(self, index: KeywordIndex) -> None:
        index.upsert(generated_rows(50))
        before = index.search("kalik modor", 20, [HEAD])
        index.upsert([row(1_000 + n, "kalik modor kalik", HISTORY) for n in range(200)])
        assert index.search("kalik modor", 20, [HEAD]) == before

    def test_both_parts_are_merged_by_score(self, index: KeywordIndex) -> None:
        index.upsert(generated_rows(40))
        index.upsert([row(100 + r.chunk_id, r.text, HISTORY, r.doc_id) for r in generated_rows(40, seed=9)])
        hits = index.search("kalik modor", 30, BOTH)
        each = index.search("kalik modor", 30, [HEAD]) + index.search("kalik modor", 30, [HISTORY])
        assert hits == sorted(each, key=lambda hit: (-hit.score, hit.chunk_id))[:30]

    @pytest.mark.parametrize(("question", "text"), ODD_BUT_FOUND, ids=range(len(ODD_BUT_FOUND)))
    def test_odd_question_is_literal_text(self, index: KeywordIndex, question: str, text: str) -> None:
        index.upsert([row(1, text), row(2, "Something entirely different."), row(3, "まったく別の話。")])
        assert ids_of(index, question, [HEAD])[:1] == [1]

    def test_question_finds_other_forms_of_its_words_in_its_language(self, index: KeywordIndex) -> None:
        index.upsert([row(n, text) for n, (_, text) in enumerate(OTHER_FORMS, 1)])
        first = [[hit.chunk_id for hit in index.search(asked, 5, BOTH)][:1] for asked, _ in OTHER_FORMS]
        assert first == [[n] for n in range(1, len(OTHER_FORMS) + 1)]

    def test_what_another_language_asks_for_leaves_the_ranks_of_english_and_japanese(self, index: KeywordIndex) -> None:
        index.upsert(
            [row(1, "The pump of hall 4 is checked."), row(2, "A pump and a pump."), row(3, "東京都の人口統計")]
        )
        alone = [score_of(index, asked) for asked in ("pump 4", "人口統計", "東京都")]
        assert alone[0].keys() == {1, 2} and alone[1].keys() == alone[2].keys() == {3}
        assert score_of(index, "Welche Pumpe? pump 4") == pytest.approx(alone[0], rel=1e-5)

    @pytest.mark.parametrize("question", NOTHING_TO_ASK, ids=range(len(NOTHING_TO_ASK)))
    def test_question_without_a_word_has_no_hits(self, index: KeywordIndex, question: str) -> None:
        index.upsert([row(1, 'What is the harbour? これは何ですか。 " * - ((( 🙂')])
        assert index.search(question, 5, BOTH) == []

    def test_rows_of_any_text_are_taken(self, index: KeywordIndex) -> None:
        texts = ["", " \n", "\0", "lone \ud800 surrogate", "e" + "\u0301" * 10_000, "x" * 200_000, "あ" * 200_000, "🙂"]
        index.upsert([row(n, text) for n, text in enumerate(texts)])
        assert sorted(index.ids()) == [(n, HEAD) for n in range(len(texts))]
        assert ids_of(index, "surrogate") == [3]

    def test_ids_are_64_bits_wide(self, index: KeywordIndex) -> None:
        largest = 2**63 - 1
        index.upsert([row(largest, "harbour", doc_id=largest - 1)])
        assert ids_of(index, "harbour", doc_ids=[largest - 1]) == [largest]
        assert list(index.ids()) == [(largest, HEAD)]

    def test_rows_are_given_back_with_the_fingerprint_and_the_part_of_their_last_upsert(
        self, index: KeywordIndex
    ) -> None:
        assert stored_in(index) == []
        widest = [(5, 2**63 - 1), (6, -(2**63)), (7, 0), (2**63 - 1, 1)]
        index.upsert([row(chunk_id, "harbour", fingerprint=made_of) for chunk_id, made_of in widest])
        index.upsert([row(8, "ferry", fingerprint=80), row(9, "ferry", HISTORY, fingerprint=90)])
        index.upsert([row(5, "harbour", HISTORY, fingerprint=2**63 - 1), row(8, "lighthouse", fingerprint=-81)])
        index.delete([7])
        assert stored_in(index) == [
            (5, 2**63 - 1, HISTORY),
            (6, -(2**63), HEAD),
            (8, -81, HEAD),
            (9, 90, HISTORY),
            (2**63 - 1, 1, HEAD),
        ]

    def test_every_one_of_many_rows_is_given_back_once(self, index: KeywordIndex) -> None:
        rows = [row(n * 2**40 + n % 7, "harbour", HISTORY if n % 3 else HEAD, fingerprint=n) for n in range(4_200)]
        index.upsert(rows)
        assert stored_in(index) == [(each.chunk_id, each.fingerprint, each.part) for each in rows]

    def test_clear_empties_both_parts_and_takes_rows_again(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "harbour"), row(2, "harbour", HISTORY)])
        index.clear()
        assert dict(index.count()) == NOTHING
        assert index.search("harbour", 5, BOTH) == []
        index.upsert([row(1, "harbour")])
        assert ids_of(index, "harbour") == [1]

    def test_many_writes_in_any_order_end_in_the_last_state(self, index: KeywordIndex) -> None:
        chance = random.Random(3)
        state: dict[int, KeywordRow] = {}
        for step in range(12):
            rows = generated_rows(8, seed=step, first_id=chance.randint(1, 20))
            batch = [row(each.chunk_id, each.text, chance.choice(BOTH)) for each in rows]
            index.upsert(batch)
            state.update({each.chunk_id: each for each in batch})
            gone = [chance.randint(1, 27) for _ in range(3)]
            index.delete(gone)
            for chunk_id in gone:
                state.pop(chunk_id, None)
        assert sorted(index.ids()) == sorted((each.chunk_id, each.part) for each in state.values())
        for word in _WORDS[:5]:
            expected = {n for n, each in state.items() if each.part is HEAD and word in each.text.split()}
            assert set(ids_of(index, word, [HEAD])) == expected

    def test_searches_and_writes_run_side_by_side(self, index: KeywordIndex) -> None:
        index.upsert([row(0, "harbour")])
        failures: list[BaseException] = []

        def search() -> None:
            try:
                for _ in range(40):
                    assert 0 in ids_of(index, "harbour", [HEAD], limit=100)
            except BaseException as error:
                failures.append(error)

        threads = [Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for n in range(1, 6):
            index.upsert([row(n, "harbour town")])
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(ids_of(index, "harbour")) == 6

    def test_nothing_is_left_of_deleted_rows_once_the_others_were_written_again(self, index: KeywordIndex) -> None:
        rows = generated_rows(60)
        index.upsert([*rows, row(99, "quaggaquoll")])
        index.upsert([row(item.chunk_id, item.text, HISTORY, item.doc_id) for item in rows[:30]])
        index.delete([99])
        kept = dict(index.ids())
        if not index.expunge([99]):
            index.upsert([row(item.chunk_id, item.text, kept[item.chunk_id], item.doc_id) for item in rows])
        assert index.expunge([99])
        assert dict(index.ids()) == kept == {item.chunk_id: HISTORY if n < 30 else HEAD for n, item in enumerate(rows)}
        assert index.search("quaggaquoll", 10, BOTH) == []

    def test_word_of_the_vocabulary_is_found_whole_once_rows_and_questions_go_by_it(self, index: KeywordIndex) -> None:
        words = Words(["さくら荘本館"])
        index.upsert([row(1, "さくらの本館と荘"), row(2, "会場はさくら荘本館です")])
        index.use(words, PLAIN)
        index.upsert([row(2, "会場はさくら荘本館です")])
        assert {part.term for hit in index.search("さくら荘本館", 5, BOTH) for part in hit.terms} <= {
            "さくら",
            "荘",
            "本館",
        }
        index.use(words, words)
        hits = index.search("さくら荘本館はどこ", 5, BOTH)
        assert [hit.chunk_id for hit in hits] == [2, 1]
        assert "さくら荘本館" in [part.term for part in hits[0].terms]

    def test_best_of_the_synonyms_counts(self, index: KeywordIndex) -> None:
        index.upsert([row(1, "A laptop and a notebook computer."), row(2, "A laptop."), row(3, "A notebook computer.")])
        index.upsert(generated_rows(20, first_id=10))
        alone = {word: score_of(index, word) for word in ("laptop", "notebook computer")}
        index.use(PLAIN, Words([], [["laptop", "notebook computer"]]))
        hits = index.search("laptop", 50, BOTH)
        assert {hit.chunk_id for hit in hits} == {1, 2, 3}
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
        for hit in hits:
            expected = max(scores.get(hit.chunk_id, 0.0) for scores in alone.values())
            assert hit.score == pytest.approx(expected, rel=1e-5)
            assert hit.score == pytest.approx(sum(part.score for part in hit.terms))
            assert {part.stands_for for part in hit.terms} == ({""} if hit.chunk_id == 2 else {"laptop"})
        assert [hit.chunk_id for hit in index.search("laptop", 1, BOTH)] == [hits[0].chunk_id]

    def test_words_are_found_in_translation_and_say_what_they_stand_for(self, index: KeywordIndex) -> None:
        index.upsert(
            [row(1, "プリンターは廊下にあります。"), row(2, "The printer is in the hall."), row(3, "何もない。")]
        )
        index.upsert(generated_rows(20, first_id=10))
        hits = index.search("printer", 50, BOTH)
        assert {hit.chunk_id for hit in hits} == {1, 2}
        for hit in hits:
            assert hit.score == pytest.approx(sum(part.score for part in hit.terms))
            expected = [("プリンタ", "printer")] if hit.chunk_id == 1 else [("printer", "")]
            assert [(part.term, part.stands_for) for part in hit.terms] == expected

    @pytest.mark.parametrize("question", ["laptop*", '"laptop" OR', "-laptop", "laptop\0("])
    def test_synonyms_of_an_odd_question_are_literal_text(self, index: KeywordIndex, question: str) -> None:
        index.upsert([row(1, "A notebook computer."), row(2, "Nothing.")])
        index.use(PLAIN, Words([], [["laptop", "notebook computer"], ["(*)", "nothing"]]))
        assert [hit.chunk_id for hit in index.search(question, 5, BOTH)] == [1]


def score_of(index: KeywordIndex, text: str) -> dict[int, float]:
    return {hit.chunk_id: hit.score for hit in index.search(text, 50, BOTH)}
