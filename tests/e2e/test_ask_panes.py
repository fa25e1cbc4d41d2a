"""The two panes of Ask: a citation read and opened beside the answer, the sheet of narrow windows, a wrong answer."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from core import RagClient
from core.model import WRONG_SET
from tests.e2e.conftest import guarded_page, seen, serious_violations, serve, window
from tests.e2e.test_page_view import CITED, made

QUESTION = "How is the turquoise valve opened?"
ORCHARD = "The orchard in Suwa holds 240 apple trees. The harvest of the orchard begins on 12 September."
WIDE, NARROW = 1280, 400


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a model, with a PDF of several pages and a text."""
    folder = tmp_path_factory.mktemp("panes")
    for base in serve(folder, EVOSPIKENET_TEST_MODE="1"):
        with RagClient(base) as client:
            for name, data in (("pump.pdf", made()), ("orchard.txt", ORCHARD.encode())):
                client.finish(str(client.add_file(name, io.BytesIO(data)).job_id), 60)
        yield base


@pytest.fixture
def tab(browser: Browser, served: str) -> Iterator[Page]:
    yield from guarded_page(browser, served)


def ask(tab: Page, question: str = QUESTION) -> None:
    tab.goto("/ask")
    tab.locator("#ask-question").fill(question)
    tab.locator("#ask-question").press("Enter")
    tab.wait_for_url(re.compile("trace="))
    expect(tab.locator("#ask-answer-card")).to_be_visible()


def citation(tab: Page) -> str:
    """The selector of the citation of the cited sentence."""
    number = tab.locator(".citation-note", has_text=CITED).first.get_attribute("id")
    assert number
    return f'#ask-answer-card a.citation[aria-describedby="{number}"]'


def test_the_evidence_stands_beside_the_answer_from_1100_pixels_on(tab: Page) -> None:
    ask(tab)
    left, right = tab.locator(".ask-talk").bounding_box(), tab.locator("#ask-evidence").bounding_box()
    assert left and right and right["x"] >= left["x"] + left["width"] and abs(left["y"] - right["y"]) < 2
    expect(tab.locator("#evidence-open")).to_be_hidden()
    expect(tab.locator("textarea:visible, #content input[type=text]:visible")).to_have_count(1)
    tab.set_viewport_size({"width": 1099, "height": 900})
    expect(tab.locator("#ask-evidence")).to_be_hidden()
    expect(tab.locator("#evidence-open")).to_be_visible()


def test_a_citation_is_read_by_the_mouse_and_by_the_keyboard(tab: Page) -> None:
    ask(tab)
    link = tab.locator(citation(tab)).first
    note = tab.locator(".citation-note", has_text=CITED).first
    expect(note).to_be_hidden()
    link.hover()
    expect(note).to_be_visible()
    expect(note).to_contain_text("pump.pdf · pp. 9")
    note.hover()
    tab.wait_for_timeout(500)
    expect(note).to_be_visible()
    tab.mouse.move(5, 5)
    expect(note).to_be_hidden()
    tab.locator("#ask-question").focus()
    for _ in range(30):
        tab.keyboard.press("Shift+Tab")
        if tab.evaluate("() => document.activeElement.matches('a.citation')"):
            break
    expect(tab.locator(".citation-note:visible")).to_have_count(1)
    assert serious_violations(tab) == []
    tab.keyboard.press("Escape")
    expect(tab.locator(".citation-note:visible")).to_have_count(0)


