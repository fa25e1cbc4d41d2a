"""Documents, their versions, and the blocks and chunks that their text is cut into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

BLOCK_JOINT = "\n\n"
"""What stands between two blocks in the parsed text of a version; spans count it."""
LABEL_JOINT = " › "
"""What stands between headings of a path, and between labels of which one stands under the other."""

SLIDES, SHEETS = "slides", "sheets"
"""How places begin that were not read as they are where they are no pages: ``slides 3, 7–9``, ``sheets Costs``."""


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    LIST = "list"
    CODE = "code"


class Part(StrEnum):
    """Which part of an index holds a chunk: head for published versions, history for all other kept ones."""

    HEAD = "head"
    HISTORY = "history"


class UploadOutcome(StrEnum):
    NEW = "new"
    UNCHANGED = "unchanged"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Locator:
    """Where in the original a piece of text stands. Pages and slides count from 1."""

    page: int | None = None
    page_end: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    heading_path: tuple[str, ...] = ()
    confidence: float | None = None
    """How sure the recognition of characters was of the text, 0 to 1; None where the document holds it as text."""


@dataclass(frozen=True, slots=True)
class Block:
    """What a parser yields. A table's text is one row a line, cells joined by `` | ``.

    ``header`` is what the block stands under besides its headings. For a table, its header row whenever that is *not*
    the first line of ``text`` (row groups after the first), so that every group can be read alone. For other kinds, the
    term that it defines or the option that it explains. ``level`` is 1 to 6 for headings, 0 otherwise.
    """

    text: str
    kind: BlockKind = BlockKind.PARAGRAPH
    locator: Locator = Locator()
    level: int = 0
    header: str = ""
    is_headless: bool = False
    """A table without a header row: no row of it names the columns of the others."""


@dataclass(frozen=True, slots=True)
class Label:
    """From character ``start`` of a chunk on, ``text`` is the term, option, item, question or header row above it."""

    start: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of consecutive block text; ``parsed_text[start:end] == text`` holds exactly.

    ``header`` repeats what its beginning stands under and what an earlier chunk holds: the header row of a table that
    was cut, else a term, option, item or question. It is indexed and shown, but is no part of the span.
    """

    position: int
    text: str
    start: int
    end: int
    kind: BlockKind = BlockKind.PARAGRAPH
    locator: Locator = Locator()
    header: str = ""
    token_count: int = 0
    labels: tuple[Label, ...] = ()
    """What its stretches stand under, in order; before the first, nothing. A chunk with rows of a table has some."""

    def indexed_text(self, title: str) -> str:
        """The text that both indexes read: title, heading path, what it stands under, and the chunk itself."""
        lines = [title, LABEL_JOINT.join(self.locator.heading_path), self.header, self.text]
        return "\n".join(line for line in lines if line)

    def label_at(self, offset: int) -> str:
        """Return what the text at a character stands under besides its headings; empty where that is nothing."""
        return next((label.text for label in reversed(self.labels) if label.start <= offset), "")


@dataclass(frozen=True, slots=True)
class Document:
    """What a ``doc_key`` names, as a list shows it."""

    id: int
    doc_key: str
    name: str
    title: str
    tags: tuple[str, ...]
    extension: str
    language: str
    size_bytes: int
    state: str
    """``published``, ``indexing``, ``failed``, ``deleted``, ``purged``, ``unpublished`` or ``draft`` (never shown)."""
    published_version: int | None
    latest_version: int
    version_count: int
    chunk_count: int
    created_at: datetime
    updated_at: datetime
    is_text_entry: bool = False
    publish_at: datetime | None = None
    """When the next of its versions is to be published by itself."""
    owner: str = ""
    """Whose private document it is; empty where everyone sees it."""
    embedded_chunks: int | None = None
    """How many chunks of the version being indexed have an embedding; None where all of them have."""
    in_part: str = ""
    """Where the shown version was not read as it is, as ``Version.in_part`` tells it."""


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable upload of a document."""

    id: int
    doc_key: str
    number: int
    file_name: str
    extension: str
    sha256: str
    sha1: str
    size_bytes: int
    state: str
    """``stored`` (being indexed), ``ready``, ``failed``, ``cancelled`` or ``purged``."""
    created_at: datetime
    chunk_count: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    is_published: bool = False
    note: str = ""
    actor: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    label: str = ""
    chunks_removed: int = 0
    is_draft: bool = False
    """Uploaded without publishing, and not published since."""
    publish_at: datetime | None = None
    """When a draft is to be published by itself."""
    purged_at: datetime | None = None
    purged_by: str = ""
    keyword_ready: bool = False
    """Its chunks can be found by their words."""
    embedded_chunks: int = 0
    """How many of its chunks can be found by their meaning."""
    reading: int = 1
    """Which reading of its bytes this is; one that was read anew has others."""

    @property
    def in_part(self) -> str:
        """Where it was not read as it is: pages such as ``3, 7–9``, ``slides 3, 7–9`` or ``sheets Costs``, else ``*``.

        ``metadata["losses"]`` has them by reason.
        """
        return str(self.metadata.get("in_part", ""))


class DocumentSort(StrEnum):
    """What a list of documents is ordered by."""

    NAME = "name"
    TYPE = "type"
    STATE = "state"
    VERSIONS = "versions"
    SIZE = "size"
    CHUNKS = "chunks"
    LANGUAGE = "language"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Which documents a list shows, in which order, and which stretch of it; empty fields allow all."""

    words: tuple[str, ...] = ()
    """Texts that the name, the title or a tag holds, each of them somewhere."""
    include_deleted: bool = False
    tags: tuple[str, ...] = ()
    """Tags that a document has all."""
    extensions: tuple[str, ...] = ()
    language: str = ""
    state: str = ""
    least_versions: int = 1
    sort: DocumentSort = DocumentSort.UPDATED
    descending: bool = False
    offset: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A stretch of a list of documents, and how many there are in all."""

    documents: list[Document]
    total: int


@dataclass(frozen=True, slots=True)
class Publication:
    """From sequence number ``seq`` on, the document shows ``version`` (or nothing: unpublished, deleted)."""

    seq: int
    doc_key: str
    version: int | None
    action: str
    """``publish``, ``rollback``, ``unpublish``, ``delete``, ``restore``, ``purge``; ``reread``: in another reading."""
    at: datetime
    actor: str = ""
    subject: int | None = None
    """The version that the action was about, where that is not the one shown from then on."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Filing:
    """What a person says about an upload: tags of the document; note and label of the version; when to publish it.

    A draft is indexed but not published; with ``publish_at`` it is published by itself at that moment.
    """

    tags: tuple[str, ...] = ()
    note: str = ""
    label: str = ""
    actor: str = ""
    draft: bool = False
    publish_at: datetime | None = None
    private: bool = False
    """Only its owner (and administrators) see the document; it is kept under ``~<user>/<file name>``."""
    early: bool | None = None
    """Publish as soon as the keywords are indexed; the meaning follows while it is shown.

    None does so for a document that shows nothing yet.
    """
    priority: int = 0
    """Jobs with a higher one are worked on first, from -10 to 10."""


