"""What a browser gets, and how long it takes, until a page can be used: over loopback and over an emulated line.

Headless Chromium opens each address in a context of its own, without a cache, and again with what it kept. A page shows
its first content when Chromium has painted some of it, and can be used when what people come for is in sight: the box
of questions, rows of a list, lines of a comparison.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.e2e.conftest import CHROMIUM, OPTIONS, serve

LINE = {"offline": False, "latency": 20, "downloadThroughput": 1_250_000, "uploadThroughput": 1_250_000}
"""10 Mbit/s either way, in bytes a second, and 20 ms there and back."""
WAIT_MS = 60_000
_QUIET_MS = 1_500
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_USABLE = """selector => {
  const found = document.querySelector(selector);
  return found && found.getClientRects().length > 0 && !found.disabled ? performance.now() : 0;
}"""


@dataclass
class Traffic:
    """What the answers to a page's requests weigh as they are sent, heads among them."""

    files: int = 0
    sent: int = 0
    asked: set[str] = field(default_factory=set)

    def follow(self, session: CDPSession) -> None:
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._begun)
        session.on("Network.loadingFinished", self._finished)

    def _begun(self, told: dict[str, Any]) -> None:
        # What stands in a style sheet itself is no request to the server.
        if not told["request"]["url"].startswith("data:"):
            self.asked.add(told["requestId"])

    def _finished(self, told: dict[str, Any]) -> None:
        if told["requestId"] not in self.asked:
            return
        self.files += 1
        self.sent += int(told["encodedDataLength"])


def opened(folder: Path, places: Mapping[str, tuple[str, str]], rounds: int) -> dict[str, Any]:
    """Return figures of each place, an address and what is waited for there, served from a folder with its ``data``."""
    with _browser() as browser, _served(folder) as url:
        # The first request of all makes what every page has.
        _look(browser, url, *next(iter(places.values())), line=None)
        return {
            f"{name}{at}": _middle([_look(browser, url, *place, line=line) for _ in range(rounds)])
            for name, place in places.items()
            for at, line in (("", None), ("_at_10_mbit", LINE))
        }


def has_browser() -> bool:
    return CHROMIUM is not None


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield browser
        browser.close()


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    running = serve(folder, EVOSPIKENET_TEST_MODE="1", EVORAG_EMBEDDER="hash")
    try:
        yield next(running)
    finally:
        running.close()  # type: ignore[attr-defined]


def _look(browser: Browser, url: str, address: str, sought: str, line: Mapping[str, Any] | None) -> dict[str, float]:
    context = browser.new_context(base_url=url, viewport={"width": 1_280, "height": 800}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    session = context.new_cdp_session(page)
    traffic = Traffic()
    traffic.follow(session)
    if line is not None:
        session.send("Network.emulateNetworkConditions", dict(line))
    cold = _times(page, address, sought)
    told = {"files": float(traffic.files), "kB": traffic.sent / 1000}
    # A page that is left takes nothing of what the next one is measured by.
    page.goto("about:blank")
    warm = _times(page, address, sought)
    context.close()
    return {
        **told,
        **{f"{name}_cold_ms": value for name, value in cold.items()},
        **{f"{name}_warm_ms": value for name, value in warm.items()},
    }


def _times(page: Page, address: str, sought: str) -> dict[str, float]:
    page.goto(address, wait_until="commit")
    usable = float(page.wait_for_function(_USABLE, arg=sought).json_value())
    page.wait_for_timeout(_QUIET_MS)
    return {"content": float(page.evaluate(_PAINTED)), "usable": usable}


def _middle(looks: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found = list(looks)
    return {name: round(statistics.median(look[name] for look in found)) for name in found[0]}
