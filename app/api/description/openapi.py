"""The description of the interface as OpenAPI 3.1, made from the routes and what they say of themselves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

import flask
from werkzeug.routing import Rule

from app.api.description.describe import MEDIA, Field, Form, Operation, obj, operation, operation_of
from app.api.description.shapes import Schemas, plain
from app.api.system.errors import CODES, UNKNOWN_ADDRESS
from core.errors import EvoRAGError, Forbidden, InvalidInput, NotFound, RateLimited, StoreUnavailable, Unauthorized
from core.model import Role

openapi = flask.Blueprint("openapi", __name__, url_prefix="/api/v1")

PREFIX = "/api/v1"
SPECIFICATION = "3.1.0"
PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
FREE_FORM = {"type": "object"}
TAGS = {
    "documents": "Documents go in, are listed, tagged, taken away and brought back.",
    "versions": "What a document was, is and will be; which version is shown.",
    "uploads": "Large files arrive in parts (tus 1.0), and go on after any interruption.",
    "jobs": "Background work: what runs, how far it is, try again, cancel.",
    "conversations": "Questions that follow each other.",
    "questions": "Search and ask; the account of every answer; questions that are watched.",
    "evaluation": "How good retrieval and answers are: question sets, their runs, and the gate before publishing.",
    "recordings": "Recordings of spiking neurons while they wrote an answer, and what is read out of them.",
    "training": "Small language models that are trained here, and which of them writes.",
    "insight": "Why a passage was not found, what a text becomes in the index, and a vocabulary of one's own.",
    "compare": "What differs between two versions, as data, pages and patches.",
    "audit": "What was shown from when on, and by whose doing.",
    "access": "Users, their keys, and who you are.",
    "state": "Whether the server is well, and how much it holds.",
    "seed": "The names of the seed system.",
}
ABOUT = """
Everything that EvoRAG does, for programs.

Bodies are JSON in UTF-8; unknown and repeated fields are refused. Every error is `application/problem+json` with a
`code` that stays the same over time and a `remedy` for people. Lists have a `limit`; where there is more, `next` is
the `before` or `after` of the next page, else it is null. Values that may be null are always there.

