"""The first page, the five doors and the command palette, in a browser: by mouse, by keyboard, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, seen, serve, window

pytestmark = pytest.mark.every_run

MANUAL = b"# Pump\n\n## 2. Yearly check\n\nThe valve of the pump is opened once a year and cleaned with water.\n"
LOOKS = [("light", 1280, "en-GB"), ("dark", 1280, "ja-JP"), ("light", 400, "en-GB")]
DOORS = {
    "Ask": ("/", ["Ask", "Conversations", "History"]),
    "Documents": ("/documents", ["Documents", "Upload", "Jobs"]),
    "Compare": ("/compare", []),
    "Quality": ("/evaluate", ["Evaluate", "Analyser", "Neurons", "Stores"]),
    "Settings": ("/settings", ["Models", "Access", "Audit", "API"]),
}


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models and without documents."""
    yield from serve(tmp_path_factory.mktemp("started"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    yield from guarded_page(browser, light_server)


@pytest.mark.begins_anew("light_server")
def test_1_three_clicks_lead_from_nothing_to_a_cited_answer(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("#ask-question")).to_be_hidden()
    expect(tab.get_by_role("button", name="Load the sample documents")).to_be_visible()
    tab.get_by_role("link", name="Upload documents").click()
    tab.locator("[data-upload-picker=files]").set_input_files(
        {"name": "pump.md", "mimeType": "text/markdown", "buffer": MANUAL}
    )
    expect(tab.locator("[data-upload-rows] .meaning-ok").first).to_be_visible()
    tab.get_by_role("link", name="Ask about it").click()
    tab.wait_for_url("**/ask?doc=pump.md")
    expect(tab.locator(".filters .chip")).to_have_text("pump.md")
    tab.get_by_role("link", name=re.compile("about yearly check")).click()
    expect(tab.locator("#ask-answer-card a.citation").first).to_be_visible()
    tab.locator("#door-ask").click()
    expect(tab.locator(".questions .question")).to_have_text("What does “pump” say about yearly check?")


def test_2_what_is_being_indexed_stands_beside_the_box(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("#ask-question")).to_be_visible()
    tab.evaluate("() => fetch('/api/v1/sample', {method: 'POST'})")
    beside = tab.locator("#start-indexing")
    expect(beside.get_by_role("progressbar")).to_be_visible()
    box, side = tab.locator("#ask-asking").bounding_box(), beside.bounding_box()
    assert box and side and side["x"] >= box["x"] + box["width"] and abs(side["y"] - box["y"]) < 10
    tab.locator("#ask-question").fill("typed while the page follows the jobs")
    expect(beside.get_by_role("progressbar")).to_have_count(0, timeout=120_000)
    expect(tab.locator("#ask-question")).to_have_value("typed while the page follows the jobs")
    expect(tab.locator(".example")).to_have_count(3)


def test_2a_the_sample_can_be_loaded_beside_other_documents(tab: Page) -> None:
    tab.goto("/upload")
    tab.get_by_role("button", name="Load the sample too").click()
    expect(tab.locator(".notice")).to_contain_text("The sample documents are all here already.")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("sample")
    expect(tab.get_by_role("option", name="Load the sample documents")).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/jobs")


def test_3_every_page_is_behind_one_of_five_doors(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator(".rail-links .rail-link")).to_have_text(list(DOORS))
    for door, (path, places) in DOORS.items():
        tab.locator(".rail-links").get_by_role("link", name=door, exact=True).click()
        tab.wait_for_url(re.compile(f"{re.escape(path)}$"))
        expect(tab.locator(f"#door-{door.lower()}")).to_have_attribute("aria-current", "true")
        expect(tab.locator(".door-tabs a:visible")).to_have_text(places)
        for place in places:
            tab.locator(".door-tabs").get_by_role("link", name=place, exact=True).click()
            current = tab.locator(".door-tabs a[aria-current=page]")
            expect(current).to_have_text(place)
            expect(tab.locator("h1")).to_be_visible()
    assert tab.locator(".rail-links [aria-current]").count() == 1


@pytest.mark.parametrize(
    ("address", "door", "place"),
    [
        ("/ask?q=Which%20valve%3F", "ask", "Ask"),
        ("/document?key=pump.md", "documents", "Documents"),
        ("/documents/pump.md", "documents", "Documents"),
        ("/history", "ask", "History"),
        ("/jobs?state=done", "documents", "Jobs"),
        ("/analyser?text=valves", "quality", "Analyser"),
        ("/stores", "quality", "Stores"),
        ("/api-docs", "settings", "API"),
    ],
)
def test_4_old_addresses_are_served(tab: Page, address: str, door: str, place: str) -> None:
    tab.goto(address)
    expect(tab.locator("h1")).to_be_visible()
    expect(tab.locator(f"#door-{door}")).to_have_attribute("aria-current", "true")
    expect(tab.locator(".door-tabs a[aria-current=page]")).to_have_text(place)


def test_5_the_palette_finds_pages_documents_and_actions_by_the_keyboard(tab: Page) -> None:
    tab.goto("/jobs")
    expect(tab.locator("h1")).to_be_visible()
    tab.keyboard.press("Control+k")
    field = tab.get_by_role("combobox", name="Pages, documents, conversations, actions")
    expect(field).to_be_focused()
    tab.keyboard.type("analys")
    expect(tab.get_by_role("option", name="Analyser Quality")).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/analyser")

    tab.keyboard.press("Control+k")
    tab.keyboard.type("pump")
    found = tab.get_by_role("option", name="pump.md")
    expect(found).to_be_visible()
    expect(tab.locator("#palette-said")).to_have_text("1 result")
    tab.keyboard.press("ArrowDown")
    expect(tab.get_by_role("option", name="Ask “pump”")).to_have_attribute("aria-selected", "true")
    chosen = tab.get_by_role("option", selected=True)
    expect(field).to_have_attribute("aria-activedescendant", str(chosen.get_attribute("id")))
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/documents/pump.md")

    tab.keyboard.press("Control+k")
    tab.keyboard.type("dark")
    expect(tab.get_by_role("option", name="Dark theme")).to_be_visible()
    tab.keyboard.press("Enter")
    expect(tab.locator("html")).to_have_attribute("data-bs-theme", "dark")
    tab.keyboard.press("Control+k")
    tab.keyboard.press("Escape")
    expect(tab.locator("#palette")).to_be_hidden()


def test_6_the_palette_finds_a_conversation_and_asks_what_it_does_not_find(tab: Page) -> None:
    tab.goto("/")
    tab.evaluate(
        "() => fetch('/api/v1/conversations', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({title: 'About valves'})})"
    )
    tab.get_by_role("button", name="Search").first.click()
    tab.keyboard.type("about val")
    expect(tab.get_by_role("option", name="About valves")).to_be_visible()
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("conversation="))
    tab.keyboard.press("Control+k")
    tab.keyboard.type("how often is it opened?")
    expect(tab.locator("#palette-said")).to_have_text("Nothing found.")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("how%20often.*|how\\+often.*"))


