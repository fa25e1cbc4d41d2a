"""What a client does with the generations of a server's indexes: ``KnowledgeBase.generations`` over HTTP."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from core.client.http import path_of
from core.model import Generation
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.client.http import Http


class RemoteGenerations:
    """The generations of a server's indexes; the methods are those of the knowledge base."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> builtins.list[Generation]:
        """Return all generations, by number."""
        return [from_dict(Generation, each) for each in self._http.get(path_of("generations"))["generations"]]

    def build(self, embedder: str = "", *, switch: bool = False) -> Generation:
        """Begin a generation; with ``switch`` it serves by itself once it is ready."""
        return from_dict(Generation, self._http.post(path_of("generations"), {"embedder": embedder, "switch": switch}))

    def switch(self, number: int) -> Generation:
        """Let a generation that is ready serve."""
        return from_dict(Generation, self._http.post(path_of("generations", str(number), "switch"), {}, again=True))

    def remove(self, number: int) -> None:
        """Remove a generation that does not serve."""
        self._http.call("DELETE", path_of("generations", str(number)))
