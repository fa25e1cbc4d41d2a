"""Compare on a phone: both versions can be read whole in their fields, and all views are in sight."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import seen, serve, window

NAME = "製品仕様書_DHC-2140.txt"
IS_WHOLE = """(select) => {
  const free = select.cloneNode(true);
  free.style.cssText = "position: absolute; width: max-content; max-width: none;";
  select.parentElement.append(free);
  const wanted = free.offsetWidth;
  free.remove();
  return wanted <= select.offsetWidth;
}"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without models."""
    yield from serve(tmp_path_factory.mktemp("phone"), EVOSPIKENET_TEST_MODE="1")


@pytest.mark.parametrize("locale", ["ja-JP", "en-GB"])
def test_versions_and_views_are_read_whole_on_a_phone(browser: Browser, compared: str, locale: str) -> None:
    context = window(browser, compared, width=390, locale=locale)
    page = context.new_page()
    for hours in ("八", "九"):
        content = f"門は{hours}時に開く。\n".encode()
        page.request.post(
            "/api/v1/documents", multipart={"file": {"name": NAME, "mimeType": "text/plain", "buffer": content}}
        )
        while page.request.get("/api/v1/jobs?active=1").json()["jobs"]:
            page.wait_for_timeout(100)
    page.goto(f"/compare?doc={NAME.lower()}&old=1&new=2")
    expect(page.locator("#compare-sentence")).to_be_visible(timeout=60_000)
    for side in ("old", "new"):
        version = page.locator(f"#compare-{side}-version")
        expect(version.locator("option:checked")).to_contain_text("版" if locale == "ja-JP" else "v")
        assert version.evaluate(IS_WHOLE)
        expect(page.locator(f"#compare-{side}-doc")).to_contain_text(NAME)
    last = page.locator(".compare-tab").last.bounding_box()
    assert last and last["x"] + last["width"] <= 390
    assert seen(page, f"compare-phone-{locale}") == []
    context.close()
