"""The quarantine: files that no row of the catalogue names, until a person takes them back or removes them.

They lie where they are: an upload of the same bytes takes them up, and the purge of a version reaches them by their
names. Nothing removes them by itself.
"""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from core.access import needs
from core.catalog.documents.leftovers import FileKind
from core.errors import InvalidInput, NotFound
from core.model import Role, UnnamedFile, Upload

if TYPE_CHECKING:
    from core.blobs.pinned import PinnedBlobs
    from core.indexes.file_check import FileChecker

log = logging.getLogger(__name__)

Add = Callable[[str, BinaryIO], Upload]


class Quarantine:
    """The files of one knowledge base that nothing names."""

    def __init__(self, files: FileChecker, blobs: PinnedBlobs, add: Add) -> None:
        self._files = files
        self._blobs = blobs
        self._add = add

    @needs(Role.ADMIN)
    def list(self) -> builtins.list[UnnamedFile]:
        """Return the files that nothing names, with their sizes. Raises: ``StoreUnavailable``."""
        return self._files.unnamed()

    @needs(Role.ADMIN)
    def restore(self, name: str, file_name: str) -> Upload:
        """Take an original back: as the next version of the document that ``file_name`` says, under the same bytes.

        Raises: ``NotFound`` where no original of this name lies there; what ``add_file`` raises, as for a type that
        the bytes are not.
        """
        if not self._is_there(UnnamedFile(FileKind.BLOB, name)):
            raise NotFound("No original of this name lies in the quarantine.", remedy="Look it up in its list.")
        with self._blobs.store.path(name).open("rb") as stream:
            return self._add(file_name, stream)

    @needs(Role.ADMIN)
    def empty(self, names: Collection[str] | None = None) -> int:
        """Remove files of these names, or all of them, for good; return how many were removed.

        What a version or an upload has taken up meanwhile stays. Raises: ``NotFound`` for a name that is not there.
        """
        found = self._files.unnamed()
        if names is not None:
            if missing := set(names) - {each.name for each in found}:
                raise NotFound(f"“{min(missing)[:64]}” does not lie in the quarantine.")
            found = [each for each in found if each.name in set(names)]
        removed = sum(self._remove(each) for each in found)
        if removed:
            log.warning("%d files that nothing names were removed for good", removed)
        return removed

    def _remove(self, file: UnnamedFile) -> bool:
        if file.kind != FileKind.BLOB:
            return self._files.remove(file)
        removed: builtins.list[str] = []
        self._blobs.pins.unless_held(file.name, partial(self._delete, file, removed))
        return bool(removed)

    def _delete(self, file: UnnamedFile, removed: builtins.list[str]) -> None:
        if self._is_there(file):
            self._blobs.store.delete(file.name)
            removed.append(file.name)

    def _is_there(self, file: UnnamedFile) -> bool:
        try:
            return self._blobs.store.size(file.name) is not None and self._blobs.unclaimed.is_unnamed(file.name)
        except InvalidInput:
            return False
