"""Reads what a request carries as its route describes it, so that the description is also the check.

``arguments()`` reads the address, ``body()`` the JSON body of the present request, both by the ``Field`` that the
route's ``@operation`` names; whatever is not as described is refused with its name and what it should be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import flask

from app.api.description.describe import Field, Form, Obj, Operation, operation_of
from app.api.description.fields import DIGITS, NO, YES, json_object
from core.errors import InvalidInput

LONGEST_MOMENT = 40


def described() -> Operation:
    """Return what the route of the present request says of itself."""
    found = operation_of(flask.current_app.view_functions[flask.request.endpoint or ""])
    if found is None:
        raise LookupError(f"{flask.request.endpoint} is not described")
    return found


def arguments() -> dict[str, Any]:
    """Return the values of the address, by the names that the route describes; others are left alone."""
    given = flask.request.args
    found = {}
    for name, field in described().query.items():
        texts = given.getlist(name)
        if not texts or (texts == [""] and field.schema.get("type") != "string"):
            if field.required:
                raise field.error(f"{name} must be given.")
            found[name] = field.default
        elif field.schema.get("type") == "array":
            found[name] = _value(field, name, texts)
        elif len(texts) > 1:
            raise field.error(f"{name} is given {len(texts)} times.")
        else:
            found[name] = _value(field, name, _of_text(field, texts[0]))
    return found


def body() -> dict[str, Any]:
    """Return the fields of the JSON body, with the defaults of those that are missing.

    Where the route takes no body as well, an empty one is an empty object. Raises: ``InvalidInput``.
    """
    operation = described()
    if operation.body_optional and not flask.request.get_data(cache=True):
        return _fields(operation.body, {}, "The body")
    return _fields(operation.body, json_object(), "The body")


def check_form() -> None:
    """Refuse a form with parts that its route does not describe. Raises: ``InvalidInput``, which names them."""
    form = described().body
    if not isinstance(form, Form):
        raise LookupError(f"{flask.request.endpoint} takes no form")
    known = [*form.files, *form.fields]
    # A part may come without any name.
    given = [name or "" for name in {**flask.request.form, **flask.request.files}]
    unknown = [f"“{name[:64]}”" for name in given if name not in known]
    if unknown:
        raise InvalidInput(f"The form has no field {', '.join(unknown[:10])}; there are: {', '.join(known)}.")


def path_number(given: str, name: str = "version") -> int:
    """Return a number that stands in the path, from 1. Raises: ``InvalidInput``."""
    return int(_value(Field({"type": "integer", "minimum": 1, "maximum": 2**31 - 1}), name, _digits(given)))


def _fields(shape: Obj, given: object, name: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise shape.error(f"{name} must be a JSON object.")
    unknown = [key for key in given if key not in shape.fields]
    if unknown:
        known = ", ".join(shape.fields)
        raise shape.error(f"{name} has no field “{unknown[0][:64]}”; there are: {known}.")
    found = {}
    for key, field in shape.fields.items():
        if key not in given:
            if key not in shape.optional:
                raise shape.error(f"The field “{key}” must be given.")
            found[key] = field.default if isinstance(field, Field) else _fields(field, {}, key)
        else:
            found[key] = _fields(field, given[key], key) if isinstance(field, Obj) else _value(field, key, given[key])
    return found


def _of_text(field: Field, text: str) -> object:
    """Return what a text in an address stands for, where a number or a truth value is wanted."""
    kind = field.schema.get("type")
    if kind == "integer":
        return _digits(text)
    if kind == "number":
        try:
            return float(text) if len(text) <= DIGITS and text.isascii() and "_" not in text else text
        except ValueError:
            return text
    if kind == "boolean":
        word = text.lower()
        return True if word in YES else False if word in NO else text
    return text


def _digits(text: str) -> object:
    plain = text.removeprefix("-")
    return int(text) if plain.isascii() and plain.isdigit() and len(plain) <= DIGITS else text


def _value(field: Field, name: str, given: Any) -> Any:
    """Return a value as its field describes it. Raises: the field's error."""
    schema = field.schema
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if given is None and "null" in kinds:
        return None
    if kinds[0] == "array":
        items = Field(schema["items"], error=field.error)
        if not isinstance(given, list) or len(given) > schema.get("maxItems", math.inf):
            raise field.error(f"{name} must be a list of at most {schema.get('maxItems', 0):,} values.")
        return tuple(_value(items, name, item) for item in given)
    read = {"integer": _whole, "number": _number, "boolean": _truth, "string": _text}[kinds[0]]
    found = read(schema, given)
    if found is None:
        raise field.error(f"{name} must be {_wanted(kinds[0], schema)}.")
    return found


def _whole(schema: Mapping[str, Any], given: object) -> int | None:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int):
        return None
    return given if schema.get("minimum", given) <= given <= schema.get("maximum", given) else None


def _number(schema: Mapping[str, Any], given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return float(given) if schema.get("minimum", given) <= given <= schema.get("maximum", given) else None


def _truth(_: Mapping[str, Any], given: object) -> bool | None:
    return given if isinstance(given, bool) else None


def _text(schema: Mapping[str, Any], given: object) -> str | datetime | None:
    if not isinstance(given, str) or not schema.get("minLength", 0) <= len(given) <= schema.get("maxLength", math.inf):
        return None
    if "enum" in schema and given not in schema["enum"]:
        return None
    return _moment(given) if schema.get("format") == "date-time" else given


def _moment(given: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(given) if len(given) <= LONGEST_MOMENT else None
        return found.astimezone(UTC) if found is not None and found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _wanted(kind: str, schema: Mapping[str, Any]) -> str:
    """What a value should be, in words."""
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema.get("format") == "date-time":
        return "a moment with its zone, like 2026-11-21T09:00:00+09:00"
    if kind == "boolean":
        return "true or false"
    if kind == "string":
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        return "a text" + (f" of {least:,} to {most:,} characters" if most is not None else "")
    between = f" from {schema['minimum']:,} to {schema['maximum']:,}" if "maximum" in schema else ""
    return ("a whole number" if kind == "integer" else "a number") + between
