"""The rows of a Milvus Lite folder, in collections of as many as are open at a time in little memory.

Milvus Lite keeps every row of an open collection in memory, with its text some ten kilobytes each, and takes as long
to open it. So rows lie in collections in the order in which their ids were first written: what is new lies in the last
one and the rows of a document in one or two, the others stay closed, and a folder of a million rows costs as much
memory as one of some ten thousand. Measured with rows of 1.5 kB of text: 16,384 of them open in .15 s, and a search
that looks into all clusters of them takes 11 ms, 9 with a tenth of them. ``milvus_server`` does the same for a server.
"""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from core.adapters.vector.id_log import IdLog, write_whole
from core.adapters.vector.kept_counts import KeptCounts
from core.adapters.vector.milvus_collection import ROWS_PER_CLUSTER, holds, ivf_flat, schema
from core.adapters.vector.milvus_lite_server import MilvusLiteServer, is_of_the_system
from core.adapters.vector.milvus_rows import filters
from core.errors import IndexLost, StoreUnavailable, WrongIndex
from core.model import Part

log = logging.getLogger(__name__)

ROWS = 16_384
"""Rows of a collection; the first one of a folder that an earlier release has written has all that there were."""
_BYTES = 10_000 * ROWS
"""What an open collection takes."""
_SHARE_OF_MEMORY, _LARGEST_SHARE = 16, 4
"""What of the memory open collections take, and at most where the store itself is searched, which needs all."""
_FEWEST_OPEN, _MOST_OPEN = 2, 8
_UNUSED_S = 60.0
"""Time after which a collection that nobody used is closed when the next one is used."""
_SEARCHED_S = 600.0
"""Time for which all are left open after the store itself was searched."""
_COUNTS, _LOG, _MARK = "rows.json", "ids", "closed"


