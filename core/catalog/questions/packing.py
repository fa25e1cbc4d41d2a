"""Accounts of questions as bytes: written at once when a question is kept, and made small soon after.

Both are streams of zlib, so whoever reads one need not know which it is; a process that dies in between leaves a
larger row and nothing else. The last four bytes are the checksum of what was packed: they stay when it is made small.
"""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import bindparam, func, select, update

from core.catalog.engine import Database
from core.catalog.schema import questions
from core.errors import EvoRAGError
from core.model.codec import to_dict, to_json
from core.platform.precedence import give_way

log = logging.getLogger(__name__)

_SURROGATES = "surrogatepass"
LITTLE_BYTES = 4_096
"""What is no longer is made small at once."""
_PAUSE_S = 1.0
_AT_ONCE = 32
_LEFT_BY_OTHERS = 64
_CLOSING_S = 10.0
_STORED = (b"\x00", b"\x01")
"""The third byte of a stream whose first block is stored as it is."""

CHECKSUM = func.substr(questions.c.trace, func.length(questions.c.trace) - 3)
"""What ``checksum`` returns of the account of a question, read without the account."""
_kind = func.substr(questions.c.trace, 3, 1)
_LATEST = (
    select(questions.c.id)
    .where(questions.c.id.in_(select(questions.c.id).order_by(questions.c.asked_at.desc()).limit(_LEFT_BY_OTHERS)))
    .where(_kind.in_(_STORED), func.length(questions.c.trace) > LITTLE_BYTES)
)
_TRACE = select(questions.c.trace).where(questions.c.id == bindparam("of"))
# One that was redacted meanwhile is another one.
_MADE_SMALL = (
    update(questions)
    .where(questions.c.id == bindparam("of"), questions.c.trace == bindparam("before"))
    .values(trace=bindparam("small"))
)


def packed(data: Any) -> bytes:
    """Return an account, or what stands for one, as it is first kept."""
    try:
        written = to_json(data)
    except TypeError:
        # Half a surrogate pair, which a question can hold, is written by the slower one alone.
        written = json.dumps(to_dict(data), ensure_ascii=False).encode("utf-8", _SURROGATES)
    return zlib.compress(written, 0 if len(written) > LITTLE_BYTES else 1)


def unpacked(kept: bytes) -> Any:
    written = zlib.decompress(kept)
    try:
        return orjson.loads(written)
    except orjson.JSONDecodeError:
        return json.loads(written.decode("utf-8", _SURROGATES))


def checksum(kept: bytes) -> bytes:
    """Return what is the same of an account before and after it is made small."""
    return kept[-4:]


class Packer:
    """Makes accounts small in a thread of its own, a moment after they were kept; it ends when none is left."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, None] = {}
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._looked = False

    def add(self, question_id: str, kept: bytes) -> None:
        """Have the account of a question made small soon, where it is not; with the first, what others have left."""
        if len(kept) <= LITTLE_BYTES and self._looked:
            return
        with self._changing:
            self._waiting[question_id] = None
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="evorag-packing", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Make small what waits, and stop."""
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join(_CLOSING_S)

    def _run(self) -> None:
        while True:
            self._closing.wait(_PAUSE_S)
            with self._changing:
                some = list(self._waiting)[:_AT_ONCE]
                for question_id in some:
                    del self._waiting[question_id]
                if not some:
                    self._thread = None
                    return
            try:
                self._make_small([*some, *self._left_by_others()])
            except EvoRAGError as error:
                # They stay as they are, which costs room alone.
                log.warning("accounts of questions could not be made smaller: %s", error.code)
            except Exception:
                log.exception("accounts of questions could not be made smaller")

    def _left_by_others(self) -> list[str]:
        """Return what a process that was killed has left, once."""
        if self._looked:
            return []
        self._looked = True
        with self._database.read() as tx:
            return list(tx.scalars(_LATEST))

    def _make_small(self, ids: Collection[str]) -> None:
        made: list[dict[str, Any]] = []
        for question_id in dict.fromkeys(ids):
            give_way()
            with self._database.read() as tx:
                kept = tx.scalar(_TRACE, {"of": question_id})
            if kept is not None and len(kept) > LITTLE_BYTES and kept[2:3] in _STORED:
                small = zlib.compress(zlib.decompress(kept), 1)
                made.append({"of": question_id, "before": kept, "small": small})
        if made:
            with self._database.write() as tx:
                tx.execute(_MADE_SMALL, made)
