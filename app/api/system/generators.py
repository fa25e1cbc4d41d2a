"""Routes of generators: what can write an answer here, and the servers that administrators set up for that."""

from __future__ import annotations

import flask

from app.api.description.describe import Field, obj, operation, words, yes_no
from app.api.description.reading import body
from app.context import kb
from core.errors import Conflict, GenerationFailed, ModelUnavailable, NotFound, PasswordNeeded
from core.model import GeneratorHealth, GeneratorServer, GeneratorTrial, Role, Task, to_dict

generators = flask.Blueprint("generators", __name__, url_prefix="/api/v1")

NAME = Field({"type": "string", "minLength": 1, "maxLength": 64}, "Name of a generator.")
ADDRESS = words(
    "Where the server is, mostly ending with `/v1`.",
    most=1_000,
    least=1,
    required=True,
    example="https://api.example.com/v1",
)
KEY = Field(
    {"type": ["string", "null"], "maxLength": 4_096, "writeOnly": True},
    "Its key, which is never answered. Without it the server keeps the one that it has; empty takes it away.",
)


@generators.get("/generators")
@operation("Generators", tag="questions", answers={200: obj(generators=[GeneratorHealth], default=str)})
def list_generators() -> flask.Response:
    """Answer a line about each generator, and which one writes when a question names none.

    `none` is not among them: it extracts, and is always there. Asking waits for no model and no server.
    """
    found = kb().generators
    return flask.jsonify(generators=[to_dict(line) for line in found.health()], default=found.usual(Task.ANSWER))


@generators.get("/generators/servers")
@operation(
    "Servers that write answers",
    tag="server",
    role=Role.ADMIN,
    answers={200: obj(servers=[GeneratorServer])},
)
def list_generator_servers() -> flask.Response:
    """Answer the servers that were set up, by name, without their keys.

    `overridden_by` names variables of the environment that say something else, and win.
    """
    return flask.jsonify(servers=[to_dict(each) for each in kb().generators.list()])


@generators.put("/generators/servers/<name>")
@operation(
    "Set up a server that writes answers",
    tag="server",
    role=Role.ADMIN,
    path={"name": NAME},
    body=obj(
        url=ADDRESS,
        model=words("A model that it has; empty for the first that it lists.", most=256),
        key=KEY,
        allow_inside=yes_no("It may be at an address inside the network."),
    ),
    answers={200: GeneratorServer},
    errors=(PasswordNeeded,),
)
def set_generator_server(name: str) -> flask.Response:
    """Add a server with the interface of OpenAI, or change the one of this name.

    A key belongs to its server: with another host it is given anew. Whoever asks may choose the server as `generator`.
    """
    kb().accounts.require_recent_password()
    given = body()
    key = given["key"] if given["key"] is None else str(given["key"])
    kept = kb().generators.set(
        name, given["url"], model=given["model"], key=key, allow_inside=bool(given["allow_inside"])
    )
    return flask.jsonify(to_dict(kept))


@generators.delete("/generators/servers/<name>")
@operation(
    "Remove a server that writes answers",
    tag="server",
    role=Role.ADMIN,
    path={"name": NAME},
    answers={204: None},
    errors=(NotFound, PasswordNeeded),
)
def remove_generator_server(name: str) -> tuple[str, int]:
    """Forget a server with its key."""
    kb().accounts.require_recent_password()
    kb().generators.remove(name)
    return "", 204


@generators.post("/generators/<name>/try")
@operation(
    "Try a generator",
    tag="server",
    role=Role.ADMIN,
    path={"name": NAME},
    answers={200: GeneratorTrial},
    errors=(ModelUnavailable, GenerationFailed),
)
def try_generator(name: str) -> flask.Response:
    """Ask a generator one short question, and answer what it wrote and how long that took, at most 20 seconds."""
    return flask.jsonify(to_dict(kb().generators.try_out(name)))


@generators.post("/generators/<name>/default")
@operation(
    "Make a server the default",
    tag="server",
    role=Role.ADMIN,
    path={"name": NAME},
    answers={204: None},
    errors=(NotFound, Conflict, PasswordNeeded),
)
def make_default_generator(name: str) -> tuple[str, int]:
    """Have a server write where a question names no generator; with `none`, what the settings say."""
    kb().accounts.require_recent_password()
    kb().generators.make_default(name)
    return "", 204
