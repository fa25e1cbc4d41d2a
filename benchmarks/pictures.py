"""``python -m benchmarks.pictures``: takes the pictures of README and docs anew, from the app as it is now.

The app is served on a new folder with the sample documents, and headless Chromium opens each page. ``neurons`` has the
spiking model write an answer first, which takes minutes on a busy machine; names after the command take those alone.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.e2e.conftest import CHROMIUM, OPTIONS, serve

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, HEIGHT = 1_280, 900
WARM_UP = "What is paid for a night in a hotel?"
"""Loads the models, so that no picture tells how long that took."""
QUESTION = "How many days a week may I work from home?"
COMPARED = "employee-handbook.docx"
PUMP = "The pump is checked every 14 days. The seal is replaced once a year. The check is written into the log book."
PUMP_QUESTION = "How often is the pump checked, and what else is replaced?"
LONG_S, LONG_MS = 1_800, 600_000
_COLOURS = 256
_SETTLED_MS = 1_500


def ask(page: Page) -> None:
    """A question with its cited answer, and the evidence beside it."""
    _asked(page)
    page.evaluate("() => window.scrollTo(0, 0)")


def account(page: Page) -> dict[str, float]:
    """The search by words and the fusion of both, from the account of the answer."""
    _asked(page)
    page.locator("#ask-details").check()
    cards = [page.locator(f"#trace-{name}") for name in ("keyword", "fusion")]
    for card in cards:
        card.wait_for(timeout=LONG_MS)
        card.scroll_into_view_if_needed(timeout=LONG_MS)
    _settle(page)
    page.evaluate("() => window.scrollTo(0, 0)")
    boxes = [box for card in cards if (box := card.bounding_box()) is not None]
    left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = max(box["y"] + box["height"] for box in boxes)
    return {"x": left - 16, "y": top - 16, "width": right - left + 32, "height": bottom - top + 32}


def compare(page: Page) -> None:
    """Two versions of a document: the numbers and dates that changed, and its text."""
    page.goto(f"/compare?doc={COMPARED}&old=1&new=2")
    page.locator(".diff-line .line-text").first.wait_for(timeout=LONG_MS)


def neurons(page: Page) -> dict[str, float]:
    """The spikes of a recorded answer."""
    page.goto("/neurons")
    base = str(page.evaluate("() => location.origin"))
    call(base, "texts", {"name": "pump", "text": PUMP})
    indexed(base)
    asked = {"question": PUMP_QUESTION, "record": True, "filters": {"doc_keys": ["pump.txt"]}}
    trace = call(base, "ask", asked)
    page.set_viewport_size({"width": WIDTH, "height": 1_440})
    page.goto(f"/neurons?recording={trace['generation']['recording']['id']}")
    page.locator("#neurons-raster .main-svg, .js-plotly-plot").first.wait_for(timeout=LONG_MS)
    return {"x": 0, "y": 0, "width": WIDTH, "height": 1_440}


PICTURES: dict[str, Callable[[Page], dict[str, float] | None]] = {
    "ask": ask,
    "account": account,
    "compare": compare,
    "neurons": neurons,
}
"""What is taken, by the name of its file; each opens the page and returns a part of it, None for the window."""


def take(names: Collection[str], into: Path) -> list[Path]:
    """Serve the sample, take pictures of it into a folder, and return their files."""
    taken = []
    with tempfile.TemporaryDirectory(prefix="evorag-pictures-") as folder, _served(Path(folder)) as url:
        call(url, "sample", {})
        indexed(url)
        call(url, "ask", {"question": WARM_UP})
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
            for name in names:
                context = browser.new_context(
                    base_url=url, viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", locale="en-GB"
                )
                page = context.new_page()
                page.set_default_timeout(LONG_MS)
                clip = PICTURES[name](page)
                _settle(page)
                path = into / f"{name}.png"
                page.screenshot(path=path, clip=clip, full_page=clip is not None)  # type: ignore[arg-type]
                _lighten(path)
                taken.append(path)
                context.close()
            browser.close()
    return taken


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("EVORAG_")}
    running = serve(folder, base=own, EVORAG_GENERATION_TIMEOUT_S=str(LONG_S))
    try:
        yield next(running)
    finally:
        running.close()  # type: ignore[attr-defined]


def call(url: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """Return what the interface answers; with a ``body`` it is asked to do something."""
    request = urllib.request.Request(
        f"{url}/api/v1/{path}",
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=LONG_S) as answer:
        return json.loads(answer.read() or b"null")


def indexed(url: str) -> None:
    """Wait until nothing is being indexed."""
    deadline = time.monotonic() + LONG_S
    while call(url, "jobs?active=1&limit=1")["jobs"]:
        if time.monotonic() > deadline:
            raise TimeoutError("The sample was not indexed in time.")
        time.sleep(0.5)


def _asked(page: Page) -> None:
    page.goto(f"/ask?q={urllib.parse.quote(QUESTION)}")
    page.locator("#ask-answer-card a.citation").first.wait_for(timeout=LONG_MS)
    _settle(page)


def _settle(page: Page) -> None:
    """Wait until the page has had one height for a while: plots and lists come one after another."""
    before, now = -1, 0
    while before != now:
        page.wait_for_timeout(_SETTLED_MS)
        before, now = now, int(page.evaluate("() => document.documentElement.scrollHeight"))


def _lighten(path: Path) -> None:
    """Keep as many colours as a screen picture needs."""
    with Image.open(path) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], help=f"of {', '.join(PICTURES)}; all without any")
    parser.add_argument("--into", type=Path, default=DOCS, help="the folder that they are written into")
    given = parser.parse_args()
    if CHROMIUM is None:
        parser.error("Chromium is not installed")
    for path in take(given.names or tuple(PICTURES), given.into):
        print(f"{path} {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
