"""Documents are read anew when EvoRAG reads more than it did: beside what is shown, to be compared first.

A version keeps its number and its bytes. Its other reading is made from the original like a draft; showing it is one
publication, so that questions as of the past and old citations find what there was, and undoing that is another one.
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from core.access import actor as acting_for
from core.access import needs
from core.errors import Conflict, InvalidInput, NotFound
from core.ingest.sandbox import read_blocks
from core.ingest.upload_options import storable_actor
from core.model import Differences, Reading, ReadingReport, ReadingState, Role
from core.ports import BlobStore, JobQueue
from core.versions.history import History
from core.versions.purge import Purge

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.catalog.documents.rereading import ReadingRow

_A_TRANSACTION = 200
_AT_ONCE = 100
"""Readings that are shown together, while nothing else is committed."""
_MOST = 500
_LINES = 3
_LONGEST_LINE = 160
_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|\w+")


class Rereading:
    """The part of the knowledge base that reads anew what it has."""

    def __init__(
        self, catalog: Catalog, blobs: BlobStore, history: History, purge: Purge, worker: JobQueue, reader: str
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._history = history
        self._purge = purge
        self._worker = worker
        self._reader = reader

    @needs(Role.READER)
    def report(self) -> ReadingReport:
        """Return how many documents were read by an earlier reader, and what has been done about it."""
        counts = self._catalog.readings.counts()
        return ReadingReport(
            self._reader,
            self._catalog.readings.outdated(self._reader),
            *(counts.get(state, 0) for state in ReadingState),
        )

    @needs(Role.READER)
    def list(
        self, state: str | None = None, *, key: str | None = None, after: int = 0, limit: int = 50
    ) -> list[Reading]:
        """Return other readings than those in use, each with what it gains and loses, by id from behind ``after`` on.

        Raises: ``InvalidInput`` for a state that there is none of.
        """
        if state is not None and state not in set(ReadingState):
            raise InvalidInput(f"A reading is one of: {', '.join(ReadingState)}.")
        states = tuple(ReadingState) if state is None else (ReadingState(state),)
        keys = None if key is None else (key,)
        rows = self._catalog.readings.list(states, after=after, limit=min(max(limit, 1), _MOST), doc_keys=keys)
        return [self._told(row) for row in rows]

    @needs(Role.ADMIN)
    def begin(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Read anew all documents that an earlier reader has read, or these; return how many that are.

        They are read after everything else, each beside what it shows. Raises: ``NotFound``.
        """
        self._known(keys)
        by = storable_actor(acting_for(actor))
        begun = 0
        while count := self._catalog.readings.begin(self._reader, keys or None, by, _A_TRANSACTION):
            begun += count
            self._worker.wake()
        return begun

    @needs(Role.ADMIN)
    def show(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = _AT_ONCE) -> int:
        """Use the readings that wait or were withdrawn, of all documents or of these; return of how many.

        Of at most ``limit``: until it returns 0 there may be more. Raises: ``NotFound``.
        """
        self._known(keys)
        rows = self._catalog.readings.usable(limit=min(max(limit, 1), _MOST), doc_keys=keys or None)
        return self._use(rows, actor)

    @needs(Role.ADMIN)
    def undo(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = _AT_ONCE) -> int:
        """Go back to the readings that were in use before, of all documents or of these, as ``show`` does."""
        self._known(keys)
        rows = self._catalog.readings.replaced(limit=min(max(limit, 1), _MOST), doc_keys=keys or None)
        return self._use(rows, actor)

    @needs(Role.ADMIN)
    def drop(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Remove the readings that were never in use, of all documents or of these; return how many.

        Those that are being made end. Raises: ``NotFound``.
        """
        self._known(keys)
        by = storable_actor(acting_for(actor))
        dropped = after = 0
        unused = (ReadingState.READING, ReadingState.FAILED, ReadingState.WAITING)
        while rows := self._catalog.readings.list(unused, after=after, limit=_MOST, doc_keys=keys or None):
            after = rows[-1].id
            dropped += sum(self._catalog.purges.drop(row.id, by) for row in rows)
        if dropped:
            self._purge.go_on()
        return dropped

    def _known(self, keys: Collection[str] | None) -> None:
        for key in keys or ():
            self._catalog.documents.id_of(key)

    def _use(self, rows: Collection[ReadingRow], actor: str) -> int:
        from core.catalog import Decision

        by = storable_actor(acting_for(actor))
        decisions = [Decision(row.doc_id, row.id, "reread", by) for row in rows if row.is_shown]
        done = len(self._history.append_all(decisions)) if decisions else 0
        for row in rows:
            if not row.is_shown:
                with suppress(Conflict):
                    self._catalog.readings.swap(row.id)
                    done += 1
        return done

    def _told(self, row: ReadingRow) -> Reading:
        return Reading(
            id=row.id,
            doc_key=row.doc_key,
            name=row.name,
            version=row.number,
            number=row.reading,
            state=row.state,
            chunk_count=row.chunk_count,
            present_chunk_count=row.present_chunks,
            is_shown=row.is_shown,
            differences=self._differences(row) if row.state is ReadingState.WAITING else None,
            error=row.error,
        )

    def _differences(self, row: ReadingRow) -> Differences | None:
        """Return what a reading gains and loses, which is kept with it: both texts are read for it once."""
        kept: dict[str, Any] = row.metadata.get("anew") or {}
        if kept.get("beside") != row.present_id:
            with suppress(NotFound):
                old, new = (self._lines(each) for each in (row.present_id, row.id))
                kept = {"beside": row.present_id, **differing(old, new)}
                self._catalog.readings.note(row.id, kept)
        if not kept:
            return None
        return Differences(kept["gained"], kept["lost"], tuple(kept["gained_lines"]), tuple(kept["lost_lines"]))

    def _lines(self, version_id: int) -> builtins.list[str]:
        parsed = self._catalog.documents.parsed_sha256(version_id)
        blocks = read_blocks(self._blobs.path(parsed)) if parsed is not None else ()
        return [line for block in blocks for line in block.text.splitlines()]


def differing(old: list[str], new: list[str]) -> dict[str, Any]:
    """Count the words of lines that only the new ones have, and only the old ones, with a few lines of each."""
    before, after = (Counter(word for line in lines for word in _words(line)) for lines in (old, new))
    gained, lost = after - before, before - after
    return {
        "gained": gained.total(),
        "lost": lost.total(),
        "gained_lines": list(_with(new, gained)),
        "lost_lines": list(_with(old, lost)),
    }


def _words(line: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", line).casefold())


def _with(lines: list[str], words: Counter[str]) -> Iterator[str]:
    """Yield the first lines that hold most of what is looked for."""
    left = Counter(words)
    shown = 0
    for line in lines:
        found = Counter(_words(line)) & left
        if found and found.total() * 2 >= len(_words(line)):
            left -= found
            yield line.strip()[:_LONGEST_LINE]
            shown += 1
            if shown == _LINES:
                return