A document's key is its file name in lower case; private ones are `~user/file name`, with the slash written as `%2F`.
"""
PATH_VALUES = {
    "doc_key": Field({"type": "string", "minLength": 1}, "Key of a document.", example="handbook.pdf"),
    "number": Field({"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, "Number of a version, from 1.", example=2),
    "image": Field({"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, "Number of an image, from 1.", example=1),
    "page": Field({"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, "Number of a page, from 1.", example=1),
    "trace_id": Field({"type": "string", "minLength": 1}, "Id of a question that was asked."),
    "question_id": Field({"type": "string", "minLength": 1}, "Id of a saved question."),
    "job_id": Field({"type": "string", "minLength": 1}, "Id of a job."),
    "recording_id": Field({"type": "string", "minLength": 1}, "Id of a recording."),
}
DEFINED_HEADERS = {
    "Location": "Where what was made can be read.",
    "ETag": "Stays the same while the content does.",
    "Retry-After": "Seconds to wait.",
    "Content-Disposition": "The name of the download.",
}


def is_described(rule: Rule) -> bool:
    """Tell whether a route belongs to the interface by its address, so that it must be described."""
    return rule.rule.startswith((PREFIX, "/health"))


def described_routes(server: flask.Flask) -> Iterator[tuple[Rule, str, Operation]]:
    """Yield each described route with each of its methods, lower case."""
    for rule in sorted(server.url_map.iter_rules(), key=lambda found: found.rule):
        found = operation_of(server.view_functions[rule.endpoint])
        if found is not None:
            for method in _methods(rule):
                yield rule, method, found


def document(server: flask.Flask) -> dict[str, Any]:
    """Return the description of everything that ``server`` offers to programs."""
    schemas = Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for rule, method, found in described_routes(server):
        paths.setdefault(address(rule), {})[method] = _entry(server, rule, method, found, schemas)
    used = {entry["tags"][0] for methods in paths.values() for entry in methods.values()}
    return {
        "openapi": SPECIFICATION,
        "info": {
            "title": "EvoRAG",
            "version": "1",
            "summary": "A knowledge base with versions inside retrieval and a full account of every rank.",
            "description": plain(ABOUT),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}, {"session": []}, {}],
        "tags": [
            {"name": name, "description": TAGS.get(name, name)}
            for name in [*TAGS, *sorted(used - {*TAGS})]
            if name in used
        ],
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem_schema(), **dict(sorted(schemas.components.items()))},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "A key from the page Access, `evo_…`."},
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "evorag_session",
                    "description": "Who signed in.",
                },
            },
        },
    }


def address(rule: Rule) -> str:
    """Return the path of a route as OpenAPI writes it."""
    return re.sub(r"<(?:[^<>:]+:)?([^<>]+)>", r"{\1}", rule.rule)


@cache
def codes() -> tuple[str, ...]:
    """Return every code that an error can carry."""

    def below(kind: type[EvoRAGError]) -> set[str]:
        return {kind.code}.union(*(below(child) for child in kind.__subclasses__()))

    return tuple(sorted(below(EvoRAGError) | set(CODES.values()) | {"internal", UNKNOWN_ADDRESS}))


def problem_schema() -> dict[str, Any]:
    """Return the schema of an error (RFC 9457 with our code and remedy)."""
    properties = {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened, and to what."},
        "code": {"type": "string", "enum": list(codes()), "description": "The same for the same error, always."},
        "remedy": {"type": "string", "description": "What to do next, in the language of the request."},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _methods(rule: Rule) -> list[str]:
    """The methods that the route itself answers: not those that Flask adds."""
    methods = set(rule.methods or ("GET",))
    if "GET" in methods:
        methods.discard("HEAD")
    if getattr(rule, "provide_automatic_options", False):
        methods.discard("OPTIONS")
    return sorted(method.lower() for method in methods)


def _entry(server: flask.Flask, rule: Rule, method: str, found: Operation, schemas: Schemas) -> dict[str, Any]:
    view = server.view_functions[rule.endpoint]
    entry: dict[str, Any] = {
        "operationId": _name(view.__name__, rule, method),
        "summary": found.summary,
        "description": plain(view.__doc__ or found.summary),
        "tags": [found.tag],
        "x-role": str(found.role),
        "parameters": [
            *(_parameter(name, "path", found.path.get(name, PATH_VALUES.get(name)), schemas) for name in _names(rule)),
            *(_parameter(name, "query", field, schemas) for name, field in found.query.items()),
            *(_parameter(name, "header", field, schemas) for name, field in found.headers.items()),
        ],
        "responses": {
            **{str(status): _answer(status, shape, found, schemas) for status, shape in sorted(found.answers.items())},
            **{str(status): _refusal(status, kinds) for status, kinds in sorted(_errors(rule, method, found).items())},
        },
    }
    if rule.websocket:
        entry["x-websocket"] = True
    if found.is_open:
        entry["security"] = []
    if found.body is not None and method not in ("get", "head", "options"):
        entry["requestBody"] = {"required": not found.body_optional, "content": _content(found.body, schemas)}
    return entry


def _name(name: str, rule: Rule, method: str) -> str:
    """What a route is called in the description: each has a name of its own, also where a view has several."""
    words = [name] if len(_methods(rule)) == 1 else [name, method]
    if rule.methods == {"OPTIONS"}:
        words += _names(rule)
    return "_".join(words if rule.rule.startswith(PREFIX) else [*words, "at_root"])


def _names(rule: Rule) -> list[str]:
    return re.findall(r"<(?:[^<>:]+:)?([^<>]+)>", rule.rule)


def _parameter(name: str, place: str, shape: Any, schemas: Schemas) -> dict[str, Any]:
    schema = schemas.of({"type": "string"} if shape is None else shape)
    is_required = place == "path" or (isinstance(shape, Field) and shape.required)
    found: dict[str, Any] = {"name": name, "in": place, "required": is_required, "schema": schema}
    if about := schema.pop("description", ""):
        found["description"] = about
    return found


def _content(shape: Any, schemas: Schemas) -> dict[str, Any]:
    if isinstance(shape, Form):
        files = {name: {"type": "string", "contentMediaType": "application/octet-stream"} for name in shape.files}
        fields = {name: schemas.of(field) for name, field in shape.fields.items()}
        whole = {"type": "object", "properties": {**files, **fields}, "required": list(shape.files)}
        return {"multipart/form-data": {"schema": whole}}
    if isinstance(shape, str):
        media = MEDIA.get(shape, shape)
        return {media: {} if media in ("application/json", "text/event-stream") else {"schema": {"type": "string"}}}
    return {"application/json": {"schema": schemas.of(shape)}}


def _answer(status: int, shape: Any, found: Operation, schemas: Schemas) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if shape is not None:
        shapes = shape if isinstance(shape, tuple) else (shape,)
        answer["content"] = {media: inner for each in shapes for media, inner in _content(each, schemas).items()}
    headers = {
        name: {**found.answer_headers}.get(name) or DEFINED_HEADERS.get(name, name) for name in found.answer_headers
    }
    if headers and status < 300:
        answer["headers"] = {
            name: {"description": about, "schema": {"type": "string"}} for name, about in headers.items()
        }
    return answer


def _errors(rule: Rule, method: str, found: Operation) -> dict[int, list[str]]:
    """The codes of the errors that a route can answer, by status."""
    kinds = list(found.errors)
    if _names(rule) or found.query or found.headers or found.body is not None:
        kinds.append(InvalidInput)
    if _names(rule):
        kinds.append(NotFound)
    if not found.is_open:
        kinds += [Unauthorized, RateLimited, StoreUnavailable]
    if found.role is not Role.READER or method not in ("get", "head", "options"):
        kinds.append(Forbidden)
    by_status: dict[int, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(kind.status, []).append(kind.code)
    if found.body is not None:
        by_status.setdefault(413, []).append("too_large")
        by_status.setdefault(415, []).append(CODES[415])
    return {status: sorted(set(names)) for status, names in by_status.items() if status not in found.answers}


def _refusal(status: int, names: list[str]) -> dict[str, Any]:
    return {"description": "Refused: " + ", ".join(f"`{name}`" for name in names), "content": PROBLEM}


# ---- the routes


@openapi.get("")
@operation(
    "What there is",
    tag="state",
    answers={200: obj(name=str, version=str, links={"type": "object", "additionalProperties": {"type": "string"}})},
)
def show_links() -> flask.Response:
    """Answer where to begin: the addresses of the lists, by name."""
    return flask.jsonify(name="EvoRAG", version="1", links=_links(flask.current_app))


@openapi.get("/openapi.json")
@operation(
    "This description",
    tag="state",
    answers={200: FREE_FORM},
    answer_headers={"ETag": ""},
)
def show_description() -> flask.Response:
    """Answer the description of the interface as OpenAPI 3.1."""
    written, tag = _written(flask.current_app)
    response = flask.Response(written, mimetype="application/json")
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    response.make_conditional(flask.request)
    return response


def described(server: flask.Flask) -> dict[str, Any]:
    """Return the description of ``server``, made once."""
    if "evorag-openapi" not in server.extensions:
        server.extensions["evorag-openapi"] = document(server)
    found: dict[str, Any] = server.extensions["evorag-openapi"]
    return found


def _written(server: flask.Flask) -> tuple[str, str]:
    written = json.dumps(described(server), ensure_ascii=False)
    return written, hashlib.sha256(written.encode()).hexdigest()[:32]


def _links(server: flask.Flask) -> Mapping[str, str]:
    """The addresses of what is always there and can be read without knowing more."""
    return {
        rule.rule.removeprefix(f"{PREFIX}/"): rule.rule
        for rule, method, found in described_routes(server)
        if method == "get"
        and rule.rule.startswith(f"{PREFIX}/")
        and not _names(rule)
        and found.is_linked
        and not any(isinstance(field, Field) and field.required for field in found.query.values())
    }
