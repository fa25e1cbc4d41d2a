"""What the pipeline needs from technology, as protocols; every adapter of a port passes the same contract tests.

Policy that all adapters share is stated here once, in the docstrings. Adapters translate their SDK's errors into
``core.errors`` and hold no policy of their own.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from core.model import FileFault, GeneratorHealth, IndexHit, Job, Part, Prompt, Sampling
from core.model.recognition import RecognisedLine
from core.model.terms import Clause
from core.reading_ports import Reader as Reader
from core.reading_ports import Verifier as Verifier

Vector = npt.NDArray[np.float32]
"""Shape ``(dimension,)`` or ``(n, dimension)``, unit length."""
DocIds = Sequence[int] | None

Pixels = npt.NDArray[np.uint8]
"""A picture, shape ``(height, width, 3)``: red, green and blue."""

Progress = Callable[[int, int], None]
"""Called with what is done, of how much."""

Writing = abc.Generator[str, None, None]
"""What a generator writes, piece by piece; closing it stops the writing."""


class Parsing(Protocol):
    """A document that is being parsed, and whose result has yet to be taken."""

    @property
    def used_s(self) -> float:
        """Return the processor time that it has taken so far."""

    @property
    def is_open(self) -> bool:
        """Tell whether its result has yet to be taken, and it was not given up."""

    def lower(self) -> None:
        """Let other work go first from now on; a wait for it counts for no limit."""

    def result(self, progress: Progress | None = None, look: Look | None = None) -> Mapping[str, Any]:
        """Return what ``Parser.parse`` does."""

    def end(self) -> None:
        """Give it up; what it has written is removed."""


Look = Callable[[Parsing], bool]
"""Is shown a parsing twice a second and may step it aside: whoever waits for it then has ``{"aside": parsing}``."""


class Parser(Protocol):
    """Turns the bytes of one document into blocks, away from the caller's process."""

    def parse(
        self,
        source: Path,
        extension: str,
        target: Path,
        progress: Progress | None = None,
        recognised: Path | str | None = None,
        pictures: Path | None = None,
        look: Look | None = None,
    ) -> Mapping[str, Any]:
        """Write the blocks of ``source`` to ``target`` as JSON lines and return the document's metadata.

        ``recognised`` is the file of lines that were recognised in its pictures so far, ``""`` for none yet; None
        where nothing is recognised. Where some have yet to be, ``{"pictures": names}`` is returned and nothing written;
        where there is text without them, it is written, ``embedded`` names them, and those that are no pages are put
        into the folder ``pictures``. ``progress`` hears of pages, slides or bytes where the format tells how many there
        are; what it or ``look`` raises ends the parsing, and ``{"aside": parsing}`` is returned where ``look`` says so.
        Raises: ``UnreadableDocument`` and its kinds. ``target`` is complete or absent.
        """

    def close(self) -> None: ...


class Ocr(Protocol):
    """Recognises the characters of pictures; made and called in a child process."""

    id: str

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        """Return the lines of text in a picture, in any order."""


class Embedder(Protocol):
    """Turns text into unit vectors of one named space."""

    id: str
    dimension: int

    def ready(self) -> bool:
        """Tell whether a question can be embedded without loading anything."""

    def load(self) -> None:
        """Load what the first question would otherwise wait for. Raises: ``ModelUnavailable``."""

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, dimension)`` vectors in the order of ``texts``. Raises: ``ModelUnavailable``."""

    def embed_query(self, text: str) -> Vector:
        """Return a ``(dimension,)`` vector. Raises: ``ModelUnavailable``."""


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Some rows of a store as it keeps them: ids and fingerprints ``(n,)`` int64, and which are in the head part."""

    ids: npt.NDArray[np.int64]
    fingerprints: npt.NDArray[np.int64]
    """The row's ``core.model.fingerprint``, of its content and of what it was built by; 0 where it has none."""
    in_head: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class VectorRow:
    chunk_id: int
    doc_id: int
    part: Part
    vector: Vector
    text: str
    source: str
    fingerprint: int = 0


