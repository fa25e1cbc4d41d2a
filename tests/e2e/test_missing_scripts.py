"""A page whose scripts do not come says so in words, with a way to try again, and never waits at "Loading…"."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.conftest import seen, serve, window

SAID = {"en-GB": "This page is incomplete", "ja-JP": "ページの一部のスクリプトを読み込めなかった"}
SAID_WITHIN_MS = 10_000
OWN = "**/modules-*/documents/page.js"


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models."""
    yield from serve(tmp_path_factory.mktemp("incomplete"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    # Scripts that are missing are errors of the page, so that this one is not guarded.
    context = window(browser, light_server)
    yield context.new_page()
    context.close()


def not_found(route: Route) -> None:
    route.fulfill(status=404, body="nothing is here", content_type="text/plain")


@pytest.mark.parametrize("fails", [Route.abort, not_found], ids=["network", "404"])
@pytest.mark.parametrize("module", ["documents/page.js", "shared/texts.js", "main.js"])
def test_a_page_whose_module_is_missing_says_so_and_can_be_tried_again(tab: Page, module: str, fails: object) -> None:
    missing = f"**/modules-*/{module}"
    tab.route(missing, lambda route: fails(route))  # type: ignore[operator]
    tab.goto("/documents")
    alert = tab.get_by_role("alert").filter(has_text=SAID["en-GB"])
    expect(alert).to_be_visible(timeout=SAID_WITHIN_MS)
    expect(tab.get_by_text("Loading the page…")).to_be_hidden()
    tab.unroute(missing)
    alert.get_by_role("button", name="Try again").click()
    expect(tab.locator("h1")).to_have_text("Documents")
    expect(alert).to_be_hidden()


def test_a_missing_module_keeps_only_its_own_page_away(tab: Page) -> None:
    tab.route(OWN, lambda route: route.abort())
    tab.goto("/")
    expect(tab.locator("h1")).to_be_visible()
    tab.evaluate("() => { window.stays = true; }")
    tab.get_by_role("link", name="Documents").first.click()
    expect(tab.get_by_role("alert").filter(has_text=SAID["en-GB"])).to_be_visible(timeout=SAID_WITHIN_MS)
    expect(tab.locator("h1")).to_be_hidden()
    tab.get_by_role("link", name="Compare").first.click()
    expect(tab.locator("h1")).to_have_text("Compare")
    expect(tab.get_by_text(SAID["en-GB"])).to_be_hidden()
    assert tab.evaluate("() => window.stays") is True


def test_a_module_that_fails_when_its_page_was_left_is_not_said_on_the_next(tab: Page) -> None:
    held: list[Route] = []
    # It is asked for twice, the second time half a second after the first one failed.
    tab.route(OWN, lambda route: route.abort() if held else held.append(route))
    tab.goto("/")
    expect(tab.locator("h1")).to_be_visible()
    with tab.expect_request(OWN):
        tab.get_by_role("link", name="Documents").first.click()
    tab.get_by_role("link", name="Compare").first.click()
    expect(tab.locator("h1")).to_have_text("Compare")
    for abort in (lambda: held[0].abort(), lambda: None):
        with tab.expect_event("requestfailed", lambda request: request.url.endswith("documents/page.js")):
            abort()
    tab.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(tab.get_by_text(SAID["en-GB"])).to_be_hidden()
    expect(tab.locator("h1")).to_be_visible()


def test_a_page_whose_scripts_take_long_says_so(tab: Page) -> None:
    held: list[Route] = []
    tab.route("**/modules-*/main.js", lambda route: held.append(route))
    tab.goto("/documents", wait_until="commit")
    expect(tab.get_by_role("alert")).to_contain_text("This page is taking a long time to load.", timeout=SAID_WITHIN_MS)
    held[0].continue_()
    expect(tab.locator("h1")).to_have_text("Documents")
    expect(tab.get_by_text("This page is taking a long time to load.")).to_be_hidden()


@pytest.mark.parametrize(("scheme", "width", "locale"), [("light", 1280, "en-GB"), ("dark", 400, "ja-JP")])
@pytest.mark.parametrize("module", ["documents/page.js", "main.js"])
def test_what_is_said_of_a_missing_module_can_be_read(
    browser: Browser, light_server: str, scheme: str, width: int, locale: str, module: str
) -> None:
    context = window(browser, light_server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    page.route(f"**/modules-*/{module}", lambda route: route.abort())
    page.goto("/documents")
    expect(page.get_by_role("alert").filter(has_text=SAID[locale])).to_be_visible(timeout=SAID_WITHIN_MS)
    assert seen(page, f"incomplete-{module.partition('/')[0]}-{scheme}-{width}") == []
    context.close()
