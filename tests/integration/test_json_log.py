"""A log of JSON: every line that a server writes is one object with the fields of a line of text."""

from __future__ import annotations

import http.client
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from core.bootstrap import opened_accounts
from core.errors import NotFound
from core.settings.log import LOG_FORMAT, DiscreetFormatter, formatter_of
from tests.builders import settings

ROOT = Path(__file__).parent.parent.parent
PASSWORD = "a long enough password"
MARK = "mark-of-a-caller"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """What a server writes to its standard error while people sign in, are refused, and send what nobody can read."""
    folder = tmp_path_factory.mktemp("json")
    with opened_accounts(settings(folder)) as accounts:
        accounts.create_user("root", PASSWORD, "admin")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {
        **os.environ,
        "EVORAG_DATA_DIR": str(folder / "data"),
        "EVORAG_PORT": str(port),
        "EVORAG_TEST_MODE": "1",
        "EVORAG_LOG_FORMAT": "json",
    }
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "app"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=written
        )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert process.poll() is None, log.read_text()
            with suppress(OSError):
                ask(port, "GET", "/health/live")
                break
            time.sleep(0.05)
        for password in (f"{MARK} and wrong", PASSWORD):
            form = urlencode({"name": "root", "password": password})
            ask(port, "POST", "/sign-in", form, {"Content-Type": "application/x-www-form-urlencoded"})
        ask(port, "GET", "/api/v1/documents", headers={"Authorization": f"Bearer {MARK}"})
        ask(port, "GET", f"/api/v1/documents/a%0a{MARK}?q={MARK}", headers={"Authorization": "Bearer x"})
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0
    yield log.read_text(encoding="utf-8").splitlines()


def ask(port: int, method: str, path: str, body: str = "", headers: dict[str, str] | None = None) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        client.request(method, path, body or None, {"Sec-Fetch-Site": "same-origin", **(headers or {})})
        return client.getresponse().status


def test_every_line_is_an_object_with_its_moment_level_logger_and_message(lines: list[str]) -> None:
    told = [json.loads(line) for line in lines]
    assert len(told) >= 4
    for each in told:
        assert list(each)[:4] == ["time", "level", "logger", "message"]
        assert all(isinstance(value, str) for value in each.values())
        moment = datetime.fromisoformat(each["time"])
        assert moment.tzinfo == UTC and abs((datetime.now(UTC) - moment).total_seconds()) < 600
        assert each["level"] in logging.getLevelNamesMapping()
    said = {(each["level"], each["logger"], each["message"]) for each in told}
    assert ("INFO", "core.accounts", "a sign-in was refused") in said
    assert ("INFO", "core.accounts", "user “root” signed in") in said
    refused = "refused: GET /api/v1/documents to nobody from 127.0.0.1 (401 unauthorized)"
    assert ("WARNING", "app.security.refusals", refused) in said


def test_no_line_repeats_what_a_caller_sent(lines: list[str]) -> None:
    assert lines and MARK not in "\n".join(lines)


def record(message: str, *values: Any, **more: Any) -> logging.LogRecord:
    return logging.LogRecord("core.place", logging.ERROR, "", 0, message, values, more.get("exc_info"))


def test_error_stands_in_a_field_of_its_own_and_says_what_the_text_says() -> None:
    try:
        raise NotFound(f"There is no {MARK}.")
    except NotFound:
        failed = record("error %s", "0a1b", exc_info=sys.exc_info())
    line = formatter_of("json").format(failed)
    told = json.loads(line)
    assert "\n" not in line and MARK not in line
    assert told["message"] == "error 0a1b" and told["error"].endswith("core.errors.NotFound: not_found")
    text = DiscreetFormatter(LOG_FORMAT).format(failed)
    assert text == f"{told['time']} {told['level']} {told['logger']}: {told['message']}\n{told['error']}"


@pytest.mark.parametrize("name", ["a\nb", 'a"b', "\x00\x1b[31m", "\u2028", "三角", "a\udcff"])
def test_line_stays_one_whatever_it_says(name: str) -> None:
    line = formatter_of("json").format(record("user “%s”", name))
    assert line.isascii() and line.isprintable()
    assert json.loads(line)["message"] == f"user “{name}”"


def test_text_is_the_default() -> None:
    assert type(formatter_of("text")) is DiscreetFormatter
