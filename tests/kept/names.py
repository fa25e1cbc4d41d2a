"""The names that are written: columns, and fields of JSON in rows, files, archives and what routes take and answer.

A name is a path, such as ``catalog/questions/trace/query/text``; lists are passed through, and what is only an id, a
number or a hash counts as ``*``. Names of Python are no part of a path: classes and modules may be renamed.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ID = re.compile(r"[0-9a-f]{16,}|\d+(-\d+)*(-r\d+)?|(?<=-)\d+")
_METHODS = ("get", "put", "post", "patch", "delete")
_VARIANTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("paths", "schemas", "properties", "responses", "content")
_READ = {
    *(*_METHODS, *_VARIANTS, *_NAMED),
    *("components", "parameters", "in", "name", "requestBody", "schema", "$ref", "items", "additionalProperties"),
}


def of_files(folder: Path, archive: Path) -> set[str]:
    """Return the names in a data folder that nobody has open, and in its archive."""
    return {*_of_catalog(folder / "catalog.db"), *_of_folder(folder), *_of_archive(archive)}


def of_routes(description: dict[str, Any]) -> set[str]:
    """Return the names in what the routes of an OpenAPI description take and answer."""
    return set(_of_routes(description))


def outline(description: Any) -> Any:
    """Return of an OpenAPI description what ``of_routes`` reads."""
    if isinstance(description, list):
        return [outline(each) for each in description]
    if not isinstance(description, dict):
        return description
    return {
        name: {inner: outline(schema) for inner, schema in each.items()} if name in _NAMED else outline(each)
        for name, each in description.items()
        if name in _READ and not (name == "additionalProperties" and each is False)
    }


def _of_catalog(path: Path) -> Iterator[str]:
    base = sqlite3.connect(path)
    tables = [name for (name,) in base.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        rows = base.execute(f'select * from "{table}"')
        columns = [column[0] for column in rows.description]
        yield from (f"catalog/{table}/{column}" for column in columns)
        for row in rows:
            for column, value in zip(columns, row, strict=True):
                yield from _below(f"catalog/{table}/{column}", value)
    base.close()


def _of_folder(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and place.parts[0] not in ("catalog.db", "vectors", "keywords", "lock"):
            where = "/".join(_ID.sub("*", part) for part in place.parts)
            if place.parts[0] == "blobs":
                where = "blobs"
            yield from _below(f"files/{where}", path.read_bytes())


def _of_archive(path: Path) -> Iterator[str]:
    with tarfile.open(path) as members:
        for member in members:
            content = members.extractfile(member)
            top = member.name.split("/")[0]
            if content is not None and top in ("tables", member.name):
                where = "/".join(_ID.sub("*", part) for part in member.name.split("/"))
                yield from _below(f"archive/{where}", content.read())


def _of_routes(description: dict[str, Any]) -> Iterator[str]:
    schemas = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method in _METHODS:
            entry = methods.get(method)
            if entry is None:
                continue
            where = f"routes/{method} {re.sub('{.*?}', '*', path)}"
            yield where
            yield from (f"{where}/{each['in']}/{each['name']}" for each in entry.get("parameters", ()))
            contents = {"body": entry.get("requestBody", {}), **entry.get("responses", {})}
            for status, each in contents.items():
                for media in each.get("content", {}).values():
                    yield from _of_schema(f"{where}/{status}", media.get("schema", {}), schemas, ())


def _of_schema(where: str, schema: Any, schemas: dict[str, Any], within: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    if reference := schema.get("$ref", ""):
        if reference not in within:
            known = schemas.get(reference.rpartition("/")[2], {})
            yield from _of_schema(where, known, schemas, (*within, reference))
        return
    for name, inner in schema.get("properties", {}).items():
        yield f"{where}/{name}"
        yield from _of_schema(f"{where}/{name}", inner, schemas, within)
    for name in ("items", "additionalProperties"):
        yield from _of_schema(where, schema.get(name), schemas, within)
    for name in _VARIANTS:
        for inner in schema.get(name, ()):
            yield from _of_schema(where, inner, schemas, within)


def _below(where: str, value: Any) -> Iterator[str]:
    """Yield the names of the fields in JSON, as it is, packed, or one object a line."""
    for found in _values(value):
        yield from _fields(where, found)


def _fields(where: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            path = f"{where}/{_ID.sub('*', name)}"
            yield path
            yield from _fields(path, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(where, inner)


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, bytes):
        for unpacked in (value, *_unpacked(value)):
            try:
                yield from _values(unpacked.decode("utf-8"))
            except UnicodeDecodeError:
                continue
    elif isinstance(value, str) and value[:1] in "{[":
        for part in (value, *value.splitlines()):
            try:
                yield json.loads(part)
            except ValueError:
                continue


def _unpacked(data: bytes) -> Iterator[bytes]:
    for kind in (zlib.MAX_WBITS, 16 + zlib.MAX_WBITS):
        try:
            yield zlib.decompress(data, kind)
        except zlib.error:
            continue
