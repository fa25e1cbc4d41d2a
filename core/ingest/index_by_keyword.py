"""The stage before embedding: versions are asked for in the indexes, and can be found by their words at its end.

Their rows belong in head where a version is about to be shown, else in history until it is. A large version is asked
for in steps, each of which reaches the stores before the next one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from core.catalog.documents.indexing import IndexedVersion
from core.catalog.jobs.stage_run import JobEndings, StageResult, StageRun, run_stage, wait_together, write_all
from core.indexes.projector import Projector
from core.model import Part, Stage
from core.platform.failpoints import failpoint

if TYPE_CHECKING:
    from core.catalog import Catalog, Showing

_AT_ONCE = 2_000
"""Places of a version that the stores are asked for at once; others' rows come between those of a large one."""
_SOON = 1_000
"""Texts that are embedded soon enough for a version to wait for them among what is shown."""


@dataclass(frozen=True, slots=True)
class Placed(StageResult):
    """Where the stores were asked to have a version."""

    showing: Showing | None = None
    """What the document showed when the version's rows were asked for in head; None where they were not."""
    is_draft: bool = False
    is_early: bool = False
    """Whether the version asks to be shown before its vectors are there."""
    takes_steps: bool = False
    """Whether the version is so large that it is placed in steps."""


class Placing:
    """Asks the stores for versions."""

    def __init__(self, catalog: Catalog, projector: Projector) -> None:
        self._catalog = catalog
        self._projector = projector

    def group_in_head(self, runs: Sequence[StageRun], versions: Mapping[int, IndexedVersion]) -> dict[int, Showing]:
        """Ask together for those small versions that are about to be shown.

        Return what these show until then, by the ids of the versions.
        """
        soon = {run.version_id: run.doc_id for run in runs}
        for version_id in list(soon):
            if not _is_soon(versions[version_id]) or _takes_steps(versions[version_id]):
                del soon[version_id]
        return self._catalog.group_publishing.prepare(soon) if len(soon) > 1 else {}

    def in_head(self, run: StageRun, version: IndexedVersion) -> Showing:
        """Ask for the version among what is shown; return what its document shows until then."""
        if not _takes_steps(version):
            return self._catalog.publications.prepare(run.doc_id, run.version_id)
        showing = self._catalog.indexing.begin(run.doc_id, run.version_id, Part.HEAD)
        failpoint("ingest.placing.begun")
        for first in range(0, version.chunk_count, _AT_ONCE):
            self._catalog.indexing.place_in_head(run.version_id, showing.version_id, first, _AT_ONCE)
            self._flush_step(run, first, version.chunk_count)
        return showing

    def in_history(self, run: StageRun, version: IndexedVersion) -> None:
        """Ask for the version where nothing is shown."""
        if not _takes_steps(version):
            self._catalog.publications.shelve(run.doc_id, run.version_id)
            return
        for first in range(0, version.chunk_count, _AT_ONCE):
            self._catalog.indexing.place_in_history(run.doc_id, run.version_id, first, _AT_ONCE)
            self._flush_step(run, first, version.chunk_count)

    def _flush_step(self, run: StageRun, first: int, total: int) -> None:
        failpoint("ingest.placing.step")
        is_last = run.stage is Stage.INDEXING
        flush: Callable[[], None] = self._projector.flush if is_last else self._projector.flush_keywords
        run.wait_for_store(flush)
        run.advance(min(first + _AT_ONCE, total), total)


class KeywordIndexing:
    """Has versions indexed by keyword, several together."""

    def __init__(self, catalog: Catalog, projector: Projector, placing: Placing, endings: JobEndings) -> None:
        self._catalog = catalog
        self._projector = projector
        self._placing = placing
        self._endings = endings

    def index(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Make versions findable by their words; return those that go on. Raises: ``Stopped``."""
        found = self._catalog.indexing.of_all([run.version_id for run in runs])
        versions = {run.job.id: found[run.version_id] for run in runs}
        new = [run for run in runs if not versions[run.job.id].keyword_ready]
        for run in new:
            run.begin(Stage.KEYWORDS, versions[run.job.id].chunk_count)
        if new:
            new = write_all(self._catalog.jobs, new, self._endings.cancelled)
        shown = self._placing.group_in_head(new, found)
        new = [
            run
            for run in new
            if run_stage(partial(self._place, version=found[run.version_id], shown=shown), run, self._endings)
        ]
        if new:
            wait_together(self._catalog.jobs, new, self._projector.flush_keywords)
            failpoint("ingest.keywords.flushed")
            self._catalog.indexing.keywords_ready([run.version_id for run in new])
            failpoint("ingest.keywords.ready")
            for run in new:
                run.keep(StageResult(versions[run.job.id].chunk_count))
        ready = [run for run in runs if versions[run.job.id].keyword_ready]
        for run in ready:
            run.keep(_placed(versions[run.job.id]))
        return [run for run in runs if run in new or run in ready]

    def _place(self, run: StageRun, version: IndexedVersion, shown: Mapping[int, Showing]) -> Placed:
        showing = shown.get(run.version_id)
        if showing is None and _is_soon(version):
            showing = self._placing.in_head(run, version)
        elif showing is None:
            self._placing.in_history(run, version)
        failpoint("ingest.keywords.asked")
        return _placed(version, showing)


def _placed(version: IndexedVersion, showing: Showing | None = None) -> Placed:
    return Placed(showing=showing, is_early=version.is_early, takes_steps=_takes_steps(version))


def _is_soon(version: IndexedVersion) -> bool:
    missing = version.chunk_count - version.embedded_chunks
    return not version.is_draft and (version.publish_early or missing <= _SOON)


def _takes_steps(version: IndexedVersion) -> bool:
    return version.chunks_added > _AT_ONCE
