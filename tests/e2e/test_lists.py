"""Lists that the server searches and pages, in a browser: the address holds what is looked at, and Back goes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import core
from core.settings import Settings
from tests.e2e.conftest import seen, serve, window

DOCUMENTS = 130
MOST_REQUESTS = 35
RANGE = ".pager-range"
COUNT = "#documents-count"
FIRST_ROW = ".ag-center-cols-container .ag-row[row-index='0']"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with more documents than a page has, in two languages; every tenth has two versions."""
    folder = tmp_path_factory.mktemp("lists")
    with core.build(Settings(data_dir=folder / "data", test_mode=True, embedder="hash", job_workers=0)) as kb:
        for every, text in ((1, "The part is delivered."), (10, "The part is delivered later.")):
            for first in range(0, DOCUMENTS, 50):
                names = [f"part {number:03} 部品" for number in range(first, min(first + 50, DOCUMENTS), every)]
                kb.add_texts([(name, "", f"{text} {name}") for name in names])
                kb.work_off()
        kb.set_tags("part 007 部品.txt", ["調達"])
        core.EvoRAG(kb=kb).ask("Which part is delivered later?")
        core.EvoRAG(kb=kb).ask("部品はいつ届きますか。")
    return folder


@pytest.fixture(scope="module")
def lists(filled: Path) -> Iterator[str]:
    yield from serve(filled, EVOSPIKENET_TEST_MODE="1", EVORAG_EMBEDDER="hash")


@pytest.fixture
def tab(browser: Browser, lists: str) -> Iterator[Page]:
    context = window(browser, lists)
    yield context.new_page()
    context.close()


def address(tab: Page) -> str:
    return str(tab.evaluate("() => decodeURIComponent(window.location.pathname + window.location.search)"))


def test_documents_are_searched_as_one_types_and_the_address_says_so(tab: Page) -> None:
    tab.goto("/documents")
    expect(tab.locator(COUNT)).to_have_text("130 documents")
    tab.locator("#documents-search").press_sequentially("部品 00", delay=20)
    expect(tab.locator(COUNT)).to_have_text("11 documents")
    assert address(tab) == "/documents?q=部品+00"
    expect(tab.locator("#documents-search")).to_be_focused()
    tab.reload()
    expect(tab.locator(COUNT)).to_have_text("11 documents")
    expect(tab.locator("#documents-search")).to_have_value("部品 00")
    tab.locator("#documents-search").fill("nothing of this")
    tab.get_by_role("link", name="Clear search and filters").click()
    expect(tab.locator(COUNT)).to_have_text("130 documents")
    expect(tab.locator("#documents-search")).to_have_value("")


def test_pages_orders_and_choices_are_addresses_and_back_goes_back(tab: Page) -> None:
    tab.goto("/documents")
    tab.locator(".ag-header-cell[col-id=name]").click()
    expect(tab.locator(FIRST_ROW)).to_contain_text("part 000")
    tab.get_by_role("link", name="Next page").click()
    expect(tab.locator(RANGE)).to_have_text("101–130 of 130")
    assert address(tab) == "/documents?sort=name&order=asc&page=2"
    expect(tab.locator(FIRST_ROW)).to_contain_text("part 100")
    tab.locator("#documents-tag").select_option("調達")
    expect(tab.locator(COUNT)).to_have_text("1 document")
    assert address(tab) == "/documents?sort=name&order=asc&tag=調達"
    tab.go_back()
    expect(tab.locator(RANGE)).to_have_text("101–130 of 130")
    expect(tab.locator("#documents-tag")).to_have_value(" ")
    tab.go_back()
    expect(tab.locator(RANGE)).to_have_text("1–100 of 130")
    tab.go_back()
    expect(tab.locator(".ag-header-cell[col-id=updated]")).to_have_attribute("aria-sort", "descending")


