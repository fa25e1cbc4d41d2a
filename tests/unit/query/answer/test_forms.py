"""Questions for a list, steps or a comparison get that form."""

from dataclasses import replace

import pytest

from core.model import AnswerType, Label
from core.query.answer.extract import extract_answer
from core.query.answer.forms import Form, form_wanted, sides_compared
from tests.unit.query.answer.test_extract import hits_for

REASONS = (
    "Every table has to be vacuumed regularly for several reasons:\n\n"
    "1. To recover disk space of updated rows.\n2. To update the statistics of the planner.\n"
    "3. To protect against the loss of very old data.\n\nHow often that is needed depends on the load."
)
GROUPS = (
    "Users of the archive are divided into three groups.\n\n• Readers look at documents.\n"
    "• Editors write new versions.\n• Owners say who may do what.\n\nA person may be in several groups."
)
手順 = (
    "証明書を更新する手順は次のとおりです。\n\n"
    "1. 古い鍵を退避します。\n2. 新しい鍵を作ります。\n3. サービスを再起動します。\n\n"
    "更新は年に一度で十分です。"
)


def ask(question, *texts, threshold=0.0, max_chars=250):
    return extract_answer(question, hits_for(question, *texts), threshold=threshold, max_chars=max_chars)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which arguments does every init script have to understand?", Form.LIST),
        ("Into which groups does the guide divide its users?", Form.LIST),
        ("list the protocols that the server speaks", Form.LIST),
        ("ログに使えるレベルの一覧を見たい", Form.STEPS),
        ("Groongaで使えるトークナイザーの一覧を教えて", Form.LIST),
        ("How do I renew the certificate?", Form.STEPS),
        ("証明書を更新するには？", Form.STEPS),
        ("設定を元に戻す方法", Form.STEPS),
        ("What is the difference between a tag and a branch?", Form.COMPARISON),
        ("TokenBigramとTokenTrigramは何が違うのでしょう", Form.COMPARISON),
        ("How does a tag differ from a branch?", Form.COMPARISON),
        ("タグはブランチとどう違いますか", Form.COMPARISON),
        ("How do I compare two versions of a file?", Form.STEPS),
        ("パスワードが違うと表示されます。どうすればいいですか？", Form.STEPS),
        ("支払い方法は何がありますか", Form.LIST),
        ("どのような支払い方法がありますか", Form.LIST),
        ("How many files are kept at most?", Form.PLACE),
        ("Which process writes the journal?", Form.PLACE),
        ("既定のポート番号は？", Form.PLACE),
        ("How long does a session last?", Form.PLACE),
    ],
)
def test_form_is_read_from_the_words_of_the_question(question, form):
    assert form_wanted(question) is form


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between a tag and a branch?", ("a tag", "a branch")),
        ("tar vs. cpio", ("tar", "cpio")),
        ("TokenBigramとTokenTrigramの違いは？", ("TokenBigram", "TokenTrigram")),
        ("What is different in the new version?", None),
    ],
)
def test_both_sides_of_a_comparison_are_read(question, sides):
    assert sides_compared(question) == sides


@pytest.mark.parametrize(
    ("question", "text", "first", "last"),
    [
        ("For which reasons does every table have to be vacuumed?", REASONS, "1. To recover", "very old data."),
        ("Into which groups are the users of the archive divided?", GROUPS, "• Readers look", "who may do what."),
        ("証明書を更新する手順を教えて", 手順, "1. 古い鍵", "再起動します。"),
    ],
)
def test_a_list_is_given_whole_with_what_announces_it_and_nothing_behind_it(question, text, first, last):
    answer = ask(question, text)
    opening, ending = text.split("\n\n")[0], text.split("\n\n")[-1]
    assert answer.type is AnswerType.EXTRACTIVE
    assert answer.text.startswith(opening)
    assert first in answer.text
    assert last in answer.text
    assert ending not in answer.text
    assert len(answer.citations) == 1
    assert answer.citations[0].text == text.rsplit("\n\n", 1)[0]


