"""The route of generators: what can write an answer here, and how each is."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, operation
from app.context import kb
from core.model import GeneratorHealth, to_dict

generators = flask.Blueprint("generators", __name__, url_prefix="/api/v1")


@generators.get("/generators")
@operation("Generators", tag="questions", answers={200: obj(generators=[GeneratorHealth], default=str)})
def list_generators() -> flask.Response:
    """Answer a line about each generator, and which one writes when a question names none.

    `none` is not among them: it extracts, and is always there. Asking waits for no model and no server.
    """
    found = kb().generators
    return flask.jsonify(
        generators=[to_dict(line) for line in found.health()], default=kb().settings.generators.generator
    )
