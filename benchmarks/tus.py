"""A bare client of tus 1.0 for measures: it reads a file and sends its parts, and does nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.served import Served

_VERSION = {"Tus-Resumable": "1.0.0"}
_PLACE = "/api/v1/uploads"


def send(server: Served, path: Path, name: str, part_bytes: int, *, parallel: int = 1, sha256: str = "") -> str:
    """Send a file in parts, over so many connections at once; return the id of the upload."""
    metadata = _metadata(name, sha256)
    size = path.stat().st_size
    if parallel == 1:
        place = _begin(server, {"Upload-Length": str(size), "Upload-Metadata": metadata})
        _send_piece(server, path, place, 0, size, part_bytes)
        return place.rpartition("/")[2]
    share = -(-size // parallel)
    bounds = [(at, min(at + share, size)) for at in range(0, size, share)]
    places = [_begin(server, {"Upload-Length": str(end - at), "Upload-Concat": "partial"}) for at, end in bounds]
    with ThreadPoolExecutor(parallel) as pool:
        sent = [
            pool.submit(_send_piece, server, path, place, at, end, part_bytes)
            for place, (at, end) in zip(places, bounds, strict=True)
        ]
        for each in sent:
            each.result()
    final = {"Upload-Concat": "final;" + " ".join(places), "Upload-Metadata": metadata}
    return _begin(server, final).rpartition("/")[2]


def receipt(server: Served, transfer_id: str, timeout_s: float = 3600.0) -> Mapping[str, Any]:
    """Wait until an upload is filed and return its receipt. Raises: ``RuntimeError`` where it was refused."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        shown: Mapping[str, Any] = server.ask("GET", f"{_PLACE}/{transfer_id}")
        if shown["state"] == "done":
            found: Mapping[str, Any] = shown["receipt"]
            return found
        if shown["state"] == "refused":
            raise RuntimeError(json.dumps(shown["error"]))
        time.sleep(0.1)
    raise RuntimeError("the upload was not filed in time")


class Sending:
    """An upload over one connection, part by part, that is given up in the end."""

    def __init__(self, server: Served, name: str, size: int) -> None:
        self._place = _begin(server, {"Upload-Length": str(size), "Upload-Metadata": _metadata(name, "")})
        self._made = server.connection()
        self._offset = 0

    def send(self, part: bytes) -> None:
        self._offset = _patch(self._made, self._place, self._offset, part)

    def give_up(self) -> None:
        self._made.request("DELETE", self._place, headers=_VERSION)
        self._made.getresponse().read()
        self._made.close()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _begin(server: Served, headers: Mapping[str, str]) -> str:
    made = server.connection()
    try:
        made.request("POST", _PLACE, headers={**_VERSION, **headers, "Content-Length": "0"})
        answer = made.getresponse()
        told = answer.read()
        if answer.status != 201:
            raise RuntimeError(f"{answer.status} {told[:300]!r}")
        return str(answer.headers["Location"])
    finally:
        made.close()


def _send_piece(server: Served, path: Path, place: str, start: int, end: int, part_bytes: int) -> None:
    made = server.connection()
    try:
        with path.open("rb") as file:
            file.seek(start)
            offset = 0
            while start + offset < end:
                part = file.read(min(part_bytes, end - start - offset))
                offset = _patch(made, place, offset, part)
    finally:
        made.close()


def _patch(made: HTTPConnection, place: str, offset: int, part: bytes) -> int:
    kind = {"Content-Type": "application/offset+octet-stream"}
    made.request("PATCH", place, part, {**_VERSION, **kind, "Upload-Offset": str(offset)})
    answer = made.getresponse()
    body = answer.read()
    if answer.status != 204:
        raise RuntimeError(f"{answer.status} {body[:300]!r}")
    return int(answer.headers["Upload-Offset"])


def _metadata(name: str, sha256: str) -> str:
    pairs = {"filename": name, **({"sha256": sha256} if sha256 else {})}
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items())
