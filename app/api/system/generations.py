"""Routes of the generations of the indexes: what built them, building another one, and which of them serves."""

from __future__ import annotations

import flask

from app.api.description.describe import Field, obj, operation, words, yes_no
from app.api.description.reading import body
from app.context import kb
from core.errors import Conflict, ModelUnavailable, StoreUnavailable
from core.model import Generation, Role, to_dict

generations = flask.Blueprint("generations", __name__, url_prefix="/api/v1")

NUMBER = Field({"type": "integer", "minimum": 1}, "Number of a generation.")


@generations.get("/generations")
@operation("Generations of the indexes", tag="server", role=Role.ADMIN, answers={200: obj(generations=[Generation])})
def list_generations() -> flask.Response:
    """Answer what each generation was built by, how far it is, and which one serves."""
    return flask.jsonify(generations=[to_dict(each) for each in kb().generations.list()])


@generations.post("/generations")
@operation(
    "Build a generation",
    tag="server",
    role=Role.ADMIN,
    body=obj(
        embedder=words("As the setting `embedder` names it; empty for the configured one.", most=1_000, default=""),
        switch=yes_no("Let it serve as soon as it is ready."),
    ),
    answers={202: Generation},
    errors=(Conflict, ModelUnavailable),
)
def build_generation() -> tuple[flask.Response, int]:
    """Embed and analyse everything anew in the background, beside what serves."""
    given = body()
    begun = kb().generations.build(given["embedder"], switch=given["switch"])
    return flask.jsonify(to_dict(begun)), 202


@generations.post("/generations/<int:number>/switch")
@operation(
    "Switch to a generation",
    tag="server",
    role=Role.ADMIN,
    path={"number": NUMBER},
    answers={200: Generation},
    errors=(Conflict, StoreUnavailable),
)
def switch_generation(number: int) -> flask.Response:
    """Let a generation that is ready serve, in one commit; the former one is kept up, to be gone back to."""
    return flask.jsonify(to_dict(kb().generations.switch(number)))


@generations.delete("/generations/<int:number>")
@operation(
    "Remove a generation",
    tag="server",
    role=Role.ADMIN,
    path={"number": NUMBER},
    answers={204: None},
    errors=(Conflict,),
)
def remove_generation(number: int) -> tuple[str, int]:
    """Remove a generation that does not serve, with its stores and its vectors."""
    kb().generations.remove(number)
    return "", 204
