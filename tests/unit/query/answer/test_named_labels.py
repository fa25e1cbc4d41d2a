"""What a question names, the manual explains under that name: settings, options, first cells of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from core import EvoRAG, Query
from core.model import AnswerType
from core.query.answer.candidates import find_candidates
from core.query.answer.named_labels import named, names_of, unmistakable_names
from core.query.answer.question_profile import read_question
from tests.builders import knowledge_base
from tests.unit.query.answer.test_extract import hits_for

SETTINGS = """<html><head><title>Settings of the pump</title></head><body><h1>Settings</h1><dl>
<dt>spare_flow (number)</dt><dd>Sets the flow that is kept back. It must be less than max_flow, else max_flow is used
for both. The default value is 3.</dd>
<dt>max_flow (number)</dt><dd>Determines the greatest flow. The default is typically 100 litres, but less where the
pipe is narrow. This parameter can only be set at the start.</dd>
<dt>-i, --interactive</dt><dd>Shows what would be done and asks before each step.</dd>
<dt>-x</dt><dd>Also cleans the inner filter, which is left alone normally unless -i is given or max_flow is zero.</dd>
</dl><table><tr><th>Code</th><th>Meaning</th></tr><tr><td>E17</td><td>The inlet is closed</td></tr>
<tr><td>E18</td><td>The motor is hot, see E17 for what to do</td></tr></table></body></html>"""


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("max_connections (integer)", {"max_connections"}),
        ("-k, --keep-index, --no-keep-index", {"-k", "--keep-index", "--no-keep-index"}),
        ("-c command --command=command", {"-c", "--command"}),
        ("--[no-]reject-shallow", {"--reject-shallow"}),
        ("SSL › ssl_ca_file (string)", {"ssl_ca_file"}),
        ("git clone --depth <depth>", {"--depth"}),
        ("KeepAliveTimeout Directive", {"keepalivetimeout"}),
        ("保存期間", {"保存期間"}),
        ("%D", {"%d"}),
        ("What can be done against leaks?", set()),
        ("word " * 60, set()),
    ],
)
def test_names_of_a_label(label: str, names: set[str]) -> None:
    assert set(names_of(label)) == names


def test_a_name_that_can_be_nothing_else_says_more_than_a_word() -> None:
    assert named("max_flow (number)", "What is max_flow for?") > named("port", "Which port is used?") > 0
    assert named("max_flow", "max_flowの既定値はいくつですか") == named("max_flow", "max_flow?")
    assert named("保存期間", "記録の保存期間は何年ですか") > 0
    assert named("spare_flow", "What is max_flow for?") == named("-x", "What is x?") == named("", "Anything?") == 0


@pytest.mark.parametrize(
    ("label", "question", "sure"),
    [
        ("-D, --dump-header", "What does the -D option do?", 1.0),
        ("-d, --data", "What does the -D option do?", 0.6),
        ("-d, --data", "What does --DATA do?", 1.0),
        ("-d, -x", "What do -D and -Y do?", 0.6),
        ("--force", "What does –force do?", 1.0),
        ("-v", "−v オプションとは", 1.0),
        ("-v", "－ｖ オプションとは", 1.0),
        ("-v", "What does ‐v do?", 1.0),
        ("3.5 Cleaning", "Is 3.5 kg fine?", 0.0),
        ("2.1 Installation", "What is new in version 2.1?", 0.0),
        ("2.1", "What is new in version 2.1?", 0.6),
        ("E17", "What does E17 mean?", 1.0),
    ],
)
def test_how_surely_a_question_names_a_label(label: str, question: str, sure: float) -> None:
    assert named(label, question) == sure


def test_a_sentence_that_mentions_an_option_is_likelier_than_one_about_options() -> None:
    question = "What does the -a option do?"
    hits = hits_for(question, "The option parser is strict. The -a option prints hidden entries too.")
    parser, option = find_candidates(read_question(question, hits), hits)
    assert option.chance > parser.chance


def test_a_heading_is_not_named_by_its_number() -> None:
    question = "Can the shelf hold more than 3.5 kg?"
    hits = hits_for(question, "Wipe the shelf with a cloth. The shelf can hold 5 kg.", headings=("3.5 Cleaning",))
    wipe, hold = find_candidates(read_question(question, hits), hits)
    assert hold.chance > wipe.chance


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvoRAG]:
    with knowledge_base(tmp_path_factory.mktemp("manual")) as kb:
        filled(kb, tmp_path_factory.mktemp("files"))
        yield EvoRAG(kb=kb)


def filled(kb: core.KnowledgeBase, folder: Path) -> None:
    path = folder / "settings.html"
    path.write_text(SETTINGS, encoding="utf-8")
    with path.open("rb") as stream:
        kb.add_file(path.name, stream)
    kb.work_off()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the default value of max_flow?", "The default is typically 100 litres"),
        ("What does the option -i do?", "-i, --interactive: Shows what would be done"),
        ("What does -x do?", "-x: Also cleans the inner filter"),
        ("What does E17 mean?", "Code: E17; Meaning: The inlet is closed"),
    ],
)
def test_what_stands_under_the_name_answers(rag: EvoRAG, question: str, said: str) -> None:
    answer = rag.ask(Query(question)).answer
    assert said in answer.text


def test_a_term_alone_is_no_part_of_an_answer(rag: EvoRAG) -> None:
    answer = rag.ask(Query("What is the default value of max_flow?")).answer
    assert all(citation.text not in ("max_flow (number)", "spare_flow (number)") for citation in answer.citations)
    assert answer.text.startswith("max_flow (number): ")


def test_what_stands_under_another_name_is_not_given_beside_it(rag: EvoRAG) -> None:
    assert "spare_flow" not in rag.ask(Query("What is the default value of max_flow?")).answer.text


def test_the_account_of_a_rank_tells_that_the_question_names_a_label(rag: EvoRAG) -> None:
    (hit, *_) = rag.search(Query("What is the default value of max_flow?")).hits
    assert hit.rerank is not None
    assert hit.rerank.parts["named"] == pytest.approx(0.13)


def test_a_name_that_no_passage_mentions_is_not_answered(rag: EvoRAG) -> None:
    assert rag.ask(Query("What is the default value of least_flow?")).answer.type is AnswerType.INSUFFICIENT
    assert rag.ask(Query("What is the default value of max_flow?")).answer.type is AnswerType.EXTRACTIVE


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is work_mem for?", {"work_mem"}),
        ("Does RestartSec matter with --dry-run?", {"restartsec", "--dry-run"}),
        ("Is 64GB enough for -i?", set()),
        ("What is the limit –and who sets it?", set()),
    ],
)
def test_words_that_nobody_writes_otherwise(question: str, names: set[str]) -> None:
    assert unmistakable_names(question) == names


def test_the_name_of_a_document_names_no_entry_that_has_more_words() -> None:
    asked = "Why is t3x slow?"
    assert named("t3x ends at once. Why?", asked) == 1.0
    assert named("t3x ends at once. Why?", asked, "T3X FAQ") == 0.0
    assert named("t3x (program)", asked, "T3X FAQ") == 1.0
    assert named("max_flow (number)", "What is max_flow in t3x?", "T3X FAQ") == 1.0
