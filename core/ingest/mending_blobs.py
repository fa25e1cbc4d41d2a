"""Blobs as people read them: a parsed text that is damaged or gone is read from its original again, then and there."""

from __future__ import annotations

import logging
import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from core.blobs.watched import WatchedBlobs
from core.errors import Damaged, NotFound
from core.ingest.parse_and_chunk import packed
from core.ingest.recognition.kept_pictures import Recognition
from core.ports import BlobStore, Parser

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_ANOTHER = (
    "Have it read anew: `evorag readings begin`, then `evorag readings show`. Where that offers nothing, upload the"
    " original with a small change, as a new version."
)


class MendingBlobs(WatchedBlobs):
    """Watched blobs whose ``path`` makes a parsed text anew where that gives the same bytes."""

    def __init__(
        self, inner: BlobStore, catalog: Catalog, parser: Parser, recognition: Recognition, scratch: Path
    ) -> None:
        super().__init__(inner, catalog.damages)
        self._catalog = catalog
        self._parser = parser
        self._recognition = recognition
        self._scratch = scratch
        self._one_at_a_time = threading.Lock()

    def path(self, sha256: str, *, verified: bool = True) -> Path:
        """Return the file of a blob. Raises: ``NotFound``, ``Damaged``, and what the parser raises."""
        try:
            return super().path(sha256, verified=verified)
        except NotFound:
            if not self.mend(sha256):
                raise
        return super().path(sha256, verified=verified)

    def mend(self, sha256: str) -> bool:
        """Read a parsed text from its original again; tell whether that was done, False for what is no parsed text.

        Raises: ``Damaged`` where the original reads otherwise now, ``NotFound`` where it is gone itself.
        """
        with self._one_at_a_time:
            version_id = self._catalog.consistency.texts().get(sha256)
            if version_id is None:
                return False
            version = self._catalog.indexing.stored([version_id])[version_id]
            if version.sha256 in self._catalog.indexing.being_read():
                # Its job makes the text, or finds that it is gone.
                return False
            self._read(super().path(version.sha256), version.sha256, version.extension, sha256)
        log.info("the text of a document was damaged or gone, and was read from its original again")
        return True

    def _read(self, source: Path, original: str, extension: str, wanted: str) -> None:
        plain = self._scratch / secrets.token_hex(16)
        compressed = plain.with_suffix(".gz")
        try:
            if self._recognition.is_on:
                details = self._parser.parse(source, extension, plain, recognised="")
                for name in details.get("pictures", ()):
                    self._recognition.recognise(original, source, extension, name)
                if lines := self._recognition.lines_file(original):
                    self._parser.parse(source, extension, plain, recognised=lines)
            else:
                self._parser.parse(source, extension, plain)
            if packed(plain, compressed) != wanted:
                raise Damaged("The text that was read from this document is damaged.", remedy=_ANOTHER)
            self.put(compressed, wanted)
        finally:
            self._recognition.forget(original)
            for path in (plain, compressed):
                path.unlink(missing_ok=True)
