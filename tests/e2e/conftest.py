"""A real server with the real model, and Debian's Chromium to drive it; skipped where no Chromium is installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).parent.parent.parent
ARTEFACTS = ROOT / "test-artefacts"
CHROMIUM = shutil.which("chromium")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``evorag serve`` on an empty data folder."""
    yield from serve(tmp_path_factory.mktemp("served"))


def serve(folder: Path, **changes: str) -> Iterator[str]:
    """Serve ``folder`` until the iterator is closed; ``changes`` are variables of its environment."""
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "EVOSPIKENET_TEST_MODE"},
        "EVORAG_DATA_DIR": str(folder / "data"),
        "EVORAG_PORT": str(port),
        "EVORAG_EMBEDDER_THREADS": "2",
        **changes,
    }
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "app"], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{address}/health", process)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """A page in a fresh context; an error on its console fails the test."""
    context = window(browser, server)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert errors == []


def window(
    browser: Browser, server: str, *, width: int = 1280, scheme: str = "light", locale: str = "en-GB"
) -> BrowserContext:
    return browser.new_context(
        base_url=server,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        locale=locale,
    )
