"""A real server with the real model, and Debian's Chromium to drive it; skipped where no Chromium is installed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import programs
from tests.conftest import SERVER_LOG

ROOT = Path(__file__).parent.parent.parent
ARTEFACTS = ROOT / "test-artefacts"
CHROMIUM = programs.find("chromium-headless-shell", "chromium")
"""The shell draws the pages alone; the whole browser spends as much again on windows that nobody sees."""
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# Five seconds are what a busy machine may need for one answer.
expect.set_options(timeout=30_000)
LOG_LINES = 60
LOGS: list[Path] = []
"""What the servers wrote that run at this time."""
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a browser test that failed once more; the summary names it, since a race in it may be one in a page.

    A page has time-outs, and where the machine does something else for their length, they end. Who looks for races sets
    ``EVORAG_RERUNS=0``.
    """
    reruns = int(os.environ.get("EVORAG_RERUNS", "1"))
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=reruns))


def tries(request: pytest.FixtureRequest) -> int:
    """Return 1 for a test that runs for the first time, 2 for one that runs again."""
    return int(getattr(request.node, "execution_count", 1))


@pytest.fixture
def suffix(request: pytest.FixtureRequest) -> str:
    """What sets names of documents apart from those that the first try of this test left."""
    return f"-{tries(request)}" if tries(request) > 1 else ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the server that ``begins_anew`` names before a second try, so that this meets a new one."""
    marker = item.get_closest_marker("begins_anew")
    if marker and getattr(item, "execution_count", 1) > 1:
        request: pytest.FixtureRequest = item._request  # type: ignore[attr-defined]
        for fixture in request._fixturemanager.getfixturedefs(marker.args[0], item) or ():
            fixture.finish(request)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show beside a browser test that failed what its server wrote: the page names an error by its id alone."""
    report = yield
    if report.failed and item.path.is_relative_to(Path(__file__).parent):
        for log in LOGS:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            report.sections.append((f"{SERVER_LOG} {log.parent.name}/{log.name}", "\n".join(lines[-LOG_LINES:])))
    return report


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``evorag serve`` on an empty data folder."""
    yield from serve(tmp_path_factory.mktemp("served"))


def serve(
    folder: Path,
    *command: str | Path,
    cwd: Path = ROOT,
    base: Mapping[str, str] = os.environ,
    **changes: str,
) -> Iterator[str]:
    """Serve ``folder`` until the iterator is closed; ``changes`` are variables of its environment.

    Without a ``command`` what is served is this checkout.
    """
    port = free_port()
    environment = {
        **{name: value for name, value in base.items() if name != "EVOSPIKENET_TEST_MODE"},
        "EVORAG_DATA_DIR": str(folder / "data"),
        "EVORAG_PORT": str(port),
        **changes,
    }
    written = folder / "server.log"
    with written.open("wb") as log:
        LOGS.append(written)
        process = subprocess.Popen(
            command or (sys.executable, "-m", "app"), cwd=cwd, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(f"{address}/health", process)
            yield address
        finally:
            LOGS.remove(written)
            process.terminate()
            process.wait(timeout=60)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError:
            # It answers, and asks who wants to know.
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


def guarded_page(browser: Browser, server: str) -> Iterator[Page]:
    """Give a page whose scripts must not fail and whose policy must not be broken."""
    context = window(browser, server)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if "Policy" in message.text else None)
    yield opened
    context.close()
    assert errors == []


def seen(page: Page, artefact: str) -> list[object]:
    """Take a picture of all of the page, and return what is wrong with it: it is too wide, or axe finds something."""
    page.wait_for_timeout(1_500)
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{artefact}.png", full_page=True)
    fits = page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    return [*([] if fits else ["wider than the window"]), *serious_violations(page)]


def serious_violations(page: Page) -> list[tuple[str, list[object]]]:
    """Return what axe finds serious or critical on the page as it is."""
    # The page's policy forbids inline scripts, so the checker is run through the debugger.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        (violation["id"], [node["target"] for node in violation["nodes"]][:3])
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]
