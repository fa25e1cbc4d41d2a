"""The way of a term sheet: two versions of a real Word document, compared, rolled back, and asked as of each moment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import pairs
from tests.e2e.conftest import ARTEFACTS
from tests.e2e.test_journey import wait_until_indexed

pytestmark = pytest.mark.skipif(not pairs.available(), reason="LibreOffice or debian-reference is not installed")


@pytest.fixture(scope="module", params=["en", "ja"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pair(language: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return pairs.word_pair(tmp_path_factory.mktemp(f"pair-{language}"), language)


def upload(page: Page, path: Path, number: int) -> None:
    page.goto("/upload")
    page.locator("[data-upload-picker=files]").set_input_files(path)
    row = page.locator("[data-upload-rows] li.job", has_text=re.compile(f"version {number}", re.IGNORECASE))
    expect(row.filter(has_text=path.name)).to_have_attribute("data-meaning", "ok", timeout=60_000)
    wait_until_indexed(page)


def json_of(page: Page, path: str) -> Any:
    return page.evaluate("async (path) => (await fetch(path)).json()", path)


def answer(page: Page, question: str, as_of: object = None) -> str:
    page.goto(f"/ask?q={quote(question)}" + (f"&asof={quote(str(as_of))}" if as_of is not None else ""))
    card = page.locator("#ask-answer-card")
    expect(card).to_be_visible(timeout=60_000)
    return str(card.inner_text())


@pytest.mark.begins_anew("server")
def test_1_two_versions_are_compared_rolled_back_and_asked_as_of(
    page: Page, pair: tuple[Path, Path], language: str
) -> None:
    terms = pairs.TERMS[language]
    name = pair[0].name
    upload(page, pair[0], 1)
    before = json_of(page, f"/api/v1/audit?doc={name}")["publications"][0]["seq"]
    assert terms.old_answer in answer(page, terms.question)
    page.locator("#ask-answer-card a.citation").first.click()
    page.locator(".evidence-item.is-chosen .evidence-way").first.click()
    page.wait_for_url(re.compile("/documents/"))
    expect(page.locator("mark.cited").first).to_be_in_viewport()
    cited, passage = page.url, page.locator("mark.cited").first.inner_text()
    assert terms.old_answer in passage

    upload(page, pair[1], 2)
    assert terms.new_answer in answer(page, terms.question)
    after = json_of(page, f"/api/v1/audit?doc={name}")["publications"][0]["seq"]

    page.goto(f"/compare?doc={name}&old=1&new=2")
    values = page.locator(".compare-values")
    expect(values).to_contain_text(terms.old_answer)
    expect(values).to_contain_text(terms.new_answer)
    expect(values).to_contain_text("4711")
    expect(page.locator(".ag-row").first).to_be_visible()
    page.screenshot(path=ARTEFACTS / f"compare-journey-{language}.png")

    page.goto(f"/documents/{name}")
    page.get_by_role("button", name=re.compile("^Roll back to version 1$")).click()
    expect(page.locator(".state-line").first).to_contain_text(re.compile(r"\b1\b|第1版"))
    rolled = json_of(page, f"/api/v1/audit?doc={name}")["publications"][0]
    assert (rolled["action"], rolled["version"]) == ("rollback", 1)
    assert terms.old_answer in answer(page, terms.question)
    for moment, expected, other in (
        (before, terms.old_answer, terms.new_answer),
        (after, terms.new_answer, terms.old_answer),
        (rolled["seq"], terms.old_answer, terms.new_answer),
        (f"{name}#v2", terms.new_answer, terms.old_answer),
    ):
        text = answer(page, terms.question, moment)
        assert expected in text
        assert other not in text

    page.goto(cited)
    expect(page.locator("mark.cited").first).to_have_text(passage)
