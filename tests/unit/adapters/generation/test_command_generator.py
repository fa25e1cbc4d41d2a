"""Real programs that write answers, well and badly."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.adapters.generation import command_generator
from core.adapters.generation.command_generator import CommandGenerator
from core.errors import GenerationFailed, GenerationTimedOut, ModelUnavailable
from core.model import GeneratorState, Prompt, Sampling
from core.settings import Settings

SECRET = "correct-horse-battery"
Make = Callable[..., CommandGenerator]


@pytest.fixture
def program(tmp_path: Path) -> Make:
    """Make a generator out of the text of a Python program."""

    def make(source: str, *arguments: str, max_bytes: int = 65_536, secret: tuple[str, ...] = (), **env: str):
        script = tmp_path / "program with a space.py"
        script.write_text(source, "utf-8")
        command = " ".join([sys.executable, "-I", f"'{script}'", *arguments])
        return CommandGenerator(command, {"PATH": os.defpath, **env}, secret, max_bytes=max_bytes)

    return make


def written(generator: CommandGenerator, user: str = "Question?", timeout_s: float = 30.0) -> str:
    return "".join(generator.write(Prompt("Rules.", user, "en"), Sampling(), timeout_s))


def first(pieces: Iterator[str]) -> str:
    """Return the first words, however long the program took to begin."""
    return next(piece for piece in pieces if piece)


def is_running(pid: int) -> bool:
    """Tell whether a process has not ended; one that nobody has waited for yet has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int) -> bool:
    """Tell whether a process ends within a minute."""
    for _ in range(1_200):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    "text", ["; rm -rf /", "$(touch canary)", "--help", "-", "`id`", "a\0b", "日本語の質問", "'\"\\"]
)
def test_prompt_arrives_literally_on_standard_input(program: Make, text: str) -> None:
    source = "import sys; d = sys.stdin.buffer.read(); print(sys.argv[1:], ascii(d.decode()))"
    assert written(program(source, "x"), text) == f"['x'] {'Rules.' + chr(10) * 2 + text!a}\n"


def test_prompt_larger_than_a_pipe_arrives_whole(program: Make) -> None:
    text = "あ" * 200_000
    assert written(program("import sys; print(len(sys.stdin.buffer.read()))"), text) == f"{600_000 + 8}\n"


def test_program_that_never_reads_is_no_failure(program: Make) -> None:
    assert written(program("print('done')"), "x" * 500_000) == "done\n"


def test_pieces_come_while_the_program_still_writes(program: Make) -> None:
    source = "import sys, time; print('first', flush=True); time.sleep(60)"
    pieces = program(source).write(Prompt("", "", "en"), Sampling(), 30.0)
    assert first(pieces) == "first\n"
    pieces.close()


def test_silent_program_is_heard_of(program: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_generator, "BEAT_S", 0.05)
    pieces = program("import time; time.sleep(60)").write(Prompt("", "", "en"), Sampling(), 30.0)
    assert [next(pieces), next(pieces)] == ["", ""]
    pieces.close()


def test_closing_ends_the_program_and_what_it_started(program: Make) -> None:
    source = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(os.getpid(), child.pid, flush=True)\n"
        "time.sleep(60)"
    )
    pieces = program(source).write(Prompt("", "", "en"), Sampling(), 30.0)
    pids = [int(pid) for pid in first(pieces).split()]
    pieces.close()
    assert all(gone(pid) for pid in pids)