def test_a_citation_opens_at_its_place_with_its_page_and_leads_to_the_document(tab: Page) -> None:
    ask(tab)
    tab.locator(citation(tab)).first.click()
    item = tab.locator(".evidence-item.is-chosen")
    expect(item).to_be_focused()
    expect(item.locator("mark.is-chosen")).to_have_text(CITED)
    expect(item.locator(".evidence-view .sheet-mark").first).to_be_in_viewport()
    picture = item.locator(".evidence-picture")
    assert "/pages/9?" in (picture.get_attribute("src") or "")
    assert picture.evaluate("(image) => image.naturalWidth") > 300
    assert re.search(r"#cited-\d+$", tab.url)
    assert serious_violations(tab) == []
    tab.keyboard.press("Escape")
    expect(tab.locator(citation(tab)).first).to_be_focused()
    tab.reload()
    expect(tab.locator(".evidence-item.is-chosen mark.is-chosen")).to_have_text(CITED)
    tab.locator(".evidence-item.is-chosen .evidence-way").first.click()
    tab.wait_for_url(re.compile("/documents/pump.pdf"))
    expect(tab.locator("mark", has_text=CITED).first).to_be_visible()


def test_numbers_of_citations_and_ranks_of_passages_do_not_look_alike(tab: Page) -> None:
    ask(tab)
    item = tab.locator(".evidence-item", has=tab.locator(".citation")).first
    expect(item.locator(".citation").first).to_have_text(re.compile(r"^\[\d+\]$"))
    expect(item.locator(".rank")).to_have_text(re.compile(r"^Rank \d+$"))
    look = "(element) => { const style = getComputedStyle(element); return [style.color, style.backgroundColor]; }"
    number, rank = (item.locator(each).first.evaluate(look) for each in (".citation", ".rank"))
    assert number[0] != rank[0] and number[1] != rank[1]
    why = item.locator(".why-order")
    expect(why).not_to_contain_text("RRF", use_inner_text=True)
    why.locator("summary").click()
    expect(why).to_contain_text("RRF", use_inner_text=True)


def test_the_sheet_opens_from_a_citation_and_a_button_and_closes_with_escape_and_a_button(
    browser: Browser, served: str
) -> None:
    context = window(browser, served, width=NARROW)
    try:
        tab = context.new_page()
        ask(tab)
        sheet = tab.locator("#ask-evidence")
        expect(sheet).to_be_hidden()
        link = tab.locator(citation(tab)).first
        link.click()
        expect(sheet).to_have_attribute("role", "dialog")
        expect(tab.locator("mark.is-chosen")).to_be_in_viewport()
        sheet.evaluate("(element) => Promise.all(element.getAnimations().map((each) => each.finished))")
        box = sheet.bounding_box()
        assert box and box["y"] + box["height"] == pytest.approx(900, abs=1) and box["width"] == NARROW
        for _ in range(25):
            tab.keyboard.press("Tab")
            assert tab.evaluate("() => !document.activeElement.closest('.ask-talk, .rail')")
        assert seen(tab, "ask-sheet") == []
        tab.keyboard.press("Escape")
        expect(sheet).to_be_hidden()
        expect(link).to_be_focused()
        tab.locator("#evidence-open").click()
        expect(sheet).to_be_visible()
        sheet.get_by_role("button", name="Close the evidence").click()
        expect(sheet).to_be_hidden()
        expect(tab.locator("#evidence-open")).to_be_focused()
        expect(tab.locator("[inert]")).to_have_count(0)
        tab.locator("#evidence-open").click()
        tab.locator(".evidence-way").first.click()
        tab.wait_for_url(re.compile("/documents/"))
        expect(tab.locator("[inert]")).to_have_count(0)
    finally:
        context.close()


def test_a_filter_is_a_chip_that_leads_to_the_answer_without_it(tab: Page) -> None:
    tab.goto("/ask?q=apple%20trees&doc=orchard.txt")
    tab.wait_for_url(re.compile("trace="))
    chips = tab.locator(".evidence-filters")
    expect(chips).to_contain_text("orchard.txt")
    chips.get_by_role("link", name="Answer without “orchard.txt”").click()
    expect(tab.locator(".evidence-filters")).to_contain_text("All documents")
    assert "doc=" not in tab.url