def test_a_list_may_be_longer_than_other_answers_and_what_does_not_fit_is_marked():
    items = [
        f"• Level {number} is for messages of the {number}th kind that somebody should read." for number in range(12)
    ]
    text = "The server knows the following levels of messages:\n\n" + "\n".join(items)
    answer = ask("Which levels of messages does the server know?", text)
    assert 250 < len(answer.text) <= 600
    assert answer.text.startswith("The server knows the following levels of messages:\n• Level 0")
    assert answer.text.endswith("… [1]")


def test_items_of_which_not_all_fit_are_cut_where_that_shows_all():
    text = "Users are grouped into four kinds:\n\n" + "\n".join(
        f"• {kind} need the commands of their own section, and beside these a few that all others need as well, who "
        "work with the same archive and its branches."
        for kind in ("Individuals", "Participants", "Integrators", "Administrators")
    )
    answer = ask("Into which kinds are users grouped?", text)
    assert len(answer.text) <= 600
    assert all(f"• {kind} need" in answer.text for kind in ("Individuals", "Participants", "Integrators"))
    assert "• Administrators need" in answer.text
    assert "… [1]" in answer.text


def test_a_value_in_a_list_is_given_alone():
    answer = ask("How many editors write new versions?", GROUPS.replace("Editors write", "Seven editors write"))
    assert "Seven editors write new versions." in answer.text
    assert "Readers" not in answer.text


def test_both_sides_of_a_comparison_are_given():
    tag = "A tag names one revision for ever, and its name never moves, whatever is written later to the archive. " * 2
    branch = "A branch moves with each new revision."
    middle = "The archive is kept in one folder. It is copied every night."
    answer = ask("What is the difference between a tag and a branch?", f"{tag}\n\n{middle}\n\n{branch}")
    assert "A tag names one revision for ever" in answer.text
    assert branch in answer.text


def test_what_stands_under_a_term_announces_no_other_terms():
    said = "Further flags raise the verbosity of the log."
    before = "It tells " + "what it reads and writes, and " * 20 + "how long that takes."
    text = f"-v\n{before} {said}\n\n-q\nSays nothing at all.\n\n-f\nForces the overwriting of files."
    labels = (Label(3, "-v"), Label(text.index("Says"), "-q"), Label(text.index("Forces"), "-f"))
    hits = hits_for("What are the flags for verbosity?", text)
    hits = [replace(hit, placed=replace(hit.placed, chunk=replace(hit.placed.chunk, labels=labels))) for hit in hits]
    assert "overwriting" not in extract_answer("What are the flags for verbosity?", hits, threshold=0.0).text


@pytest.mark.parametrize(
    ("question", "text", "steps"),
    [
        (
            "How do I change the filter?",
            "To change the filter:\n\n1. Switch the fan off.\n2. Open the lid.\n\nNote: the lid is hot.\n\n"
            "3. Take the filter out.\n4. Close the lid.\n\nFilters are sold in the shop.",
            "1. Switch the fan off.|2. Open the lid. Note: the lid is hot.|3. Take the filter out.|4. Close the lid.",
        ),
        (
            "フィルターを交換する手順は？",
            "フィルターの交換手順は次のとおりです。\n（1）電源を切ります。\n（2）ふたを開けます。\n（3）フィルターを外します。\n\n"
            "フィルターは店で売っています。",
            "（1）電源を切ります。|（2）ふたを開けます。|（3）フィルターを外します。",
        ),
        (
            "フィルターを交換する手順は？",
            "フィルターの交換手順は次のとおりです。\n1．電源を切ります。\n2．ふたを開けます。\n3．フィルターを外します。",
            "1．電源を切ります。|2．ふたを開けます。|3．フィルターを外します。",
        ),
    ],
)
def test_steps_are_given_to_the_last_whatever_they_are_numbered_with_and_interrupted_by(question, text, steps):
    answer = ask(question, text, max_chars=400).text
    assert answer.split(" [")[0].split("\n")[1:] == steps.split("|")


def test_what_begins_with_an_abbreviation_or_a_figure_is_no_item():
    text = "The drive is described here.\n2.5 GB are needed for the log.\nFig. 3 shows the drive."
    assert "\n" not in ask("How do I install the drive?", text).text