def test_programs_do_not_outlive_the_server_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(os.getpid(), child.pid, flush=True)\n"
        "time.sleep(60)",
        "utf-8",
    )
    server = (
        "import sys, threading, time\n"
        "from core.adapters.generation.command_generator import CommandGenerator\n"
        "from core.model import Prompt, Sampling\n"
        "generator = CommandGenerator(sys.argv[1], {}, max_bytes=1000)\n"
        "pieces = generator.write(Prompt('', '', 'en'), Sampling(), 60.0)\n"
        # The thread that began the program ends before the server does.
        "began = threading.Thread(target=lambda: print(next(filter(None, pieces)), flush=True))\n"
        "began.start(); began.join(); print('alone', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", server, f"{sys.executable} -I {program}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        while process.stdout.readline() != "alone\n":
            pass
        time.sleep(0.3)
        assert len(pids) == 2 and all(is_running(pid) for pid in pids)
        process.kill()
    assert all(gone(pid) for pid in pids)


def test_program_begins_with_its_own_variables_streams_and_signals_only() -> None:
    def said(command: str) -> str:
        return written(CommandGenerator(command, {"PATH": os.defpath, "A": "1"}, max_bytes=10_000))

    assert sorted(said("env").split()) == ["A=1", f"PATH={os.defpath}"]
    assert len(said("ls /proc/self/fd").split()) == 4  # the fourth is the folder that it lists
    ignored = next(line for line in said("cat /proc/self/status").splitlines() if line.startswith("SigIgn"))
    # Those from 32 on are the C library's own, and make hands them on.
    assert int(ignored.split()[1], 16) & 0x7FFF_FFFF == 0


def test_file_that_is_no_program_is_unavailable(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\0\1")
    broken.chmod(0o755)
    generator = CommandGenerator(str(broken), {"PATH": os.defpath}, max_bytes=100)
    with pytest.raises(ModelUnavailable, match="cannot be started") as refused:
        written(generator)
    assert "EVORAG_LLM_COMMAND" in refused.value.remedy


def test_program_that_never_ends_is_killed_when_its_time_is_over(program: Make) -> None:
    source = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    said: list[str] = []
    with pytest.raises(GenerationTimedOut):
        said.extend(program(source).write(Prompt("", "", "en"), Sampling(), 1.0))
    assert gone(int("".join(said)))


def test_forsaken_program_is_killed_when_its_time_is_over(program: Make) -> None:
    source = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    pieces = program(source).write(Prompt("", "", "en"), Sampling(), 1.0)
    assert gone(int(first(pieces)))
    pieces.close()


def test_closing_the_generator_ends_what_runs(program: Make) -> None:
    generator = program("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    pieces = generator.write(Prompt("", "", "en"), Sampling(), 30.0)
    pid = int(first(pieces))
    generator.close()
    assert gone(pid)
    pieces.close()


def test_endless_output_is_cut_at_the_limit_on_a_whole_character(program: Make) -> None:
    source = "import sys\nwhile True: sys.stdout.write('あ' * 10_000)"
    assert written(program(source, max_bytes=1_000)) == "あ" * 333


def test_child_that_keeps_the_output_open_does_not_hold_the_answer(program: Make) -> None:
    source = "import subprocess, sys; subprocess.Popen(['sleep', '60']); print('done')"
    assert written(program(source)) == "done\n"


def test_failure_tells_the_last_line_of_standard_error(program: Make) -> None:
    source = (
        "import sys; print('half', flush=True); sys.stderr.write('noise\\nthe model is\\x1b[31m gone\\n'); sys.exit(3)"
    )
    said: list[str] = []
    with pytest.raises(GenerationFailed, match="status 3: the model is") as failure:
        said.extend(program(source).write(Prompt("", "", "en"), Sampling(), 30.0))
    assert said == ["half\n"] and "noise" not in failure.value.message and "\x1b" not in failure.value.message


def test_endless_errors_are_drained_and_shortened(program: Make) -> None:
    source = "import sys; sys.stderr.write('e' * 3_000_000); sys.exit(1)"
    with pytest.raises(GenerationFailed) as failure:
        written(program(source))
    assert len(failure.value.message) < 300


@pytest.mark.parametrize("line", ["$MY_KEY", "Authorization: Bearer abcdefghijkl", "OPENAI_API_KEY=abcdefghijkl"])
def test_failure_repeats_no_secret(program: Make, line: str) -> None:
    source = f"import os, sys; sys.stderr.write(os.path.expandvars({line!r})); sys.exit(1)"
    with pytest.raises(GenerationFailed) as failure:
        written(program(source, secret=("MY_KEY",), MY_KEY=SECRET))
    assert SECRET not in failure.value.message and "abcdefghijkl" not in failure.value.message


def test_program_that_a_signal_ended_is_a_failure(program: Make) -> None:
    with pytest.raises(GenerationFailed, match="status -9"):
        written(program("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))


def test_bytes_that_are_no_text_and_terminal_signs_make_plain_text(program: Make) -> None:
    source = r"import sys; sys.stdout.buffer.write(b'\x1b[1;31mNine\x1b[0m\xff o\'clock\x07\r\n\x1b]0;title\x07end')"
    assert written(program(source)) == "Nine\ufffd o'clock\nend"


def test_program_sees_only_the_variables_that_it_was_given(program: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVORAG_KEY", SECRET)
    monkeypatch.setenv("OTHER_SECRET", SECRET)
    monkeypatch.setenv("MY_KEY", "given on purpose")
    settings = Settings(llm_command_env="MY_KEY, NOT_THERE")
    generator = program("import os, json; print(json.dumps(dict(os.environ)))", **settings.llm_command_environment())
    seen = written(generator)
    assert "given on purpose" in seen and SECRET not in seen and '"PATH"' in seen


def test_more_programs_than_may_run_wait_within_their_own_time(program: Make) -> None:
    generator = program("import time; print('on', flush=True); time.sleep(60)")
    running: list[Iterator[str]] = [generator.write(Prompt("", "", "en"), Sampling(), 60.0) for _ in range(4)]
    assert [first(pieces) for pieces in running] == ["on\n"] * 4
    with pytest.raises(GenerationTimedOut):
        written(generator, timeout_s=0.2)
    for pieces in running:
        pieces.close()
    pieces = generator.write(Prompt("", "", "en"), Sampling(), 30.0)
    assert first(pieces) == "on\n"
    pieces.close()


@pytest.mark.parametrize("command", ["", "a 'b", "no-such-program-anywhere --x", "/tmp"])
def test_health_says_what_is_wrong_with_the_command(command: str) -> None:
    generator = CommandGenerator(command, {"PATH": os.defpath}, max_bytes=100)
    health = generator.health()
    assert health.state is GeneratorState.UNAVAILABLE and health.detail and "EVORAG_LLM_COMMAND" in health.remedy
    with pytest.raises(ModelUnavailable):
        next(generator.write(Prompt("", "", "en"), Sampling(), 5.0))


def test_health_names_the_program_and_never_its_arguments() -> None:
    health = CommandGenerator("sh -c 'key=abcdefgh'", {"PATH": os.defpath}, max_bytes=100).health()
    assert (health.model, health.state) == ("sh", GeneratorState.READY) and "abcdefgh" not in repr(health)
