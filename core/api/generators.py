"""The servers that write answers: set up by administrators, tried, and one of them the default."""

from __future__ import annotations

import builtins
from typing import Protocol

from core.model import GeneratorServer, GeneratorTrial


class GeneratorsApi(Protocol):
    """Servers with the interface of OpenAI, kept in the catalogue; what the environment says wins."""

    def list(self) -> builtins.list[GeneratorServer]:
        """Return the servers that were set up, by name, without their keys."""

    def set(
        self, name: str, url: str, *, model: str = "", key: str | None = None, allow_inside: bool = False
    ) -> GeneratorServer:
        """Add a server, or change the one of this name; without a ``key`` it keeps the one that it has.

        Raises: ``InvalidInput``, also for an address inside the network without ``allow_inside``.
        """

    def remove(self, name: str) -> None:
        """Forget a server with its key. Raises: ``NotFound``."""

    def make_default(self, name: str) -> None:
        """Have a server write where a question names no generator; with ``none`` what the settings say.

        Raises: ``NotFound``; ``Conflict`` where the environment names another one.
        """

    def try_out(self, name: str) -> GeneratorTrial:
        """Ask a generator one short question, and return what it answers.

        Raises: ``InvalidInput`` for one not known; ``ModelUnavailable``, ``GenerationFailed``, ``GenerationTimedOut``.
        """