@dataclass(frozen=True, slots=True)
class Upload:
    """What became of an upload: the bytes are on disk and the version is claimed."""

    outcome: UploadOutcome
    doc_key: str
    version: int
    checksum: str
    job_id: str | None = None
    """The job that indexes the version, or, where nothing is left to do, the one that did."""
    is_indexed: bool = False
    """Nothing is left to do: the version stands, or can be published."""

    @property
    def pending_job(self) -> str | None:
        """The job that is to be waited for."""
        return None if self.is_indexed else self.job_id


@dataclass(frozen=True, slots=True)
class Receipt:
    """An upload as it is kept and as JSON says it: ``job_id`` is null where nothing is to be waited for."""

    outcome: UploadOutcome
    doc_key: str
    version: int
    checksum: str
    job_id: str | None = None
    indexed_by: str | None = None
    """The job that had indexed the version before, where nothing is left to do."""

    @classmethod
    def of(cls, upload: Upload) -> Receipt:
        done_by = upload.job_id if upload.is_indexed else None
        return cls(upload.outcome, upload.doc_key, upload.version, upload.checksum, upload.pending_job, done_by)

    def upload(self) -> Upload:
        job_id = self.job_id or self.indexed_by
        return Upload(self.outcome, self.doc_key, self.version, self.checksum, job_id, self.job_id is None)


class TransferState(StrEnum):
    RECEIVING = "receiving"
    CHECKING = "checking"
    """All bytes are here and durable; they are hashed and filed."""
    DONE = "done"
    REFUSED = "refused"
    """Its bytes were checked and thrown away; ``error`` says why."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A file that arrives in parts, over as many connections as it takes (an upload in the words of tus 1.0)."""

    id: str
    """128 random bits in hexadecimal."""
    name: str
    size_bytes: int | None
    """None while a client has not said it yet."""
    offset_bytes: int
    """How much of it is durable."""
    state: TransferState
    created_at: datetime
    expires_at: datetime
    is_partial: bool = False
    """One of the pieces that a later upload is put together from."""
    owner: str = ""
    sha256: str | None = None
    """What the client says the whole file's SHA-256 is."""
    checked_bytes: int = 0
    receipt: Receipt | None = None
    error: Mapping[str, Any] | None = None
    """Why it was refused; while it is still being checked, why it could not be filed yet."""
    filing: Filing = Filing()
    """What was said of it when it began, which stays as it is."""


@dataclass(frozen=True, slots=True)
class PlacedChunk:
    """A stored chunk at its place in one version."""

    id: int
    doc_id: int
    doc_key: str
    name: str
    title: str
    version: int
    chunk: Chunk
    content_hash: bytes = b""
    versions: tuple[int, ...] = ()
    """All versions that hold it, where a question was asked of all versions."""
    in_part: str = ""
    """Where its version was not read as it is, as ``Version.in_part`` tells it."""
    reading: int = 1
    """The reading of its version that has it at this place."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A stretch of a version's text, cut where its chunks are cut."""

    doc_key: str
    version: int
    total_chunks: int
    chunks: tuple[PlacedChunk, ...]
    reading: int = 1


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that was not added, and why: the error that reading it would end with."""

    name: str
    code: str
    message: str
    remedy: str
