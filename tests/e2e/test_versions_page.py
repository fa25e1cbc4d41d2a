"""Versions in a real browser: a draft, publishing, planning, going back, purging by keyboard alone, and the audit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, serious_violations, serve, window

TRICK = '<img src=x onerror="window.__xss=1">'
ORIGINAL = "async (name) => (await fetch(`/api/v1/documents/${name}/versions/1/original`)).status"
VERSIONS = "async (name) => ((await (await fetch(`/api/v1/documents/${name}/versions`)).json()).versions ?? []).length"


@pytest.fixture(scope="module")
def versions_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a model: indexes in memory, embeddings by hashing."""
    yield from serve(tmp_path_factory.mktemp("versions"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, versions_server: str) -> Iterator[Page]:
    """A page whose scripts must not fail and whose policy must not be broken."""
    yield from guarded_page(browser, versions_server)


def upload(tab: Page, folder: Path, name: str, text: str, *, draft: bool = False, note: str = "") -> None:
    """Send one file through the Upload page and wait until it is indexed."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    tab.goto("/upload")
    expect(tab.locator("[data-upload-picker=files]")).to_be_attached()
    tab.locator(".upload-options > summary").click()
    tab.get_by_label("Note", exact=True).fill(note)
    if draft:
        tab.get_by_label("Not yet: keep as draft").check()
    number = 1 + tab.evaluate(VERSIONS, name)
    tab.locator("[data-upload-picker=files]").set_input_files(file)
    row = tab.locator(".job-table-upload li.job", has_text=f"Version {number}")
    if draft:
        expect(row.filter(has_text=name)).to_contain_text("Kept as draft", timeout=60_000)
    expect(row.filter(has_text=name)).to_have_attribute("data-meaning", "neutral" if draft else "ok", timeout=60_000)


def version(tab: Page, number: int):
    return tab.locator(f"#version-{number}")


def more(tab: Page, number: int) -> None:
    version(tab, number).locator("summary").click()


def open_document(tab: Page, name: str, query: str = "") -> None:
    tab.goto(f"/documents/{name}{query}")
    expect(tab.locator("#document-timeline")).to_be_visible()


def test_draft_is_marked_until_it_is_published(tab: Page, tmp_path: Path, suffix: str) -> None:
    name = f"rules{suffix}.txt"
    upload(tab, tmp_path, name, "Visitors leave at nine.")
    upload(tab, tmp_path, name, "Visitors leave at ten.", draft=True, note=f"asked for {TRICK}")
    expect(tab.get_by_text("Kept as draft")).to_be_visible()
    open_document(tab, name, "?version=2")
    expect(tab.locator(".draft-line")).to_contain_text("Draft: no question sees this")
    expect(tab.locator(".draft-line a")).to_have_attribute("href", re.compile("/compare.*view=answers"))
    expect(version(tab, 2).locator(".version-note")).to_have_text(f"asked for {TRICK}")
    expect(version(tab, 1)).to_contain_text("Published")
    version(tab, 2).get_by_role("button", name="Publish now").click()
    expect(version(tab, 2)).to_contain_text("Published")
    expect(version(tab, 1)).to_contain_text("Earlier")
    expect(tab.locator("#notice")).to_contain_text("Version 2 is published")
    expect(version(tab, 2).locator(".version-number")).to_be_focused()
    tab.locator("#notice").get_by_role("button", name="Undo").click()
    expect(version(tab, 1)).to_contain_text("Published")
    assert tab.evaluate("() => window.__xss") is None


def test_rolled_back_by_one_button_and_back_again(tab: Page, tmp_path: Path, suffix: str) -> None:
    name = f"prices{suffix}.txt"
    upload(tab, tmp_path, name, "A ticket costs 900 yen.")
    upload(tab, tmp_path, name, "A ticket costs 1,000 yen.")
    open_document(tab, name)
    tab.locator(".timeline-foot").get_by_role("button", name="Roll back to version 1").click()
    expect(version(tab, 1)).to_contain_text("Published")
    expect(tab.locator("#notice")).to_contain_text("Rolled back: version 1 is shown again")
    expect(tab.locator(".document-main")).to_contain_text("900 yen")
    tab.locator(".timeline-foot").get_by_role("button", name="Unpublish").click()
    expect(tab.locator(".state-line")).to_contain_text("No answer uses this document now")
    tab.get_by_role("button", name="Show again").click()
    expect(version(tab, 1)).to_contain_text("Published")


def test_note_and_label_are_written_in_place_by_keyboard(tab: Page, tmp_path: Path, suffix: str) -> None:
    name = f"notes{suffix}.txt"
    upload(tab, tmp_path, name, "The lamp is replaced yearly.")
    open_document(tab, name)
    more(tab, 1)
    version(tab, 1).get_by_role("button", name="Note and label").press("Enter")
    expect(tab.locator("#version-label")).to_be_focused()
    tab.keyboard.type("Spring 2026")
    tab.keyboard.press("Tab")
    tab.keyboard.type("as the supplier says")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(version(tab, 1).locator(".version-label")).to_have_text("Spring 2026")
    expect(version(tab, 1).locator(".version-note")).to_have_text("as the supplier says")
    assert tab.evaluate("() => document.querySelector('#version-1').contains(document.activeElement)")
    more(tab, 1)
    version(tab, 1).get_by_role("button", name="Note and label").press("Enter")
    expect(tab.locator("#version-label")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(tab.locator("#version-label")).to_have_count(0)


def test_version_is_published_by_itself_at_its_time(tab: Page, tmp_path: Path, suffix: str) -> None:
    name = f"plan{suffix}.txt"
    upload(tab, tmp_path, name, "The gate opens at eight.")
    upload(tab, tmp_path, name, "The gate opens at seven.", draft=True)
    open_document(tab, name)
    more(tab, 2)
    version(tab, 2).get_by_role("button", name="Publish at a time").click()
    expect(tab.locator("#version-moment")).to_be_focused()
    expect(tab.locator("[data-zone]")).to_contain_text(
        "/" if "/" in tab.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") else "UTC"
    )
    soon = tab.evaluate(
        """() => {
          const at = new Date(Date.now() + 4000);
          const local = new Date(at.getTime() - at.getTimezoneOffset() * 60000);
          return local.toISOString().slice(0, 19);
        }"""
    )
    tab.locator("#version-moment").evaluate("(field) => { field.step = 1; }")
    tab.locator("#version-moment").fill(soon)
    tab.locator("#version-schedule").click()
    expect(version(tab, 2)).to_contain_text("Scheduled")
    expect(version(tab, 2)).to_contain_text("Will be published on")
    expect(version(tab, 2)).to_contain_text("Shown since", timeout=60_000)
    expect(tab.locator(".document-main")).to_contain_text("seven")


def test_version_is_purged_by_keyboard_alone(tab: Page, tmp_path: Path, suffix: str) -> None:
    name = f"secret{suffix}.txt"
    upload(tab, tmp_path, name, "The code of the safe is 4711.")
    upload(tab, tmp_path, name, "The code is with the director.")
    open_document(tab, name)
    version(tab, 1).locator("summary").focus()
    tab.keyboard.press("Enter")
    version(tab, 1).get_by_role("button", name="Purge").focus()
    tab.keyboard.press("Enter")
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("text, vectors and file are removed for good")
    expect(dialog).to_be_focused()
    tab.keyboard.press("g")
    tab.keyboard.press("d")
    for _ in range(8):
        tab.keyboard.press("Tab")
        # What leaves the dialog by Tab is brought back a tick later.
        tab.wait_for_function(
            "() => document.activeElement === document.body || document.activeElement.closest('[role=dialog]')"
        )
    tab.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(version(tab, 1).get_by_role("button", name="Purge")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Reason").focus()
    tab.keyboard.type("held a secret")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(version(tab, 1)).to_contain_text("Purged")
    expect(version(tab, 1).locator(".version-number")).to_be_focused()
    open_document(tab, name, "?version=1&chunk=0&start=0&end=8")
    expect(tab.locator(".document-main")).to_contain_text("Version 1 was removed for good")
    expect(tab.locator(".document-main")).to_contain_text("can no longer be opened")
    assert tab.evaluate(ORIGINAL, name) >= 400


def test_audit_lists_all_of_it_and_is_exported(tab: Page) -> None:
    tab.goto("/audit")
    expect(tab.locator(".audit-table")).to_be_visible()
    for words in ("Published", "Rolled back", "Unpublished", "Restored", "Purged version 1"):
        expect(tab.locator(".audit-table .audit-did", has_text=words).first).to_be_visible()
    expect(tab.locator(".audit-note", has_text="held a secret")).to_be_visible()
    tab.locator("#audit-action").click()
    tab.get_by_role("option", name="Roll back").click()
    tab.wait_for_url("**/audit?action=rollback")
    expect(tab.locator(".audit-table tbody tr")).to_have_count(1)
    with tab.expect_download() as downloading:
        tab.get_by_role("link", name="Download all as CSV").click()
    assert "rollback" in Path(downloading.value.path()).read_text(encoding="utf-8-sig")
    tab.locator(".audit-table").get_by_role("link", name="As of then").click()
    tab.wait_for_url(re.compile(r"/ask\?asof=\d+"))
    tab.go_back()
    tab.wait_for_url("**/audit?action=rollback")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing_serious(browser: Browser, versions_server: str, scheme: str, width: int) -> None:
    context = window(browser, versions_server, width=width, scheme=scheme)
    tab = context.new_page()
    for address, waits_for in (
        ("/documents/plan.txt", "#document-timeline"),
        ("/documents/secret.txt?version=1", "#document-timeline"),
        ("/audit", ".audit-table"),
        ("/upload", "[data-upload-picker=files]"),
    ):
        tab.goto(address)
        expect(tab.locator(waits_for).first).to_be_attached()
        tab.evaluate("() => document.querySelectorAll('details').forEach((each) => (each.open = true))")
        if address.startswith("/documents/plan"):
            tab.locator("#version-1").get_by_role("button", name="Purge").click()
            expect(tab.get_by_role("dialog")).to_be_visible()
        assert (address, serious_violations(tab)) == (address, [])
        assert tab.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    context.close()
