"""Reading values that a request carries, each with an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import flask

from core.errors import InvalidInput

TAGS_LIMIT = 32
TAG_CHARS = 64
NOTE_CHARS = 2_000
LABEL_CHARS = 200
DIGITS = len(str(2**63 - 1))
YES = ("1", "true", "on", "yes")
NO = ("", "0", "false", "off", "no")


def whole_number(given: str | None, name: str, *, default: int, low: int, high: int) -> int:
    """Return the number in ``given``, or ``default`` where nothing is given. Raises: ``InvalidInput``."""
    if given is None or given == "":
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= DIGITS and low <= int(given) <= high):
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


def optional_json() -> dict[str, Any]:
    """Return the JSON object in the body, or nothing where there is no body. Raises: ``InvalidInput``."""
    return json_object() if flask.request.get_data(cache=True) else {}


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


def short_text(given: Mapping[str, Any], name: str, limit: int) -> str:
    """Return the text ``name``, empty where it is not given. Raises: ``InvalidInput`` over ``limit`` characters."""
    value = given.get(name) or ""
    if not isinstance(value, str) or len(value) > limit:
        raise InvalidInput(f"The field {name!r} must be a text of at most {limit:,} characters.")
    return value.strip()


def flag(given: Mapping[str, Any], name: str) -> bool:
    """Return whether ``name`` is said to be so; forms send words, JSON a truth value. Raises: ``InvalidInput``."""
    value = given.get(name, False)
    word = value.lower() if isinstance(value, str) else value
    if word is True or word in YES:
        return True
    if word is False or word is None or word in NO:
        return False
    raise InvalidInput(f"The field {name!r} must be true or false.")


def moment(given: Mapping[str, Any], name: str) -> datetime | None:
    """Return the moment ``name``, ISO 8601 with its zone, or None where none is given. Raises: ``InvalidInput``."""
    value = given.get(name)
    if value is None or value == "":
        return None
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) and len(value) < 64 else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput(f"The field {name!r} must be a moment with its zone, like 2026-11-21T09:00:00+09:00.")
    return found


def filing(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an upload says about its version, where it says it: note, label, draft, when to publish."""
    said = {
        "note": short_text(given, "note", NOTE_CHARS),
        "label": short_text(given, "label", LABEL_CHARS),
        "draft": flag(given, "draft"),
        "publish_at": moment(given, "publish_at"),
    }
    return {name: value for name, value in said.items() if value}
