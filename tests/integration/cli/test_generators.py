"""What writes an answer of the command line: a program, a generator by name, or nothing."""

import json
import shlex
import sys

import pytest

import core
from core.client import RagClient
from core.errors import InvalidInput
from tests.builders import knowledge_base
from tests.chat_server import serving
from tests.live import served

KEY = "sk-correct-horse-battery"
QUESTION = "How many days of leave in the first year?"


@pytest.fixture
def writer(tmp_path):
    """A program that writes an answer out of the prompt, and the command that runs it."""
    program = tmp_path / "writer.py"
    program.write_text(
        "import sys\n"
        "asked = sys.stdin.read()\n"
        "assert 'How many days' in asked and not any('How many' in part for part in sys.argv)\n"
        "print('Each colleague has 14 days of leave in the first year [1].')\n",
        "utf-8",
    )
    return shlex.join([sys.executable, str(program), "--fast"])


def generation(evorag, *options):
    status, out, err = evorag("ask", QUESTION, *options, "--json")
    assert status == 0, err
    return json.loads(out)["generation"]["generator"]


def test_program_writes_the_answer(filled, writer):
    assert generation(filled, "--llm-cmd", writer) == "command"


def test_program_of_the_settings_writes_what_extraction_is_unsure_of_unless_nothing_shall(filled, writer, monkeypatch):
    monkeypatch.setenv("EVORAG_GENERATOR", "command")
    monkeypatch.setenv("EVORAG_LLM_COMMAND", "false")
    monkeypatch.setenv("EVORAG_LLM_COMMAND_ASK", writer)
    assert generation(filled) == "command"
    status, out, _ = filled("ask", QUESTION)
    assert status == 0 and "(extracted)" in out and "written by" not in out
    monkeypatch.setenv("EVORAG_SURE_CONFIDENCE", "2")
    assert "(written by command: " in filled("ask", QUESTION, "--fresh")[1]
    assert generation(filled, "--no-llm") == "none"
    assert generation(filled, "--generator", "none") == "none"


def test_generator_that_is_not_known_is_refused_with_those_that_are(filled):
    status, _, err = filled("ask", QUESTION, "--generator", "no-such")
    assert status == 1 and "huggingface" in err and "command" in err


def test_two_ways_of_writing_at_once_are_a_wrong_command(filled, writer):
    status, _, err = filled("ask", QUESTION, "--no-llm", "--llm-cmd", writer)
    assert status == 2 and "--llm-cmd" in err


def test_server_runs_no_program_for_whoever_asks(evorag, writer):
    status, _, err = evorag("ask", QUESTION, "--llm-cmd", writer, "--url", "http://127.0.0.1:1")
    assert status == 1 and "invalid_input" in err


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"EVORAG_GENERATOR": "openai", "EVORAG_OPENAI_URL": "http://127.0.0.1:1/v1"}, "does not answer"),
        ({"EVORAG_GENERATOR": "command", "EVORAG_LLM_COMMAND": "false"}, "ended with the status 1"),
        ({"EVORAG_GENERATOR": "command", "EVORAG_LLM_COMMAND": "true"}, "wrote nothing"),
        ({"EVORAG_GENERATOR": "command", "EVORAG_LLM_COMMAND": "/no/such/program"}, "is not on this machine"),
        (
            {"EVORAG_GENERATOR": "command", "EVORAG_LLM_COMMAND": "sleep 60", "EVORAG_GENERATION_TIMEOUT_S": "0.5"},
            "not written within 0.5 seconds",
        ),
        ({"EVORAG_GENERATOR": "huggingface", "EVORAG_LLM_MODEL": "/no/such/folder"}, "The language model"),
    ],
    ids=["dead port", "failing program", "silent program", "no program", "too slow", "no model"],
)
def test_generator_that_is_down_is_told_in_one_line(filled, monkeypatch, variables, why):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVORAG_SURE_CONFIDENCE", "2")
    name = variables["EVORAG_GENERATOR"]
    status, out, err = filled("ask", QUESTION)
    assert status == 0 and "14 days" in out
    [line] = err.splitlines()
    assert line.startswith(
        f"warning: the generator “{name}” did not write this answer, which is taken from the passages"
    )
    assert why in line
    status, out, err = filled("ask", QUESTION, "--strict", "--json")
    assert status == 1 and why in err
    failure = json.loads(out)["answer"]["generator_failure"]
    assert failure["generator"] == name and failure["remedy"]


