"""An upload over a bad line, in a real browser: slowed, cut off, paused, its server killed, its page loaded anew."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.e2e.conftest import ROOT, free_port, guarded_page, serious_violations, wait_for

PART_BYTES = 256 * 1024
SIZE_BYTES = 10 * PART_BYTES
SLOW = 1_000_000
"""Bytes a second of the slowed line."""
ROW = ".job-table-upload li.job"


class Server:
    """``evorag serve`` that can be killed and started again on the same port and data folder."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self.start()

    def start(self) -> None:
        changes = {
            "EVOSPIKENET_TEST_MODE": "1",
            "EVORAG_DATA_DIR": str(self._folder / "data"),
            "EVORAG_PORT": str(self.port),
            "EVORAG_UPLOAD_PART_BYTES": str(PART_BYTES),
        }
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app"],
                cwd=ROOT,
                env={**os.environ, **changes},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_for(f"{self.address}/health", self._process)

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=30)

    def original(self, name: str) -> str:
        """Return the SHA-256 of what a download of version 1 brings."""
        url = f"{self.address}/api/v1/documents/{urllib.parse.quote(name)}/versions/1/original"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return hashlib.sha256(answer.read()).hexdigest()


@pytest.fixture(scope="module")
def bad_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("bad-line"))
    yield server
    server.kill()


@pytest.fixture
def tab(browser: Browser, bad_line: Server) -> Iterator[Page]:
    for page in guarded_page(browser, bad_line.address):
        page.goto("/upload")
        expect(page.locator("[data-upload-picker=files]")).to_be_attached()
        yield page


@pytest.fixture
def line(tab: Page) -> CDPSession:
    """The line of the tab, slowed."""
    session = tab.context.new_cdp_session(tab)
    session.send("Network.enable")
    slow(session)
    return session


def slow(line: CDPSession, upload: int = SLOW, *, offline: bool = False) -> None:
    conditions = {"offline": offline, "latency": 5, "downloadThroughput": -1, "uploadThroughput": upload}
    line.send("Network.emulateNetworkConditions", conditions)