HeadVector = tuple[int, int, Vector]
"""Chunk id, document id and vector of a row of one part."""


class VectorIndex(Protocol):
    """Nearest neighbours by L2 distance.

    A chunk has one row, in one part: an upsert replaces the row wherever it was, so moving a row between the parts is
    an upsert with the other part, and every write can be repeated. A write is durable when it returns. ``search``
    returns the Euclidean distance (not its square), nearest first, ties by id. Raises: ``StoreUnavailable``.
    """

    engine: str

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        """Take a part into memory, where it is searched there; what was written meanwhile wins.

        ``rows`` are that part as the catalogue has it; they are not read where only the store is searched.
        """

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        """Tell whether a search of these parts is answered by what ``load`` took, whatever the store lacks."""

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what answers a search of these parts now."""

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        """Return the vectors of those chunks that are in memory, as the catalogue has them."""

    def upsert(self, rows: Sequence[VectorRow]) -> None: ...
    def delete(self, chunk_ids: Sequence[int]) -> None: ...

    def search(self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: DocIds = None) -> list[IndexHit]: ...

    def count(self) -> Mapping[Part, int]: ...

    def ids(self) -> Iterator[tuple[int, Part]]: ...

    def stored(self) -> Iterator[StoredRows]:
        """Yield every row, some thousands at a time, each once. Raises: ``StoreUnavailable``."""

    def clear(self) -> None: ...

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Remove from the disk what deleted rows have left there; tell whether nothing is left.

        What stays goes when every other row has been written again. Raises: ``StoreUnavailable``.
        """

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class KeywordRow:
    chunk_id: int
    doc_id: int
    part: Part
    text: str
    source: str
    fingerprint: int = 0


class TermAnalyser(Protocol):
    """Makes the terms of rows and of questions, with a vocabulary or without; it never changes."""

    built_by: str
    """What makes the terms of rows: synonyms do not."""

    def analyse(self, text: str) -> list[str]:
        """Return the terms that a text is indexed by, with repetitions."""

    def ask(self, text: str) -> tuple[Clause, ...]: ...


class KeywordIndex(Protocol):
    """BM25 (k1 = 1.2, b = 0.75) over the terms of ``core.text.analysis``; statistics are those of the part searched.

    A vocabulary adds to the terms, and gives a question's words synonyms: of these the best alternative counts.
    Rows behave as in ``VectorIndex``. ``snapshot`` is another object whenever ``holding`` may give other rows, and None
    where that cannot be told. ``search`` takes the question as literal text, whatever signs it holds, and returns hits
    with the score of each term, best first, ties by id. No term in common means no hit; an engine that cannot answer
    raises ``StoreUnavailable``, and never an empty list instead.
    """

    engine: str

    def use(self, of_rows: TermAnalyser, of_questions: TermAnalyser) -> None:
        """Analyse the rows that are written from now on, and questions, with these vocabularies."""

    def upsert(self, rows: Sequence[KeywordRow]) -> None: ...

    def delete(self, chunk_ids: Sequence[int]) -> None: ...

    def search(self, text: str, limit: int, parts: Sequence[Part], doc_ids: DocIds = None) -> list[IndexHit]: ...

    def snapshot(self) -> object | None: ...

    def holding(self, term: str, edits: int, limit: int, parts: Sequence[Part], doc_ids: DocIds = None) -> list[int]:
        """Return some rows with a term of the same first sign, at most two edits away; swapped neighbours are one."""

    def count(self) -> Mapping[Part, int]: ...

    def ids(self) -> Iterator[tuple[int, Part]]: ...

    def stored(self) -> Iterator[StoredRows]: ...

    def clear(self) -> None: ...

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Remove from the disk what deleted rows have left there, as ``VectorIndex`` does."""

    def close(self) -> None: ...


class Signal(Protocol):
    """Tells those who wait for work that there may be some."""

    @property
    def count(self) -> int:
        """How often it was notified."""

    def notify(self) -> None:
        """Wake whoever waits."""

    def wait(self, seen: int) -> None:
        """Return once there were more notifications than ``seen``."""


class JobQueue(Protocol):
    """Works on what the catalogue's job ledger holds; the ledger, not the queue, knows what there is to do.

    A queue may be lost and made anew at any moment: what it had begun is done again from its last finished stage, and
    what it had finished is not done twice. It is fair between users and obeys priorities.
    """

    has_threads: bool
    """Whether work is done in the background, and not only by ``work_off``."""

    def start(self) -> None:
        """Take up what is queued and what a process that ended left running."""

    def wake(self) -> None:
        """Tell that a job was queued."""

    def work_off(self) -> None:
        """Work on queued jobs in the calling thread until none is left."""

    def wait(self, job_ids: Sequence[str], timeout_s: float | None) -> list[Job]:
        """Return the jobs once all have ended, or as they are when the time is over. Raises: ``NotFound``."""

    def changed(self, seen: int, timeout_s: float) -> int:
        """Return the ledger's newest change once it is beyond ``seen``, or when the time is over."""

    def cancel(self, job_id: str) -> Job: ...

    def retry(self, job_id: str, *, anew: bool = True) -> Job: ...

    def prioritise(self, job_id: str, priority: int) -> Job: ...

    def close(self) -> None: ...