def test_strict_says_nothing_of_an_answer_that_was_written(filled, writer):
    assert filled("ask", QUESTION, "--strict", "--llm-cmd", writer)[::2] == (0, "")
    assert filled("ask", QUESTION, "--strict", "--no-llm")[::2] == (0, "")


def test_answer_of_a_generator_that_is_back_is_its_own(filled, tmp_path, monkeypatch):
    switch = tmp_path / "up"
    program = tmp_path / "program.sh"
    program.write_text(
        f"cat >/dev/null; test -e {switch} && echo 'Colleagues have 14 days of leave in the first year.'"
    )
    monkeypatch.setenv("EVORAG_GENERATOR", "command")
    monkeypatch.setenv("EVORAG_LLM_COMMAND", f"sh {program}")
    monkeypatch.setenv("EVORAG_SURE_CONFIDENCE", "2")
    assert "warning" in filled("ask", QUESTION)[2]
    switch.touch()
    status, out, err = filled("ask", QUESTION, "--strict")
    assert (status, err) == (0, "") and out.startswith("Colleagues have 14 days")


def test_server_is_set_up_tried_chosen_and_removed_by_commands(evorag, tmp_path, monkeypatch):
    secret = tmp_path / "key"
    secret.write_text(f"{KEY}\n")
    with serving() as server:
        status, _, err = evorag("generators", "set", "house", server.url, "--key-file", secret)
        assert status == 1 and "inside the network" in err
        status, out, err = evorag("generators", "set", "house", server.url, "--key-file", secret, "--allow-inside")
        assert status == 0 and "house" in out and "set" in out and KEY not in out + err
        status, out, err = evorag("generators", "try", "house")
        assert (status, out) == (0, "Nine。\n") and "first" in err
        assert server.asked[-1][1]["Authorization"] == f"Bearer {KEY}"
        [kept] = json.loads(evorag("generators", "default", "house", "--json")[1])
        assert kept["is_default"] and kept["has_key"] and "key" not in kept
        monkeypatch.setenv("EVORAG_GENERATOR", "none")
        assert "EVORAG_GENERATOR" in evorag("generators", "list")[1]
        assert evorag("generators", "default", "house")[0] == 1
        status, out, _ = evorag("generators", "set", "house", server.url, "--no-key", "--allow-inside", "--json")
        assert status == 0 and not json.loads(out)["has_key"]
    status, _, err = evorag("generators", "try", "house")
    assert status == 1 and "does not answer" in err and "Settings" in err
    assert evorag("generators", "remove", "house")[0] == 0
    assert evorag("generators", "remove", "house")[0] == 1


def test_server_of_a_server_is_set_up_over_the_interface(evorag, tmp_path):
    with serving() as model, knowledge_base(tmp_path) as kb, served(kb) as url:
        at = ("--url", url)
        assert evorag("generators", "set", "house", model.url, "--model", "second", "--allow-inside", *at)[0] == 0
        assert evorag("generators", "default", "house", *at)[0] == 0
        assert evorag("generators", "try", "house", *at)[1] == "Nine。\n"
        assert kb.generators.usual(core.model.Task.ANSWER) == "house"
        with RagClient(url) as client:
            assert client.generators.list() == kb.generators.list()
            with pytest.raises(InvalidInput):
                client.generators.set("house", "http://10.0.0.1/v1")
        backup = tmp_path / "backup.tar"
        assert evorag("backup", backup, "--with-keys", *at)[0] == 0 and backup.stat().st_size
