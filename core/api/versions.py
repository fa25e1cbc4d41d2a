"""Versions: which there are, which one is published, and what differs between two."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Protocol

from core.model import ChangeSummary, ComparisonProgress, Publication, Reading, ReadingReport, Row, Version


class ComparisonApi(Protocol):
    """What differs between two versions."""

    @property
    def summary(self) -> ChangeSummary: ...

    @property
    def count(self) -> int:
        """The number of rows."""

    def rows(self, start: int, end: int) -> list[Row]:
        """Return the rows from ``start`` up to, not including, ``end``."""


class VersionsApi(Protocol):
    """Versions of the documents of a knowledge base. Every change of what is published is one ``Publication``."""

    # ---- reading

    def versions(self, key: str) -> list[Version]:
        """Return the versions of a document, newest first; purged ones stay as tombstones. Raises: ``NotFound``."""

    def version(self, key: str, number: int) -> Version:
        """Return one version. Raises: ``NotFound``."""

    def publications(self, key: str) -> list[Publication]:
        """Return the publications of a document, newest first. Raises: ``NotFound``."""

    def audit(
        self, *, limit: int = 200, before: int | None = None, key: str | None = None, action: str | None = None
    ) -> list[Publication]:
        """Return up to 1,000 publications of all documents, newest first, before a sequence number.

        ``key`` and ``action`` select those of one document or one action. Raises: ``NotFound``.
        """

    def sequence(self) -> int:
        """Return the sequence number of the newest publication, 0 before the first."""

    def compare(self, key: str, old: int, new: int, *, other: str | None = None) -> ComparisonApi:
        """Compare two versions of a document, or of two where ``other`` names the one that holds ``new``.

        Raises: ``NotFound``, ``Purged``, ``DiffLimit``; ``Conflict`` where a version has no text.
        """

    def diff(self, key: str, old: int, new: int, *, other: str | None = None) -> ComparisonApi:
        """Do what ``compare`` does."""

    def comparison_progress(
        self, key: str, old: int, new: int, *, other: str | None = None
    ) -> ComparisonProgress | None:
        """Return how far a comparison is, with a share of 1 where it is there; None where nobody computes it.

        Raises: as ``compare`` does.
        """

    def cancel_comparison(self, key: str, old: int, new: int, *, other: str | None = None) -> bool:
        """Stop computing a comparison, and return whether it was being computed. Raises: as ``compare`` does."""

    def export(self, comparison: ComparisonApi, form: str) -> Iterator[str]:
        """Yield a comparison made here as a standalone page (``html``), a unified ``patch``, or one text.

        The two texts are ``old`` and ``new``. Raises: ``InvalidInput``.
        """

    # ---- changing

    def annotate(self, key: str, version: int, *, note: str | None = None, label: str | None = None) -> Version:
        """Change the note or label of a version; None keeps it. Raises: ``NotFound``, ``Purged``, ``InvalidInput``."""

    def publish(self, key: str, version: int, actor: str = "", note: str = "") -> Publication:
        """Publish a version. Raises: ``NotFound``; ``Conflict`` where it is published, purged, or not indexed."""

    def rollback(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Publish an earlier version again, by default the one before the present one.

        Raises: ``NotFound``; ``Conflict`` where there is none, or it is published already.
        """

    def schedule(self, key: str, version: int, at: datetime | None, actor: str = "") -> Version:
        """Publish a version at a moment, or cancel that (None).

        Raises: ``NotFound``; ``InvalidInput`` for a moment without a zone or in the past; ``Conflict`` where the
        version is published, purged or failed, or the document is deleted.
        """

    def unpublish(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Publish nothing of a document, which stays listed. Raises: ``NotFound``; ``Conflict`` where nothing is."""

    def delete(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Publish nothing of a document and no longer list it; cancel its jobs. Raises: ``NotFound``, ``Conflict``."""

    def restore(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Undo ``delete`` or ``unpublish``. Raises: ``NotFound``; ``Conflict`` where the document is published."""

    def purge(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Remove text, vectors and bytes of a version, or of all versions (None), for good; a tombstone stays.

        Raises: ``NotFound``; ``Conflict`` where the one version is published, or purged; ``Forbidden`` where others
        uploaded some of all versions.
        """


class ReadingsApi(Protocol):
    """Other readings of versions: what this EvoRAG makes of bytes that an earlier one has read.

    ``keys`` names documents; None, or none, means all that the caller sees.
    """

    def report(self) -> ReadingReport:
        """Return how many documents were read by an earlier reader, and what has been done about it."""

    def list(
        self, state: str | None = None, *, key: str | None = None, after: int = 0, limit: int = 50
    ) -> builtins.list[Reading]:
        """Return up to 500 readings that are not in use, of all documents or of one, by id from behind ``after`` on.

        Raises: ``InvalidInput`` for a state that there is none of.
        """

    def begin(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Read documents anew in the background, beside what they show; return how many. Raises: ``NotFound``."""

    def show(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = 100) -> int:
        """Use the readings that wait or were withdrawn, of up to ``limit`` documents; return of how many.

        Raises: ``NotFound``.
        """

    def undo(self, keys: Collection[str] | None = None, actor: str = "", *, limit: int = 100) -> int:
        """Go back to the readings that were in use before; return of how many documents. Raises: ``NotFound``."""

    def drop(self, keys: Collection[str] | None = None, actor: str = "") -> int:
        """Remove the readings that were never in use; return how many. Raises: ``NotFound``."""
