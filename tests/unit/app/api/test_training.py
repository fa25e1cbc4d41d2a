"""Routes of models of one's own: listed for everyone, changed by administrators, and trainings that are described."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

import core
from core.model import Role, TrainingState
from tests.builders import add
from tests.trained import begun, trained

MODELS, TRAININGS = "/api/v1/models", "/api/v1/trainings"


@pytest.fixture
def models(kb: core.KnowledgeBase) -> Path:
    return kb.settings.data_dir / "models"


def test_model_is_listed_with_its_manifest_chosen_and_deleted(client: FlaskClient, models: Path) -> None:
    trained(models, steps=2)
    (listed,) = client.get(MODELS).get_json()["models"]
    assert listed["manifest"]["artifact_name"] == listed["name"] == "small" and not listed["is_chosen"]
    assert client.post(f"{MODELS}/small/choose").get_json()["is_chosen"]
    assert client.get(f"{MODELS}/small").get_json()["is_chosen"]
    health = {line["name"]: line for line in client.get("/api/v1/generators").get_json()["generators"]}
    assert health["standard"]["model"].startswith("small ") and health["standard"]["state"] == "idle"
    assert client.delete(f"{MODELS}/small").status_code == 204
    assert client.get(f"{MODELS}/small").status_code == 404 and client.get(MODELS).get_json() == {"models": []}


def test_training_that_is_left_is_listed_and_discarded(client: FlaskClient, models: Path) -> None:
    begun(models)
    (left,) = client.get(TRAININGS).get_json()["trainings"]
    assert (left["name"], left["state"], left["steps"], left["loss"]) == ("small", "cancelled", 30, None)
    assert client.post(f"{TRAININGS}/small/cancel").get_json()["state"] == "cancelled"
    assert client.delete(f"{TRAININGS}/small").status_code == 204
    assert client.get(f"{TRAININGS}/small").status_code == 404


def test_training_starts_in_the_background_and_is_cancelled(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    add(kb, "hours", "The office opens at nine. " * 300)
    started = client.post(TRAININGS, json={"artifact_name": "small", "layers": 1, "width": 32, "spiking": True})
    assert (started.status_code, started.get_json()["state"]) == (202, "running")
    assert started.headers["Location"] == f"{TRAININGS}/small"
    assert client.post(TRAININGS, json={"artifact_name": "other"}).status_code == 409
    assert client.post(f"{TRAININGS}/small/cancel").status_code == 200
    assert kb.training.wait("small", 300).state is TrainingState.CANCELLED


@pytest.mark.parametrize("name", ["x" * 300, "..", "%2e%2e", "a%00b", "a%0ab", "%E3%81%82", "a b"])
def test_name_that_no_file_could_have_is_not_found(client: FlaskClient, name: str) -> None:
    for address in (f"{MODELS}/{name}", f"{TRAININGS}/{name}"):
        assert client.get(address).status_code == 404 and client.delete(address).status_code in (404, 405)


@pytest.mark.long
@pytest.mark.parametrize(
    "wrong",
    [
        {"artifact_name": "../x"},
        {"artifact_name": ""},
        {"artifact_name": "x", "width": 33},
        {"artifact_name": "x", "steps": 0},
        {"artifact_name": "x", "precision": "fp8"},
        {"artifact_name": "x", "node_type": "<script>"},
        {"artifact_name": "x", "texts": ["/etc/passwd"]},
    ],
    ids=str,
)
def test_odd_options_are_refused_and_begin_nothing(client: FlaskClient, models: Path, wrong: dict[str, object]) -> None:
    assert client.post(TRAININGS, json=wrong).status_code == 400
    assert client.get(TRAININGS).get_json() == {"trainings": []}


def test_readers_and_editors_see_models_and_change_none(
    client: FlaskClient, kb: core.KnowledgeBase, models: Path
) -> None:
    trained(models, steps=2)
    kb.accounts.create_user("admin", "a long enough password", Role.ADMIN)
    for role in (Role.READER, Role.EDITOR):
        kb.accounts.create_user(f"one.{role}", "a long enough password", role)
        key = kb.accounts.create_key("k", role, user=f"one.{role}")[1]
        headers = {"Authorization": f"Bearer {key}"}
        assert client.get(MODELS, headers=headers).status_code == 200
        assert client.post(f"{MODELS}/small/choose", headers=headers).status_code == 403
        assert client.delete(f"{MODELS}/small", headers=headers).status_code == 403
        assert client.post(TRAININGS, headers=headers, json={"artifact_name": "x"}).status_code == 403
    assert kb.training.artifact("small").name == "small"
