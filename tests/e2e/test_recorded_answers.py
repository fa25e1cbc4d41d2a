"""An answer that is recorded: asked for with a switch, counted on its way, and leading to its neurons."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from core.model import Prompt, Sampling
from core.ports import Writing
from tests.builders import add, knowledge_base
from tests.doubles import RecordedGenerator, use
from tests.e2e.conftest import guarded_page, serious_violations
from tests.live import served

TIMEOUT_MS = 20_000


class Slowly(RecordedGenerator):
    """Takes so long for each piece that it can be seen."""

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        for piece in super().write(prompt, sampling, timeout_s):
            time.sleep(0.25)
            yield piece


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with knowledge_base(tmp_path) as kb, served(kb) as address:
        add(kb, "museum", "The museum opens at nine.")
        kb._projector.flush()
        use(kb, Slowly("The museum opens at nine. [1]"))
        for opened in guarded_page(browser, address):
            opened.goto("/ask")
            yield opened


def test_an_answer_is_recorded_and_leads_to_its_neurons(page: Page) -> None:
    page.locator("details.filters > summary").click()
    page.get_by_label("Answer with spikes, and record").check()
    page.locator("#ask-question").fill("When does the museum open?")
    page.locator("#ask-question").press("Enter")
    expect(page.locator(".live-card")).to_contain_text(
        re.compile("Recording; [0-9]+ pieces? written"), timeout=TIMEOUT_MS
    )
    page.wait_for_url(re.compile("record=1.*trace="), timeout=TIMEOUT_MS)
    link = page.locator("#ask-answer-card").get_by_role("link", name="Neurons, 5 tokens")
    expect(link).to_have_attribute("href", re.compile(r"^/neurons\?recording=[0-9a-f]{32}$"))
    assert serious_violations(page) == []
