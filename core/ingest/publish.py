"""Both ends of indexing: rows go to the keyword index first; once all vectors are there, the version is published."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.catalog.documents.indexing import Indexed
from core.catalog.documents.publications import Decision, Finishing
from core.errors import StoreUnavailable
from core.indexes.projector import Projector
from core.ingest.failures import Endings, Stopped
from core.ingest.job_run import JobProgress, write_all
from core.model import Part, Stage
from core.platform.failpoints import point

if TYPE_CHECKING:
    from core.catalog import Catalog, Showing

log = logging.getLogger(__name__)

_STORE_WAIT_S = 2.0
_AT_ONCE = 2_000
"""Places of a version that the stores are asked for at once; others' rows come between those of a large one."""
_SOON = 1_000
"""Texts that are embedded soon enough for a version to wait for them among what is shown."""


class Publisher:
    """Has versions indexed where they belong, and shows them: early when they ask for it, else when all is there."""

    def __init__(self, catalog: Catalog, projector: Projector, endings: Endings) -> None:
        self._catalog = catalog
        self._projector = projector
        self._endings = endings

    # ---- by keyword

    def keywords(self, walkers: Sequence[JobProgress], stop: threading.Event) -> list[JobProgress]:
        """Make versions findable by their words, and publish those that wait for no more; return what goes on."""
        standing = {walker.job.id: self._catalog.indexing.of(walker.version_id) for walker in walkers}
        new = [walker for walker in walkers if not standing[walker.job.id].keyword_ready]
        for walker in new:
            walker.begin(Stage.KEYWORDS, standing[walker.job.id].chunk_count)
        alive = set(write_all(self._catalog, new, self._lost)) if new else set()
        new = [
            walker
            for walker in new
            if walker in alive
            and self._endings.guarded(partial(self._place, standing=standing[walker.job.id], stop=stop), walker)
        ]
        if new:
            if not self._flush(new, self._projector.flush_keywords, stop):
                return []
            point("ingest.keywords.flushed")
            self._catalog.indexing.keywords_ready([walker.version_id for walker in new])
            point("ingest.keywords.ready")
            for walker in new:
                walker.count(standing[walker.job.id].chunk_count)
        going = [walker for walker in walkers if walker in new or standing[walker.job.id].keyword_ready]
        early = [walker for walker in going if _is_early(standing[walker.job.id])]
        failed = {walker for walker in early if not self._endings.guarded(partial(self._show_early, stop=stop), walker)}
        return [walker for walker in going if walker not in failed]

    def _place(self, walker: JobProgress, standing: Indexed, stop: threading.Event) -> None:
        """Ask the stores for a version: in head where it is about to be shown, else in history until it is."""
        missing = standing.chunk_count - standing.embedded_chunks
        is_soon = not standing.is_draft and (standing.publish_early or missing <= _SOON)
        if is_soon:
            self._place_in_head(walker, standing, stop)
        elif standing.chunks_added <= _AT_ONCE:
            self._catalog.publications.shelve(walker.doc_id, walker.version_id)
        else:
            for first in range(0, standing.chunk_count, _AT_ONCE):
                self._catalog.indexing.place_in_history(walker.doc_id, walker.version_id, first, _AT_ONCE)
                self._settle(walker, first, standing.chunk_count, stop)
        point("ingest.keywords.asked")

    def _place_in_head(self, walker: JobProgress, standing: Indexed, stop: threading.Event) -> Showing:
        if standing.chunks_added <= _AT_ONCE:
            showing = self._catalog.publications.prepare(walker.doc_id, walker.version_id)
        else:
            showing = self._catalog.indexing.begin(walker.doc_id, walker.version_id, Part.HEAD)
            point("ingest.placing.begun")
            for first in range(0, standing.chunk_count, _AT_ONCE):
                self._catalog.indexing.place_in_head(walker.version_id, showing.version_id, first, _AT_ONCE)
                self._settle(walker, first, standing.chunk_count, stop)
        walker.showing = showing
        return showing

    def _settle(self, walker: JobProgress, first: int, total: int, stop: threading.Event) -> None:
        """Bring one step of a large version to the stores before the next one is asked for."""
        point("ingest.placing.step")
        is_last = walker.stage is Stage.INDEXING
        if not self._flush([walker], self._projector.flush if is_last else self._projector.flush_keywords, stop):
            raise Stopped
        walker.advance(min(first + _AT_ONCE, total), total)

    def _show_early(self, walker: JobProgress, stop: threading.Event) -> None:
        """Publish a version that lacks embeddings, unless something newer is shown or the document was hidden."""
        standing = self._catalog.indexing.of(walker.version_id)
        while _is_early(standing):
            if self._catalog.publications.is_settled(walker.version_id):
                return
            showing = walker.showing
            if showing is None:
                showing = self._place_in_head(walker, standing, stop)
                if not self._flush([walker], self._projector.flush_keywords, stop):
                    raise Stopped
            point("ingest.early.publishing")
            decision = Decision(walker.doc_id, walker.version_id, "publish", standing.actor)
            if self._catalog.publications.commit(decision, expected=showing, early=walker.attempt):
                point("ingest.early.published")
                self._projector.flush_soon()
                return
            walker.showing = None
            standing = self._catalog.indexing.of(walker.version_id)

    # ---- to the end

    def is_long(self, walker: JobProgress) -> bool:
        """Tell whether a version is so large that it is placed in steps."""
        standing = self._catalog.indexing.of(walker.version_id)
        return standing.state == "stored" and standing.chunks_added > _AT_ONCE

    def finish(self, walkers: Sequence[JobProgress], stop: threading.Event) -> None:
        """End the jobs of versions whose vectors are all there: publish them, or keep them as drafts."""
        for walker in walkers:
            walker.begin(Stage.INDEXING)
        going = write_all(self._catalog, walkers, self._lost) if walkers else []
        point("ingest.indexing.entered")
        while going and not stop.is_set():
            going = [w for w in going if self._endings.guarded(partial(self._placed, stop=stop), w)]
            if not going or not self._flush(going, self._projector.flush, stop):
                return
            point("ingest.indexing.flushed")
            again: list[JobProgress] = []
            for walker in going:
                self._endings.guarded(partial(self._end, again=again), walker)
            going = again
        self._projector.flush_soon()

    def _placed(self, walker: JobProgress, stop: threading.Event) -> None:
        """Ask for the version's rows where they belong at the end, unless they are there."""
        standing = self._catalog.indexing.of(walker.version_id)
        walker.is_draft = standing.is_draft
        if standing.state == "ready":
            return
        if standing.is_draft:
            if standing.is_prepared:
                self._catalog.publications.shelve(walker.doc_id, walker.version_id)
            walker.showing = None
        elif walker.showing is None:
            self._place_in_head(walker, standing, stop)
        walker.count(standing.chunk_count)
        point("ingest.indexing.asked")

    def _end(self, walker: JobProgress, again: list[JobProgress]) -> None:
        """Publish one version, or keep it as a draft, and end its job; or note that the world has changed meanwhile."""
        walker.check()
        point("ingest.job.ending")
        finishing = Finishing(
            walker.last_step(Stage.INDEXING if walker.is_draft else Stage.PUBLISHED), walker.version_id
        )
        publications = self._catalog.publications
        if publications.finish_shown(finishing):
            done = True
        elif walker.is_draft:
            done = publications.finish_draft(finishing)
        elif publications.finish_settled(finishing):
            done = True
        else:
            assert walker.showing is not None
            actor = self._catalog.indexing.of(walker.version_id).actor
            decision = Decision(walker.doc_id, walker.version_id, "publish", actor)
            done = publications.commit(decision, expected=walker.showing, finishing=finishing) is not None
        point("ingest.job.ended")
        if not done:
            walker.showing = None
            again.append(walker)

    # ---- at work

    def _flush(self, walkers: Sequence[JobProgress], flush: Callable[[], None], stop: threading.Event) -> bool:
        """Bring rows to the stores, waiting for one that is down; tell whether it was done before ``stop``."""
        is_noted = False
        while not stop.is_set():
            try:
                flush()
            except StoreUnavailable as error:
                log.warning("indexing waits for a store: %s", error.code)
                if not is_noted:
                    is_noted = True
                    ids = [walker.job.id for walker in walkers]
                    self._catalog.jobs.note(ids, "waiting_store", walkers[0].stage, store=error.code)
                stop.wait(_STORE_WAIT_S)
            else:
                return True
        return False

    def _lost(self, walker: JobProgress) -> None:
        self._endings.discard(walker.version_id)


def _is_early(standing: Indexed) -> bool:
    return standing.publish_early and not standing.is_draft and standing.state == "stored"
