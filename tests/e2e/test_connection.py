"""A server that is lost, slow or fails is said where people look, and nothing that they typed is lost."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.conftest import guarded_page, seen, serve, window

LOST = "The server cannot be reached."
SAID_WITHIN_MS = 3_000
BELOW = """(selector) => {
  const place = document.querySelector(selector).getBoundingClientRect();
  return document.querySelector(".failed-here").getBoundingClientRect().top - place.bottom;
}"""
PAGES = ["/", "/documents", "/compare", "/evaluate", "/settings"]


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models."""
    yield from serve(tmp_path_factory.mktemp("lost"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    yield from guarded_page(browser, light_server)


@pytest.mark.parametrize(("scheme", "width", "locale"), [("light", 1280, "en-GB"), ("dark", 400, "ja-JP")])
def test_a_server_that_has_ended_is_said_within_three_seconds(
    browser: Browser, tmp_path: Path, scheme: str, width: int, locale: str
) -> None:
    serving = serve(tmp_path, EVOSPIKENET_TEST_MODE="1")
    context = window(browser, next(serving), width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    page.goto("/documents")
    expect(page.locator("h1")).to_be_visible()
    page.wait_for_timeout(2_000)
    expect(page.locator("#connection")).to_be_hidden()
    serving.close()
    banner = page.locator("#connection[data-state=lost]")
    expect(banner).to_be_visible(timeout=SAID_WITHIN_MS)
    expect(banner).to_contain_text(LOST if locale == "en-GB" else "サーバーに接続できません")
    assert seen(page, f"lost-{scheme}-{width}") == []
    context.close()


@pytest.mark.parametrize("address", PAGES)
def test_every_page_says_that_the_server_is_lost_and_that_it_is_back(tab: Page, address: str) -> None:
    tab.goto(address)
    expect(tab.locator("h1")).to_be_visible()
    tab.context.set_offline(True)
    expect(tab.locator("#connection")).to_contain_text(LOST, timeout=SAID_WITHIN_MS)
    expect(tab.locator("#connection").get_by_role("button", name="Try again")).to_be_visible()
    tab.locator("#connection-retry").click()
    expect(tab.locator("#connection")).to_contain_text(LOST)
    tab.context.set_offline(False)
    expect(tab.locator("#connection")).to_contain_text("Connected again.")


def test_a_slow_server_is_said_within_three_seconds_and_not_for_longer(tab: Page) -> None:
    tab.goto("/documents")
    expect(tab.locator("h1")).to_be_visible()
    held: list[Route] = []
    tab.route("**/health/live", lambda route: held.append(route))
    expect(tab.locator("#connection[data-state=slow]")).to_be_visible(timeout=SAID_WITHIN_MS)
    expect(tab.locator("#connection")).to_contain_text("The server is slow to answer.")
    tab.unroute("**/health/live")
    expect(tab.locator("#connection")).to_be_hidden()


def test_what_does_not_reach_the_server_is_said_where_it_was_asked_for(tab: Page) -> None:
    tab.goto("/")
    tab.locator("#load-sample").click(trial=True)
    tab.context.set_offline(True)
    tab.locator("#load-sample").click()
    here = tab.locator(".failed-here")
    expect(here).to_contain_text("This did not reach the server.", timeout=SAID_WITHIN_MS)
    button, said = tab.locator("#load-sample").bounding_box(), here.bounding_box()
    assert button and said and 0 <= said["y"] - (button["y"] + button["height"]) < 20
    tab.context.set_offline(False)
    expect(tab.locator("#connection")).to_contain_text("did not reach the server.")
    expect(tab.locator("#connection").get_by_role("button", name="Load the page again")).to_be_visible()


def test_a_callback_that_fails_says_so_where_it_failed(tab: Page) -> None:
    tab.goto("/documents")
    made = tab.evaluate(
        "async () => (await fetch('/api/v1/texts', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({name: 'gate', text: 'The gate opens at eight.'})})).json()"
    )
    while tab.evaluate(
        "async (id) => (await (await fetch(`/api/v1/jobs/${id}`)).json()).state", made["job_id"]
    ) not in (
        "done",
        "failed",
    ):
        time.sleep(0.1)
    tab.goto("/documents/gate.txt")
    field = tab.locator("#document-tags")
    expect(field).to_be_visible()
    field.fill(",".join(map(str, range(120))))
    field.press("Enter")
    field.blur()
    here = tab.locator(".failed-here")
    expect(here).to_be_visible()
    # Both are measured at once: the page may still scroll so that it is in sight.
    assert 0 <= tab.evaluate(BELOW, "#document-tags") < 20
    expect(tab.locator("#notice .notice")).to_have_count(0)
    here.get_by_role("button", name="Close").click()
    expect(here).to_have_count(0)


def test_what_a_store_caused_is_said_at_the_button_that_was_pressed(tab: Page) -> None:
    def refuse(route: Route) -> None:
        if '"documents-chosen.data"' in (route.request.post_data or ""):
            route.fulfill(status=500, json={})
        else:
            route.continue_()

    tab.goto("/documents")
    tab.locator("#door-documents").click(trial=True)
    tab.locator(".ag-row .ag-checkbox-input").first.check()
    tab.route("**/_dash-update-component", refuse)
    button = tab.locator("#documents-delete")
    button.click()
    here = tab.locator(".failed-here")
    expect(here).to_contain_text("The server could not do this.")
    assert 0 <= tab.evaluate(BELOW, "#documents-delete") < 20


def test_typed_text_survives_a_reload_another_language_and_leaving_the_page(tab: Page) -> None:
    typed = "Which valve is opened once a year, and why?"
    tab.goto("/documents?new=1")
    tab.locator("#documents-entry-name").fill("My note")
    tab.locator("#documents-entry-text").fill("Half of a thought")
    tab.locator("#door-ask").click()
    tab.goto("/ask")
    tab.locator("#ask-question").fill(typed)
    tab.reload()
    expect(tab.locator("#ask-question")).to_have_value(typed)
    tab.get_by_role("button", name="JA 日本語").click()
    expect(tab.locator("h1")).to_have_text("質問")
    expect(tab.locator("#ask-question")).to_have_value(typed)
    tab.locator("#door-documents").click()
    expect(tab.locator("h1")).to_have_text("文書")
    tab.locator("#documents-add").click()
    expect(tab.locator("#documents-entry-text")).to_have_value("Half of a thought")
    tab.locator("#door-ask").click()
    expect(tab.locator("#ask-question")).to_have_value(typed)
    tab.locator("#ask-question").press("Enter")
    tab.wait_for_url(re.compile("trace="))
    tab.goto("/ask")
    expect(tab.locator("h1")).to_have_text("質問")
    tab.wait_for_timeout(1_500)
    expect(tab.locator("#ask-question")).to_have_value("")


def test_an_answer_in_one_piece_can_be_stopped(tab: Page) -> None:
    tab.goto("/")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "ask-send.n_clicks" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    def let_go() -> None:
        # The card is there before the browser has asked.
        for _ in range(100):
            if held:
                break
            tab.wait_for_timeout(50)
        held.pop().continue_()

    tab.route("**/_dash-update-component", hold)
    tab.locator("#ask-question").fill("When does the gate open?")
    tab.locator("#ask-question").press("Enter")
    card = tab.locator(".live-card")
    expect(card).to_be_visible()
    card.get_by_role("button", name="Stop").click()
    expect(card).to_contain_text("Stopped.")
    expect(tab.locator("#ask-question")).to_be_focused()
    let_go()
    tab.wait_for_timeout(2_500)
    assert "trace=" not in tab.url
    expect(card).to_contain_text("Stopped.")
    tab.locator("#ask-question").press("Enter")
    expect(card).to_be_visible()
    let_go()
    tab.wait_for_url(re.compile("trace="))
    expect(tab.locator("#ask-answer-card")).to_be_visible()
    expect(card).to_have_count(0)
