"""A blob store that notes what turns out to be damaged, so that people hear of it before they need the file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.errors import Damaged, EvoRAGError
from core.model import FileFault
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog.damages import Damages

log = logging.getLogger(__name__)


def _unhurried(_seconds: float) -> None:
    """Rest not at all."""


class Mender(BlobStore, Protocol):
    """A blob store that makes parsed texts anew."""

    def mend(self, sha256: str) -> bool:
        """Make a parsed text anew from its original; tell whether that was done, False for what is no parsed text.

        Raises: ``NotFound``, and its ``Damaged``, where that cannot be done.
        """


class WatchedBlobs:
    """Decorates a ``BlobStore``; what is noted is forgotten once the right bytes are there again."""

    def __init__(self, inner: BlobStore, damages: Damages) -> None:
        self._inner = inner
        self._damages = damages
        self.engine = inner.engine

    def put(self, source: Path, sha256: str) -> None:
        self._inner.put(source, sha256)
        self._note(sha256, None)

    def path(self, sha256: str, *, verified: bool = True) -> Path:
        try:
            return self._inner.path(sha256, verified=verified)
        except Damaged:
            self._note(sha256, FileFault.DAMAGED)
            raise

    def fault(self, sha256: str, pace: Callable[[float], None] = _unhurried) -> FileFault | None:
        return self._inner.fault(sha256, pace)

    def size(self, sha256: str) -> int | None:
        return self._inner.size(sha256)

    def delete(self, sha256: str) -> None:
        self._inner.delete(sha256)
        self._note(sha256, None)

    def names(self) -> Iterator[str]:
        return self._inner.names()

    def _note(self, sha256: str, fault: FileFault | None) -> None:
        """Note what was found; where that fails, as on a full disk, the next reading finds it again."""
        try:
            self._damages.note(sha256, fault)
        except EvoRAGError as error:
            log.warning("what is wrong with a file could not be noted: %s", error.message)
        except Exception as error:
            log.warning("what is wrong with a file could not be noted (%s)", type(error).__name__)