class LiteShards:
    """Collections that only this process writes and reads, each known by the first place of its rows.

    The one from place 0 has the plain ``name``.
    """

    engine = "Milvus Lite IVF_FLAT"

    def __init__(self, folder: Path, name: str, dimension: int, nlist: int, mends: bool, memory: int) -> None:
        """Open the folder's server; ``memory`` are the bytes that this machine has."""
        self._folder = folder
        self._server = MilvusLiteServer(folder)
        try:
            self._log = IdLog(folder / _LOG)
        except BaseException:
            self._server.close()
            raise
        self.socket = self._server.uri
        self._name = name
        self._dimension = dimension
        self._nlist = nlist
        self._mends = mends
        self._lock = threading.RLock()
        """Held while collections are opened and closed, and where anything below changes."""
        self._starts: list[int] = []
        self._open: dict[int, Any] = {}
        """What is open, the one used last at the end."""
        self._used_at: dict[int, float] = {}
        self._users: Counter[int] = Counter()
        self._counts = KeptCounts(folder / _COUNTS)
        self._told, _, self._length_told = _read(folder / _MARK).partition(" ")
        self._searched_at = float("-inf")
        self._most = min(max(memory // _SHARE_OF_MEMORY // _BYTES, _FEWEST_OPEN), _MOST_OPEN)
        self._most_searched = max(memory // _LARGEST_SHARE // _BYTES, self._most)

    def open(self, client: Any) -> None:
        """Make the first collection where there is none. Raises: ``WrongIndex``, ``IndexLost``."""
        self._starts = sorted(self._start(name) for name in self._server.names() if self._is_own(name))
        if self._starts and not self._holds(client):
            if not self._mends:
                raise WrongIndex("The vector store was made before its rows had fingerprints.")
            # An empty one is filled from the catalogue.
            self._drop_all(client)
        if self._starts and not client.list_indexes(self._name_of(self._starts[-1])):
            # Whoever made it was killed before it had one.
            self._index(client, self._starts[-1])
        self._look_for_others(client)
        if 0 not in self._starts:
            self._make(client, 0)
        if self._is_log_short():
            # An earlier release kept no log.
            self._log.replace((start, self._ids_in(start)) for start in self._starts)
        self._counts.keep(self._starts)

    def _is_log_short(self) -> bool:
        """Tell whether there are rows that the log has no places for: an id has one before its row is written.

        One of the length that it had when it was closed is whole.
        """
        last, length = self._starts[-1], len(self._log)
        if not length or length < last:
            return True
        return self._length_told != str(length) and not self._log.within(last, length).issuperset(self._ids_in(last))

    def _look_for_others(self, client: Any) -> None:
        """Find what an earlier release wrote after this one, which knows the first collection alone.

        With others beside it what it wrote may be in two of them, so all are emptied, and filled from the catalogue.
        """
        if self._starts[:1] != [0] or self._server.mark_of(self._name) == self._told:
            return
        self._counts.forget(0)
        ids, known = self._ids_in(0), self._log.within(0, [*self._starts, len(self._log)][1])
        if known.issuperset(ids):
            return
        if len(self._starts) == 1:
            self._log.replace([(0, ids)])
        elif self._mends:
            log.warning("the vector store was written by an earlier release, and is filled anew")
            self._drop_all(client)

    def clear(self, client: Any) -> None:
        with self._lock:
            self._drop_all(client)
            self._make(client, 0)

    def send(self, client: Any, rows: list[dict[str, Any]], _timeout_s: float) -> None:
        """Write rows, each in the place of an earlier one with its id."""
        last = self._starts[-1]
        self._give_places(client, [row["id"] for row in rows])
        by_id = {row["id"]: row for row in rows}
        for start, ids in self._dealt(list(by_id)).items():
            with self._changing(start) as collection:
                # The client would pack them for the socket, which takes it several times as long as writing them.
                some = (by_id[chunk_id] for chunk_id in ids)
                collection.insert([{**row, "embedding": row["embedding"].tolist()} for row in some])
        with self._lock:
            for start in self._starts:
                if last <= start < self._starts[-1] and not self._users[start]:
                    # It is full, and what its buffer holds would stay there.
                    self._put_away(start)

    def forget(self, _client: Any, ids: Sequence[int], _timeout_s: float) -> None:
        dealt = self._dealt(ids)
        if lost := set(ids) - {number for some in dealt.values() for number in some}:
            # They were never written, or a damaged log has lost them.
            for start in self._known():
                if self._may_hold(start, lost):
                    dealt.setdefault(start, []).extend(lost)
        for start, some in dealt.items():
            with self._changing(start) as collection:
                collection.delete(some)

    def _may_hold(self, start: int, ids: set[int]) -> bool:
        try:
            return self._server.may_hold(self._name_of(start), "id", ids)
        except Exception as error:
            if is_of_the_system(error):
                raise
            # Whoever opens the collection says so, and it is written anew.
            log.warning("a file of the vector store cannot be read: %s", type(error).__name__)
            return False

    def wrote(self, _client: Any) -> None:
        """Do nothing: what was written can be found at once."""

    @contextmanager
    def searched(self, client: Any) -> Iterator[list[str]]:
        """Give the names of all collections, which are open and stay so for a while. Raises: ``StoreUnavailable``."""
        self._look_for_room()
        self._searched_at = time.monotonic()
        with ExitStack() as using:
            for start in self._known():
                using.enter_context(self._using(start))
            yield [self._name_of(start) for start in self._known()]

    def count(self, _client: Any, _level: str) -> Mapping[Part, int]:
        total = dict.fromkeys(Part, 0)
        for start in self._known():
            for part, rows in (self._counts.of(start) or self._counted(start)).items():
                total[part] += rows
        return total

    def pages(self, _client: Any, fields: list[str]) -> Iterator[list[Any]]:
        """Yield all rows; Milvus Lite has neither windows nor an order to read in."""
        for start in self._known():
            with self._passing(start) as collection:
                parts = [collection.query(filters([part], None)[0], output_fields=fields) for part in Part]
            yield from filter(None, parts)

    def expunge(self, _client: Any, chunk_ids: Collection[int]) -> bool:
        """Have every file written anew that holds one of the deleted rows; tell whether none does.

        All collections are looked at: a log that was made anew knows nothing of rows that had been deleted before.
        """
        is_clean, gone = True, set(chunk_ids)
        for start in self._known():
            if self._server.may_hold(self._name_of(start), "id", gone):
                with self._changing(start) as collection:
                    is_clean = self._server.expunge(collection, "id", gone) and is_clean
        if is_clean:
            self._log.forget(chunk_ids)
        return is_clean

    def close(self) -> None:
        with self._lock:
            self._open.clear()
            self._starts = []
        self._server.close()
        length = len(self._log)
        self._log.close()
        with suppress(OSError):
            write_whole(self._folder / _MARK, f"{self._server.mark_of(self._name)} {length}".encode())

    def _look_for_room(self) -> None:
        """Raise ``StoreUnavailable`` where all collections together would take too much of the memory."""
        known = len(self._known())
        if known > self._most_searched:
            raise StoreUnavailable(
                f"{len(self._log)} vectors are too many to be searched in their store.",
                remedy="Words answer until vectors are in memory. Where they stay out of it: a Milvus server"
                " (EVORAG_VECTOR_URL), or more memory.",
            )

    def _known(self) -> list[int]:
        with self._lock:
            return list(self._starts)

    def _dealt(self, ids: Sequence[int]) -> dict[int, list[int]]:
        """Return those of the ids that have been written, by the collection that they are in."""
        starts, dealt = self._known(), dict[int, list[int]]()
        for number, place in zip(ids, self._log.find(ids).tolist(), strict=True):
            if place >= 0:
                dealt.setdefault(starts[bisect_right(starts, place) - 1], []).append(number)
        return dealt

    def _give_places(self, client: Any, ids: Sequence[int]) -> None:
        """Give each id that has none a place in the last collection, or in another one where that is full."""
        new = [number for number, place in zip(ids, self._log.find(ids).tolist(), strict=True) if place < 0]
        while new:
            with self._lock:
                if len(self._log) - self._starts[-1] >= ROWS:
                    self._make(client, len(self._log))
                room = self._starts[-1] + ROWS - len(self._log)
            self._log.append(new[:room])
            new = new[room:]

    def _ids_in(self, start: int) -> list[int]:
        with self._passing(start) as collection:
            return [row["id"] for row in collection.query("", output_fields=["id"])]

    @contextmanager
    def _using(self, start: int, *, reads: bool = True) -> Iterator[Any]:
        """Give a collection, open and where it ``reads`` with its index, and close what is open beyond what may be."""
        with self._lock:
            self._users[start] += 1
            try:
                collection = self._opened(start, reads)
            except BaseException:
                self._users[start] -= 1
                raise
            self._close_some()
        try:
            yield collection
        finally:
            with self._lock:
                self._users[start] -= 1
                self._used_at[start] = time.monotonic()

    @contextmanager
    def _passing(self, start: int) -> Iterator[Any]:
        """Give a collection to whoever reads one after the other, and leave it as it was, open or closed."""
        with self._lock:
            was_open = start in self._open
        try:
            with self._using(start) as collection:
                yield collection
        finally:
            with self._lock:
                if not was_open and not self._users[start] and not self._is_searched():
                    self._put_away(start)

    @contextmanager
    def _changing(self, start: int) -> Iterator[Any]:
        """Give a collection to whoever changes it, one at a time as the port says; it is not read from what failed."""
        with self._counts.changing(start):
            try:
                with self._using(start, reads=False) as collection:
                    yield collection
                    if collection.count() >= ROWS_PER_CLUSTER * self._nlist:
                        # A search takes ten times longer a row in the buffer of what was written.
                        collection.flush()
            except StoreUnavailable:
                raise
            except Exception:
                # What it could not write out is gone from its memory, and in its log.
                with self._lock:
                    if self._open.pop(start, None) is not None:
                        self._server.leave(self._name_of(start))
                raise

    def _opened(self, start: int, reads: bool) -> Any:
        if start not in self._starts:
            raise StoreUnavailable("The vector store was emptied or closed meanwhile.")
        collection = self._open.pop(start, None)
        try:
            if collection is None:
                collection = self._server.collection(self._name_of(start))
            if reads:
                # Writing needs no clusters, whose making takes as long as it.
                collection.load()
        except Exception as error:
            if is_of_the_system(error):
                raise
            raise IndexLost("The files of the vector store are damaged.") from error
        self._open[start] = collection
        return collection

    def _close_some(self) -> None:
        """Close collections that nobody uses: those left alone for a while, and beyond the limit the least used.

        After a search all stay open that memory can hold.
        """
        now = time.monotonic()
        is_searched = self._is_searched()
        most = self._most_searched if is_searched else self._most
        for start in list(self._open):
            is_old = not is_searched and now - self._used_at.get(start, now) > _UNUSED_S
            if not self._users[start] and (is_old or len(self._open) > most):
                self._put_away(start)

    def _is_searched(self) -> bool:
        return time.monotonic() - self._searched_at < _SEARCHED_S

    def _put_away(self, start: int) -> None:
        if self._open.pop(start, None) is not None:
            self._server.put_away(self._name_of(start))

    def _counted(self, start: int) -> Mapping[Part, int]:
        seen = self._counts.changes(start)
        with self._passing(start) as collection:
            past = len(collection.query(filters([Part.HISTORY], None)[0], output_fields=["id"]))
            counted = {Part.HEAD: collection.num_entities - past, Part.HISTORY: past}
        self._counts.keep_one(start, counted, seen)
        return counted

    def _holds(self, client: Any) -> bool:
        """Tell whether the rows have fingerprints. Raises: ``WrongIndex`` for vectors of another model."""
        with self._using(self._starts[0], reads=False):
            return holds(client, self._name_of(self._starts[0]), self._dimension)

    def _make(self, client: Any, start: int) -> None:
        client.create_collection(self._name_of(start), schema=schema(client, self._dimension))
        self._index(client, start)
        self._starts = sorted({*self._starts, start})

    def _index(self, client: Any, start: int) -> None:
        # pymilvus flattens the parameters for a server; Milvus Lite reads only the nested form, and drops the flat one.
        index = ivf_flat(client, {"params": {"nlist": self._nlist}})
        # The client would sleep half a second before it looks whether there is an index of no rows.
        client.create_index(self._name_of(start), index, sync=False)

    def _drop_all(self, client: Any) -> None:
        """Drop every collection; one that is killed meanwhile leaves a log that is written anew from what is left."""
        self._log.replace(())
        self._open.clear()
        for start in reversed(self._starts):
            self._counts.forget(start)
            client.drop_collection(self._name_of(start))
        self._starts = []

    def _name_of(self, start: int) -> str:
        return f"{self._name}_from_{start}" if start else self._name

    def _is_own(self, name: str) -> bool:
        return name == self._name or name.removeprefix(f"{self._name}_from_").isdecimal()

    def _start(self, name: str) -> int:
        return 0 if name == self._name else int(name.removeprefix(f"{self._name}_from_"))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii")
    except (OSError, ValueError):
        return ""
