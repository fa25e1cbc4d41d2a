"""Routes of models of one's own: those trained here, which of them writes, and the trainings that make them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import flask

from app.api.description.describe import Field, number, obj, one_of, operation, whole, words, yes_no
from app.api.description.reading import body
from app.context import kb
from core.errors import Conflict, DiskFull
from core.model import (
    PRECISIONS,
    PRIVACY_LEVELS,
    QUANTISATIONS,
    TRAINING_BOUNDS,
    Artifact,
    Role,
    Training,
    TrainingCourse,
    TrainingLabels,
    to_dict,
)

training = flask.Blueprint("training", __name__, url_prefix="/api/v1")

NAME = Field({"type": "string", "minLength": 1}, "Name of a trained model, or of the training that makes it.")
USUAL: dict[str, Any] = {field.name: field.default for field in fields(TrainingCourse)}
MEANINGS = {
    "steps": "Batches that it learns from.",
    "layers": "Layers of the model.",
    "width": "Channels of the model, a multiple of 32.",
    "window": "Tokens of one training sequence.",
    "batch": "Sequences of one step.",
    "vocabulary": "Most pieces that text is cut into.",
    "seed": "Seed of the first weights and of the order of the texts.",
    "code_steps": "Steps of the code of its spikes, where it is trained with spikes.",
}
COURSE = {
    name: whole(about, low=TRAINING_BOUNDS[name][0], high=TRAINING_BOUNDS[name][1], default=USUAL[name])
    for name, about in MEANINGS.items()
} | {
    "learning_rate": number("How far a step goes.", low=1e-6, high=1, default=USUAL["learning_rate"]),
    "spiking": yes_no("Train through spikes; the generator `snn` then needs no calibration."),
    "precision": one_of("Precision of the stored weights.", *PRECISIONS, default="fp32"),
    "quantize": one_of("`int8` rounds each row of a matrix to 255 levels.", *QUANTISATIONS, default="none"),
}
LABELS = {
    "artifact_name": words(
        "What the model is called: small letters, digits, dots, dashes and underscores.",
        most=64,
        least=1,
        required=True,
        example="handbook-small",
    ),
    "privacy_level": one_of("Who may see the model, for its manifest.", *PRIVACY_LEVELS, default="internal"),
    "node_type": words("What the model is for, in a short word.", most=64, least=1, default="language"),
    "license": words(
        "Licence of the model, which follows from that of its texts.", most=64, least=1, default="unspecified"
    ),
}


# ---- trained models


@training.get("/models")
@operation("Models trained here", tag="training", answers={200: obj(models=[Artifact])})
def list_models() -> flask.Response:
    """Answer the trained models with their manifests, newest first; with the chosen one `standard` writes."""
    return flask.jsonify(models=[to_dict(model) for model in kb().training.artifacts()])


@training.get("/models/<name>")
@operation("A trained model", tag="training", path={"name": NAME}, answers={200: Artifact})
def show_model(name: str) -> flask.Response:
    """Answer one trained model with its manifest."""
    return flask.jsonify(to_dict(kb().training.artifact(name)))


@training.post("/models/<name>/choose")
@operation("Choose a model", tag="training", role=Role.ADMIN, path={"name": NAME}, answers={200: Artifact})
def choose_model(name: str) -> flask.Response:
    """Have the generator `standard` write with a model from now on."""
    return flask.jsonify(to_dict(kb().training.choose(name)))


@training.delete("/models/<name>")
@operation("Delete a model", tag="training", role=Role.ADMIN, path={"name": NAME}, answers={204: None})
def delete_model(name: str) -> tuple[str, int]:
    """Delete a trained model for good."""
    kb().training.delete(name)
    return "", 204


# ---- trainings


@training.get("/trainings")
@operation("Trainings", tag="training", answers={200: obj(trainings=[Training])})
def list_trainings() -> flask.Response:
    """Answer the trainings: the one that runs, those that can be resumed, and those that made a model."""
    return flask.jsonify(trainings=[to_dict(each) for each in kb().training.trainings()])


@training.post("/trainings")
@operation(
    "Train a model",
    tag="training",
    role=Role.ADMIN,
    body=obj(LABELS | COURSE),
    answers={202: Training},
    answer_headers={"Location": "The training, with how far it is."},
    errors=(Conflict, DiskFull),
)
def start_training() -> tuple[flask.Response, int, dict[str, str]]:
    """Train a small language model in the background on the documents that everyone sees.

    It demonstrates the path: a corpus this small cannot answer well. One training runs at a time.
    """
    given = body()
    labels = TrainingLabels(**{name: given[name] for name in LABELS})
    course = TrainingCourse(**{name: given[name] for name in COURSE})
    begun = kb().training.start(labels, course)
    return flask.jsonify(to_dict(begun)), 202, {"Location": f"/api/v1/trainings/{begun.name}"}


@training.get("/trainings/<name>")
@operation("A training", tag="training", path={"name": NAME}, answers={200: Training})
def show_training(name: str) -> flask.Response:
    """Answer how far a training is, and its losses in nats per token."""
    return flask.jsonify(to_dict(kb().training.status(name)))


@training.post("/trainings/<name>/cancel")
@operation(
    "Cancel a training",
    tag="training",
    role=Role.ADMIN,
    path={"name": NAME},
    answers={200: Training},
    errors=(Conflict,),
)
def cancel_training(name: str) -> flask.Response:
    """Stop a training at its next step; it can be resumed. Twice is as once."""
    return flask.jsonify(to_dict(kb().training.cancel(name)))


@training.post("/trainings/<name>/resume")
@operation(
    "Resume a training",
    tag="training",
    role=Role.ADMIN,
    path={"name": NAME},
    answers={202: Training},
    errors=(Conflict, DiskFull),
)
def resume_training(name: str) -> tuple[flask.Response, int]:
    """Go on from the last checkpoint; the model becomes what it would have been."""
    return flask.jsonify(to_dict(kb().training.resume(name))), 202


@training.delete("/trainings/<name>")
@operation(
    "Discard a training",
    tag="training",
    role=Role.ADMIN,
    path={"name": NAME},
    answers={204: None},
    errors=(Conflict,),
)
def discard_training(name: str) -> tuple[str, int]:
    """Remove a training that is not finished, with its checkpoint."""
    kb().training.discard(name)
    return "", 204
