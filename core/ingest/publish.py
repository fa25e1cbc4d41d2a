"""The last stages: a version is published, early when it asks for it, else once all its vectors are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from core.catalog.documents.group_publishing import GroupMember
from core.catalog.documents.indexing import IndexedVersion
from core.catalog.documents.publications import Decision, Finishing
from core.catalog.jobs.stage_run import JobEndings, StageRun, run_stage, wait_together, write_all
from core.indexes.projector import Projector
from core.ingest.index_by_keyword import Placed, Placing
from core.model import Stage
from core.platform.failpoints import failpoint
from core.platform.retrying import Stopped

if TYPE_CHECKING:
    from core.catalog import Catalog


class Publisher:
    """Shows versions, or keeps them as drafts, and ends their jobs."""

    def __init__(self, catalog: Catalog, projector: Projector, placing: Placing, endings: JobEndings) -> None:
        self._catalog = catalog
        self._projector = projector
        self._placing = placing
        self._endings = endings

    # ---- early

    def show_early(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Publish versions that ask for it before their vectors are there; return all that go on.

        Raises: ``Stopped``.
        """
        early = [run for run in runs if _placed(run).is_early]
        members = [_member(run) for run in early if _placed(run).showing is not None]
        shown = self._catalog.group_publishing.publish(members) if len(members) > 1 else set()
        if shown:
            failpoint("ingest.early.published")
            self._projector.flush_soon()
        going = []
        for run in runs:
            if run.is_stopped:
                raise Stopped
            is_done = run not in early or run.version_id in shown
            if is_done or run_stage(self._show_early, run, self._endings):
                going.append(run)
        return going

    def _show_early(self, run: StageRun) -> Placed:
        """Publish a version that lacks embeddings, unless something newer is shown or the document was hidden."""
        version, placed = self._catalog.indexing.of(run.version_id), _placed(run)
        showing = placed.showing
        while version.is_early and not self._catalog.publications.is_settled(run.version_id):
            if showing is None:
                showing = self._placing.in_head(run, version)
                run.wait_for_store(self._projector.flush_keywords)
            failpoint("ingest.early.publishing")
            decision = Decision(run.doc_id, run.version_id, "publish", version.actor)
            if self._catalog.publications.commit(decision, expected=showing, early=run.attempt):
                failpoint("ingest.early.published")
                self._projector.flush_soon()
                break
            version, showing = self._catalog.indexing.of(run.version_id), None
        return replace(placed, showing=showing)

    # ---- at the end

    def publish(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Publish versions whose vectors are all there, or keep them as drafts, and end their jobs.

        Return those that are left where the process ends. Raises: ``Stopped``.
        """
        for run in runs:
            run.begin(Stage.INDEXING)
            run.together = len(runs)
        going = write_all(self._catalog.jobs, runs, self._endings.cancelled) if runs else []
        failpoint("ingest.indexing.entered")
        while going and not going[0].is_stopped:
            versions = self._catalog.indexing.of_all([run.version_id for run in going])
            going = [run for run in going if run_stage(partial(self._place, versions=versions), run, self._endings)]
            if not going:
                return []
            wait_together(self._catalog.jobs, going, self._projector.flush)
            failpoint("ingest.indexing.flushed")
            ends = {run: self._finishing(run) for run in going}
            ended = self._end_together(ends)
            again: list[StageRun] = []
            for run in going:
                if run.version_id not in ended:
                    run_stage(partial(self._end, finishing=ends[run], again=again), run, self._endings)
            going = again
        self._projector.flush_soon()
        return going

    def _place(self, run: StageRun, versions: Mapping[int, IndexedVersion]) -> Placed:
        """Ask for the version's rows where they belong at the end, unless they are there."""
        version, showing = versions[run.version_id], _placed(run).showing
        if version.state == "ready":
            return Placed(version.chunk_count, showing=showing, is_draft=version.is_draft)
        if version.is_draft:
            if version.is_prepared:
                self._catalog.publications.shelve(run.doc_id, run.version_id)
            showing = None
        elif showing is None:
            showing = self._placing.in_head(run, version)
        failpoint("ingest.indexing.asked")
        return Placed(version.chunk_count, showing=showing, is_draft=version.is_draft)

    def _finishing(self, run: StageRun) -> Finishing:
        last = Stage.INDEXING if _placed(run).is_draft else Stage.PUBLISHED
        return Finishing(run.last_step(last), run.version_id)

    def _end_together(self, ends: Mapping[StageRun, Finishing]) -> set[int]:
        """End in one transaction what is shown already, and publish others in one; return the ids of the versions."""
        if len(ends) == 1:
            return set()
        failpoint("ingest.jobs.ending")
        ended = self._catalog.group_publishing.finish_shown(list(ends.values()))
        members = [
            _member(run, finishing)
            for run, finishing in ends.items()
            if run.version_id not in ended and not _placed(run).is_draft and _placed(run).showing is not None
        ]
        if members:
            ended |= self._catalog.group_publishing.publish(members)
        failpoint("ingest.jobs.ended")
        return ended

    def _end(self, run: StageRun, finishing: Finishing, again: list[StageRun]) -> Placed:
        """Publish one version, or keep it as a draft, and end its job; or note that the world has changed meanwhile."""
        placed = _placed(run)
        run.check()
        failpoint("ingest.job.ending")
        publications = self._catalog.publications
        if publications.finish_shown(finishing):
            done = True
        elif placed.is_draft:
            done = publications.finish_draft(finishing)
        elif publications.finish_settled(finishing):
            done = True
        else:
            assert placed.showing is not None
            actor = self._catalog.indexing.of(run.version_id).actor
            decision = Decision(run.doc_id, run.version_id, "publish", actor)
            done = publications.commit(decision, expected=placed.showing, finishing=finishing) is not None
        failpoint("ingest.job.ended")
        if not done:
            again.append(run)
        return Placed()


def _member(run: StageRun, finishing: Finishing | None = None) -> GroupMember:
    showing = _placed(run).showing
    assert showing is not None
    return GroupMember(run.doc_id, run.version_id, showing, run.attempt, finishing)


def _placed(run: StageRun) -> Placed:
    """Return where the stores were asked last to have the version."""
    placed = run.result(Placed)
    assert placed is not None
    return placed