def test_the_words_of_a_question_are_changed_in_the_one_box(tab: Page) -> None:
    ask(tab)
    tab.get_by_role("button", name="Change the question").click()
    box = tab.locator("#ask-question")
    expect(box).to_be_focused()
    expect(box).to_have_value(QUESTION)
    box.fill("When does the harvest of the orchard begin?")
    box.press("Enter")
    expect(tab.locator("#ask-shown")).to_have_text("When does the harvest of the orchard begin?")
    assert "conversation=" not in tab.url
    expect(box).to_have_value("")
    box.fill("And how many apple trees does it hold?")
    box.press("Enter")
    tab.wait_for_url(re.compile("conversation="))
    expect(tab.locator(".turns")).to_contain_text("When does the harvest of the orchard begin?")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_wrong_answer_is_one_click_a_word_and_the_passage_that_was_right(
    browser: Browser, served: str, width: int
) -> None:
    context = window(browser, served, width=width, scheme="dark" if width == NARROW else "light")
    question = f"How many trees does the orchard hold, at {width}?"
    try:
        tab = context.new_page()
        ask(tab, question)
        tab.get_by_role("button", name="This answer is wrong").click()
        expect(tab.get_by_role("button", name="Marked as wrong")).to_have_attribute("aria-pressed", "true")
        with RagClient(served) as client:
            assert question in [each.text for each in client.evaluations.questions(WRONG_SET)]
        expect(tab.locator("#ask-wrong-note")).to_be_focused()
        tab.locator("#ask-wrong-note").fill("Another orchard")
        if width == NARROW:
            tab.locator("#evidence-open").click()
        passage = tab.locator(".evidence-item", has_text="orchard.txt")
        passage.get_by_role("button", name="This one is right").click()
        expect(tab.locator("#ask-wrong-right input:checked")).to_be_focused()
        assert seen(tab, f"ask-wrong-{width}") == []
        tab.get_by_role("button", name="Keep", exact=True).click()
        tab.get_by_role("link", name="Answers marked wrong").click()
        tab.wait_for_url(re.compile(f"/evaluate.set={WRONG_SET}"))
        row = tab.locator(".ag-row", has_text=question)
        expect(row).to_contain_text("orchard.txt")
        if width == WIDE:
            expect(row).to_contain_text("240 apple trees")
            expect(row).to_contain_text("Another orchard")
        tab.go_back()
        tab.get_by_role("button", name="Marked as wrong").click()
        expect(tab.locator("#ask-wrong-note")).to_have_value("Another orchard")
        tab.get_by_role("button", name="It is right after all").click()
        expect(tab.get_by_role("button", name="This answer is wrong")).to_be_visible()
    finally:
        context.close()


@pytest.mark.parametrize(("width", "scheme", "locale"), [(WIDE, "dark", "ja-JP"), (NARROW, "light", "ja-JP")])
def test_an_answer_with_its_evidence_fits_and_is_accessible_in_japanese(
    browser: Browser, served: str, width: int, scheme: str, locale: str
) -> None:
    context = window(browser, served, width=width, scheme=scheme, locale=locale)
    try:
        tab = context.new_page()
        ask(tab)
        expect(tab.locator(".evidence .rank").first).to_have_text(re.compile(r"^\d+位$"))
        assert seen(tab, f"ask-panes-{width}-ja") == []
    finally:
        context.close()


def test_what_is_typed_below_an_answer_survives_a_reload_and_is_gone_once_asked(tab: Page) -> None:
    ask(tab)
    box = tab.locator("#ask-question")
    box.fill("And who opens it?")
    tab.reload()
    expect(tab.locator("#ask-shown")).to_have_text(QUESTION)
    expect(box).to_have_value("And who opens it?")
    box.press("Enter")
    expect(tab.locator("#ask-shown")).to_have_text("And who opens it?")
    tab.reload()
    expect(tab.locator("#ask-shown")).to_have_text("And who opens it?")
    expect(box).to_have_value("")
