"""What every route says of itself: who may use it, what it takes, what it answers and how it fails.

The description of the interface (``app.api.description.openapi``), the guard of roles and the reading of values
(``app.api.description.fields``) all come from here, so that none of them can say something else than the others::

    @jobs.get("/<job_id>")
    @operation("One job", tag="jobs", answers={200: Job}, errors=(NotFound,))
    def show_job(job_id: str) -> flask.Response:
        '''The docstring is the longer description.'''

A *shape* is what a value looks like: a type (``Job``, ``str``, ``int | None``, ``list[Job]``), ``obj(name=shape, …)``,
a list of one shape (``[Job]``), a ``Field``, or a plain JSON Schema (a dictionary).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.errors import EvoRAGError, InvalidInput
from core.model import Role

View = TypeVar("View", bound=Callable[..., Any])

MEDIA = {
    "binary": "application/octet-stream",
    "event-stream": "text/event-stream",
    "text": "text/plain",
    "html": "text/html",
}
"""Names for answers and bodies that are no JSON; any other media type is written as it is (``image/png``)."""


@dataclass(frozen=True, slots=True)
class Field:
    """A value that a request carries: its JSON Schema, what it means, and what it is where it is not given."""

    schema: Mapping[str, Any]
    about: str = ""
    default: Any = None
    required: bool = False
    example: Any = None
    error: type[InvalidInput] = InvalidInput
    """What a wrong value is refused with."""


@dataclass(frozen=True, slots=True)
class Obj:
    """The shape of a JSON object; ``optional`` names what may be missing. Nothing else than ``fields`` is allowed."""

    fields: Mapping[str, Any]
    optional: frozenset[str] = frozenset()
    error: type[InvalidInput] = InvalidInput


@dataclass(frozen=True, slots=True)
class Form:
    """The shape of a multipart form: files by name, beside fields."""

    fields: Mapping[str, Any]
    files: tuple[str, ...] = ("file",)


@dataclass(frozen=True, slots=True)
class Operation:
    """What a route says of itself."""

    summary: str
    tag: str
    role: Role = Role.READER
    query: Mapping[str, Any] = field(default_factory=dict)
    path: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    body_optional: bool = False
    answers: Mapping[int, Any] = field(default_factory=dict)
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[type[EvoRAGError], ...] = ()
    is_open: bool = False
    is_linked: bool = True


def operation(
    summary: str,
    *,
    tag: str,
    role: Role = Role.READER,
    query: Mapping[str, Any] | None = None,
    path: Mapping[str, Any] | None = None,
    headers: Mapping[str, Any] | None = None,
    body: Any = None,
    body_optional: bool = False,
    answers: Mapping[int, Any] | None = None,
    answer_headers: Mapping[str, str] | None = None,
    errors: tuple[type[EvoRAGError], ...] = (),
    is_open: bool = False,
    is_linked: bool = True,
) -> Callable[[View], View]:
    """Describe a route; stands under the blueprint's decorator.

    ``query``, ``path``, ``headers`` and a body's fields are shapes by name. ``body`` is a shape, a ``Form`` or a media
    type (``"binary"``, ``"application/offset+octet-stream"``). ``answers`` are shapes or media types by status, None
    for an answer without a body. ``answer_headers`` say what each header means. ``errors`` are those beside what any
    such route raises (400, 401, 403, 413, 415, 429; 404 where the path has parameters). ``is_open``: needs no
    principal. ``is_linked``: named at the root of the interface where it needs no argument; what may not be there yet
    is not.
    """
    described = Operation(
        summary,
        tag,
        role,
        query or {},
        path or {},
        headers or {},
        body,
        body_optional,
        answers or {},
        answer_headers or {},
        errors,
        is_open,
        is_linked,
    )

    def describe(view: View) -> View:
        view.operation = described  # type: ignore[attr-defined]
        return view

    return describe


def operation_of(view: object) -> Operation | None:
    """Return what a view function says of itself, None where it says nothing."""
    found = getattr(view, "operation", None)
    return found if isinstance(found, Operation) else None


def obj(
    fields: Mapping[str, Any] | None = None,
    *,
    optional: tuple[str, ...] = (),
    error: type[InvalidInput] = InvalidInput,
    **more: Any,
) -> Obj:
    """Return the shape of a JSON object with these fields; fields that are a ``Field`` say themselves if required.

    An object within it whose fields may all be missing may be missing as well.
    """
    shapes = {**(fields or {}), **more}
    missing = {
        name
        for name, shape in shapes.items()
        if (isinstance(shape, Field) and not shape.required)
        or (isinstance(shape, Obj) and shape.optional.issuperset(shape.fields))
    }
    return Obj(shapes, frozenset(optional) | missing, error)


# ---- fields, by what they hold


def whole(
    about: str, *, low: int = 0, high: int = 2**31 - 1, default: int | None = None, required: bool = False
) -> Field:
    """A whole number from ``low`` to ``high``."""
    return Field({"type": "integer", "minimum": low, "maximum": high}, about, default, required)


def number(about: str, *, low: float, high: float, default: float | None = None) -> Field:
    """A finite number from ``low`` to ``high``."""
    return Field({"type": "number", "minimum": low, "maximum": high}, about, default)


def words(
    about: str, *, most: int, least: int = 0, default: str = "", required: bool = False, example: str | None = None
) -> Field:
    """A text of at most ``most`` characters, and at least ``least``."""
    schema: dict[str, Any] = {"type": "string", "maxLength": most}
    return Field(schema | ({"minLength": least} if least else {}), about, default, required, example)


def one_of(about: str, *values: str, default: str | None = None, required: bool = False) -> Field:
    """One of a few words."""
    return Field({"type": "string", "enum": list(values)}, about, default, required)


def yes_no(about: str, *, default: bool = False) -> Field:
    """True or false; in an address and in a form ``1``/``0``, ``yes``/``no``, ``on``/``off`` as well."""
    return Field({"type": "boolean"}, about, default)


def moment(about: str, *, nullable: bool = False) -> Field:
    """A moment, ISO 8601 with its zone."""
    schema: dict[str, Any] = {"type": ["string", "null"] if nullable else "string", "format": "date-time"}
    return Field(schema, about, example="2026-11-21T09:00:00+09:00")


def texts(about: str, *, most: int, chars: int, required: bool = False) -> Field:
    """A list of at most ``most`` texts of at most ``chars`` characters; in an address the name is repeated."""
    schema = {"type": "array", "maxItems": most, "items": {"type": "string", "maxLength": chars}}
    return Field(schema, about, (), required)
