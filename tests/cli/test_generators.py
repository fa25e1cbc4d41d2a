"""What writes an answer of the command line: a program, a generator by name, or nothing."""

import json
import shlex
import sys

import pytest

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


def test_program_of_the_settings_writes_unless_nothing_shall(filled, writer, monkeypatch):
    monkeypatch.setenv("EVORAG_GENERATOR", "command")
    monkeypatch.setenv("EVORAG_LLM_COMMAND", "false")
    monkeypatch.setenv("EVORAG_LLM_COMMAND_ASK", writer)
    assert generation(filled) == "command"
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
