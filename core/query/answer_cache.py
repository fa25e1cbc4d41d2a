"""The cache of answers: a question that was asked before, in these or in like words, of the same documents.

What an entry is found by holds everything that changes an answer: whoever asks, the view of the documents with its
sequence number, filters as the documents that they allow, the query's options, the settings, the generator and its
model, this release, and what the indexes were made by. Questions of the advanced form, those about more than
documents, and those that are recorded are answered afresh always.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.catalog.documents.isolation import viewer
from core.catalog.questions.cached_answers import CacheKey, Entry
from core.errors import EvoRAGError, NotFound
from core.generators import Generators
from core.indexes.active import IndexHandle
from core.model import Analysis, CacheUse, Intent, Query, ReadFilter, Trace, VersionRef
from core.model.codec import to_dict
from core.query.understand.paraphrase import names_hash
from core.query.understand.understanding import AskedQuestion
from core.settings import CacheSettings

if TYPE_CHECKING:
    from core.catalog import Catalog

_MOST_ALIKE = 200
FORMAT = 9
"""Of what is kept; another one makes every kept answer another question's."""
_MODELS = ("llm_model", "snn_model", "cross_encoder")
"""Settings that may name a folder."""
_IN_THE_VIEW = ("text", "as_of", "fresh", "conversation_id", "zone")


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer that the cache has: the account that the history kept of it, and how it was found."""

    trace: Trace
    use: CacheUse


class AnswerCache:
    """Finds kept answers, and says which may be kept."""

    def __init__(
        self,
        catalog: Catalog,
        serving: Callable[[], IndexHandle],
        generators: Generators,
        settings: CacheSettings,
        options: Mapping[str, str],
        *,
        recency: bool,
    ) -> None:
        """Find answers that were given with these ``options``, the settings that an answer depends on."""
        self._catalog = catalog
        self._serving = serving
        self._generators = generators
        self._settings = settings
        self._options = dict(options)
        self._recency = recency

    @property
    def most(self) -> int:
        """How many answers are kept at most."""
        return self._settings.cache_entries if self._settings.cache_answers else 0

    def key(self, query: Query, analysis: Analysis) -> CacheKey | None:
        """Return what the answer to a question is found by; None where it cannot be kept.

        Raises: ``NotFound`` and ``Conflict`` for a version that cannot be asked.
        """
        is_afresh = query.record or analysis.intent is not Intent.DOCUMENTS or analysis.syntax is not None
        if self.most < 1 or is_afresh:
            return None
        sequence, is_whole, made_by = self._catalog.answers.state()
        pinned: tuple[int, int] | None = None
        if isinstance(query.as_of, VersionRef):
            pinned = self._catalog.visibility.version_of(query.as_of)[:2]
        elif isinstance(query.as_of, datetime):
            sequence = self._catalog.publications.sequence_at(query.as_of)
        elif query.as_of is not None:
            # One that is not there yet is refused by the search.
            is_whole, sequence = is_whole and query.as_of <= sequence, query.as_of
        generator = self._generator(query)
        if not is_whole or generator is None:
            return None
        options = {name: value for name, value in to_dict(query).items() if name not in _IN_THE_VIEW}
        recency = self._recency if query.recency is None else query.recency
        scope = {
            "format": [FORMAT, _release()],
            "viewer": viewer(),
            "pinned": pinned,
            "documents": self._catalog.visibility.documents_matching(query.filters),
            "read": [self._read(each) for each in analysis.read_filters],
            "query": options,
            "settings": self._options,
            "generator": generator,
            "folders": [_stamps(self._options[name]) for name in _MODELS],
            "made_by": made_by,
            "generation": self._serving().number,
            "day": datetime.now(UTC).date().isoformat() if recency else "",
        }
        packed = json.dumps(scope, sort_keys=True, default=str)
        asked = analysis.normalised
        return CacheKey(_sha256(asked), _sha256(packed), analysis.language, names_hash(asked), sequence)

    def find(self, key: CacheKey, analysis: Analysis, query: Query) -> CachedAnswer | None:
        """Return the kept answer to the same question, else to the one that is most alike, if any is enough."""
        entry, similarity = self._catalog.answers.same(key), 1.0
        kind = "exact"
        if entry is None and query.syntax == "plain":
            kind = "semantic"
            entry, similarity = self._most_alike(key, analysis.normalised)
        if entry is None:
            return None
        try:
            kept = self._catalog.questions.get(entry.trace_id, entry.checksum)
        except NotFound:
            self._catalog.answers.forget(entry.trace_id)
            return None
        use = CacheUse(kind, kept.id, kept.query.text, kept.asked_at, round(similarity, 4))
        return CachedAnswer(kept, use)

    def to_keep(self, key: CacheKey, trace: Trace) -> CacheKey | None:
        """Return what an answer is kept under, None where it must not be: something failed, or the world moved on."""
        is_complete = not trace.degraded and "error" not in trace.generation
        is_complete = is_complete and (trace.rerank is None or trace.rerank.error is None)
        analysis = trace.analysis
        if not is_complete or trace.sequence != key.sequence or analysis.intent is not Intent.DOCUMENTS:
            return None
        try:
            vector = self._serving().questions.embed_query(analysis.normalised)
        except EvoRAGError:
            return key
        return replace(key, vector=vector.astype(np.float16).tobytes())

    def _most_alike(self, key: CacheKey, question: str) -> tuple[Entry | None, float]:
        entries = self._catalog.answers.alike(key, _MOST_ALIKE)
        if not entries:
            return None, 0.0
        try:
            vector = self._serving().questions.embed_query(question)
        except EvoRAGError:
            return None, 0.0
        entries = [entry for entry in entries if len(entry.vector or b"") == 2 * vector.size]
        if not entries:
            return None, 0.0
        rows = np.stack([np.frombuffer(entry.vector or b"", np.float16) for entry in entries]).astype(np.float32)
        cosines = rows @ vector / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
        best = int(np.argmax(cosines))
        cosine = float(cosines[best])
        return (entries[best], cosine) if cosine > self._settings.cache_similarity else (None, cosine)

    def _read(self, read: ReadFilter) -> list[Any]:
        """Return what a filter that was read from the question means now; its words may differ."""
        return [read.id, to_dict(read.filters), self._catalog.visibility.documents_matching(read.filters)]

    def _generator(self, query: Query) -> list[str] | None:
        """Return the generator and its model, None while the model is not known: its server has not been asked yet."""
        name = self._generators.writer_of(query)
        try:
            generator = self._generators.get(name)
        except EvoRAGError:
            return None
        if generator is None:
            return [name]
        place = self._generators.place(name)
        return [name, generator.model, *([place] if place else [])] if generator.model else None


def answered_again(cached: CachedAnswer, asked: AskedQuestion) -> Trace:
    """Return the account of a question that was answered from the cache: its own analysis and times, all else kept."""
    return replace(
        cached.trace,
        id=secrets.token_hex(16),
        asked_at=asked.asked_at,
        query=asked.query,
        analysis=replace(
            asked.analysis,
            read_filters=cached.trace.analysis.read_filters,
            searched=cached.trace.analysis.searched if cached.use.kind == "exact" else "",
            corrections=cached.trace.analysis.corrections if cached.use.kind == "exact" else (),
        ),
        timings_ms=asked.watch.total(),
        cache=cached.use,
    )


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@cache
def _release() -> str:
    try:
        return version("evorag")
    except PackageNotFoundError:
        return ""


def _stamps(model: str) -> list[list[Any]]:
    """Return name, size and time of the files that tell one model from another, where it is a folder."""
    folder = Path(model).expanduser()
    try:
        files = sorted(folder.glob("*.safetensors")) if model and folder.is_dir() else []
        files += [folder / "config.json"] if files else []
        return [[file.name, (at := file.stat()).st_size, at.st_mtime_ns] for file in files]
    except (OSError, RuntimeError):
        return []
