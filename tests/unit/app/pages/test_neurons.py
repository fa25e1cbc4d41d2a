"""The Neurons page without a browser: what is offered of a recording, and that scripts have words for every code."""

from __future__ import annotations

import io

import pytest
import torch
from dash import Dash

import core
from app import i18n
from core.model import Recording
from core.snn import exporting
from tests.unit.app.drawn import by_id, open_page, parts, text


@pytest.fixture
def kept(kb: core.KnowledgeBase) -> Recording:
    file = io.BytesIO()
    torch.save({"spikes": torch.ones(4, 3, dtype=torch.int8), "membrane_potential": torch.ones(4, 3)}, file)
    file.seek(0)
    return kb.recordings.import_file("made", file)


def offered(page: object) -> dict[str, str]:
    """The forms that can be exported, and where they are."""
    links = {str(getattr(part, "data-neurons-export", "")): str(getattr(part, "href", "")) for part in parts(page)}
    return {form: address for form, address in links.items() if form}


def test_forms_that_are_not_installed_are_named_and_not_offered(
    window: Dash, kept: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(exporting.PACKAGES, "neo", "core")
    monkeypatch.setitem(exporting.PACKAGES, "nwb", "not_installed_anywhere")
    page = open_page(window, f"/neurons?recording={kept.id}")
    assert list(offered(page)) == ["csv", "neo"]
    assert all(address.startswith(f"/api/v1/recordings/{kept.id}/export?") for address in offered(page).values())
    assert "NWB (.nwb) not installed here" in text(by_id(page, "neurons-export"))


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_scripts_have_words_for_what_is_left_out_and_for_notes(window: Dash, kept: Recording, lang: str) -> None:
    page = open_page(window, f"/neurons?recording={kept.id}", lang)
    assert by_id(page, "neurons-left-out").hidden
    assert set(kept.left_out) == {"currents", "thinned", "tokens", "membranes", "absent", "foreign"}
    for name in (*(f"left_{what}" for what in kept.left_out), "note_codes", "note_neurons"):
        assert i18n.has(f"neurons.live.{name}") or f"neurons.live.{name}" in i18n.messages(lang)
