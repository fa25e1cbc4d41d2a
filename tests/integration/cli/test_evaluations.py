"""Question sets and runs from the command line, on a data folder and on a server, and the warning before publishing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import core
from tests.builders import knowledge_base
from tests.integration.cli.conftest import OLDER
from tests.live import served

LINES = "id,question,doc,answers\nleave,How many days of leave in the first year?,handbook.md,14 days\n"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "staff.csv"
    file.write_text(LINES, "utf-8-sig")
    return file


def test_set_is_imported_run_compared_and_exported(filled: Any, questions: Path) -> None:
    status, out, err = filled("eval", "import", questions)
    assert status == 0, err
    assert out.split("\t")[1:] == ["staff", "1", "-", "-", "all\n"]
    first, second = (
        json.loads(filled("eval", "run", "staff", "--label", label, "--rerank", "none", "--json")[1])
        for label in ("one", "two")
    )
    assert (first["state"], first["measures"]["final"]["recall_at_1"]) == ("done", 1.0)
    assert [line.split("\t")[2] for line in filled("eval", "list", "staff")[1].splitlines()] == ["two", "one"]
    status, out, err = filled("eval", "compare", first["id"], second["id"])
    assert status == 0 and "ndcg_at_10\t1.000\t1.000\t+0.000" in out
    assert "0 questions got worse." in err
    assert "14 days" in filled("eval", "failures", second["id"])[1]
    exported = filled("eval", "export", "staff", "--form", "jsonl")[1]
    assert json.loads(exported)["doc_keys"] == ["handbook.md"]
    assert filled("eval", "delete", "staff")[0] == 0
    assert filled("eval", "list", "--json")[1] == "[]\n"


def test_wrong_file_and_unknown_set_say_what_to_do(evorag: Any, questions: Path) -> None:
    questions.write_text("question,answerable\nWhen?,perhaps\n", "utf-8")
    status, out, err = evorag("eval", "import", questions)
    assert (status, out) == (1, "") and "Line 2: answerable" in err
    assert "evorag eval list" in evorag("eval", "run", "nothing")[2]


def test_publishing_warns_where_a_set_gates_and_publishes_all_the_same(
    filled: Any, questions: Path, papers: Path
) -> None:
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    assert filled("add", papers / "handbook.md", "--draft")[0] == 0
    assert "gates" in filled("eval", "import", questions, "--gate")[1]
    status, out, err = filled("eval", "gate", "handbook.md", 2)
    assert status == 1 and "right" in out
    assert "warning: question set “staff”: 1 of 1 questions" in err
    status, _, err = filled("publish", "handbook.md", 2)
    assert status == 0 and "warning: question set “staff”" in err
    assert "warning" not in filled("publish", "handbook.md", 1)[2]


def test_questions_that_were_asked_become_a_set_that_can_be_watched(filled: Any) -> None:
    assert filled("ask", "How many days of leave in the first year?")[0] == 0
    assert filled("eval", "history", "asked")[1].split("\t")[1:3] == ["asked", "1"]
    assert "gates" in filled("eval", "watch", "asked")[1]
    assert "gates" not in filled("eval", "watch", "asked", "--off")[1]


def test_measures_of_a_generator_that_failed_are_not_taken_for_its_own(
    filled: Any, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled("eval", "import", questions)[0] == 0
    assert "warning" not in filled("eval", "run", "staff")[2]
    monkeypatch.setenv("EVORAG_GENERATOR", "command")
    monkeypatch.setenv("EVORAG_LLM_COMMAND", "false")
    monkeypatch.setenv("EVORAG_SURE_CONFIDENCE", "2")
    status, out, err = filled("eval", "run", "staff", "--json")
    assert status == 0 and json.loads(out)["measures"]["answers"]["generator_failed"] == 1
    assert err.startswith("warning: the generator failed at 1 of 1 answers")
    assert filled("questions", "--save", "How many days of leave in the first year?")[0] == 0
    _, _, err = filled("impact", "handbook.md", 1)
    assert "the generator “command” failed at 2 of 2 answers" in err


# ---- on a server


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("server"), job_workers=1) as opened:
        yield opened


def test_the_server_keeps_and_runs_sets(evorag: Any, papers: Path, questions: Path, kb: core.KnowledgeBase) -> None:
    with served(kb) as url:
        assert evorag("add", papers, "--url", url)[0] == 0
        assert evorag("eval", "import", questions, "--gate", "--url", url)[0] == 0
        status, out, err = evorag("eval", "run", "staff", "--as-of", kb.sequence(), "--json", "--url", url)
        assert status == 0, err
        run = json.loads(out)
        assert (run["state"], run["settings"]["as_of"]) == ("done", str(kb.sequence()))
        for command in (["list"], ["list", "staff"], ["failures", run["id"]], ["compare", run["id"], run["id"]],
                        ["export", "staff"], ["gate", "handbook.md", 1], ["watch", "staff", "--off"]):  # fmt: skip
            assert evorag("eval", *command, "--url", url)[0] == 0, command
        assert [question.id for question in core.RagClient(url).evaluations.questions(run["set_id"])] == ["leave"]
        assert evorag("eval", "delete", "staff", "--url", url)[0] == 0
    assert kb.evaluations.sets() == []
