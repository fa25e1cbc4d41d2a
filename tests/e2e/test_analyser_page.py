"""Pages over an empty knowledge base in a real browser: the Analyser, its vocabulary, Settings, Neurons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, serious_violations, serve, window
from tests.trained import begun, trained

TEXT = "計測器の校正証明書は二年間保管します。"
TRICK = '<img src=x onerror="window.__xss=1">'


@pytest.fixture(scope="module")
def analysing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a model: indexes in memory, embeddings by hashing; one small model was trained on it."""
    folder = tmp_path_factory.mktemp("analysing")
    models = folder / "data" / "models"
    trained(models, "one", steps=1)
    job = begun(models, "left")
    (job.work / "progress.jsonl").write_text(
        '{"step": 3, "steps": 30, "loss": 1.5}\n{"state": "failed", "error": "No."}'
    )
    yield from serve(folder, EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, analysing: str) -> Iterator[Page]:
    yield from guarded_page(browser, analysing)


def analyse(tab: Page, text: str) -> None:
    tab.locator("#analyser-text").fill(text)
    tab.get_by_role("button", name="Analyse").click()
    expect(tab.locator(".token-marks")).to_have_text(text)


def test_text_is_shown_in_its_tokens_under_its_own_address(tab: Page) -> None:
    tab.goto("/analyser")
    analyse(tab, f"{TEXT} {TRICK}")
    tab.wait_for_url("**text=*")
    tab.reload()
    expect(tab.locator(".token-marks")).to_contain_text(TRICK)
    row = tab.locator("#analyser-tokens .ag-row", has_text="ショウメイ")
    expect(row).to_contain_text("noun (名詞・サ変接続)")
    expect(tab.locator("#analyser-tokens .ag-row", has_text="particle").first).to_contain_text("part of speech")
    expect(tab.locator(".token-stopped").filter(has_text="の")).to_have_count(1)
    assert tab.evaluate("() => window.__xss") is None


@pytest.mark.begins_anew("analysing")
def test_vocabulary_takes_effect_when_the_words_are_indexed_anew(tab: Page) -> None:
    tab.goto("/analyser")
    tab.get_by_label("Words to index whole").fill("校正証明書, コウセイショウメイショ")
    tab.get_by_label("Words that mean the same").fill("計測器, 測定器\n旅費\t出張費")
    tab.get_by_role("button", name="Save").click()
    expect(tab.locator("#analyser-effect")).to_contain_text("not in effect until")
    analyse(tab, TEXT)
    whole = tab.locator(".engine").first.get_by_text("校正証明書", exact=True)
    expect(whole).to_have_count(0)
    tab.get_by_role("button", name="Index the words anew").click()
    expect(tab.locator("#analyser-effect")).to_contain_text("In effect", timeout=60_000)
    tab.get_by_role("button", name="Analyse").click()
    expect(whole).to_be_visible()
    tab.reload()
    expect(tab.get_by_label("Words that mean the same")).to_have_value("計測器, 測定器\n旅費, 出張費")


def test_axe_finds_nothing_serious_in_a_narrow_dark_window(browser: Browser, analysing: str) -> None:
    context = window(browser, analysing, width=400, scheme="dark", locale="ja-JP")
    tab = context.new_page()
    tab.goto(f"/analyser?text={TEXT}")
    expect(tab.locator(".token-marks")).to_be_visible()
    found = serious_violations(tab)
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 400
    context.close()
    assert found == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "ja-JP")])
def test_axe_finds_nothing_serious_in_the_settings(
    browser: Browser, analysing: str, width: int, scheme: str, locale: str
) -> None:
    context = window(browser, analysing, width=width, scheme=scheme, locale=locale)
    tab = context.new_page()
    tab.goto("/settings")
    for folded in (".settings-form > .settings-more", ".settings-manifest"):
        tab.locator(f"{folded} > summary").click()
    expect(tab.locator(".settings-training [role=progressbar]")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert serious_violations(tab) == []
    context.close()


def test_without_recordings_the_neurons_page_says_how_one_comes_about(browser: Browser, analysing: str) -> None:
    context = window(browser, analysing, locale="ja-JP")
    tab = context.new_page()
    tab.goto("/neurons")
    expect(tab.get_by_role("heading", name="記録はまだありません")).to_be_visible()
    expect(tab.get_by_role("link", name="質問する")).to_have_attribute("href", "/ask")
    assert serious_violations(tab) == []
    context.close()