class Generator(Protocol):
    """Writes an answer piece by piece; loads with the first one, or in the background: ``health`` never waits for it.

    Only one answer is written at a time where the engine takes no more; others wait within their own time.
    """

    name: str
    model: str

    def health(self) -> GeneratorHealth: ...

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        """Yield pieces of the answer as they are written; closing the iterator stops the writing at once.

        While a model loads, reads or thinks an empty piece comes every few seconds: a reader who has gone is noticed.
        Raises: ``ModelUnavailable``, ``GenerationTimedOut``, ``GenerationFailed``; what was yielded stays true.
        """

    def close(self) -> None: ...


@runtime_checkable
class RecordingGenerator(Generator, Protocol):
    """A generator whose neurons can be recorded while it writes."""

    def write_recorded(
        self,
        prompt: Prompt,
        sampling: Sampling,
        timeout_s: float,
        into: Path,
        failed: Callable[[Exception], object] = ...,
    ) -> Writing:
        """Do what ``write`` does, the very same way, and leave the recording in the file ``into``.

        The file is whole once the iterator has ended, also where it was closed or failed after its first piece; there
        is none where nothing was written, or it could not be: then ``failed`` was told why. Raises: what ``write``
        raises.
        """


class Reranker(Protocol):
    """Scores passages for a question by reading both together."""

    name: str

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score a passage, larger is better. Raises: ``ModelUnavailable``."""


class BlobStore(Protocol):
    """Immutable bytes named by their SHA-256 in lower-case hexadecimal.

    Everything raises ``StoreUnavailable`` while the place where they are does not answer; nothing of a ``put`` counts
    then, and its source is left.
    """

    engine: str
    """Where they are, in a word."""

    def put(self, source: Path, sha256: str) -> None:
        """Take the file ``source`` away, whose hash is ``sha256``; durable then. A known damaged blob is replaced."""

    def path(self, sha256: str, *, verified: bool = True) -> Path:
        """Return a file that can be opened within the next minutes, and whose bytes were found to have this hash.

        With ``verified=False`` nobody looks at them: the caller does. Raises: ``NotFound``, and its ``Damaged``.
        """

    def fault(self, sha256: str, pace: Callable[[float], None] = ...) -> FileFault | None:
        """Read a blob to its end; tell what is wrong. ``pace`` hears each piece's seconds; what it raises ends it."""

    def size(self, sha256: str) -> int | None:
        """Return the size of a blob in bytes, None where there is none."""

    def delete(self, sha256: str) -> None: ...

    def names(self) -> Iterator[str]:
        """Yield the names of all blobs."""


class Passwords(Protocol):
    """Slow, salted hashes of passwords."""

    def hash(self, password: str) -> str: ...

    def verify(self, password: str, hashed: str) -> bool:
        """Tell whether a hash is that of a password, in a time that does not depend on how near it is."""
