"""The tour of the first page, in a browser: shown once, left by Esc, gone through by the keyboard, begun again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, seen, serve, window
from tests.e2e.test_start_page import LOOKS

TITLES = ("Ask in your own words", "Look at the evidence", "Add documents", "Compare versions")


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models, with one document."""
    yield from serve(tmp_path_factory.mktemp("toured"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    yield from guarded_page(browser, light_server)


def add_document(tab: Page) -> None:
    tab.evaluate(
        "() => fetch('/api/v1/texts', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({name: 'pump', text: 'The valve of the pump is opened once a year.'})})"
    )


def test_1_a_new_reader_sees_it_and_goes_through_it_by_the_keyboard(tab: Page) -> None:
    tab.goto("/")
    tour = tab.get_by_role("region", name="Tour of EvoRAG")
    expect(tour.get_by_role("heading")).to_have_text(TITLES[0])
    # A page without documents has no box, and comes to have it while the tour is shown.
    expect(tour).not_to_contain_text("Write a question in the box", use_inner_text=True)
    expect(tour).to_contain_text("a box for your question appears on this page", use_inner_text=True)
    add_document(tab)
    expect(tour).to_contain_text("Write a question in the box", use_inner_text=True)
    expect(tour).not_to_contain_text("appears on this page", use_inner_text=True)
    # Whoever came to ask is not held up.
    assert tab.evaluate("() => !document.getElementById('tour').contains(document.activeElement)")
    expect(tab.locator("#ask-question")).to_be_visible()
    expect(tab.locator("#ask-asking")).to_have_class(re.compile("tour-target"))
    tour.get_by_role("button", name="Next").focus()
    for title in TITLES[1:]:
        tab.keyboard.press("Enter")
        heading = tour.get_by_role("heading")
        expect(heading).to_have_text(title)
        expect(heading).to_be_focused()
        if title != TITLES[-1]:
            tour.get_by_role("button", name="Next").focus()
    expect(tab.locator("#door-compare")).to_have_class(re.compile("tour-target"))
    tour.get_by_role("button", name="Back").click()
    expect(tour.get_by_role("heading")).to_have_text(TITLES[2])
    tour.get_by_role("button", name="Next").click()
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_be_hidden()
    expect(tab.locator("#ask-question")).to_be_focused()
    assert tab.locator(".tour-target").count() == 0
    tab.reload()
    expect(tab.locator("#ask-question")).to_be_visible()
    expect(tour).to_be_hidden()


def test_2_esc_leaves_it_and_the_palette_begins_it_again_from_any_page(tab: Page) -> None:
    tab.goto("/")
    tour = tab.get_by_role("region", name="Tour of EvoRAG")
    expect(tour).to_be_visible()
    # Esc in the palette closes the palette alone.
    tab.keyboard.press("Control+k")
    tab.keyboard.press("Escape")
    expect(tab.locator("#palette")).to_be_hidden()
    expect(tour).to_be_visible()
    tab.locator("body").press("Escape")
    expect(tour).to_be_hidden()
    tab.goto("/jobs")
    expect(tab.locator("h1")).to_be_visible()
    tab.keyboard.press("Control+k")
    tab.keyboard.type("tour")
    expect(tab.get_by_role("option", name="Take the tour")).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("Enter")
    expect(tour.get_by_role("heading")).to_be_focused()
    tour.get_by_role("button", name="Leave the tour").click()
    tab.reload()
    expect(tab.locator("#ask-question")).to_be_visible()
    expect(tour).to_be_hidden()


def test_3_a_step_leads_where_it_says_and_ends_the_tour(tab: Page) -> None:
    tab.goto("/")
    tour = tab.get_by_role("region", name="Tour of EvoRAG")
    for _ in range(2):
        tour.get_by_role("button", name="Next").click()
    tour.get_by_role("link", name="Add some now").click()
    tab.wait_for_url("**/upload")
    tab.locator("#door-ask").click()
    expect(tab.locator("#ask-question")).to_be_visible()
    expect(tour).to_be_hidden()


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
def test_4_every_step_is_accessible_and_fits(
    browser: Browser, light_server: str, scheme: str, width: int, locale: str
) -> None:
    context = window(browser, light_server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#tour")).to_be_visible()
    wrong = {}
    for step in range(4):
        wrong[step] = seen(page, f"tour-{step + 1}-{scheme}-{width}")
        if step < 3:
            page.locator("#tour [data-tour=next]").click()
    context.close()
    assert wrong == {step: [] for step in wrong}
