"""Asking with a program that writes slowly: what is seen on the way, stopping it, asking on, citations, why not."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, serious_violations, serve, window

WRITER = """
import sys, time

question = sys.stdin.read()
words = "遅い。" if "遅い" in question else "The harvest of the orchard begins on 12 September. It pays 9,999 yen."
for sign in [*words, *(" ." * 500 if "slowly" in question else "")]:
    print(sign, end="", flush=True)
    time.sleep(0.02)
"""
TEXTS = {
    "orchard.txt": "The orchard in Suwa holds 240 apple trees. The harvest of the orchard begins on 12 September.",
    "bakery.txt": "The bakery sells bread made of rye from six in the morning until the shelves are empty.",
}
WHEN = "When does the harvest of the orchard begin?"
TIMEOUT_MS = 20_000


@pytest.fixture(scope="module")
def writing_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models whose answers a program writes."""
    folder = tmp_path_factory.mktemp("writing")
    program = folder / "writer.py"
    program.write_text(WRITER, encoding="utf-8")
    for address in serve(
        folder,
        EVOSPIKENET_TEST_MODE="1",
        EVORAG_GENERATOR="command",
        EVORAG_LLM_COMMAND=shlex.join([sys.executable, str(program)]),
        EVORAG_UNSUPPORTED="mark",
        EVORAG_SURE_CONFIDENCE="2",
    ):
        for name, text in TEXTS.items():
            added = called(f"{address}/api/v1/texts", {"name": name, "text": text})
            while called(f"{address}/api/v1/jobs/{added['job_id']}")["state"] in ("queued", "running"):
                time.sleep(0.1)
        yield address


def called(url: str, body: dict[str, str] | None = None) -> dict[str, Any]:
    """What a route answers to ``body``, or to a plain request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


@pytest.fixture
def page(browser: Browser, writing_server: str) -> Iterator[Page]:
    for opened in guarded_page(browser, writing_server):
        opened.goto("/ask")
        yield opened


def send(page: Page, question: str) -> None:
    page.locator("#ask-question").fill(question)
    page.locator("#ask-question").press("Enter")


@pytest.mark.begins_anew("writing_server")
def test_a_written_answer_is_seen_on_its_way_followed_up_and_leads_to_its_passage(page: Page) -> None:
    send(page, WHEN)
    live = page.locator(".live-card")
    expect(live).to_contain_text("Being written, not yet checked", timeout=TIMEOUT_MS)
    expect(page.locator(".live-passages")).to_contain_text("orchard.txt")
    page.wait_for_url(re.compile("trace="), timeout=TIMEOUT_MS)
    card = page.locator("#ask-answer-card")
    expect(card).to_contain_text("9,999 is in no passage")
    expect(live).to_have_count(0)
    address = page.url
    page.reload()
    expect(card).to_contain_text("1 of 2 sentences are supported")
    assert page.url == address
    assert serious_violations(page) == []

    expect(page.locator("#ask-question")).to_have_value("")
    send(page, "And where is it?")
    page.wait_for_url(re.compile("conversation=.*trace="), timeout=TIMEOUT_MS)
    expect(page.locator(".turns")).to_contain_text(WHEN)
    page.get_by_role("link", name="Conversations").click()
    expect(page.locator(".conversation-name").first).to_have_text(WHEN)
    page.go_back()
    page.locator(".turn-question").first.click()
    expect(page.locator("#ask-shown")).to_have_text(WHEN)

    card.locator("a.citation").first.click()
    expect(page.locator(".evidence-item.is-chosen mark").first).to_be_in_viewport()
    page.locator(".evidence-item.is-chosen .evidence-way").first.click()
    page.wait_for_url(re.compile("/documents/orchard.txt"))
    expect(page.locator("mark").first).to_be_in_viewport()


def test_escape_stops_the_writing_and_nothing_of_it_is_kept(page: Page) -> None:
    send(page, "How slowly does the orchard grow?")
    expect(page.locator(".live-text")).to_contain_text("The harvest", timeout=TIMEOUT_MS)
    page.keyboard.press("Escape")
    expect(page.locator(".live-card")).to_contain_text("Stopped. This was not checked and is not kept")
    expect(page.locator("#ask-question")).to_be_focused()
    assert "trace=" not in page.url
    kept = page.evaluate("async () => (await (await fetch('/api/v1/questions?limit=50')).json()).questions")
    assert not [each for each in kept if "slowly" in each["question"]]


def test_days_are_those_of_whoever_asks(browser: Browser, writing_server: str) -> None:
    """On the two sides of the date line no moment has the same day."""
    began, offered = [], []
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        context = browser.new_context(base_url=writing_server, locale="en-GB", timezone_id=zone)
        page = context.new_page()
        page.goto("/ask?q=When+is+the+harvest+in+the+documents+since+yesterday%3F")
        chip = page.locator(".evidence-filters .when-bounds")
        expect(chip).to_have_attribute("title", re.compile(r"^from [A-Z][a-z]{2} \d{1,2}(, \d{4})?$"), timeout=60_000)
        began.append(chip.get_attribute("title"))
        trace = called(f"{writing_server}/api/v1/traces/{parse_qs(urlsplit(page.url).query)['trace'][0]}")
        assert trace["query"]["zone"] == zone
        page.goto("/ask?asof=orchard.txt%23v1")
        chosen = page.locator("#ask-version time")
        expect(chosen).to_have_text(re.compile(r"^[A-Z][a-z]{2} \d{1,2}(, \d{4})?$"))
        offered.append(chosen.text_content())
        context.close()
    assert began[0] != began[1] and offered[0] != offered[1]


@pytest.mark.parametrize(
    ("locale", "summary", "obstacle"),
    [
        ("en-GB", "Missing a passage?", "Other passages stand before it"),
        ("ja-JP", "あるはずの箇所が見つからない", "ほかの箇所が上位にあります"),
    ],
)
def test_why_not_says_what_keeps_a_document_away_and_how_to_see_it(
    browser: Browser, writing_server: str, locale: str, summary: str, obstacle: str
) -> None:
    context = window(browser, writing_server, width=400, scheme="dark", locale=locale)
    try:
        opened = context.new_page()
        opened.goto("/ask?gen=none&k=1&q=apple%20trees%20of%20the%20orchard")
        opened.wait_for_url(re.compile("trace="), timeout=TIMEOUT_MS)
        opened.get_by_text(summary).click()
        opened.locator("#whynot-doc").click()
        opened.get_by_role("option", name="bakery.txt").click()
        panel = opened.locator(".whynot-panel")
        expect(panel).to_contain_text(obstacle, timeout=TIMEOUT_MS)
        assert opened.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
        assert serious_violations(opened) == []
        panel.locator("a.advice").first.click()
        opened.wait_for_url(re.compile("k=2.*trace="), timeout=TIMEOUT_MS)
        expect(opened.locator(".evidence")).to_contain_text("bakery.txt")
    finally:
        context.close()
