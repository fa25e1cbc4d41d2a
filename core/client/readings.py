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
        self, state: str | None = None, *, keys: Collection[str] | None = None, after: int = 0, limit: int = 50
    ) -> builtins.list[Reading]:
        """Return readings that are not in use, of one document where ``keys`` has one, by id."""
        doc = next(iter(keys or ()), None)
        found = self._http.get(path_of("readings", "list"), state=state, doc=doc, after=after, limit=limit)
        return [from_dict(Reading, each) for each in found["readings"]]

    def begin(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Read documents anew in the background, beside what they show; return how many."""
        return int(self._http.post(path_of("readings"), {"docs": builtins.list(keys or ())})["count"])

    def show(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = 100) -> int:
        """Use the readings that wait, of up to ``limit`` documents; return of how many."""
        return self._some("show", keys, limit)

    def undo(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = 100) -> int:
        """Go back to the readings that were in use before; return of how many documents."""
        return self._some("undo", keys, limit)

    def drop(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Remove the readings that were never in use; return how many."""
        return int(self._http.post(path_of("readings", "drop"), {"docs": builtins.list(keys or ())})["count"])

    def _some(self, act: str, keys: Collection[str] | None, limit: int) -> int:
        given = {"docs": builtins.list(keys or ()), "limit": limit}
        return int(self._http.post(path_of("readings", act), given)["count"])
