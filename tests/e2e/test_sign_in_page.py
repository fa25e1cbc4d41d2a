"""Signing in, in a real browser: where somebody wanted to go, what a reader is offered, and leaving."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from core.model import Role
from tests.builders import add, knowledge_base
from tests.e2e.conftest import guarded_page, serious_violations, serve

PASSWORD = "a password of some length"


@pytest.fixture(scope="module")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with an administrator, a reader and one document."""
    folder = tmp_path_factory.mktemp("closed")
    with knowledge_base(folder) as kb:
        kb.accounts.create_user("mori", PASSWORD, Role.ADMIN)
        kb.accounts.create_user("yomi", PASSWORD, Role.READER)
        add(kb, "notes", "The gate opens at eight.")
        add(kb, "notes", "The gate opens at nine.")
    yield from serve(folder, EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, closed_server: str) -> Iterator[Page]:
    yield from guarded_page(browser, closed_server)


def enter(tab: Page, name: str, password: str = PASSWORD) -> None:
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Password").fill(password)
    tab.keyboard.press("Enter")


def test_reader_gets_where_they_wanted_and_is_offered_what_they_may(tab: Page) -> None:
    tab.goto("/documents")
    tab.wait_for_url("**/sign-in?next=**")
    assert serious_violations(tab) == []
    enter(tab, "yomi", "not the password")
    expect(tab.get_by_role("alert")).to_be_visible()
    expect(tab.get_by_label("Name")).to_have_value("yomi")
    enter(tab, "yomi")
    tab.wait_for_url("**/documents")
    expect(tab.get_by_text("notes.txt")).to_be_visible()
    for name in ("Add text", "Delete"):
        expect(tab.get_by_role("button", name=name)).to_be_hidden()
    tab.goto("/documents/notes.txt")
    expect(tab.locator("#version-2")).to_be_visible()
    expect(tab.get_by_role("button", name="Roll back")).to_be_hidden()
    tab.get_by_role("button", name="yomi").click()
    tab.get_by_role("button", name="Sign out").click()
    tab.wait_for_url("**/sign-in")


def test_administrator_is_offered_everything(tab: Page) -> None:
    tab.goto("/documents/notes.txt")
    enter(tab, "mori")
    expect(tab.get_by_role("button", name="Roll back to version 1")).to_be_visible()
