"""Reading values that a request carries, each with an error that says what is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import flask
from werkzeug.exceptions import UnsupportedMediaType

from core.errors import InvalidInput

TAGS_LIMIT = 32
TAG_CHARS = 64
NOTE_CHARS = 2_000
LABEL_CHARS = 200
DIGITS = len(str(2**63 - 1))
YES = ("1", "true", "on", "yes")
PRIORITY = re.compile(r"|[+-]?(?:10|[0-9])")
NO = ("", "0", "false", "off", "no")


def whole_number(given: str | None, name: str, *, default: int, low: int, high: int) -> int:
    """Return the number in ``given``, or ``default`` where nothing is given. Raises: ``InvalidInput``."""
    if given is None or given == "":
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= DIGITS and low <= int(given) <= high):
        raise InvalidInput(f"{name} must be a whole number from {low} to {high}.")
    return int(given)


def json_object() -> dict[str, Any]:
    """Return the JSON object in the body. Raises: ``InvalidInput``; 415 for a body that says to be no JSON.

    JSON is UTF-8 without repeated keys, NaN, infinite numbers and halves of surrogate pairs, none of which can be kept.
    """
    request = flask.request
    if not request.is_json:
        raise UnsupportedMediaType("The body must be JSON; say so with “Content-Type: application/json”.")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
        raise InvalidInput("JSON is written in UTF-8.")
    try:
        read = request.get_data(cache=True).decode("utf-8")
        body = json.loads(read, object_pairs_hook=_unrepeated, parse_constant=_no_number, parse_float=_finite)
        json.dumps(body, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The body is not JSON that can be read.") from error
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object.")
    return body


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


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
    """Return what an upload says of itself, where it says it: all that a ``Filing`` has but tags and actor."""
    said = {
        "note": short_text(given, "note", NOTE_CHARS),
        "label": short_text(given, "label", LABEL_CHARS),
        "draft": flag(given, "draft"),
        "publish_at": moment(given, "publish_at"),
        "private": flag(given, "private"),
        "priority": priority(given),
    }
    early = given.get("early") not in (None, "")
    return {name: value for name, value in said.items() if value} | ({"early": flag(given, "early")} if early else {})


def priority(given: Mapping[str, Any]) -> int:
    """Return the priority of the upload's job, 0 where none is given. Raises: ``InvalidInput``."""
    value = given.get("priority")
    word = str(value).strip() if isinstance(value, str) or type(value) is int else "0" if value is None else ""
    if not PRIORITY.fullmatch(word):
        raise InvalidInput("The field 'priority' must be a whole number from -10 to 10.")
    return int(word or 0)
