"""Frozen values to plain JSON-able data and back."""

from __future__ import annotations

import base64
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, partial
from typing import Any, TypeVar, Union, get_args, get_origin

import orjson

Value = TypeVar("Value")

_PLAIN = (str, int, float, bool)


def to_dict(value: Any) -> Any:
    """Return ``value`` as dictionaries, lists, strings and numbers; moments as ISO 8601, bytes as base64."""
    return _writer(value.__class__)(value)


@cache
def _writer(kind: type) -> Callable[[Any], Any]:
    """Return what writes a value of a type: made once for each, because an account holds thousands of values."""
    if kind is type(None) or issubclass(kind, (bool, int, float)):
        return _as_it_is
    if issubclass(kind, Enum):
        return _value_of
    if issubclass(kind, str):
        return _as_it_is
    if issubclass(kind, datetime):
        return datetime.isoformat
    if issubclass(kind, bytes):
        return _in_base64
    if is_dataclass(kind):
        names = _names(kind)
        return lambda value: {name: to_dict(getattr(value, name)) for name in names}
    if issubclass(kind, Mapping):
        return lambda value: {str(key): to_dict(item) for key, item in value.items()}
    return lambda value: [to_dict(item) for item in value]


def _value_of(value: Enum) -> Any:
    return value.value


def _in_base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def to_json(value: Any) -> bytes:
    """Return ``to_dict`` of a value as JSON, written at once. Raises: ``TypeError`` for half a surrogate pair."""
    return orjson.dumps(value, _plainly, orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME)


def _plainly(value: Any) -> Any:
    """Return what ``orjson`` does not write by itself as ``to_dict`` does, one layer of it."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return _in_base64(value)
    return dict(value) if isinstance(value, Mapping) else list(value)


def from_dict(kind: type[Value], data: Any) -> Value:
    """Return the value of type ``kind`` that ``to_dict`` wrote; missing keys take their defaults."""
    return typing.cast(Value, _read(kind, data))


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(kind: Any, data: Any) -> Any:
    return _reader(kind)(data)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what reads a value of a type: made once for each, because an account holds thousands of values."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return partial(_read_union, get_args(kind))
    if origin is tuple or (origin is not None and issubclass(origin, Sequence)):
        inner = get_args(kind)[0]
        if inner in _PLAIN:
            return tuple
        return lambda data: tuple(map(_reader(inner), data))
    if origin is not None and issubclass(origin, Mapping):
        return dict
    if isinstance(kind, type):
        if is_dataclass(kind):
            return _dataclass_reader(kind)
        if issubclass(kind, Enum):
            return kind
        if kind is datetime:
            return datetime.fromisoformat
        if kind is bytes:
            return base64.b64decode
    return _as_it_is


def _dataclass_reader(kind: Any) -> Callable[[Any], Any]:
    hints = _hints(kind)
    # Types that hold themselves are read through ``_read``, which asks for their reader only when there is a value.
    readers = {name: None if hints[name] in _PLAIN else partial(_read, hints[name]) for name in _names(kind)}

    def read(data: Any) -> Any:
        return kind(
            **{
                name: data[name] if reader is None else reader(data[name])
                for name, reader in readers.items()
                if name in data
            }
        )

    return read


def _as_it_is(data: Any) -> Any:
    return data


def _read_union(kinds: tuple[Any, ...], data: Any) -> Any:
    if data is None:
        return None
    for kind in kinds:
        if kind is datetime and isinstance(data, str):
            return datetime.fromisoformat(data)
        if isinstance(kind, type) and is_dataclass(kind) and isinstance(data, Mapping):
            return _read(kind, data)
    return data
