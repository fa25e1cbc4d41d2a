"""The lane of embedding: documents give their texts in turns, so that nobody waits for somebody else's gigabyte."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from core.catalog.documents.embeddings import LOOK_AGAIN_S, PATIENCE_S, Missing
from core.catalog.jobs.stage_run import JobEndings, StageResult, StageRun, run_stage, write_all
from core.errors import CatalogUnavailable, EvoRAGError
from core.indexes.active import ActiveIndex
from core.indexes.projector import Projector
from core.ingest.fair_queue import FairQueue
from core.model import Stage
from core.platform.failpoints import failpoint
from core.ports import Embedder, Vector

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

TURN_TEXTS = 16
"""Texts that one document gives at its turn; also those of one batch."""
ROUND_TEXTS = 64
"""Texts of one round, from as many documents as have their turn."""
_ROUND_DOCUMENTS = 64
_KEEP_S = 0.5
_TELL_S = 0.5
_PAUSE_S = 1.0
"""The lane counts as idle when nothing was embedded for so long; what else its thread did meanwhile is its cost."""
_VISIBLE_S = 2.0


@dataclass(eq=False, slots=True)
class _Waiting:
    """A document in the lane: how far it has been read, and what it gave to the present round."""

    run: StageRun
    total: int
    priority: int
    position: int = -1
    done: int = 0
    batch: dict[bytes, Missing] = field(default_factory=dict)
    is_read: bool = False
    held_since: float | None = None
    """Since when others have held every text that it gave."""
    told: set[bytes] = field(default_factory=set)
    """Texts of the present round that were counted already."""


class EmbeddingQueue:
    """Embeds what documents lack, in rounds; texts of several documents share a batch, and none is embedded twice.

    The texts of a round are claimed: what another process or a generation being built holds is read again later.
    """

    def __init__(self, catalog: Catalog, active: ActiveIndex, projector: Projector, endings: JobEndings) -> None:
        self._catalog = catalog
        self._active = active
        self._projector = projector
        self._endings = endings
        self._queue: FairQueue[_Waiting] = FairQueue()
        self._shown = 0.0
        self._worked = 0.0
        self._told = 0.0

    def add(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Have documents embedded whose keywords are indexed; return those that go on."""
        if not runs:
            return []
        model = self._active.embedder.id
        found = self._catalog.embeddings.progress([run.version_id for run in runs], model)
        progress = {run.job.id: found[run.version_id] for run in runs}
        self._catalog.embeddings.set_progress({run.version_id: progress[run.job.id][0] for run in runs})
        for run in runs:
            # What an earlier attempt or version embedded counts, so that progress never runs backwards.
            embedded, missing = progress[run.job.id]
            run.begin(Stage.EMBEDDING, embedded + missing)
            run.tell(embedded, embedded + missing)
        going = write_all(self._catalog.jobs, runs, self._endings.cancelled)
        failpoint("ingest.embedding.entered")
        for run in going:
            embedded, missing = progress[run.job.id]
            self._put(_Waiting(run, embedded + missing, run.job.priority, done=embedded))
        return going

    def is_empty(self) -> bool:
        return self._queue.is_empty()

    def drop(self, job_id: str) -> bool:
        """Take a document out of the lane whose job has ended; tell whether it waited there."""

        def has_ended(waiting: _Waiting) -> bool:
            # A job that was started again meanwhile is here with its next attempt, which goes on.
            return waiting.run.job.id == job_id and not self._catalog.jobs.is_running(waiting.run.attempt)

        return self._queue.remove(has_ended) is not None

    def prioritise(self, job_id: str, priority: int) -> None:
        """Have a document's turns come earlier or later than those of its user's others."""
        waiting = self._queue.remove(lambda each: each.run.job.id == job_id)
        if waiting is not None:
            waiting.priority = priority
            self._put(waiting)

    def step(self) -> list[StageRun]:
        """Embed one round; return the documents that lack nothing any more."""
        now = time.monotonic()
        if now - self._worked > _PAUSE_S:
            self._worked = now
        chosen = self._next_round()
        try:
            going = self._embedded(chosen)
            failpoint("ingest.embedding.round")
            return self._complete(self._note_progress(going))
        except BaseException:
            for waiting in chosen:
                if waiting.is_read:
                    waiting.is_read, waiting.position = False, -1
                    self._put(waiting)
            raise

    # ---- one round

    def _next_round(self) -> list[_Waiting]:
        """Let documents give texts in their turns, until the round is full or all have given all."""
        chosen: dict[_Waiting, None] = {}
        texts: set[bytes] = set()
        while len(texts) < ROUND_TEXTS and len(chosen) < _ROUND_DOCUMENTS:
            waiting = self._queue.next()
            if waiting is None:
                break
            try:
                page = self._catalog.embeddings.missing(
                    waiting.run.version_id, self._active.embedder.id, waiting.position, TURN_TEXTS
                )
            except BaseException:
                # Else nobody would give it another turn.
                for each in (waiting, *(known for known in chosen if known.is_read and known is not waiting)):
                    each.is_read, each.position = False, -1
                    self._put(each)
                raise
            chosen[waiting] = None
            waiting.batch.update((each.digest, each) for each in page)
            texts.update(waiting.batch)
            waiting.is_read = len(page) < TURN_TEXTS
            if not waiting.is_read:
                waiting.position = page[-1].position
                self._put(waiting)
        return list(chosen)

    def _embedded(self, chosen: Sequence[_Waiting]) -> list[_Waiting]:
        """Embed what was given; return the documents that go on."""
        try:
            self._embed(chosen)
        except CatalogUnavailable:
            raise
        except Exception as error:
            if not isinstance(error, EvoRAGError) and len(chosen) > 1:
                log.exception("%d documents met an unexpected error together", len(chosen))
                return [waiting for waiting in chosen if self._alone(waiting)]
            failed = error

            def fail(_: StageRun) -> StageResult:
                raise failed

            for waiting in chosen:
                self._take_out(waiting)
                run_stage(fail, waiting.run, self._endings)
            return []
        return [waiting for waiting in chosen if not waiting.run.is_stopped]

    def _alone(self, waiting: _Waiting) -> bool:
        def embed(_: StageRun) -> StageResult:
            self._embed([waiting])
            return StageResult()

        if run_stage(embed, waiting.run, self._endings):
            return not waiting.run.is_stopped
        self._take_out(waiting)
        return False

    def _embed(self, chosen: Sequence[_Waiting]) -> None:
        # What began with one embedder is kept as its own, whatever serves meanwhile.
        embedder = self._active.embedder
        lengths = {digest: each.length for waiting in chosen for digest, each in waiting.batch.items()}
        if not lengths:
            return
        with self._catalog.embeddings.claimed(embedder.id, list(lengths)) as free:
            # Another process may have kept some between their being read and claimed.
            known = self._catalog.embeddings.embedded(embedder.id, list(lengths))
            own = (free | _overdue(chosen)) - known
            # Texts of like length make batches without padding.
            self._embed_own(sorted(own, key=lengths.__getitem__), embedder, chosen)
        for waiting in chosen:
            _leave_to_others(waiting, own | known)
        if not own | known:
            time.sleep(LOOK_AGAIN_S)

    def _embed_own(self, order: Sequence[bytes], embedder: Embedder, chosen: Sequence[_Waiting]) -> None:
        vectors: list[tuple[list[bytes], Vector]] = []
        since = time.monotonic()
        for at in range(0, len(order), TURN_TEXTS):
            if chosen[0].run.is_stopped:
                break
            few = list(order[at : at + TURN_TEXTS])
            texts = self._catalog.embeddings.texts_of(few)
            few = [digest for digest in few if digest in texts]

            def tell(done: int, _: int, before: int = at) -> None:
                self._tell_between(chosen, order[: before + done])

            vectors.append((few, embedder.embed_passages([texts[digest] for digest in few], tell)))
            if time.monotonic() - since >= _KEEP_S:
                self._keep(embedder, vectors)
                since = time.monotonic()
        self._keep(embedder, vectors)

    def _keep(self, embedder: Embedder, vectors: list[tuple[list[bytes], Vector]]) -> None:
        hashes = [digest for few, _ in vectors for digest in few]
        if hashes:
            failpoint("ingest.embeddings.computed")
            self._catalog.embeddings.add(embedder.id, hashes, np.concatenate([each for _, each in vectors]))
            failpoint("ingest.embeddings.kept")
        vectors.clear()

    def _tell_between(self, chosen: Sequence[_Waiting], embedded: Collection[bytes]) -> None:
        """Write how far the documents of a round are while it goes on; those that have ended meanwhile leave later."""
        now = time.monotonic()
        if now - self._told < _TELL_S:
            return
        self._told = now
        self._count(chosen, set(embedded))
        for waiting in chosen:
            waiting.run.tell(min(waiting.done + len(waiting.told), waiting.total), waiting.total)
        write_all(self._catalog.jobs, [waiting.run for waiting in chosen], lambda _: None)

    def _count(self, chosen: Sequence[_Waiting], embedded: Collection[bytes]) -> None:
        """Book the round's texts so far, and the time that the lane has worked since, on their documents."""
        new = {
            waiting: [
                each for digest, each in waiting.batch.items() if digest in embedded and digest not in waiting.told
            ]
            for waiting in chosen
        }
        whole = sum(_weight(texts) for texts in new.values())
        if not whole:
            return
        now = time.monotonic()
        passed, self._worked = now - self._worked, now
        for waiting, texts in new.items():
            waiting.told.update(each.digest for each in texts)
            tokens = sum(each.tokens for each in texts)
            seconds = passed * _weight(texts) / whole
            waiting.run.spend({"embedded_texts": len(texts), "embedded_tokens": tokens, "embedding_s": seconds})

    def _note_progress(self, going: Sequence[_Waiting]) -> list[_Waiting]:
        """Note how far each document is, and leave out those whose jobs have ended meanwhile."""
        due = {}
        self._count(going, {digest for waiting in going for digest in waiting.batch})
        for waiting in going:
            waiting.done = min(waiting.done + len(waiting.batch), waiting.total)
            waiting.batch.clear()
            waiting.told.clear()
            if waiting.run.tell(waiting.done, waiting.total) and not waiting.is_read:
                due[waiting.run] = waiting
        lost: list[StageRun] = []
        if due:
            write_all(self._catalog.jobs, list(due), lost.append)
            for run in lost:
                self._take_out(due[run])
                self._endings.cancelled(run)
            if time.monotonic() - self._shown >= _VISIBLE_S:
                self._shown = time.monotonic()
                self._projector.flush_soon()
        return [waiting for waiting in going if waiting.run not in lost]

    def _complete(self, going: Sequence[_Waiting]) -> list[StageRun]:
        """Return the documents that have been read to their end and lack nothing; others are read again."""
        read = [waiting for waiting in going if waiting.is_read]
        progress = self._catalog.embeddings.progress(
            [waiting.run.version_id for waiting in read], self._active.embedder.id
        )
        complete = []
        for waiting in read:
            embedded, missing = progress[waiting.run.version_id]
            if missing:
                waiting.done = min(max(waiting.done, embedded), waiting.total)
                waiting.is_read, waiting.position = False, -1
                self._put(waiting)
            else:
                complete.append(waiting.run)
        return complete

    def _put(self, waiting: _Waiting) -> None:
        self._queue.put(waiting.run.job.actor, waiting.priority, waiting)

    def _take_out(self, waiting: _Waiting) -> None:
        self._queue.remove(lambda each: each is waiting)


def _weight(texts: Iterable[Missing]) -> int:
    return sum(each.tokens + 1 for each in texts)


def _overdue(chosen: Sequence[_Waiting]) -> set[bytes]:
    """Return the texts of documents that have waited too long for other processes."""
    latest = time.monotonic() - PATIENCE_S
    return {
        digest
        for waiting in chosen
        if waiting.held_since is not None and waiting.held_since <= latest
        for digest in waiting.batch
    }


def _leave_to_others(waiting: _Waiting, done: set[bytes]) -> None:
    """Take the texts out of a document's batch that other processes embed, and note since when these hold all."""
    given = bool(waiting.batch)
    waiting.batch = {digest: each for digest, each in waiting.batch.items() if digest in done}
    if waiting.batch:
        waiting.held_since = None
    elif given and waiting.held_since is None:
        waiting.held_since = time.monotonic()
