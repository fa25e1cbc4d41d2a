"""Reading values that a request carries, each with an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import flask

from core.errors import InvalidInput

TAGS_LIMIT = 32
TAG_CHARS = 64


def whole_number(given: str | None, name: str, *, default: int, low: int, high: int) -> int:
    """Return the number in ``given``, or ``default`` where nothing is given. Raises: ``InvalidInput``."""
    if given is None or given == "":
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 19 and low <= int(given) <= high):
        raise InvalidInput(f"{name} must be a whole number from {low} to {high}.")
    return int(given)


def json_object() -> dict[str, Any]:
    """Return the JSON object in the body. Raises: ``InvalidInput``."""
    try:
        body = flask.request.get_json()
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The body is not JSON that can be read.") from error
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object.")
    return body


def text(body: dict[str, Any], name: str) -> str:
    """Return the text field ``name`` of a body. Raises: ``InvalidInput``."""
    value = body.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"The field {name!r} must be a text.")
    return value


def tag_list(given: object) -> tuple[str, ...]:
    """Return tags without blanks and repetitions. Raises: ``InvalidInput``."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | dict):
        raise InvalidInput("The field 'tags' must be a list of texts.")
    tags: dict[str, None] = {}
    for tag in given:
        if not isinstance(tag, str) or len(tag) > TAG_CHARS:
            raise InvalidInput(f"A tag must be a text of at most {TAG_CHARS} characters.")
        if tag.strip():
            tags[tag.strip()] = None
    if len(tags) > TAGS_LIMIT:
        raise InvalidInput(f"A document can have at most {TAGS_LIMIT} tags.")
    return tuple(tags)
