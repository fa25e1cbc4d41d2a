"""What a comparison of a store with the catalogue finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.model.jobs import JobState


class Fault(StrEnum):
    """What can be wrong with a row of a store."""

    MISSING = "missing"
    """The catalogue has the chunk, the store has no row of it."""
    ORPHANED = "orphaned"
    """The store has a row of what the catalogue does not have."""
    STALE = "stale"
    """The row was made of another content, or by another embedder, analyser or vocabulary, or is there twice."""
    MISPLACED = "misplaced"
    """The row is in head where it belongs to history, or the other way round."""


@dataclass(frozen=True, slots=True)
class Refilling:
    """How many rows a store that lost them has again, of how many; None for who does not see all documents."""

    rows: int | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Indexing:
    """Documents that are shown without all of their vectors: how many, their chunks, and how many have one."""

    documents: int
    chunks: int
    embedded_chunks: int
    failed: int = 0
    """How many of the documents get no more vectors unless their jobs are started again."""

    @property
    def percent(self) -> int:
        """How much can be found by meaning; 100 only when all can."""
        return 100 * self.embedded_chunks // self.chunks


@dataclass(frozen=True, slots=True)
class VersionCheck:
    """A version whose rows are not as they should be; an orphaned row is of none."""

    version_id: int
    doc_key: str = ""
    version: int = 0
    rows: int = 0
    """Rows that the store should hold for the version."""
    missing: int = 0
    stale: int = 0
    misplaced: int = 0
    expected_fingerprint: str = ""
    """The sum of the fingerprints that its rows should have, and of those that they have, in hexadecimal."""
    stored_fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """How a store stands to the catalogue; each number but ``versions_checked`` and ``seconds`` counts rows."""

    store: str
    engine: str
    expected: int = 0
    stored: int = 0
    missing: int = 0
    orphaned: int = 0
    stale: int = 0
    misplaced: int = 0
    waiting: int = 0
    """Rows that the store has yet to be told, which are no faults."""
    versions_checked: int = 0
    versions_wrong: int = 0
    versions: tuple[VersionCheck, ...] = ()
    """The first of the versions that are wrong."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The lowest chunk ids with each fault."""
    seconds: float = 0.0
    error: str = ""
    """Why the store could not be read, where it could not."""

    @property
    def faults(self) -> int:
        return self.missing + self.orphaned + self.stale + self.misplaced

    @property
    def is_sound(self) -> bool:
        return not self.faults and not self.error


class StoreAct(StrEnum):
    """What a job does with stores."""

    CHECK = "check"
    REPAIR = "repair"
    REINDEX = "reindex"


@dataclass(frozen=True, slots=True)
class UnnamedFile:
    """A file of the knowledge base's folder or bucket that no row of the catalogue names."""

    kind: str
    """``blob`` (an original, a parsed text or an archive), ``transfer`` or ``recording``."""
    name: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A version whose original bytes are gone."""

    version_id: int
    sha256: str
    doc_key: str = ""
    version: int = 0


class FileFault(StrEnum):
    """What can be wrong with a blob, which its name, the SHA-256 of its bytes, tells."""

    MISSING = "missing"
    DAMAGED = "damaged"
    """It is cut off, or holds other bytes."""
    UNREADABLE = "unreadable"
    """The disk gives an error instead of its bytes."""


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A blob of which the bytes are not those that it is named by, or a parsed text that is missing."""

    name: str
    """The SHA-256 that its bytes should have."""
    kind: str
    """``original`` or ``parsed`` (the text that was read from one)."""
    fault: FileFault
    version_id: int
    doc_key: str = ""
    version: int = 0
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FilesCheck:
    """How the files stand to the catalogue."""

    expected: int = 0
    """Originals that versions name; the same bytes count once."""
    stored: int = 0
    """Blobs that are there: originals, parsed texts and archives."""
    missing: int = 0
    unnamed: int = 0
    """Files that nothing names. They may be another catalogue's, and nothing removes them by itself."""
    missing_files: tuple[MissingFile, ...] = ()
    unnamed_files: tuple[UnnamedFile, ...] = ()
    """The first of each."""
    seconds: float = 0.0
    error: str = ""
    """Why the files could not be listed, where they could not."""
    verified: int = 0
    """Blobs that were read to their end; 0 of a check that only looks whether they are there."""
    damaged: int = 0
    """Originals and parsed texts that are damaged, as far as anybody has read them, and parsed texts that are gone."""
    damaged_files: tuple[DamagedFile, ...] = ()
    """The first of them."""

    @property
    def is_sound(self) -> bool:
        return not self.missing and not self.damaged and not self.error


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What a job has found and done: the checks ``before``, the rows written or removed, and the checks ``after``."""

    job_id: str
    act: StoreAct
    store: str
    """The store that was asked for; empty for all."""
    state: JobState
    before: tuple[StoreCheck, ...] = ()
    mended: int = 0
    after: tuple[StoreCheck, ...] = ()
    files: FilesCheck | None = None
    """What was found of the files; None of a check of earlier releases, or of a single store."""
