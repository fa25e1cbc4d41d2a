"""Upload and frame in a real browser: rows, refusals, leaving and coming back, keys, theme, language."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, serious_violations, serve

TRICK = '<img src=x onerror="window.__xss=1">.txt'


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a model: indexes in memory, embeddings by hashing."""
    yield from serve(tmp_path_factory.mktemp("light"), EVORAG_MAX_UPLOAD_BYTES="3000000", EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    """A page whose scripts must not fail and whose policy must not be broken."""
    yield from guarded_page(browser, light_server)


def rows(tab: Page, meaning: str = "") -> int:
    return tab.locator(f".job-table-upload li.job{f'[data-meaning={meaning}]' if meaning else ''}").count()


def choose(tab: Page, files: list[Path]) -> None:
    tab.locator("[data-upload-picker=files]").set_input_files(files)


def written(folder: Path, names: list[str], text: str) -> list[Path]:
    files = [folder / name for name in names]
    for file in files:
        file.write_text(f"{text} {file.name}", encoding="utf-8")
    return files


def test_many_files_go_through_and_bad_ones_say_why(tab: Page, tmp_path: Path) -> None:
    good = written(tmp_path, [TRICK, "点検 手順.md", *[f"note {n}.txt" for n in range(30)]], "The pump is checked.")
    empty, program, large = (tmp_path / name for name in ("empty.txt", "program.exe", "large.txt"))
    empty.touch()
    program.write_bytes(b"MZ")
    large.write_bytes(b"a" * 3_500_000)
    tab.goto("/upload")
    choose(tab, [*good, empty, program, large])
    expect(tab.locator('.job-table-upload li.job[data-meaning="ok"]')).to_have_count(len(good), timeout=60_000)
    expect(tab.locator('.job-table-upload li.job[data-meaning="error"]')).to_have_count(3)
    expect(tab.locator(".upload-count")).to_have_text(f"{len(good)} of {len(good) + 3} files ready · 3 failed")
    expect(tab.locator("[data-upload-rows] [role=status]")).to_contain_text("3 failed")
    tab.get_by_role("button", name="Only failed").click()
    for code in ("empty_document", "unsupported_type", "too_large"):
        expect(tab.locator(".job-error code", has_text=code)).to_be_visible()
    expect(tab.locator(".job-name", has_text="note 3.txt")).to_be_hidden()
    assert tab.evaluate("() => window.__xss") is None


def test_same_file_again_is_shown_as_unchanged_with_a_link(tab: Page, tmp_path: Path, suffix: str) -> None:
    file = written(tmp_path, [f"again{suffix}.txt"], "The same words.")
    tab.goto("/upload")
    choose(tab, file)
    expect(tab.locator('li.job[data-meaning="ok"]')).to_have_count(1)
    choose(tab, file)
    expect(tab.get_by_text("Unchanged, already version 1")).to_be_visible()
    tab.locator("li.job a.job-name").last.click()
    tab.wait_for_url(f"**/documents/again{suffix}.txt?version=1")


def test_rows_are_there_again_after_another_page_and_after_a_reload(tab: Page, tmp_path: Path) -> None:
    tab.goto("/upload")
    choose(tab, written(tmp_path, [f"stay {n}.txt" for n in range(5)], "Words that stay."))
    expect(tab.locator(".job-table-upload li.job")).to_have_count(5)
    tab.locator(".rail-link[href='/']").click()
    expect(tab.locator("#ask-question")).to_be_visible()
    tab.go_back()
    expect(tab.locator(".job-table-upload li.job")).to_have_count(5)
    expect(tab.locator('.job-table-upload li.job[data-meaning="ok"]')).to_have_count(5)
    tab.reload()
    expect(tab.locator(".job-table-upload li.job")).to_have_count(5)
    expect(tab.locator('.job-table-upload li.job[data-meaning="ok"]')).to_have_count(5)
    tab.get_by_role("button", name="Clear finished").click()
    assert rows(tab) == 0


def test_tags_are_kept_with_what_is_added(tab: Page, tmp_path: Path) -> None:
    tab.goto("/upload")
    tab.locator(".upload-options > summary").click()
    tab.get_by_label("Tags for these files").fill("care, 点検、 pump")
    choose(tab, written(tmp_path, ["tagged.txt"], "Words with tags."))
    expect(tab.locator('li.job[data-meaning="ok"]')).to_have_count(1)
    documents = tab.evaluate("async () => (await (await fetch('/api/v1/documents?search=tagged')).json()).documents")
    assert sorted(documents[0]["tags"]) == ["care", "pump", "点検"]


def test_server_that_does_not_answer_is_waited_for(tab: Page, tmp_path: Path) -> None:
    tab.goto("/upload")
    expect(tab.locator("[data-upload-picker=files]")).to_be_attached()
    tab.route("**/api/v1/uploads", lambda route: route.abort())
    choose(tab, written(tmp_path, ["later.txt"], "Words for later."))
    expect(tab.locator("li.job").get_by_text("Waiting for the connection")).to_be_visible()
    expect(tab.locator(".upload-count")).to_contain_text("Waiting for the connection")
    tab.unroute("**/api/v1/uploads")
    expect(tab.locator('li.job[data-meaning="ok"]')).to_have_count(1)


def test_folder_dropped_on_the_zone_is_read_to_the_bottom(tab: Page) -> None:
    tab.goto("/upload")
    expect(tab.locator("[data-upload-picker=files]")).to_be_attached()
    tab.evaluate(
        """() => {
          const file = (name, words) => ({ isFile: true, name, file: (found) => found(new File([words], name)) });
          const folder = (name, entries) => ({
            isDirectory: true,
            name,
            createReader: () => {
              const batches = [entries, []];
              return { readEntries: (found) => found(batches.shift()) };
            },
          });
          const lowest = folder("lowest", [file("same.md", "of lowest")]);
          const below = folder("below", [file("deep.txt", "deep"), file("same.md", "of below"), lowest]);
          const tree = folder("top", [file("top.txt", "top"), file(".DS_Store", ""), below]);
          const drop = new Event("drop", { bubbles: true, cancelable: true });
          drop.dataTransfer = { types: ["Files"], files: [], items: [{ kind: "file", webkitGetAsEntry: () => tree }] };
          document.querySelector("[data-upload-zone]").dispatchEvent(drop);
        }"""
    )
    expect(tab.locator('.job-table-upload li.job[data-meaning="ok"]')).to_have_count(4)
    names = sorted(tab.locator(".job-name").all_inner_texts())
    assert names == ["deep.txt", "top - below - lowest - same.md", "top - below - same.md", "top.txt"]


def test_files_of_an_archive_become_documents_and_refused_ones_are_named(tab: Page, tmp_path: Path) -> None:
    archive = tmp_path / "manuals.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for n in range(3):
            made.writestr(f"pumps/pump {n}.txt", f"Pump {n} is checked every week.")
        made.writestr("pumps/empty.txt", "")
        made.writestr("pumps/program.exe", b"MZ")
    tab.goto("/upload")
    choose(tab, [archive])
    row = tab.locator("li.job", has_text="manuals.zip")
    expect(row).to_contain_text("Archive: becomes documents")
    expect(row).to_contain_text("3 of")
    expect(row).to_contain_text("refused")
    row.locator("summary").click()
    expect(row.locator("details")).to_contain_text("program.exe")
    assert serious_violations(tab) == []
    documents = tab.evaluate("async () => (await (await fetch('/api/v1/documents?search=pump')).json()).documents")
    assert len([document for document in documents if document["name"].startswith("pump ")]) == 3


def test_a_later_version_leads_to_what_changed_in_it(tab: Page, tmp_path: Path) -> None:
    tab.goto("/upload")
    for words in ("The bus leaves at seven.", "The bus leaves at eight."):
        choose(tab, written(tmp_path, ["bus.txt"], words))
        expect(tab.locator('li.job[data-meaning="ok"]', has_text="bus.txt").last).to_be_visible()
    rows = tab.locator("li.job", has_text="bus.txt")
    expect(rows.first.get_by_role("link", name="See what changed")).to_have_count(0)
    rows.last.get_by_role("link", name="See what changed").click()
    expect(tab.locator("#compare-sentence")).to_contain_text("1 line changed")


def test_theme_and_language_are_kept(tab: Page) -> None:
    tab.goto("/jobs")
    tab.get_by_role("button", name="Dark").click()
    expect(tab.locator("html")).to_have_attribute("data-bs-theme", "dark")
    tab.get_by_role("button", name="日本語").click()
    expect(tab.locator("html")).to_have_attribute("lang", "ja")
    expect(tab.locator("#page-title")).to_have_text("ジョブ")
    expect(tab).to_have_title("ジョブ · EvoRAG")
    tab.reload()
    expect(tab.locator("html")).to_have_attribute("data-bs-theme", "dark")
    expect(tab.locator("html")).to_have_attribute("lang", "ja")


def test_keys_lead_through_the_pages(tab: Page, tmp_path: Path) -> None:
    tab.goto("/upload")
    choose(tab, written(tmp_path, ["keys.txt"], "What can be asked about."))
    expect(tab.locator('li.job[data-meaning="ok"]')).to_have_count(1)
    tab.goto("/documents")
    expect(tab.locator("#page-title")).to_have_text("Documents")
    tab.keyboard.press("?")
    expect(tab.locator("#keys-dialog")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.locator("#keys-dialog")).to_be_hidden()
    tab.keyboard.press("g")
    tab.keyboard.press("u")
    expect(tab.locator("#page-title")).to_be_focused()
    expect(tab.locator("#page-title")).to_have_text("Upload")
    expect(tab.locator(".door-tabs a[aria-current=page]")).to_have_text("Upload")
    tab.keyboard.press("/")
    expect(tab.locator("#ask-question")).to_be_focused()


def test_skip_link_is_the_first_stop_of_the_keyboard(tab: Page) -> None:
    tab.goto("/jobs")
    expect(tab.locator("#page-title")).to_be_visible()
    tab.keyboard.press("Tab")
    expect(tab.locator(".skip-link")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("#content")).to_be_focused()
