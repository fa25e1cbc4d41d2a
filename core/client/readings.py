"""What a client does with other readings of a server's versions: ``KnowledgeBase.readings`` over HTTP."""

from __future__ import annotations

import builtins
from collections.abc import Collection
from typing import TYPE_CHECKING

from core.client.http import path_of
from core.model import Reading, ReadingReport
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.client.http import Http


class RemoteReadings:
    """Other readings of a server's versions; the methods are those of the knowledge base."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def report(self) -> ReadingReport:
        """Return how many documents were read by an earlier reader, and what has been done about it."""
        return from_dict(ReadingReport, self._http.get(path_of("readings")))

    def list(
        self, state: str | None = None, *, key: str | None = None, after: int = 0, limit: int = 50
    ) -> builtins.list[Reading]:
        """Return readings that are not in use, of all documents or of one, by id."""
        found = self._http.get(path_of("readings", "list"), state=state, doc=key, after=after, limit=limit)
        return [from_dict(Reading, each) for each in found["readings"]]

    def begin(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Read documents anew in the background, beside what they show; return how many."""
        return self._count((), keys)

    def show(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = 100) -> int:
        """Use the readings that wait, of up to ``limit`` documents; return of how many."""
        return self._count(("show",), keys, limit=limit)

    def undo(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = 100) -> int:
        """Go back to the readings that were in use before; return of how many documents."""
        return self._count(("undo",), keys, limit=limit)

    def drop(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Remove the readings that were never in use; return how many."""
        return self._count(("drop",), keys)

    def _count(self, act: tuple[str, ...], keys: Collection[str] | None, **more: int) -> int:
        given = {"docs": builtins.list(keys or ()), **more}
        return int(self._http.post(path_of("readings", *act), given)["count"])
