"""The versions of a document and what differs between them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from core.access import needs
from core.api import ComparisonApi
from core.errors import Conflict, InvalidInput, NotFound
from core.model import ComparisonProgress, Job, Role, Version
from core.versions.cache import Compared, ComparisonCache
from core.versions.diff.export_html import export_html
from core.versions.diff.export_patch import export_patch, export_text
from core.versions.documents import DocumentReader, purged
from core.versions.result import ComparisonResult

if TYPE_CHECKING:
    from core.catalog import Catalog


class ComparisonService:
    """The part of the knowledge base that compares; any two versions that have their text can be."""

    def __init__(self, catalog: Catalog, reader: DocumentReader, comparisons: ComparisonCache) -> None:
        self._catalog = catalog
        self._reader = reader
        self._comparisons = comparisons

    @overload
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: Literal[True] = True
    ) -> ComparisonResult: ...

    @overload
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: bool
    ) -> ComparisonResult | None: ...

    @needs(Role.READER)
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: bool = True
    ) -> ComparisonResult | None:
        """Compare two versions of a document, or of two where ``other`` names the one that holds ``new``.

        Without ``wait`` it is None while it is being computed. Raises: ``NotFound``, ``Purged``, ``DiffLimit``, and
        ``Conflict`` where a version has no text.
        """
        before, after = self._sides(key, old, new, other)
        if not wait and not self._comparisons.is_kept(before, after):
            self._comparisons.start(before, after)
            return None
        return self._comparisons.get(before, after)

    @needs(Role.READER)
    def comparison_progress(
        self, key: str, old: int, new: int, *, other: str | None = None
    ) -> ComparisonProgress | None:
        """Return how far a comparison is, with a share of 1 where it is there; None where nobody computes it.

        Raises: as ``compare`` does, also where computing it has failed since it was begun.
        """
        return self._comparisons.progress(*self._sides(key, old, new, other))

    @needs(Role.READER)
    def cancel_comparison(self, key: str, old: int, new: int, *, other: str | None = None) -> bool:
        """Stop computing a comparison, and return whether it was being computed; it can be asked for again.

        Others who wait for it at this moment still get it. Raises: as ``compare`` does.
        """
        return self._comparisons.cancel(*self._sides(key, old, new, other))

    @needs(Role.READER)
    def image(self, key: str, version: int, number: int, target: Path | None = None) -> Path:
        """Return the PNG of an image of a version, or write it to ``target``; images count from 1.

        Raises: ``NotFound``, ``Conflict``.
        """
        kept = self._comparisons.image(self._side(self._reader.version(key, version)), number)
        return kept if target is None else Path(shutil.copyfile(kept, target))

    @needs(Role.READER)
    def export(self, comparison: ComparisonApi, form: str, texts: Mapping[str, str] | None = None) -> Iterator[str]:
        """Yield a standalone page (``html``), a unified ``patch``, or one of the two texts (``old``, ``new``).

        Raises: ``InvalidInput``.
        """
        if not isinstance(comparison, ComparisonResult):
            raise InvalidInput("This comparison was made by another knowledge base.")
        if form == "html":
            return export_html(comparison, texts or {})
        if form == "patch":
            return export_patch(comparison)
        if form in ("old", "new"):
            return export_text(comparison, form)
        raise InvalidInput("A comparison is exported as “html”, “patch”, “old” or “new”.")

    @needs(Role.ADMIN)
    def prepare_comparisons(self, jobs: Sequence[Job]) -> None:
        """Compute in the background how the versions that these jobs indexed differ from the ones before them."""
        for job in jobs:
            if job.version <= 1:
                continue
            ready = [v for v in self._reader.versions(job.doc_key) if v.state == "ready" and v.number <= job.version]
            if len(ready) > 1 and ready[0].number == job.version:
                # Purged in this moment: then nobody needs it.
                with contextlib.suppress(Conflict, NotFound):
                    self._comparisons.compute_soon(self._side(ready[1]), self._side(ready[0]))

    def _sides(self, key: str, old: int, new: int, other: str | None) -> tuple[Compared, Compared]:
        return self._side(self._reader.version(key, old)), self._side(self._reader.version(other or key, new))

    def _side(self, version: Version) -> Compared:
        if version.state == "purged":
            raise purged(version.doc_key, version.number)
        parsed = self._catalog.documents.parsed_sha256(version.id)
        if version.state != "ready" or parsed is None:
            raise Conflict(
                f"Version {version.number} of “{version.doc_key}” is {version.state} and has no text to compare.",
                remedy="Wait until it is indexed, or start its job again.",
            )
        facts = {
            "file_name": version.file_name,
            "extension": version.extension,
            "size_bytes": version.size_bytes,
            "label": version.label or None,
        }
        return Compared(
            id=version.id,
            doc_key=version.doc_key,
            name=version.file_name,
            version=version.number,
            parsed_sha256=parsed,
            sha256=version.sha256,
            extension=version.extension,
            metadata={**version.metadata, **facts},
        )