def manual(folder: Path, name: str) -> tuple[Path, str]:
    """Write a text that goes out in ten parts; return it with its SHA-256."""
    line_of_text = f"In {name} the pump is checked every week and oiled twice a year.\n".encode()
    content = (line_of_text * (SIZE_BYTES // len(line_of_text) + 1))[:SIZE_BYTES]
    file = folder / name
    file.write_bytes(content)
    return file, hashlib.sha256(content).hexdigest()


def choose(tab: Page, file: Path) -> None:
    tab.locator("[data-upload-picker=files]").set_input_files(file)


def sent(tab: Page, percent: int) -> None:
    """Wait until so much has gone out."""
    tab.wait_for_function(
        """(percent) => {
          const bar = document.querySelector(".job-table-upload .job-list .job-fill");
          return Number(bar.style.transform.slice("scaleX(".length, -1)) * 100 > percent;
        }""",
        arg=percent,
        timeout=30_000,
    )


def uploads(tab: Page) -> list[dict[str, object]]:
    found: list[dict[str, object]] = tab.evaluate("async () => (await (await fetch('/api/v1/uploads')).json()).uploads")
    return found


def test_a_cut_line_and_a_killed_server_cost_no_byte(
    tab: Page, line: CDPSession, bad_line: Server, tmp_path: Path
) -> None:
    file, sha256 = manual(tmp_path, "cut off.txt")
    choose(tab, file)
    row = tab.locator(ROW)
    sent(tab, 20)
    expect(row).to_contain_text("left")
    slow(line, offline=True)
    expect(row).to_contain_text("Waiting for the connection")
    assert serious_violations(tab) == []
    slow(line)
    sent(tab, 45)
    bad_line.kill()
    expect(row).to_contain_text("Waiting for the connection")
    bad_line.start()
    expect(tab.locator(f'{ROW}[data-meaning="ok"]')).to_have_count(1, timeout=60_000)
    assert bad_line.original("cut off.txt") == sha256


def test_a_paused_upload_goes_on_after_a_reload_with_the_same_file(
    tab: Page, line: CDPSession, bad_line: Server, tmp_path: Path
) -> None:
    file, sha256 = manual(tmp_path, "found again.txt")
    choose(tab, file)
    sent(tab, 40)
    tab.get_by_role("button", name="Pause", exact=True).click()
    expect(tab.locator(ROW)).to_contain_text("Paused at")
    tab.get_by_role("button", name="Resume", exact=True).click()
    sent(tab, 50)
    tab.get_by_role("button", name="Pause", exact=True).click()
    tab.reload()
    row = tab.locator(f'{ROW}[data-state="found"]')
    expect(row).to_contain_text("Choose the same file again to resume")
    assert serious_violations(tab) == []
    offset = uploads(tab)[0]["offset_bytes"]
    assert offset >= PART_BYTES  # type: ignore[operator]
    again = tab.locator("[data-upload-picker=again]")
    other = tmp_path / "other.txt"
    other.write_text("This is something else.")
    row.get_by_role("button", name="Choose the file").click()
    again.set_input_files(other)
    expect(row).to_contain_text("That is another file")
    with tab.expect_request(lambda request: request.method == "PATCH") as continued:
        again.set_input_files(file)
    assert int(continued.value.headers["upload-offset"]) == offset
    slow(line, upload=-1)
    expect(tab.locator(f'{ROW}[data-meaning="ok"]')).to_have_count(1, timeout=60_000)
    assert bad_line.original("found again.txt") == sha256


def test_a_file_that_was_changed_meanwhile_does_not_become_a_version(
    tab: Page, line: CDPSession, bad_line: Server, tmp_path: Path
) -> None:
    file, _ = manual(tmp_path, "changed.txt")
    choose(tab, file)
    sent(tab, 40)
    tab.get_by_role("button", name="Pause", exact=True).click()
    tab.reload()
    row = tab.locator(f'{ROW}[data-state="found"]')
    expect(row).to_be_visible()
    times = file.stat()
    file.write_bytes(file.read_bytes().replace(b"oiled", b"OILED"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    slow(line, upload=-1)
    choose(tab, file)
    expect(tab.locator(ROW)).to_contain_text("checksum_mismatch", timeout=60_000)
    documents = tab.evaluate("async () => (await (await fetch('/api/v1/documents?search=changed')).json()).documents")
    assert documents == []


def test_a_found_upload_keeps_how_it_is_filed(tab: Page, line: CDPSession, tmp_path: Path) -> None:
    file, _ = manual(tmp_path, "drafted.txt")
    tab.locator(".upload-options > summary").click()
    tab.locator("[data-upload-publish] input[value=draft]").check(force=True)
    choose(tab, file)
    sent(tab, 30)
    tab.get_by_role("button", name="Pause", exact=True).click()
    tab.reload()
    row = tab.locator(f'{ROW}[data-state="found"]')
    expect(row).to_be_visible()
    # Chosen anew, and not as a draft: what was begun as a draft is not gone on with.
    with tab.expect_response(lambda answer: answer.request.method == "POST" and answer.status == 201) as begun:
        choose(tab, file)
    assert "draft " not in begun.value.request.headers["upload-metadata"]
    assert {transfer["filing"]["draft"] for transfer in uploads(tab)} == {True, False}  # type: ignore[index]
    with tab.expect_response(lambda answer: answer.request.method == "DELETE"):
        tab.locator(f'{ROW}:not([data-state="found"])').get_by_role("button", name="Cancel", exact=True).click()
    expect(tab.locator(ROW)).to_have_count(1)
    # Another state of the file begins anew, and as a draft again.
    os.utime(file, (1, 1))
    row.get_by_role("button", name="Choose the file").click()
    with tab.expect_response(lambda answer: answer.request.method == "POST" and answer.status == 201) as begun:
        tab.locator("[data-upload-picker=again]").set_input_files(file)
    assert f"draft {base64.b64encode(b'true').decode()}" in begun.value.request.headers["upload-metadata"]
    tab.get_by_role("button", name="Cancel", exact=True).click()
    expect(tab.locator(ROW)).to_have_count(0)


def test_a_cancelled_upload_leaves_nothing_on_the_server(tab: Page, line: CDPSession, tmp_path: Path) -> None:
    choose(tab, manual(tmp_path, "unwanted.txt")[0])
    sent(tab, 30)
    assert len(uploads(tab)) == 1
    with tab.expect_response(lambda answer: answer.request.method == "DELETE") as ended:
        tab.get_by_role("button", name="Cancel", exact=True).click()
    assert ended.value.status == 204
    assert uploads(tab) == []
    expect(tab.locator(ROW)).to_have_count(0)
