"""The scripts of the pages: ES modules, each page with its own, below one address that has the hash of all of them.

Modules name each other by relative paths. Since all stand below ``/assets/modules-<hash>/``, what one of them imports
is of its own version, and each may be kept for ever. ``assets/modules/main.js`` is on every page; the module of a page
is the ``script`` that it gives to ``register_page``, and is loaded when the page is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from threading import Lock
from types import MappingProxyType
from typing import Any

import flask
from markupsafe import escape

from app.static_files import FOR_EVER

MAIN = "main.js"
_HASH_CHARS = 20
_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?"(\.{1,2}/[^"]+\.js)";$', re.MULTILINE)
"""What a module is loaded with; ``import(…)`` waits until it is called."""


@dataclass(frozen=True)
class Version:
    """All modules as they are at one time, by their names below ``assets/modules/``."""

    name: str
    contents: Mapping[str, bytes]

    def address(self, module: str) -> str:
        """Where ``module`` is."""
        return f"/assets/modules-{self.name}/{module}"


class ScriptModules:
    """The modules in a folder, as one application serves them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: tuple[tuple[tuple[str, int], ...], Version] | None = None
        self._changing = Lock()

    def register(self, server: flask.Flask) -> None:
        """Serve the modules."""
        server.add_url_rule("/assets/modules-<version>/<path:name>", "evorag_module", self._module)

    def tags(self, page: Mapping[str, Any]) -> tuple[str, str]:
        """Return the tags that load what ``page`` needs together, for the head, and the one that runs it."""
        now = self._now()
        wanted = imported(now.contents, [MAIN, *([page["script"]] if page.get("script") else [])])
        early = "\n    ".join(f'<link rel="modulepreload" href="{escape(now.address(each))}">' for each in wanted)
        # Dash's own script of this name would begin before the modules are there; main.js begins instead of it.
        return early, f'<script type="module" id="_dash-renderer" src="{escape(now.address(MAIN))}"></script>'

    def _now(self) -> Version:
        paths = sorted(self._folder.rglob("*.js"))
        key = tuple((path.relative_to(self._folder).as_posix(), path.stat().st_mtime_ns) for path in paths)
        with self._changing:
            if self._known is None or self._known[0] != key:
                contents = {name: path.read_bytes() for (name, _), path in zip(key, paths, strict=True)}
                digest = sha256(b"".join(name.encode() + b"\0" + content for name, content in contents.items()))
                version = Version(digest.hexdigest()[:_HASH_CHARS], MappingProxyType(contents))
                self._known = key, version
            return self._known[1]

    def _module(self, version: str, name: str) -> flask.Response:
        now = self._now()
        content = now.contents.get(name)
        if content is None:
            flask.abort(404)
        answer = flask.Response(content, mimetype="text/javascript")
        # A window of before an update asks for modules of then. It gets those of now at the address of then, where what
        # they import is what the window has already; they are not kept under that name.
        answer.headers["Cache-Control"] = FOR_EVER if version == now.name else "no-cache"
        return answer


def imported(contents: Mapping[str, bytes], names: Iterable[str]) -> list[str]:
    """Return the modules ``names`` and all that they import, each once."""
    found: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = None
            waiting += [normpath(join(dirname(name), each)) for each in _imports(contents[name])]
    return list(found)


@cache
def _imports(content: bytes) -> tuple[str, ...]:
    return tuple(_IMPORT.findall(content.decode()))


def scripts_of(pages: Iterable[Mapping[str, Any]]) -> str:
    """Return the module of each page by its address, as JSON; an address that ends with a slash is of all below it."""
    return json.dumps(
        {
            (page["path_template"] or page["path"]).partition("<")[0]: page["script"]
            for page in pages
            if page.get("script")
        }
    )
