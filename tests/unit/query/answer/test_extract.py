"""Answers are sentences of the passages, cut where that is safe, with citations that span exactly what was taken."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.model import AnswerType, BlockKind, Chunk, Hit, Label, LegRank, Locator, PlacedChunk, TermScore
from core.query.answer.candidates import CandidateFinder
from core.query.answer.compose import Composer
from core.query.answer.extract import DEFAULT_THRESHOLD, extract_answer
from core.text.analysis import analyse, analyse_query
from tests.builders import hit

OFFSET = 100

PLANT = (
    "The Hakone plant was opened in 1987 by Keiko Mori. It stands between two rivers and is reached by a narrow road. "
    "The plant employs 3,776 people and makes pumps, valves and filters for ships. "
    "Visitors are welcome on weekdays because the morning shift is quiet."
)
CANTEEN = "The canteen serves rice, soup and salad. Lunch costs 650 yen. It opens at eleven."
工場 = (
    "箱根工場は1987年に森恵子によって開設された。二本の川に挟まれており、狭い道を通って行く。"
    "従業員は3,776人で、船舶用のポンプとバルブを製造している。午前の勤務は静かなため、平日の見学が歓迎される。"
)
食堂 = "食堂では米と汁物を出す。昼食は650円である。11時に開く。"


def hits_for(question, *texts, title="Handbook", kind=BlockKind.PARAGRAPH, header="", headings=()):
    """Rank passages as given, with the term statistics that a keyword index of these passages would give."""
    sets = [set(analyse(f"{title}\n{text}")) for text in texts]
    hits = []
    for rank, (text, held) in enumerate(zip(texts, sets, strict=True), 1):
        terms = []
        for term in set(analyse_query(question)) & held:
            df = sum(term in other for other in sets)
            idf = math.log(1 + (50 - df + 0.5) / (df + 0.5))
            terms.append(TermScore(term, idf, idf, 1.0, df))
        chunk = Chunk(3, text, OFFSET, OFFSET + len(text), kind, Locator(page=2, heading_path=headings), header)
        placed = PlacedChunk(rank, rank, f"doc{rank}.txt", f"Doc{rank}.txt", title, 4, chunk)
        hits.append(
            Hit(rank, placed, 1 / (60 + rank), LegRank(rank, 0.6, 0.01), LegRank(rank, 3.0, 0.01, tuple(terms)))
        )
    return hits


def ask(question, *texts, threshold=None, max_chars=250, **how):
    return extract_answer(question, hits_for(question, *texts, **how), threshold=threshold, max_chars=max_chars)


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("How many people does the plant employ?", "3,776"),
        ("When was the Hakone plant opened?", "1987"),
        ("Who opened the Hakone plant in 1987?", "Keiko Mori"),
        ("How much is lunch in the canteen?", "650 yen"),
        ("箱根工場の従業員は何人か", "3,776人"),
        ("箱根工場が開設されたのはいつですか", "1987年"),
        ("食堂の昼食はいくらですか？", "650円"),
    ],
)
def test_question_is_answered_by_the_sentence_that_answers_it(question, gold):
    texts = (PLANT, CANTEEN) if question.isascii() else (工場, 食堂)
    answer = ask(question, *texts)
    assert answer.type is AnswerType.EXTRACTIVE
    assert gold in answer.text
    assert answer.confidence >= DEFAULT_THRESHOLD


def test_citation_names_the_version_and_spans_the_cited_text():
    answer = ask("How many people does the plant employ?", PLANT, CANTEEN)
    citation = answer.citations[0]
    assert (citation.doc_key, citation.version, citation.chunk_id, citation.position) == ("doc1.txt", 4, 1, 3)
    assert citation.locator.page == 2
    assert PLANT[citation.start - OFFSET : citation.end - OFFSET] == citation.text
    assert citation.text in PLANT
    assert "3,776" in citation.text


def test_marks_of_the_answer_match_the_citations():
    for question in ("How many people does the plant employ?", "箱根工場の従業員は何人か", "Why are visitors welcome?"):
        answer = ask(question, PLANT, 工場, CANTEEN, threshold=0.0)
        numbers = [int(number) for number in re.findall(r"\[(\d+)\]", answer.text)]
        assert numbers == [citation.number for citation in answer.citations] == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("question", ["qwerty zxcv", "ぬぽろ にけらも", "zzz 123987 xyzzy?"])
def test_nonsense_is_insufficient(question):
    answer = ask(question, PLANT, 工場, CANTEEN)
    assert answer.type is AnswerType.INSUFFICIENT
    assert answer.citations == ()


@pytest.mark.parametrize(
    "question",
    ["Hello!", "thank you very much", "How are you?", "こんにちは、お元気ですか？", "ありがとうございます。"],
)
def test_small_talk_is_insufficient(question):
    answer = ask(question, "Hello and thank you, how are you? " + PLANT, "ありがとう。元気です。" + 工場)
    assert (answer.type, answer.reason) == (AnswerType.INSUFFICIENT, "small_talk")


@pytest.mark.parametrize(
    "question", ["Who painted the ceiling of the Sistine chapel?", "火星の衛星を発見した天文学者は誰ですか"]
)
def test_question_about_something_else_is_insufficient(question):
    answer = ask(question, PLANT, CANTEEN, 工場, 食堂)
    assert (answer.type, answer.reason) == (AnswerType.INSUFFICIENT, "low_confidence")
    assert answer.confidence < DEFAULT_THRESHOLD


def test_insufficient_answer_speaks_the_language_of_the_question():
    assert "十分な情報" in ask("火星の衛星を発見したのは誰か", PLANT).text
    assert "enough information" in ask("Who discovered the moons of Mars?", 工場).text


def test_no_passages_and_no_terms_are_insufficient():
    assert extract_answer("How many people?", []).reason == "no_passages"
    assert extract_answer("？？？", []).reason in ("small_talk", "no_terms")
    assert ask("what is it", PLANT).reason == "no_terms"


def test_threshold_of_the_caller_decides():
    question = "How many people does the plant employ?"
    assert ask(question, PLANT, threshold=0.0).type is AnswerType.EXTRACTIVE
    assert ask(question, PLANT, threshold=1.1).type is AnswerType.INSUFFICIENT


def test_long_sentence_is_cut_to_the_clause_that_answers():
    sentence = (
        "Although the harbour board had argued for many years about the cost of dredging and the wages of pilots, "
        "the new lighthouse was completed in 1923, which pleased the fishermen who had long asked for it, and after "
        "a feast with music and speeches the old tower was sold to a collector of curiosities from another town."
    )
    answer = ask("When was the lighthouse completed?", sentence)
    assert "1923" in answer.text
    assert "…" in answer.text
    assert len(answer.text) <= 250


def test_brackets_are_not_cut_open():
    sentence = (
        "漁港の灯台（初代は木造、二代目は石造、いずれも現存しない）は、長い議論の末、1923年に完成し、人々を喜ばせた。"
    )
    answer = ask("灯台が完成したのは何年か", sentence)
    assert "1923年" in answer.text
    assert answer.text.count("（") == answer.text.count("）")


def test_sentence_that_points_back_brings_the_sentence_before_it():
    text = "モリ技研は小さな会社である。同社は1987年に設立された。社員は山を歩くのが好きだ。" + 食堂
    answer = ask("モリ技研が設立されたのはいつか", text)
    assert "1987年" in answer.text
    assert "モリ技研は" in answer.text
    assert answer.text.index("モリ技研は") < answer.text.index("1987年")


def test_title_is_named_where_the_sentence_leaves_out_its_subject():
    answer = ask("第1回大会で優勝した国はどこか", "第1回大会では、延長の末に優勝した。", title="ポルトガル")
    assert answer.text.startswith("ポルトガル: ")
    assert answer.citations[0].text == "第1回大会では、延長の末に優勝した。"


def test_file_name_is_not_taken_for_a_subject():
    answer = ask("第1回大会で優勝した国はどこか", "第1回大会では、延長の末に優勝した。", title="report_2024-final.docx")
    assert "report" not in answer.text


def test_same_sentence_in_two_passages_is_given_once():
    question = "How much is lunch in the canteen?"
    answer = ask(question, CANTEEN, CANTEEN + " The garden is open.", threshold=0.0)
    assert answer.text.count("650 yen") == 1


TABLE = "Site | Opened | Staff\nHakone | 1987 | 3,776\nNagano | 1994 | 212\nSendai | 2003 | 95"


def test_table_row_is_read_with_its_header():
    answer = ask("How many staff does Nagano have?", TABLE, kind=BlockKind.TABLE)
    assert "Site: Nagano; Opened: 1994; Staff: 212" in answer.text
    assert answer.citations[0].text == "Nagano | 1994 | 212"


def test_row_of_a_later_group_uses_the_repeated_header():
    rows = "Nagano | 1994 | 212\nSendai | 2003 | 95"
    answer = ask("When was Sendai opened?", rows, kind=BlockKind.TABLE, header="Site | Opened | Staff")
    assert "Opened: 2003" in answer.text
    assert answer.citations[0].text == "Sendai | 2003 | 95"


def test_wide_row_keeps_the_cells_that_are_asked_for():
    heads = " | ".join(["Site", *(f"Measure number {i} of the yearly report" for i in range(12)), "Staff"])
    row = " | ".join(["Nagano", *(f"value {i}" for i in range(12)), "212"])
    answer = ask("How many staff does Nagano have?", f"{heads}\n{row}", kind=BlockKind.TABLE)
    assert "Nagano" in answer.text
    assert "Staff: 212" in answer.text
    assert len(answer.text) <= 250


def test_heading_is_no_answer():
    text = "Opening of the Hakone plant\nThe Hakone plant began its work in 1987."
    answer = ask("When was the opening of the Hakone plant?", text, headings=("Opening of the Hakone plant",))
    assert "1987" in answer.text
    assert not any(citation.text.startswith("Opening") for citation in answer.citations)


def test_missing_keyword_leg_still_answers():
    question = "How many people does the plant employ?"
    hits = [Hit(1, hits_for(question, PLANT)[0].placed, 0.02, LegRank(1, 0.6, 0.02))]
    assert "3,776" in extract_answer(question, hits).text


def test_statistics_of_all_hits_tell_a_rare_term_from_an_unknown_one():
    question = "Hakone plant pumps zeppelin"
    shown = hits_for(question, PLANT)
    others = hits_for(question, PLANT, "The zeppelin flew." * 3)
    alone = extract_answer(question, shown, threshold=0.0).confidence
    assert extract_answer(question, shown, threshold=0.0, candidates=others).confidence > alone


def across(nearest, background):
    """Japanese question, English passages: the first at ``nearest``, twenty others at ``background`` cosine."""
    question = "箱根の工場では何人が働いていますか"
    cosines = [nearest, *[background] * 20]
    hits = [
        replace(hit, vector=LegRank(hit.rank, math.sqrt(2 - 2 * cosine), 0.01), keyword=None)
        for hit, cosine in zip(hits_for(question, PLANT, *[f"{CANTEEN} {i}" for i in range(20)]), cosines, strict=True)
    ]
    near, far = np.eye(2, dtype=np.float32)
    return extract_answer(
        question,
        hits[:5],
        lambda texts: np.stack([near if "3,776" in text else far for text in texts]),
        question_vector=near,
        candidates=hits,
    )


def test_question_in_another_language_is_answered_by_the_nearest_sentence():
    answer = across(nearest=0.86, background=0.76)
    assert answer.type is AnswerType.EXTRACTIVE
    assert "3,776 people" in answer.text
    assert answer.citations[0].doc_key == "doc1.txt"


def test_foreign_passage_that_is_hardly_nearer_than_others_is_no_answer():
    assert across(nearest=0.79, background=0.76).type is AnswerType.INSUFFICIENT


def test_answer_is_the_same_every_time():
    question = "箱根工場の従業員は何人か"
    assert ask(question, 工場, 食堂) == ask(question, 工場, 食堂)


@given(
    st.text(min_size=1, max_size=600),
    st.text(alphabet="plant 1987何年？ who|、。（", max_size=40),
    st.integers(60, 300),
)
@example("-", "年1", 60)
def test_answer_never_exceeds_its_length_and_cites_what_the_text_holds(text, question, max_chars):
    asked = f"plant {question}"
    answer = ask(asked, text, "The plant opened in 1987. " + text, threshold=0.0, max_chars=max_chars)
    if answer.type is AnswerType.EXTRACTIVE:
        assert len(answer.text) <= max_chars * 600 // 250
        for citation in answer.citations:
            held = text if citation.chunk_id == 1 else "The plant opened in 1987. " + text
            assert held[citation.start - OFFSET : citation.end - OFFSET] == citation.text
            assert citation.text


@given(st.text(max_size=200))
def test_any_question_gets_an_answer(question):
    assert ask(question, PLANT, 工場, TABLE).text


SHEET = """2. Main data

