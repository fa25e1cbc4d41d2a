"""Blobs as people read them: a parsed text that is damaged or gone is read from its original again, then and there."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
        pictures = self._recognition.folder_of(original)

        def parsed(recognised: Path | str | None) -> Mapping[str, Any]:
            return self._parser.parse(source, extension, plain, recognised=recognised, pictures=pictures)

        def is_wanted(names: Iterable[str]) -> bool:
            for name in names:
                self._recognition.recognise(original, source, extension, name)
            if lines := self._recognition.lines_file(original):
                parsed(lines)
            return plain.exists() and packed(plain, compressed) == wanted

        try:
            details = parsed("" if self._recognition.is_on else None)
            # Pictures within a document were in its text, or came in another reading.
            if not is_wanted(details.get("pictures", ())) and not is_wanted(details.get("embedded", ())):
                raise Damaged("The text that was read from this document is damaged.", remedy=_ANOTHER)
            self.put(compressed, wanted)
        finally:
            self._recognition.forget(original)
            for path in (plain, compressed):
                path.unlink(missing_ok=True)
