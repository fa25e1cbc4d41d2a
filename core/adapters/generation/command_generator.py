"""An external program that reads the prompt on its standard input and writes the answer to its standard output.

No shell is involved: nothing of a question ever stands in the command line. The program runs in a process group of
its own, which ends with the answer or with this process, and sees only the variables that it is given.
"""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path, PurePath
from typing import IO

from core.adapters.generation.background_writing import BEAT_S, cut, timed_out
from core.adapters.generation.redaction import shortened
from core.adapters.generation.terminal_text import PlainText
from core.errors import GenerationFailed, ModelUnavailable
from core.model import GeneratorHealth, GeneratorState, Prompt, Sampling
from core.ports import Writing

AT_ONCE = 4
"""Programs that run at the same time; other questions wait within their own time."""
READ_BYTES = 65_536
ERROR_BYTES = 4_096
TICK_S = 0.1
NO_PROGRAM = (126, 127)
"""What a shell, and ``command_launch``, end with where a program cannot be started."""
_LAUNCH = (sys.executable, "-I", "-S", str(Path(__file__).with_name("command_launch.py")))
_NAMED_BY_PYTHON = "LC_CTYPE"
"""A variable that Python may set for what it becomes."""


class CommandGenerator:
    """Runs one command for each answer.

    ``environment`` is all that the program sees of the variables; of those in ``secret`` nothing is repeated in errors.
    """

    name = "command"

    def __init__(
        self, command: str, environment: Mapping[str, str], secret: tuple[str, ...] = (), *, max_bytes: int
    ) -> None:
        self._arguments, self._problem = _split(command)
        self.model = PurePath(self._arguments[0]).name if self._arguments else ""
        self._environment = dict(environment)
        self._secrets = tuple(environment[name] for name in secret if name in environment)
        self._max_bytes = max_bytes
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        self._running: set[_Program] = set()

    def health(self) -> GeneratorHealth:
        try:
            self._program()
        except ModelUnavailable as error:
            return GeneratorHealth.unavailable(self.name, self.model, error)
        return GeneratorHealth(self.name, self.model, GeneratorState.READY)

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        """Yield what the program writes, as it comes and without terminal sequences; ``sampling`` is its own affair.

        Closing the iterator kills the program with all that it has started. Raises: ``ModelUnavailable``,
        ``GenerationTimedOut``, ``GenerationFailed`` with the last line of its standard error.
        """
        deadline = time.monotonic() + timeout_s
        path = self._program()
        while not self._turns.acquire(timeout=max(0.0, min(BEAT_S, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise timed_out(timeout_s)
            yield ""
        try:
            with closing(self._started(path, prompt)) as program:
                self._running.add(program)
                # For a reader that holds the iterator and never asks again.
                watchdog = threading.Timer(timeout_s, program.kill)
                watchdog.daemon = True
                watchdog.start()
                try:
                    yield from self._read(program, deadline, timeout_s)
                finally:
                    watchdog.cancel()
                    self._running.discard(program)
        finally:
            self._turns.release()

    def close(self) -> None:
        for program in list(self._running):
            program.kill()

    def _read(self, program: _Program, deadline: float, timeout_s: float) -> Iterator[str]:
        text, left = PlainText(), self._max_bytes
        for data in program.output(deadline):
            if data is None:
                raise timed_out(timeout_s)
            kept, left = cut(text.feed(data), left)
            if kept or not data:
                yield kept
            if left <= 0:
                return
        kept, _ = cut(text.feed(b"", final=True), left)
        if kept:
            yield kept
        status = program.status()
        if status and time.monotonic() >= deadline:
            raise timed_out(timeout_s)
        if status:
            said = shortened(program.last_words(), self._secrets)
            if status in NO_PROGRAM:
                raise self._not_started(said)
            raise GenerationFailed(
                f"The program {self.model} ended with the status {status}" + (f": {said}" if said else ".")
            )

    def _started(self, path: str, prompt: Prompt) -> _Program:
        try:
            return _Program([path, *self._arguments[1:]], self._environment, prompt.as_text())
        except (OSError, ValueError) as error:
            raise self._not_started(type(error).__name__) from error

    def _not_started(self, why: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"The program {self.model} cannot be started" + (f" ({why})." if why else "."),
            remedy="Check EVORAG_LLM_COMMAND in a terminal.",
            reason="command_not_started",
            program=self.model,
        )

    def _program(self) -> str:
        if self._problem is not None:
            raise self._problem
        found = shutil.which(self._arguments[0], path=self._environment.get("PATH"))
        if found is None:
            raise ModelUnavailable(
                f"The program {self.model} is not on this machine, or cannot be run.",
                remedy="Install it, or correct EVORAG_LLM_COMMAND.",
                reason="command_missing",
                program=self.model,
            )
        return found


class _Program:
    """A process with what it has started, its output, and the end of what it said on its standard error."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], prompt: str) -> None:
        line, self._line = os.pipe()
        unwanted = "" if _NAMED_BY_PYTHON in environment else _NAMED_BY_PYTHON
        try:
            self._process = subprocess.Popen(
                [*_LAUNCH, str(line), unwanted, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
                pass_fds=(line,),
            )
        except BaseException:
            os.close(self._line)
            raise
        finally:
            os.close(line)
        self._prompt = memoryview(prompt.encode("utf-8", "replace"))
        self._errors = b""
        self._reaping = threading.Lock()

    def output(self, deadline: float) -> Iterator[bytes | None]:
        """Yield what the program writes until it ends, ``b""`` every ``BEAT_S`` while that is nothing.

        The last is None where the deadline has passed.

        It has ended when its process has, even where others that it has started hold its output open.
        """
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        with selectors.DefaultSelector() as selector:
            for stream, event in (
                (process.stdin, selectors.EVENT_WRITE),
                (process.stdout, selectors.EVENT_READ),
                (process.stderr, selectors.EVENT_READ),
            ):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, event)
            heard_at = time.monotonic()
            while process.stdout in selector.get_map() or not self._has_ended():
                if time.monotonic() - heard_at >= BEAT_S:
                    heard_at = time.monotonic()
                    yield b""
                if time.monotonic() >= deadline:
                    yield None
                    return
                had_ended = self._has_ended()
                ready = [key.fileobj for key, _ in selector.select(TICK_S)]
                if had_ended and process.stdout not in ready:
                    break
                if process.stdin in ready and not self._fed(process.stdin):
                    selector.unregister(process.stdin)
                    with suppress(OSError):
                        process.stdin.close()
                if process.stderr in ready and not self._heard(process.stderr):
                    selector.unregister(process.stderr)
                if process.stdout in ready:
                    data = os.read(process.stdout.fileno(), READ_BYTES)
                    if data:
                        heard_at = time.monotonic()
                        yield data
                    else:
                        selector.unregister(process.stdout)
            while process.stderr in selector.get_map() and self._is_ready(process.stderr):
                if not self._heard(process.stderr):
                    break

    def status(self) -> int:
        """Return the exit status of the program, which has ended."""
        self.kill()
        return self._reaped()

    def last_words(self) -> str:
        said = self._errors
        if len(said) == ERROR_BYTES:
            # What it begins with may be the end of a secret.
            said = said[said.find(b" ") + 1 or ERROR_BYTES :]
        lines = said.decode("utf-8", "replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "")

    def kill(self) -> None:
        """End the program and all that it has started in its group."""
        with self._reaping:
            # Until it has been waited for, its number is its own.
            if self._process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self._reaped()
        os.close(self._line)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _reaped(self) -> int:
        with self._reaping:
            return self._process.wait()

    def _has_ended(self) -> bool:
        """Tell whether the program has ended, without waiting for it: its group keeps its number."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _fed(self, stdin: IO[bytes]) -> bool:
        """Write some of the prompt; tell whether there is more of it."""
        try:
            written = os.write(stdin.fileno(), self._prompt[:READ_BYTES])
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._prompt = self._prompt[written:]
        return len(self._prompt) > 0

    def _heard(self, stderr: IO[bytes]) -> bool:
        data = os.read(stderr.fileno(), READ_BYTES)
        self._errors = (self._errors + data)[-ERROR_BYTES:]
        return bool(data)

    @staticmethod
    def _is_ready(stream: IO[bytes]) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            return bool(selector.select(0))


def _split(command: str) -> tuple[list[str], ModelUnavailable | None]:
    try:
        arguments = shlex.split(command)
    except ValueError:
        return [], ModelUnavailable(
            "The command of the generator “command” has an open quotation mark.",
            remedy="Correct EVORAG_LLM_COMMAND.",
            reason="command_open_quotation",
        )
    if not arguments:
        return [], ModelUnavailable(
            "No program is set for the generator “command”.",
            remedy="Set EVORAG_LLM_COMMAND to a program that reads a prompt and writes an answer.",
            reason="command_unset",
        )
    return arguments, None
