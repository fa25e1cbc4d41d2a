"""Evaluate in a real browser: a set is imported, run and compared, a failure is opened, a draft is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import guarded_page, seen, serious_violations, serve, window

LOOKS = [("light", 1280, "en-GB"), ("dark", 1280, "ja-JP"), ("light", 400, "en-GB")]
TRICK = '<img src=x onerror="window.__xss=1">'
ADD = """async ([name, text, isDraft]) => {
  const data = new FormData();
  data.append("file", new File([text], name, { type: "text/plain" }));
  if (isDraft) data.append("draft", "true");
  const sent = await (await fetch("/api/v1/documents", { method: "POST", body: data })).json();
  const versions = async () => (await (await fetch(`/api/v1/documents/${name}/versions`)).json()).versions ?? [];
  for (let tries = 0; tries < 200; tries += 1) {
    const found = await versions();
    if (found.length && found.every((each) => each.state === "ready")) return JSON.stringify(sent);
    await new Promise((done) => setTimeout(done, 100));
  }
  return "not indexed";
}"""
QUESTIONS = f"""id,question,doc,answers,answerable
1,How often is the pump checked?,pump.txt,every 14 days,yes
2,When does the museum close?,museum.txt,at nine,yes
3,Which lamp is replaced yearly?,lamp.txt,the moon lamp {TRICK},yes
"""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a model: indexes in memory, embeddings by hashing."""
    yield from serve(tmp_path_factory.mktemp("evaluated"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def tab(browser: Browser, evaluated: str) -> Iterator[Page]:
    yield from guarded_page(browser, evaluated)


def run(tab: Page, label: str, rerank: str) -> None:
    tab.get_by_label("Label").fill(label)
    tab.get_by_label("Reranking").select_option(rerank)
    tab.get_by_role("button", name="Run", exact=True).click()
    expect(tab.locator("#evaluate-runs .runs-table")).to_contain_text(label)


def open_set(tab: Page) -> None:
    tab.goto("/evaluate")
    tab.locator(".question-sets").get_by_role("link", name="Office").click()
    expect(tab.locator("#evaluate-run")).to_be_visible()


@pytest.mark.begins_anew("evaluated")
def test_set_is_imported_run_twice_and_compared(tab: Page, tmp_path: Path) -> None:
    tab.goto("/evaluate")
    expect(tab.locator(".state-empty")).to_contain_text("No question sets yet")
    for name, text in (
        ("pump.txt", "The pump is checked every 14 days."),
        ("museum.txt", "The museum closes at nine."),
        ("lamp.txt", "The reading lamp is replaced yearly."),
    ):
        assert tab.evaluate(ADD, [name, text, False]) != "not indexed"
    file = tmp_path / "questions.csv"
    file.write_text(QUESTIONS, encoding="utf-8")
    tab.get_by_role("link", name="Import a set").click()
    tab.get_by_label("Or a file").set_input_files(file)
    expect(tab.locator("#evaluate-name")).to_have_value("questions")
    tab.locator("#evaluate-name").fill("Office")
    tab.get_by_role("button", name="Import").click()
    tab.wait_for_url(re.compile(r"/evaluate\?set="))
    expect(tab.locator("#evaluate-questions")).to_contain_text("When does the museum close?")
    run(tab, "Plain", "none")
    run(tab, "Features", "features")
    expect(tab.locator(".run-figure")).to_have_count(3)
    expect(tab.locator(".run-figure .main-svg").first).to_be_visible()
    ranges = (
        "() => [...document.querySelectorAll('.run-figure .js-plotly-plot')].map((plot) => plot.layout.yaxis.range)"
    )
    assert tab.evaluate(ranges) == [[0, 1]] * 3
    tab.get_by_role("link", name="Compare with previous").click()
    expect(tab.locator(".two-runs")).to_contain_text("Plain")
    expect(tab.locator(".differences").first).to_contain_text("Too few questions")
    tab.go_back()
    expect(tab.locator("#evaluate-runs .runs-table")).to_contain_text("Features")
    assert tab.evaluate("() => window.__xss") is None


def test_failures_come_first_and_open_their_trace(tab: Page) -> None:
    open_set(tab)
    tab.locator(".runs-table").get_by_role("link", name="Features").click()
    first = tab.locator("#evaluate-outcomes > li").first
    expect(first).to_contain_text("Wrong")
    expect(first).to_contain_text(TRICK)
    first.get_by_role("link").first.click()
    tab.wait_for_url(re.compile(r"/ask\?trace="))
    expect(tab.locator(".answer-card")).to_contain_text("reading lamp")
    meaning = tab.get_by_text("An estimate of how likely the answer is right")
    expect(meaning).to_be_hidden()
    tab.locator(".answer-card .confidence summary").click()
    expect(meaning).to_be_visible()
    tab.get_by_role("link", name="See how often such answers were right").click()
    tab.wait_for_url(re.compile("/evaluate$"))


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
def test_run_shows_whether_the_confidence_can_be_believed(
    browser: Browser, evaluated: str, scheme: str, width: int, locale: str
) -> None:
    context = window(browser, evaluated, width=width, scheme=scheme, locale=locale)
    tab = context.new_page()
    open_set(tab)
    tab.locator(".runs-table").get_by_role("link", name="Features").click()
    expect(tab.locator(".reliability .main-svg").first).to_be_visible()
    plot = tab.evaluate(
        "() => { const { layout, data } = document.querySelector('.reliability .js-plotly-plot');"
        " return [layout.xaxis.range, layout.yaxis.range, data[1].text.map(Number).reduce((sum, n) => sum + n, 0)]; }"
    )
    assert plot == [[0, 1], [0, 1], 3]
    words = "採点できた回答3件" if locale == "ja-JP" else "3 judged answers"
    expect(tab.get_by_text(words)).to_be_visible()
    wrong = seen(tab, f"evaluate-run-{scheme}-{width}")
    context.close()
    assert wrong == []


def test_draft_that_loses_an_answer_is_warned_of(tab: Page, suffix: str) -> None:
    open_set(tab)
    added = tab.evaluate(ADD, ["museum.txt", f"The museum shop sells postcards{suffix}.", True])
    assert added != "not indexed"
    warn = tab.get_by_label("Warn before a draft is published")
    warn.uncheck()
    warn.check()
    expect(tab.locator("#notice")).to_contain_text("asked before drafts are published")
    tab.goto(f"/evaluate?doc=museum.txt&version={json.loads(added)['version']}")
    tab.get_by_role("button", name="Check now").click()
    verdict = tab.locator(".verdict")
    expect(verdict).to_contain_text("Results would drop")
    expect(verdict.get_by_role("link", name="When does the museum close?")).to_be_visible()


def test_set_is_made_of_the_history_and_deleted(tab: Page) -> None:
    tab.goto("/")
    tab.evaluate(
        """() => fetch("/api/v1/ask", { method: "POST", headers: { "Content-Type": "application/json" },
                     body: JSON.stringify({ question: "How often is the pump checked?" }) })"""
    )
    tab.goto("/evaluate?make=history")
    expect(tab.locator("#evaluate-chosen")).to_have_text("1 question chosen")
    tab.get_by_role("button", name="Make the set").click()
    tab.wait_for_url(re.compile(r"/evaluate\?set="))
    expect(tab.locator("#evaluate-questions")).to_contain_text("pump.txt")
    tab.get_by_role("button", name="Delete", exact=True).click()
    tab.get_by_role("dialog").get_by_role("button", name="Delete set").click()
    tab.wait_for_url(re.compile(r"/evaluate$"))
    expect(tab.locator(".question-sets > li")).to_have_count(1)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_axe_finds_nothing_serious(browser: Browser, evaluated: str, scheme: str, width: int) -> None:
    context = window(browser, evaluated, width=width, scheme=scheme)
    tab = context.new_page()
    tab.goto("/evaluate")
    found = [serious_violations(tab)]
    tab.locator(".question-sets a").first.click()
    expect(tab.locator(".run-figure .main-svg").first).to_be_visible()
    found.append(serious_violations(tab))
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= width
    tab.locator(".runs-table").get_by_role("link", name="Compare with previous").click()
    expect(tab.locator(".differences").first).to_be_visible()
    found.append(serious_violations(tab))
    context.close()
    assert found == [[], [], []]


def test_page_of_a_run_follows_it_and_cancels_it(tab: Page) -> None:
    tab.goto("/")
    run_id = tab.evaluate(
        """async () => {
          const data = new FormData();
          const questions = "question\\n" + "Who checks the pump?\\n".repeat(5000);
          data.append("file", new File([questions], `long ${Date.now()}.csv`));
          const made = await (await fetch("/api/v1/question-sets", { method: "POST", body: data })).json();
          const started = await fetch("/api/v1/evaluations", {
            method: "POST", headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ set_id: made.id }),
          });
          return (await started.json()).id;
        }"""
    )
    tab.goto(f"/evaluate?run={run_id}")
    expect(tab.locator("#evaluate-run-part")).to_contain_text(re.compile(r"of 5,?000 questions"))
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator("#evaluate-run-said")).to_contain_text("has ended")
    expect(tab.locator("#evaluate-run-part")).to_contain_text("Cancelled")
    expect(tab.locator("#evaluate-outcomes > li").first).to_be_visible()
