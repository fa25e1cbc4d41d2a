"""Static files as they are sent: our styles in one file that is named by what is in it, and all of them small.

Dash lists each style sheet of ``assets/`` for itself. Here they become one, in Dash's order, under a name with the hash
of its bytes: so it may be kept for ever. Whatever is text is compressed once, when it is first asked for, and kept so.
Scripts are in ``app/script_modules.py``.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import MappingProxyType

import brotli
import flask
from markupsafe import escape

PREFIXES = ("/assets/", "/_dash-component-suites/")
BESIDE = ("/_dash-layout", "/_dash-dependencies")
"""What each window asks for besides, compressed each time and kept by nobody."""
FOR_EVER = "public, max-age=31536000, immutable"
LEAST_BYTES = 500
"""Below this nothing is gained."""
MOST_KEPT = 512
"""Compressed files that are kept; there are some hundred."""
TYPES = frozenset({"text/javascript", "application/javascript", "text/css", "image/svg+xml", "application/json"})
_Press = Callable[[bytes], bytes]
PRESSES: Mapping[str, tuple[_Press, _Press]] = MappingProxyType(
    {
        "br": (
            lambda content: brotli.compress(content, quality=9),
            lambda content: brotli.compress(content, quality=5),
        ),
        "gzip": (
            lambda content: gzip.compress(content, 9, mtime=0),
            lambda content: gzip.compress(content, 6, mtime=0),
        ),
    }
)
"""What compresses a file once, and what an answer each time, the better ones first. Brotli's best quality takes ten
times as long for a tenth less."""
_HASH_CHARS = 20
_TAG = re.compile(r'<link rel="stylesheet" href="/assets/([^"?]+\.css)(?:\?[^"]*)?">')
_GRID = re.compile(r'<script src="(/_dash-component-suites/dash_ag_grid/dash_ag_grid[^"]*)"></script>')
"""AG Grid, larger than our scripts and Dash's renderer together."""
_TABLE = re.compile(r'<script src="/_dash-component-suites/dash/dash_table/[^"]*"></script>\n?')
"""Dash's own table, which no page of ours shows."""
_WRITTEN = '<link rel="stylesheet" href="{}">'


def without_grid(html: str) -> tuple[str, str]:
    """Return the tags of a page without AG Grid's, and its address for ``assets/modules/shell/grid.js``.

    Where Dash writes the tag in another way, it stays, and the address is empty: then the grid is there from the start.
    """
    found = _GRID.search(html)
    return (html[: found.start()] + html[found.end() :], found[1]) if found else (html, "")


def without_table(html: str) -> str:
    """Return the tags of a page without that of Dash's own table."""
    return _TABLE.sub("", html)


class StaticFiles:
    """The files of ``assets/`` as one application serves them."""

    def __init__(self, assets: Path) -> None:
        self._assets = assets
        self._packs: dict[str, bytes] = {}
        """What is served under each name."""
        self._named: dict[tuple[tuple[str, int], ...], str] = {}
        """The names of packs, by the files in them and when these were written."""
        self._compressed: dict[tuple[str, bytes], bytes] = {}
        self._hashed: dict[tuple[str, int], str] = {}
        """The addresses of single files with the hash of their bytes, by when these were written."""
        self._addresses: set[str] = set()
        self._changing = Lock()

    def address(self, name: str) -> str:
        """Return the address of a file with the hash of its bytes as the query, where it may be kept for ever."""
        path = self._assets / name
        key = name, path.stat().st_mtime_ns
        known = self._hashed.get(key)
        if known is None:
            known = f"/assets/{name}?{sha256(path.read_bytes()).hexdigest()[:_HASH_CHARS]}"
            self._hashed[key] = known
            self._addresses.add(known)
        return known

    def register(self, server: flask.Flask) -> None:
        """Serve the packs, and send what is static as small as it can be."""
        server.add_url_rule("/assets/all-<name>", "evorag_pack", self._pack)
        server.after_request(self._finish)

    def packed(self, html: str) -> str:
        """Return the tags of a page with one for all styles of ours, where the first of them stood."""
        names = _TAG.findall(html)
        if len(names) < 2:
            return html
        tag = _WRITTEN.format(escape(f"/assets/all-{self._name(tuple(names))}"))
        first = True

        def once(_: re.Match[str]) -> str:
            nonlocal first
            found, first = (tag if first else ""), False
            return found

        return _TAG.sub(once, html)

    def _name(self, names: tuple[str, ...]) -> str:
        paths = [self._assets / name for name in names]
        key = tuple((name, path.stat().st_mtime_ns) for name, path in zip(names, paths, strict=True))
        with self._changing:
            known = self._named.get(key)
            if known is None:
                content = b"\n".join(path.read_bytes() for path in paths)
                known = f"{sha256(content).hexdigest()[:_HASH_CHARS]}.css"
                self._packs[known] = content
                self._named[key] = known
        return known

    def _pack(self, name: str) -> flask.Response:
        content = self._packs.get(name)
        if content is None:
            # A page of before the last start asks for what is gone: it gets what took its place.
            newest = next(reversed(self._packs), None)
            if newest is None or not name.endswith(".css"):
                flask.abort(404)
            return flask.redirect(f"/assets/all-{newest}")  # type: ignore[return-value]
        answer = flask.Response(content, mimetype="text/css")
        answer.headers["Cache-Control"] = FOR_EVER
        return answer

    def _finish(self, answer: flask.Response) -> flask.Response:
        request = flask.request
        is_file = request.path.startswith(PREFIXES)
        if answer.status_code != 200 or not (is_file or request.path in BESIDE):
            return answer
        kept = answer.headers.get("Cache-Control", "")
        if "max-age=31536000" in kept and "immutable" not in kept:
            # Dash's own names have the version and the date of the file.
            answer.headers["Cache-Control"] = f"{kept}, immutable"
        elif request.full_path in self._addresses:
            answer.headers["Cache-Control"] = FOR_EVER
        if answer.mimetype not in TYPES or "Content-Encoding" in answer.headers:
            return answer
        answer.vary.add("Accept-Encoding")
        coding = next((name for name in PRESSES if request.accept_encodings[name]), None)
        if coding is None or "Range" in request.headers or request.method != "GET":
            return answer
        answer.direct_passthrough = False
        content = answer.get_data()
        if len(content) >= LEAST_BYTES:
            answer.set_data(self._small(coding, content) if is_file else PRESSES[coding][1](content))
            answer.headers["Content-Encoding"] = coding
            answer.headers.pop("Accept-Ranges", None)
            etag, _ = answer.get_etag()
            if etag is not None:
                # The same file in other bytes: whoever has it needs it no more than before.
                answer.set_etag(etag, weak=True)
        return answer

    def _small(self, coding: str, content: bytes) -> bytes:
        key = coding, sha256(content).digest()
        known = self._compressed.get(key)
        if known is None:
            known = PRESSES[coding][0](content)
            with self._changing:
                if len(self._compressed) < MOST_KEPT:
                    self._compressed[key] = known
        return known