Property | Value
Accuracy | 0.05 mag
Mass | 1.35 kg

The values hold at 20 degrees."""


def test_heading_over_a_table_is_not_taken_for_its_header():
    answer = ask("What is the mass of the instrument?", SHEET, kind=BlockKind.TABLE, title="Instrument")
    assert "Property: Mass; Value: 1.35 kg" in answer.text
    assert "Main data" not in answer.text.split("[1]")[0]


def test_heading_inside_a_passage_lends_its_words_to_what_stands_below():
    text = "Opening hours\n\nIt is open from nine to five.\n\nPrices of meals\n\nIt costs 650 yen and comes with soup."
    answer = ask("What are the prices of meals?", text, threshold=0.0)
    assert answer.citations[0].text == "It costs 650 yen and comes with soup."


def test_question_of_a_list_of_questions_is_answered_by_what_follows_it():
    text = (
        "How is the pump cleaned?\nRinse it with warm water.\nHow often is the pump cleaned?\nEvery 18 months, in May."
    )
    answer = ask("How often is the pump cleaned?", text)
    assert "Every 18 months" in answer.text
    assert not any("?" in citation.text for citation in answer.citations)


def test_what_another_passage_of_the_document_holds_makes_an_answer_surer() -> None:
    from core.query.answer.candidates import find_candidates
    from core.query.answer.confidence import confidence
    from core.query.answer.question_profile import read_question

    amount = hit(1, "The daily allowance is 3,200 yen.", doc_id=7)
    asked = read_question("What is the daily allowance for a journey to Osaka?", [amount])
    best = find_candidates(asked, [amount])[0]
    same = hit(2, "This rule is about every journey to Osaka.", doc_id=7, rank=2)
    other = hit(2, "This rule is about every journey to Osaka.", doc_id=8, rank=2)
    alone = confidence(asked, best, [amount])
    assert confidence(asked, best, [amount, same]) > alone
    assert confidence(asked, best, [amount, other]) == alone


def test_marks_that_a_document_writes_itself_are_not_taken_for_citations() -> None:
    text = "The plant employs 3,776 people [1], says the report【2】and [source 3]."
    answer = ask("How many people does the plant employ?", text)
    assert answer.text == "The plant employs 3,776 people (1), says the report(2)and (source 3). [1]"
    assert answer.citations[0].text == text


def test_further_sentences_are_given_whole_or_not_at_all() -> None:
    sentences = [sentence for text in (PLANT, CANTEEN) for sentence in re.split(r"(?<=[.]) ", text)]
    given = set()
    for max_chars in (130, 180, 250, 400):
        answer = ask("How many people does the plant between the rivers employ?", PLANT, CANTEEN, max_chars=max_chars)
        assert "3,776" in answer.text
        assert all(citation.text in sentences for citation in answer.citations), max_chars
        given.add(len(answer.citations))
    assert len(given) > 1


def test_what_points_back_is_given_with_what_it_points_to() -> None:
    text = "After a SIGUSR1 the pump waits for its valves and ends.\n\nThis can be used to stop it cleanly. It is grey."
    assert ask("How can I stop it cleanly?", text, CANTEEN).text.startswith("After a SIGUSR1")


def test_an_address_alone_answers_only_who_asks_where() -> None:
    text = "The manual of the tank tells more:\n\nhttps://example.org/tank\n\nThe tank is blue."
    assert "https" not in ask("What colour is the tank?", text, CANTEEN).text
    assert "https" in ask("Where is the manual of the tank?", text, CANTEEN).text


def test_what_a_colon_announces_belongs_to_the_sentence() -> None:
    steps = "To empty the tank, issue the following command:\n\n$ tank --empty now\n\nThe tank is empty then."
    assert "$ tank --empty now" in ask("How is the tank emptied?", steps, CANTEEN).text
    open_end = "To see how full the tank is, execute the command\n\ntank --level\n\nThis prints a number."
    assert "execute the command\ntank --level" in ask("How do I see how full the tank is?", open_end, CANTEEN).text
    listed = "The pump knows these states:\n\n- idle\n- running\n- stopped by heat\n\nIt is painted blue."
    answer = ask("Which states does the pump know?", listed, CANTEEN)
    assert all(state in answer.text for state in ("idle", "running", "stopped by heat"))
    assert answer.citations[0].text.endswith("stopped by heat")


@pytest.mark.parametrize(
    ("question", "is_counted"), [("What is the lens cap?", False), ("How do I clean the lens cap?", True)]
)
def test_a_sentence_that_was_an_item_stands_without_its_number(question: str, is_counted: bool) -> None:
    items = "1. The lamp is cold.\n2. The lens cap is cleaned and kept in the drawer."
    found = extract_answer(question, [hit(1, items)])
    assert ("2. The lens cap" in found.text) is is_counted and "The lens cap is cleaned" in found.text
    assert "2. The lens cap" in items[found.citations[0].start : found.citations[0].end]


def test_the_number_of_a_footnote_is_no_part_of_an_answer() -> None:
    text = "The packages are uploaded with dupload.\n⁴\n-----\nThe packages of others are uploaded by them."
    found = extract_answer("How are the packages uploaded?", [hit(1, text)])
    assert "dupload" in found.text and "⁴" not in found.text and "---" not in found.text


def test_a_notice_that_each_chapter_repeats_answers_nothing_that_the_chapters_do() -> None:
    notice = "Please see the project's site for a guide that is newer."
    chapters = [f"{text} {notice}" for text in ("Sources are unpacked.", "Bugs are closed.", "Files are signed.")]
    fee = "The yearly fee for the archive is twelve euros."
    told = [f"{chapter} {fee}" for chapter in chapters]

    def sentences(question: str, texts: list[str]) -> set[str]:
        hits = [hit(n, text, doc_id=1, rank=n) for n, text in enumerate(texts, 1)]
        return {each.text for each in CandidateFinder(question, hits).find(hits)}

    assert notice not in sentences("How are sources unpacked?", chapters)
    assert notice in sentences("How are sources unpacked?", chapters[:2])
    assert notice in sentences("Where is the newer guide of the project?", chapters)
    assert fee in sentences("What is the yearly fee for the archive?", told)
    assert notice in sentences("展開するにはどうすればよいですか", chapters)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the password of the guest WiFi?", "The password of the guest Wi-Fi is lighthouse."),
        ("Does AutoSave work on drafts?", "Auto-save works on drafts, too."),
        ("What does --verify check?", "--[no-]verify checks the signature of what was received."),
    ],
)
def test_a_name_that_is_set_otherwise_is_known(question, text):
    assert ask(question, text, threshold=0.0).type is AnswerType.EXTRACTIVE


def test_a_name_that_no_passage_has_is_not():
    assert ask("What does --verify-all check?", "--[no-]verify checks the signature.", threshold=0.0).type is (
        AnswerType.INSUFFICIENT
    )


def test_a_version_is_no_number_of_an_item():
    answer = ask(
        "Which versions do not read the new format?", "2.x versions do not read the new format.", threshold=0.0
    )
    assert "2.x versions" in answer.text


@pytest.mark.parametrize(
    ("question", "lead", "command"),
    [
        ("How do I run a job once?", "To run a job once, use at as follows.", "$ echo job | at 3:40 monday"),
        ("ジョブを1回だけ実行するには？", "ジョブを1回だけ実行するには次のようにします。", "$ echo job | at 3:40"),
    ],
)
def test_a_command_that_a_sentence_announces_with_a_stop_is_given(question: str, lead: str, command: str) -> None:
    answer = ask(question, f"{lead}\n\n{command}\n\nThe queue is shown by atq.", CANTEEN)
    assert f"{lead}\n{command}" in answer.text


def test_a_likely_sentence_under_the_same_term_is_given_over_what_stands_between() -> None:
    first = (
        "When the fixed delay is enabled, the delay of the timer is chosen once by its name and is then the same for "
        "each of its runs, even where the manager that starts it was started anew in the meantime or was replaced."
    )
    between = "It was made for machines that share a network. " + "Administrators of such sites asked for that. " * 8
    last = "The fixed delay of the timer does nothing where the random delay is zero."
    text = f"fixed_delay\n{first} {between}{last}"
    hits = hits_for("Does the fixed delay of the timer do anything where the random delay is zero?", text)
    chunk = replace(hits[0].placed.chunk, labels=(Label(len("fixed_delay\n"), "fixed_delay"),))
    labelled = [replace(hits[0], placed=replace(hits[0].placed, chunk=chunk))]
    answer = extract_answer("Does the fixed delay of the timer do anything where the random delay is zero?", labelled)
    assert first in answer.text and last in answer.text
    assert between[:40] not in answer.text


SETTINGS_PAGE = (
    "In line\n\nThe figures of the axis stand in one row.\n\n"
    "Staggered\n\nThe figures of the axis stand by turns, the odd ones below the even ones.\n\n"
    "Automatic\n\nThe figures are set by themselves."
)


def test_heading_within_a_passage_is_said_with_what_stands_below_it() -> None:
    said = ask("Which setting puts the odd figures below the even ones by turns?", SETTINGS_PAGE, threshold=0.0).text
    assert "Staggered: The figures of the axis stand by turns" in said


def test_heading_that_the_question_names_is_not_said() -> None:
    said = ask("Which odd figures does the staggered axis put below?", SETTINGS_PAGE, threshold=0.0).text
    assert "Staggered:" not in said


def test_sentence_that_a_command_interrupts_is_given_whole() -> None:
    text = "The cache is kept in a file. Set\n\nCACHEOUTFILE none\n\nto turn the cache off again. It is on at first."
    assert "Set CACHEOUTFILE none to turn the cache off again." in ask("How can I turn the cache off again?", text).text


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        (
            "What are the keywords border and shade for?",
            "Two keywords, border and shade, were added. The former draws a frame. It is new.",
            "The former draws a frame.",
        ),
        (
            "Which two conditions does a map image meet?",
            "A map image must meet two conditions. First, it is open. Then, it is grey. Most often it is a copy.",
            "First, it is open. Then, it is grey.",
        ),
        (
            "地図画像の条件は何ですか",
            "地図画像には2つの条件がある。まず、開いていること。次に、灰色であること。たいていは写しである。",
            "まず、開いていること。 次に、灰色であること。",
        ),
    ],
)
def test_what_a_sentence_counts_or_names_is_told_by_the_next(question: str, text: str, wanted: str) -> None:
    assert wanted in ask(question, text, threshold=0.0).text


@pytest.mark.parametrize(
    ("question", "text", "item"),
    [
        (
            "Can this format of routes be written?",
            "The format of routes can be written and can...\n\n• be read\n• be shown",
            "• be shown",
        ),
        (
            "為替相場の取得はどのメニューで止めますか",
            "為替相場の取得を止めるには、次のようにしてください。\n\n• 証券を選びます。\n• 通貨を開きます。",
            "• 通貨を開きます。",
        ),
        (
            "Where is the rate switched off?",
            "The rate is switched off as follows.\n\n• Open the list.\n• Clear the box.",
            "• Clear the box.",
        ),
    ],
)
def test_a_list_is_given_with_a_sentence_that_announces_it_without_a_colon(question: str, text: str, item: str) -> None:
    assert item in ask(question, text, threshold=0.0).text


def test_a_sentence_that_an_answer_holds_already_is_not_given_as_the_other_side_of_a_comparison():
    text = "Queues know FIFO order. The former is FIFO. The latter, LIFO, is used by stacks."
    answer = ask("What is the difference between FIFO and LIFO?", text, threshold=0.0)
    assert answer.text.count("is used by stacks") == 1


def test_lines_of_a_list_without_marks_are_not_taken_for_one_sentence():
    lines = "the apple lamp has red colours\n\nthe banana lamp has yellow colours\n\nthe cherry lamp has dark colours"
    answer = ask("What colours does the banana lamp have?", f"Our lamps\n\n{lines}\n\nEnd.", threshold=0.0)
    assert "red colours the banana" not in answer.text
    assert "the banana lamp has yellow colours" in answer.text


def test_a_heading_tells_nothing_of_what_the_sentence_before_it_counts():
    text = "The pump has several limits.\n\nFirst steps\n\nOpen the box. Then, switch it on."
    answer = ask("What are some limits of the pump?", text, threshold=0.0)
    assert "several limits" in answer.text and "First steps" not in answer.text


def test_a_long_row_is_answered_from_with_what_it_is_about() -> None:
    told = (
        "Minimum duration in seconds after which a thread is considered stuck. Default is 600 seconds. If set to 0, "
        "the detection is disabled. As it is done in the background, the duration should be more than the delay "
        "between two runs of that, which is told elsewhere."
    )
    text = f"Attribute | Type | Description\nclassName | Class | The class to use.\nthreshold | Number | {told}"
    (one,) = hits_for("q", text, kind=BlockKind.TABLE)
    chunk = replace(one.placed.chunk, labels=(Label(0, "Attribute | Type | Description"),))
    one = replace(one, placed=replace(one.placed, chunk=chunk))
    answer = extract_answer("After how many seconds is a thread considered stuck?", [one], threshold=0)
    assert answer.text == f"threshold: Type: Number; {told} [1]"


def test_an_uncertain_answer_goes_on_as_its_passage_does() -> None:
    text = (
        "The queue may show the message that the printer rejected the job. "
        "This happens when the printer has rejected the job before. "
        "Turn the tray round and press the green button. "
        "It takes a minute.\n\nOther Trouble\n\nCall the help desk."
    )
    answer = ask("The printer rejected the job, what now?", text, threshold=0, max_chars=130)
    assert "press the green button. It takes a minute. [1]" in answer.text
    assert "help desk" not in answer.text


def test_a_row_that_is_as_likely_is_given_beside_the_best_one() -> None:
    header = "Name | Effect"
    rows = ("fast | Copies without any check of files.", "quick | Copies without any check of names.")
    text = "\n".join((header, *rows, "slow | Waits for the disk."))
    (one,) = hits_for("q", text, kind=BlockKind.TABLE)
    chunk = replace(one.placed.chunk, labels=(Label(0, header),))
    one = replace(one, placed=replace(one.placed, chunk=chunk))
    answer = extract_answer("What copies without any check?", [one], threshold=0, max_chars=60)
    assert answer.text == (
        "Name: fast; Effect: Copies without any check of files. [1] "
        "Name: quick; Effect: Copies without any check of names. [2]"
    )
    assert [citation.number for citation in answer.citations] == [1, 2]


def test_a_command_below_that_a_sentence_means_is_given_and_is_no_heading() -> None:
    text = (
        "Flushing the cache\n\nBefore maintenance, log in as root, and flush the cache using the commands below\n\n"
        "cd /var/www/html/pumps\nphp -q flush.php --force\n\nThis takes some minutes."
    )
    answer = ask("How do I flush the cache before maintenance?", text, threshold=0)
    assert "the commands below\ncd /var/www/html/pumps\nphp -q flush.php --force" in answer.text


def test_a_sentence_below_code_begins_a_line() -> None:
    text = "To flush it, use the commands below\n\nphp -q flush.php --force\n\nThis takes some minutes."
    (one,) = hits_for("How do I flush it?", text)
    finder = CandidateFinder("How do I flush it?", [one])
    found = [replace(each, chance=0.005 if each.order else 0.3) for each in finder.find([one])]
    parts = Composer(finder.profile, found[0], max_chars=250).compose(found)
    assert parts[0].text.endswith("below\nphp -q flush.php --force\nThis takes some minutes.")


def test_what_a_sentence_names_again_is_given_with_it() -> None:
    text = (
        "Patches have an arbitrary upper limit of 99999 bytes. If a job is rejected with BadJob, try a larger one than "
        "this limit in the settings."
    )
    answer = ask("Why is a job rejected with BadJob?", text, threshold=0)
    assert answer.text.startswith("Patches have an arbitrary upper limit of 99999 bytes. If a job")


def test_a_row_of_one_long_sentence_is_given_whole() -> None:
    told = "the most threads of a process, of which " + "more are better where the machine has many cores, and " * 4
    text = f"Name | Effect\nThreads | {told}ten to fifteen are required.\nScripts | One or two."
    (one,) = hits_for("q", text, kind=BlockKind.TABLE)
    one = replace(one, placed=replace(one.placed, chunk=replace(one.placed.chunk, labels=(Label(0, "Name | Effect"),))))
    answer = extract_answer("How many threads of a process are required?", [one], threshold=0)
    assert answer.text.startswith(f"Name: Threads; Effect: {told}ten to fifteen are required.")


def test_code_that_a_colon_announces_is_given_in_its_lines() -> None:
    text = (
        "The jobs have a limit of size. If a job is rejected, raise it like this:\n\nfrom pumps import Receiver\n"
        "Receiver.MAX_LENGTH = 1000000\n\nTo use a name and a password, make another one."
    )
    answer = ask("What if a job is rejected?", text, threshold=0)
    assert "like this: from pumps import Receiver\nReceiver.MAX_LENGTH = 1000000" in answer.text


def test_what_is_as_likely_and_stands_in_another_section_is_given_with_its_heading() -> None:
    heads = "Timeout of pages", "Timeout of names"
    told = "It is 180 seconds, and any other number may be set.", "It is 60 seconds, enough for most servers of a firm."
    texts = [f"{head}\n\n{text}" for head, text in zip(heads, told, strict=True)]
    found = []
    for one, head in zip(hits_for("How many seconds is it?", *texts), heads, strict=True):
        chunk = replace(one.placed.chunk, locator=Locator(heading_path=(head,)))
        found.append(replace(one, placed=replace(one.placed, chunk=chunk)))
    finder = CandidateFinder("How many seconds is it?", found)
    said = [each for each in finder.find(found) if not each.features["heading"]]
    likely = [replace(each, chance=chance) for each, chance in zip(said, (0.5, 0.4), strict=True)]
    parts = Composer(finder.profile, likely[0], max_chars=75).compose(likely)
    assert [part.text for part in parts] == [told[0], f"Timeout of names: {told[1]}"]


def test_an_entry_that_is_written_again_is_another_one() -> None:
    told = "It is told in some words. There are more of them here, so that the row is a long one. " * 3
    rows = f"P1 | no water | {told}Open the tap.\nP1 | loud noise | {told}Oil the bearing."
    text = f"Code | Fault | Remedy\n{rows}"
    (one,) = hits_for("q", text, kind=BlockKind.TABLE)
    one = replace(
        one, placed=replace(one.placed, chunk=replace(one.placed.chunk, labels=(Label(0, "Code | Fault | Remedy"),)))
    )
    answer = extract_answer("What is the bearing to be given, oil?", [one], threshold=0)
    assert "Oil the bearing." in answer.text
    assert "no water" not in answer.text


def test_an_answer_goes_on_to_nothing_that_is_no_candidate() -> None:
    text = "The tap drips at night. The tap is old. The tap is turned off here. Ask the caretaker."
    (one,) = hits_for("Why does the tap drip?", text)
    finder = CandidateFinder("Why does the tap drip?", [one])
    best, left_out, *after = finder.find([one])
    found = [replace(best, chance=0.3), *(replace(each, chance=0.005) for each in after)]
    (part,) = Composer(finder.profile, found[0], max_chars=70).compose(found)
    assert part.text == best.text
    assert left_out.text not in text[part.start : part.end]


@pytest.mark.parametrize("share", [0.6, 0.4])
def test_steps_nearly_as_likely_as_the_sentence_behind_them_are_given_with_it(share: float) -> None:
    text = (
        "To remove extra days, do this:\n\n1. Open the voucher.\n2. Choose the override.\n3. Save it.\n\n"
        "If nothing changed, add a comment for the office."
    )
    (one,) = hits_for("How do I remove extra days?", text)
    finder = CandidateFinder("How do I remove extra days?", [one])
    units = finder.find([one])
    step, best = (next(each for each in units if begins in each.text) for begins in ("override", "comment"))
    chances = {id(best): 0.4, id(step): 0.4 * share}
    found = [replace(each, chance=chances.get(id(each), 0.001)) for each in units]
    parts = Composer(finder.profile, next(each for each in found if "comment" in each.text), max_chars=250).compose(
        found
    )
    said = " ".join(part.text for part in parts)
    assert "add a comment" in said
    assert ("1. Open the voucher.\n2. Choose the override.\n3. Save it." in said) == (share > 0.5)