def test_what_is_chosen_is_chosen_on_this_page_alone(tab: Page) -> None:
    tab.goto("/documents?sort=name&order=asc")
    expect(tab.locator(".ag-row").first).to_be_visible()
    tab.locator(".ag-header-row .ag-checkbox-input").first.click()
    expect(tab.locator(COUNT)).to_have_text("100 selected on this page")
    tab.get_by_role("link", name="Next page").click()
    expect(tab.locator(COUNT)).to_have_text("130 documents")
    expect(tab.locator("#documents-delete")).to_be_disabled()


def test_the_door_shows_the_whole_list_again(tab: Page) -> None:
    tab.goto("/documents")
    tab.locator("#documents-search").fill("007")
    expect(tab.locator(COUNT)).to_have_text("1 document")
    tab.locator("#door-documents").click()
    expect(tab.locator(COUNT)).to_have_text("130 documents")
    expect(tab.locator("#documents-search")).to_have_value("")


@pytest.mark.parametrize(
    ("path", "field", "search", "item", "count"),
    [
        ("/compare", "#compare-search", "010", ".compare-start li", 1),
        ("/history", "#history-search", "部品", ".questions > li", 1),
    ],
)
def test_other_lists_are_searched_too(tab: Page, path: str, field: str, search: str, item: str, count: int) -> None:
    tab.goto(path)
    expect(tab.locator(item).nth(1)).to_be_visible()
    tab.locator(field).fill(search)
    expect(tab.locator(item)).to_have_count(count)
    assert address(tab) == f"{path}?q={search}"
    tab.goto("/jobs")
    tab.go_back()
    expect(tab.locator(item)).to_have_count(count)
    expect(tab.locator(field)).to_have_value(search)


@pytest.mark.parametrize(("scheme", "width", "locale"), [("light", 1280, "en-GB"), ("dark", 400, "ja-JP")])
@pytest.mark.parametrize("path", ["/documents?page=2", "/documents?q=zzz", "/compare", "/history?q=zzz"])
def test_lists_look_right(browser: Browser, lists: str, path: str, scheme: str, width: int, locale: str) -> None:
    context = window(browser, lists, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    page.goto(path)
    expect(page.locator("[data-list]")).to_be_visible()
    page.wait_for_timeout(1_000)
    name = path.strip("/").replace("?", "-").replace("=", "-")
    assert seen(page, f"list-{name}-{scheme}-{width}") == []
    context.close()


def test_the_grid_is_fetched_with_the_first_list_and_not_before(tab: Page) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))

    def grids() -> list[str]:
        return [url for url in asked if "/dash_ag_grid/dash_ag_grid" in url]

    tab.goto("/")
    expect(tab.locator("#ask-question")).to_be_visible()
    files = [url for url in asked if not url.startswith("data:")]
    assert len(files) <= MOST_REQUESTS and not grids(), files
    tab.locator("nav a[href='/documents']").first.click()
    expect(tab.locator(FIRST_ROW)).to_be_visible()
    expect(tab.locator(COUNT)).to_have_text("130 documents")
    assert len(grids()) == 1
    tab.go_back()
    expect(tab.locator("#ask-question")).to_be_visible()
    tab.go_forward()
    expect(tab.locator(FIRST_ROW)).to_be_visible()
    tab.locator(".ag-pinned-left-cols-container input").first.check()
    expect(tab.locator(COUNT)).to_have_text("1 selected on this page")
    assert len(grids()) == 1


def test_a_grid_that_does_not_come_says_so_and_can_be_asked_for_again(tab: Page) -> None:
    missing = "**/dash_ag_grid/dash_ag_grid*"
    tab.route(missing, lambda route: route.abort())
    tab.goto("/documents")
    told = tab.locator(".grid-missing")
    expect(told).to_contain_text("This list could not be loaded.")
    tab.unroute(missing)
    told.get_by_role("button", name="Try again").click()
    expect(tab.locator(FIRST_ROW)).to_be_visible()
    expect(tab.locator(COUNT)).to_have_text("130 documents")
