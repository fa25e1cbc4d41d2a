"""The words of the tus 1.0 protocol: what headers of an upload say, and how they are written."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

import flask
from werkzeug.http import http_date

from app.api.description.fields import filing, tag_list
from core.errors import InvalidInput
from core.model import Filing, Transfer, TransferState

VERSION = "1.0.0"
EXTENSIONS = "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation"
PART_TYPE = "application/offset+octet-stream"
_LARGEST = 2**63 - 1
_MOST_KEYS = 64


class WrongProtocol(InvalidInput):
    """The request speaks another version of the protocol."""

    status = 412
    remedy = "Send the header “Tus-Resumable: 1.0.0”."


def check_version() -> None:
    """Refuse another version of the protocol. Raises: ``WrongProtocol``."""
    if flask.request.headers.get("Tus-Resumable") != VERSION:
        raise WrongProtocol("Only version 1.0.0 of the tus protocol is spoken here.")


def count(name: str) -> int:
    """Return the number in a header. Raises: ``InvalidInput`` where it is missing or none."""
    given = flask.request.headers.get(name, "")
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(_LARGEST)) and int(given) <= _LARGEST):
        raise InvalidInput(f"The header {name} must be a whole number of bytes.")
    return int(given)


def announced_size() -> int | None:
    """Return the size of a new upload, None where it is said later. Raises: ``InvalidInput``."""
    deferred = flask.request.headers.get("Upload-Defer-Length")
    if deferred is None:
        return count("Upload-Length")
    if deferred != "1" or "Upload-Length" in flask.request.headers:
        raise InvalidInput("Send either the header Upload-Length, or “Upload-Defer-Length: 1”.")
    return None


def checksum() -> tuple[str, bytes] | None:
    """Return what the part must amount to, where the client says it. Raises: ``InvalidInput``."""
    given = flask.request.headers.get("Upload-Checksum")
    if given is None:
        return None
    algorithm, _, digest = given.strip().partition(" ")
    return algorithm.lower(), _decoded("Upload-Checksum", digest.strip())


def metadata() -> tuple[str, dict[str, str]]:
    """Return the header Upload-Metadata as it was written, and what it says. Raises: ``InvalidInput``."""
    given = flask.request.headers.get("Upload-Metadata", "").strip()
    payload: dict[str, str] = {}
    for pair in given.split(",") if given else ():
        key, _, value = pair.strip().partition(" ")
        if not key or not key.isascii() or key in payload or len(payload) >= _MOST_KEYS:
            raise InvalidInput("The header Upload-Metadata must hold different keys, each with its value in Base64.")
        try:
            payload[key] = _decoded("Upload-Metadata", value.strip()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"The value of {key[:40]!r} in Upload-Metadata is no UTF-8.") from error
    return given, payload


def filing_of(payload: Mapping[str, str]) -> Filing:
    """Return how the upload is to be filed. Raises: ``InvalidInput``."""
    return Filing(tags=_tags(payload.get("tags", "")), **filing(payload))


def _tags(given: str) -> tuple[str, ...]:
    try:
        return tag_list(json.loads(given)) if given else ()
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The value of 'tags' in Upload-Metadata must be a JSON list of texts.") from error


def concatenation() -> tuple[bool, list[str] | None]:
    """Return whether the upload is partial, and the ids of those that it is put together from, if any.

    Raises: ``InvalidInput``.
    """
    given = flask.request.headers.get("Upload-Concat")
    if given is None:
        return False, None
    kind, mark, places = given.partition(";")
    if kind.strip() == "partial" and not mark:
        return True, None
    if kind.strip() == "final" and places.strip():
        return False, [place.rstrip("/").rsplit("/", 1)[-1] for place in places.split()]
    raise InvalidInput("The header Upload-Concat is “partial”, or “final;” with the places of partial uploads.")


def state_headers(transfer: Transfer, payload: str, pieces: tuple[str, ...], place: Any) -> dict[str, str]:
    """Return what ``HEAD`` answers; ``place`` gives the address of an upload by its id."""
    headers = {"Cache-Control": "no-store", **offset_headers(transfer)}
    if transfer.size_bytes is None:
        headers["Upload-Defer-Length"] = "1"
    else:
        headers["Upload-Length"] = str(transfer.size_bytes)
    if payload:
        headers["Upload-Metadata"] = payload
    if transfer.is_partial:
        headers["Upload-Concat"] = "partial"
    if pieces:
        headers["Upload-Concat"] = "final;" + " ".join(place(piece) for piece in pieces)
        if transfer.offset_bytes != transfer.size_bytes:
            del headers["Upload-Offset"]
    return headers


def offset_headers(transfer: Transfer) -> dict[str, str]:
    """Return how far an upload is, and when it expires if nobody continues it."""
    headers = {"Upload-Offset": str(transfer.offset_bytes)}
    if transfer.state is TransferState.RECEIVING:
        headers["Upload-Expires"] = http_date(transfer.expires_at)
    return headers


def _decoded(name: str, value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"The header {name} holds something that is no Base64.") from error
