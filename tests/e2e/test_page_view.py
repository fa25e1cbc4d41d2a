"""The pages of a document in a real browser: pictures, words that can be chosen, the cited passage, search and zoom."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pymupdf
import pytest
from playwright.sync_api import Browser, Page, expect

from core import RagClient
from tests.e2e.conftest import guarded_page, serious_violations, serve

PAGES = 12
NOTE = b"# Note\n\nThe *pump* is red.\n\n- first\n- second\n"
CITED = "The turquoise valve is opened by hand."


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a model, with a PDF of several pages and a text."""
    folder = tmp_path_factory.mktemp("light")
    for base in serve(folder, EVOSPIKENET_TEST_MODE="1"):
        with RagClient(base) as client:
            for name, data in (("pump.pdf", made()), ("note.md", NOTE)):
                client.finish(str(client.add_file(name, io.BytesIO(data)).job_id), 60)
        yield base


def made() -> bytes:
    document = pymupdf.open()
    for number in range(1, PAGES + 1):
        page = document.new_page()
        page.insert_text((72, 90), f"Chapter {number}", fontsize=20)
        page.insert_textbox((72, 120, 520, 300), f"This is page {number} of the manual. " * 12, fontsize=11)
        if number == 9:
            page.insert_text((72, 420), CITED, fontsize=11)
    return bytes(document.tobytes())


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    yield from guarded_page(browser, light_server)


def cited(base: str) -> str:
    """The address of the passage on page 9."""
    with RagClient(base) as client:
        found = client.preview("pump.pdf", 1, 0, 500).chunks
    chunk = next(each.chunk for each in found if CITED in each.chunk.text)
    start = chunk.start + chunk.text.index(CITED)
    return f"/documents/pump.pdf?version=1&chunk={chunk.position}&start={start}&end={start + len(CITED)}"


def there(tab: Page, number: int) -> None:
    """Wait until the picture of a page is drawn."""
    expect(tab.locator(f'.sheet-there[data-sheet="{number}"] img')).to_be_visible()


def test_pages_are_drawn_when_they_come_into_view(tab: Page) -> None:
    tab.goto("/documents/pump.pdf")
    there(tab, 1)
    expect(tab.locator(".sheet")).to_have_count(PAGES)
    expect(tab.locator(f'.sheet[data-sheet="{PAGES}"] img')).to_have_count(0)
    tab.get_by_role("button", name="Next page", exact=True).click()
    there(tab, 2)
    expect(tab.locator(".sheet-number input")).to_have_value("2")
    tab.locator(".sheet-number input").fill(str(PAGES))
    tab.locator(".sheet-number input").press("Enter")
    there(tab, PAGES)
    expect(tab.locator('.sheet[data-sheet="1"] img')).to_have_count(0)


def test_citation_opens_at_its_page_marked_there_and_in_the_text_beside(tab: Page, light_server: str) -> None:
    tab.goto(cited(light_server))
    there(tab, 9)
    mark = tab.locator('.sheet[data-sheet="9"] .sheet-mark')
    expect(mark).to_have_count(1)
    expect(mark).to_be_in_viewport()
    expect(tab.locator(".passage-beside mark.cited")).to_have_text(CITED)
    words = tab.locator('.sheet[data-sheet="9"] .sheet-word').all_inner_texts()
    assert CITED in " ".join(word.strip() for word in words)
    box, word = (
        mark.bounding_box(),
        tab.locator('.sheet[data-sheet="9"] .sheet-word', has_text="turquoise").bounding_box(),
    )
    assert box and word and box["x"] < word["x"] and word["x"] + word["width"] < box["x"] + box["width"]


def test_words_of_a_page_can_be_chosen_and_copied(tab: Page) -> None:
    tab.goto("/documents/pump.pdf")
    there(tab, 1)
    first = tab.locator('.sheet[data-sheet="1"] .sheet-word', has_text="manual.").first
    first.dblclick()
    assert tab.evaluate("() => String(getSelection()).trim()").startswith("manual")


def test_text_is_searched_on_all_pages(tab: Page) -> None:
    tab.goto("/documents/pump.pdf")
    there(tab, 1)
    tab.get_by_role("searchbox", name="Search the pages").fill("turquoise VALVE")
    tab.get_by_role("searchbox", name="Search the pages").press("Enter")
    expect(tab.locator(".sheet-found")).to_have_text("Pages with it: 1")
    there(tab, 9)
    expect(tab.locator('.sheet[data-sheet="9"] .sheet-hit')).to_have_count(2)
    tab.get_by_role("searchbox", name="Search the pages").fill("nowhere at all")
    tab.get_by_role("searchbox", name="Search the pages").press("Enter")
    expect(tab.locator(".sheet-found")).to_have_text("Found on no page")
    expect(tab.locator(".sheet-hit")).to_have_count(0)


def test_zoom_keeps_the_page_and_its_words_in_place(tab: Page) -> None:
    tab.goto("/documents/pump.pdf")
    there(tab, 1)
    word = tab.locator('.sheet[data-sheet="1"] .sheet-word', has_text="Chapter").first
    expect(word).to_be_attached()
    before = word.bounding_box()
    for _ in range(3):
        tab.get_by_role("button", name="Larger").click()
    expect(tab.locator(".sheet-zoom")).to_have_text("200%")
    there(tab, 1)
    after = word.bounding_box()
    assert before and after and after["width"] == pytest.approx(2 * before["width"], rel=0.05)


def test_pages_that_cannot_be_drawn_say_so_and_can_be_asked_for_again(tab: Page) -> None:
    refusal = {"status": 500, "json": {"detail": "The disk is full.", "remedy": "Free some space."}}
    tab.route("**/versions/1/pages", lambda route: route.fulfill(**refusal))
    # The browser notes the refusal that this test makes.
    tab.goto("/documents/pump.pdf")
    expect(tab.locator(".sheets-status")).to_contain_text("The disk is full. Free some space.")
    tab.unroute("**/versions/1/pages")
    tab.get_by_role("button", name="Try again").click()
    there(tab, 1)


def test_text_reads_without_borders_and_each_view_has_its_address(tab: Page) -> None:
    tab.goto("/documents/pump.pdf")
    tab.get_by_role("link", name="Text", exact=True).click()
    expect(tab).to_have_url(re.compile("view=text"))
    expect(tab.locator(".reading")).to_contain_text("This is page 1 of the manual.")
    tab.get_by_role("link", name="Passages", exact=True).click()
    expect(tab.locator("#chunk-0 .chunk-number")).to_be_visible()
    tab.goto("/documents/note.md")
    expect(tab.locator(".reading-item")).to_have_count(2)
    expect(tab.get_by_role("link", name="Pages", exact=True)).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("address", ["/documents/pump.pdf", "/documents/note.md"])
def test_every_view_is_accessible_and_fits(tab: Page, address: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(address)
    expect(tab.locator(".sheet-there, .reading").first).to_be_visible()
    assert serious_violations(tab) == []
    assert tab.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
