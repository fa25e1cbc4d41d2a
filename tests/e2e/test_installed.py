"""The pages of an EvoRAG that was installed from its wheel, served from a folder that has nothing to do with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests import wheels
from tests.e2e.conftest import serve, window


@pytest.fixture(scope="module")
def installed(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("installed")
    built = wheels.build_wheel(wheels.checkout(folder / "checkout"), folder)
    programs = wheels.install(built, folder / "environment")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    variables = {"EVORAG_EMBEDDER": "hash"}
    yield from serve(elsewhere, programs / "evorag", "serve", cwd=elsewhere, base=wheels.environment(), **variables)


@pytest.mark.parametrize("path", ["/", "/ask", "/upload", "/compare", "/neurons"])
def test_installed_pages_have_their_styles_and_scripts(browser: Browser, installed: str, path: str) -> None:
    context = window(browser, installed)
    page = context.new_page()
    answers: list[tuple[int, str]] = []
    page.on("response", lambda response: answers.append((response.status, response.url)))
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    # Pages ask again every few seconds: no network is idle for long on a busy machine.
    page.wait_for_load_state("load")
    assert [answer for answer in answers if answer[0] >= 400] == []
    assets = {url.split("/assets/")[1].split("?")[0] for _, url in answers if "/assets/" in url}
    assert {"head/boot.js", "vendor/bootstrap/bootstrap.min.css"} <= assets
    assert {name.rpartition(".")[2] for name in assets if name.startswith("all-")} == {"css"}
    modules = {name.partition("/")[2] for name in assets if name.startswith("modules-")}
    assert {"main.js", f"{path.strip('/') or 'ask'}/page.js"} <= modules
    accent = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ev-accent')")
    assert accent.strip().startswith("#")
    assert "Noto Sans JP" in page.evaluate("getComputedStyle(document.body).fontFamily")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()
