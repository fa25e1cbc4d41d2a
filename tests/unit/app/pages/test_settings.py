"""The page Settings without a browser: what is shown to whom, and what its buttons do."""

from __future__ import annotations

from pathlib import Path

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from core.access import acting
from core.model import Principal, Role
from tests.builders import add
from tests.trained import begun, trained
from tests.unit.app.drawn import by_class, open_page, parts, press, press_one_of, text

READER = Principal("reader", Role.READER, 7)
MODEL, TRAINING = "settings-model", "settings-training"


@pytest.fixture
def models(kb: core.KnowledgeBase) -> Path:
    folder = kb.settings.data_dir / "models"
    trained(folder, "one", steps=2)
    trained(folder, "two", steps=2, spiking=True)
    return folder


def click(client: FlaskClient, kind: str, name: str, action: str) -> dict[str, object]:
    return press_one_of(client, {"type": kind, "name": name, "action": action}, {})


def test_empty_page_says_what_belongs_there_and_that_it_is_a_demonstration(window: Dash) -> None:
    page = open_page(window, "/settings")
    shown = text(page)
    assert "No trained models yet" in shown and "demonstration" in shown
    # Nothing is wrong with a generator that nobody has set up; how it is done stands folded away.
    assert "not set up" in shown and "not available" not in shown
    assert "EVORAG_OPENAI_URL" in text(by_class(page, "settings-how"))
    for name in ("huggingface", "openai", "command", "standard", "snn"):
        assert name in shown


def test_page_is_there_in_japanese(window: Dash) -> None:
    assert "デモ" in text(open_page(window, "/settings", "ja"))


def test_models_stand_with_their_manifests_and_those_left_with_their_progress(window: Dash, models: Path) -> None:
    job = begun(models, "left")
    (job.work / "progress.jsonl").write_text(
        '{"step": 3, "steps": 30, "loss": 1.5}\n'
        '{"state": "failed", "error": "No.", "code": "disk_full", "remedy": "Make room."}'
    )
    page = open_page(window, "/settings")
    shown = text(page)
    assert "Make room." in shown and "ディスク" in text(open_page(window, "/settings", "ja"))
    assert "training_config_hash" in shown and "with spikes" in shown and "without spikes" in shown
    assert "step 3 of 30" in shown and "1.50" in shown and "Failed" in shown and "No." in shown
    (bar,) = [each for each in by_class(page, "bar") if each.role == "progressbar"]
    assert getattr(bar, "aria-valuenow") == "3"


@pytest.mark.long
def test_model_is_chosen_and_deleted_only_after_a_question(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase, models: Path
) -> None:
    open_page(window, "/settings")
    click(client, MODEL, "one", "choose")
    assert kb.training.artifact("one").is_chosen
    answered = click(client, MODEL, "one", "delete")
    assert kb.training.artifact("one").name == "one" and "Delete the model" in str(answered)
    asked = {"action": "delete", "name": "one"}
    press(window, client, "settings-confirm.n_clicks", {"settings-confirm.n_clicks": 1, "settings-asked.data": asked})
    assert [each.name for each in kb.training.artifacts()] == ["two"]


def test_training_without_a_name_is_explained_in_its_place(window: Dash, client: FlaskClient) -> None:
    open_page(window, "/settings")
    answered = press(window, client, "settings-start.n_clicks", {"settings-start.n_clicks": 1})
    assert "The model has no name" in str(answered)


def test_reader_sees_models_and_no_way_to_change_them(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase, models: Path
) -> None:
    begun(models, "left")
    with acting(READER):
        page = open_page(window, "/settings")
    assert "one" in text(page)
    assert not [part for part in parts(page) if getattr(part, "id", None) == "settings-start"]
    assert not by_class(page, "access-actions")


GENERATION = "settings-generation"


def test_index_that_another_embedder_built_is_told_and_a_generation_is_built(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    add(kb, "medlar", "The medlar is harvested late.")
    assert "Another embedder is configured" not in text(open_page(window, "/settings"))
    kb.generations.configured = "hash:64"
    shown = text(open_page(window, "/settings"))
    assert "The index was built with “hash”" in shown and "384 dimensions" in shown
    values = {"settings-build.n_clicks": 1, "settings-embedder.value": "hash:64", "settings-switches.value": False}
    press(window, client, "settings-build.n_clicks", values)
    page = open_page(window, "/settings", "ja")
    (bar,) = [each for each in by_class(page, "bar") if each.role == "progressbar"]
    assert getattr(bar, "aria-valuetext") == "1件中0件"
    kb.work_off()
    answered = click(client, GENERATION, "2", "switch")
    assert "Generation 2 serves now. Generation 1 is kept up" in str(answered)
    assert "Another embedder is configured" not in text(open_page(window, "/settings"))
    assert "Remove generation 1?" in str(click(client, GENERATION, "1", "remove"))
    confirmed = {"settings-generation-confirm.n_clicks": 1, "settings-generation-asked.data": 1}
    press(window, client, "settings-generation-confirm.n_clicks", confirmed)
    assert [each.number for each in kb.generations.list()] == [2]


def test_embedder_that_is_not_there_is_told_and_readers_see_no_index(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    values = {"settings-build.n_clicks": 1, "settings-embedder.value": "no/such-model", "settings-switches.value": True}
    assert "model_unavailable" in str(press(window, client, "settings-build.n_clicks", values))
    with acting(READER):
        assert not by_class(open_page(window, "/settings"), "settings-embedder")
        assert "Generation 1" not in text(open_page(window, "/settings"))
