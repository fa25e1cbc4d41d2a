"""The servers of the page Settings in a browser: added, tried, made the default and removed, in three looks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.chat_server import Server, serving
from tests.e2e.conftest import guarded_page, seen, serve, window
from tests.e2e.test_start_page import LOOKS


@pytest.fixture(scope="module")
def light_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models."""
    yield from serve(tmp_path_factory.mktemp("settings"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture(scope="module")
def writer() -> Iterator[Server]:
    """A server with OpenAI's interface on this machine."""
    with serving() as found:
        yield found


@pytest.fixture
def tab(browser: Browser, light_server: str) -> Iterator[Page]:
    yield from guarded_page(browser, light_server)


def test_1_a_server_is_added_tried_and_made_the_default_by_the_keyboard(tab: Page, writer: Server) -> None:
    tab.goto("/settings")
    form = tab.locator("#settings-server-add")
    expect(form.get_by_label("Name", exact=True)).to_be_visible()
    form.get_by_label("Name", exact=True).fill("house")
    form.get_by_label("Address").fill(writer.url)
    form.get_by_label("Key", exact=True).fill("sk-correct-horse-battery")
    form.get_by_role("button", name="Save").press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("an address inside the network")
    form.get_by_label("It may be inside the network").press("Space")
    form.get_by_role("button", name="Save").press("Enter")
    servers = tab.locator("#settings-servers")
    expect(servers.get_by_text("key: ••••••••")).to_be_visible()
    expect(form.get_by_label("Key", exact=True)).to_have_value("")
    servers.get_by_role("button", name="Try it: house").press("Enter")
    expect(servers.locator(".server-answer")).to_have_text("Nine。")
    servers.get_by_role("button", name="Make default: house").press("Enter")
    expect(servers.get_by_text("Default", exact=True)).to_be_visible()
    assert "sk-correct" not in tab.content()
    tab.reload()
    expect(servers.get_by_role("button", name="Stop using as default: house")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
def test_2_the_servers_are_accessible_and_fit(
    browser: Browser, light_server: str, scheme: str, width: int, locale: str
) -> None:
    context = window(browser, light_server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    page.goto("/settings")
    expect(page.locator("#settings-servers")).to_be_visible()
    page.locator("#settings-servers summary").first.click()
    wrong = seen(page, f"settings-servers-{scheme}-{width}")
    context.close()
    assert wrong == []
