"""What a client does with the generators of a server: ``KnowledgeBase.generators`` over HTTP."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from core.client.http import path_of
from core.model import GeneratorServer, GeneratorTrial
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.client.http import Http


class RemoteGenerators:
    """The servers that write a server's answers; the methods are those of the knowledge base."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> builtins.list[GeneratorServer]:
        """Return the servers that were set up, by name, without their keys."""
        return [
            from_dict(GeneratorServer, each) for each in self._http.get(path_of("generators", "servers"))["servers"]
        ]

    def set(
        self, name: str, url: str, *, model: str = "", key: str | None = None, allow_inside: bool = False
    ) -> GeneratorServer:
        """Add a server, or change the one of this name; without a ``key`` it keeps the one that it has."""
        given: dict[str, Any] = {"url": url, "model": model, "allow_inside": allow_inside}
        if key is not None:
            given["key"] = key
        answer = self._http.call("PUT", path_of("generators", "servers", name), json=given, again=True)
        return from_dict(GeneratorServer, answer.json())

    def remove(self, name: str) -> None:
        """Forget a server with its key."""
        self._http.call("DELETE", path_of("generators", "servers", name))

    def make_default(self, name: str) -> None:
        """Have a server write where a question names no generator; with ``none`` what the settings say."""
        self._http.post(path_of("generators", name, "default"), {}, again=True)

    def try_out(self, name: str) -> GeneratorTrial:
        """Ask a generator one short question, and return what it answers."""
        return from_dict(GeneratorTrial, self._http.post(path_of("generators", name, "try"), {}))
