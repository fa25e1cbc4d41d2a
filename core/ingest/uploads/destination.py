"""What a whole file becomes: the next version of a document, or the work of unpacking an archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.ingest.archives import archive_kind
from core.ingest.archives.store_archive import ArchiveIntake, StoredArchive
from core.ingest.intake import new_version
from core.ingest.receive import Received
from core.ingest.uploads.finalize import MarkFiled
from core.ingest.validate import check_type
from core.model import Filing, Upload

if TYPE_CHECKING:
    from core.catalog import NewVersion
    from core.catalog.documents.transfers import Findings


class DocumentOrArchive:
    """Tells archives by their names; ``claim_version`` claims a version and settles it, ``wake`` tells of new jobs."""

    def __init__(
        self,
        claim_version: Callable[[NewVersion, MarkFiled], Upload],
        archives: ArchiveIntake,
        wake: Callable[[], None],
    ) -> None:
        self._claim_version = claim_version
        self._archives = archives
        self._wake = wake

    def check(self, name: str, received: Received) -> tuple[str, bool]:
        if archive_kind(name):
            return self._archives.check(name, received.path, received.head), True
        return check_type(name, received.head, received.path), False

    def claim(self, name: str, findings: Findings, filing: Filing, mark_filed: MarkFiled) -> Upload:
        if findings.is_archive:
            stored = StoredArchive(findings.sha256, findings.sha1, findings.size_bytes, findings.kind)
            receipt = self._archives.claim(name, stored, filing, mark_filed)
            self._wake()
            return receipt
        return self._claim_version(new_version(name, findings.kind, findings, filing), mark_filed)