def test_7_conversations_have_a_page(tab: Page) -> None:
    tab.goto("/conversations")
    expect(tab.locator(".conversation-name").first).to_have_text("About valves")
    tab.get_by_role("button", name="Rename").first.click()
    tab.locator(".conversation-form input").fill("On valves")
    tab.locator(".conversation-form input").press("Enter")
    expect(tab.locator(".conversation-name").first).to_have_text("On valves")


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
def test_8_the_first_pages_are_accessible_and_fit(
    browser: Browser, light_server: str, scheme: str, width: int, locale: str
) -> None:
    context = window(browser, light_server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    wrong = {}
    for name, address in {"start": "/", "conversations": "/conversations", "stores": "/stores"}.items():
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        wrong[name] = seen(page, f"{name}-{scheme}-{width}")
    page.keyboard.press("Control+k")
    page.keyboard.type("p")
    expect(page.get_by_role("option").first).to_be_visible()
    wrong["palette"] = seen(page, f"palette-{scheme}-{width}")
    context.close()
    assert wrong == {name: [] for name in wrong}


def test_9_tabs_are_titled_with_what_they_show(tab: Page) -> None:
    tab.goto("/documents/pump.md")
    expect(tab).to_have_title("pump.md · Document · EvoRAG")
    tab.locator("#door-compare").click()
    expect(tab).to_have_title("Compare · EvoRAG")
    tab.goto("/compare?doc=pump.md&old=1&new=1")
    expect(tab).to_have_title("pump.md · Compare · EvoRAG")


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
def test_10_an_unknown_address_says_so_in_the_readers_language(
    browser: Browser, light_server: str, scheme: str, width: int, locale: str
) -> None:
    context = window(browser, light_server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    answer = page.goto("/no/such/page")
    assert answer is not None and answer.status == 404
    words = "このページはありません" if locale == "ja-JP" else "There is no page here"
    assert words in answer.text()
    expect(page.locator("h1")).to_have_text(words)
    expect(page.get_by_text("/no/such/page")).to_be_visible()
    wrong = seen(page, f"not-found-{scheme}-{width}")
    page.get_by_role("button", name="検索・操作" if locale == "ja-JP" else "Search").last.click()
    expect(page.locator("#palette-field")).to_be_focused()
    context.close()
    assert wrong == []
