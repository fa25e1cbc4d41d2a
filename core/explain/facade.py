"""Insight into search, for people: why a passage was found or not, what a text becomes, and the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from core.access import actor, needs
from core.catalog.jobs.ledger import NewJob
from core.explain.analyser import analysed
from core.explain.vocabulary import checked_synonyms, checked_words
from core.indexes.active_vocabulary import words_of
from core.model import AnalysedText, JobFilter, JobKind, JobState, Query, Role, Vocabulary, WhyNot

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.explain.why_not import WhyNots
    from core.indexes.active import IndexHandle
    from core.ports import JobQueue


class Explain:
    """The part of the knowledge base that explains it."""

    def __init__(
        self, catalog: Catalog, serving: Callable[[], IndexHandle], worker: JobQueue, why_nots: WhyNots
    ) -> None:
        self._catalog = catalog
        self._serving = serving
        self._worker = worker
        self._why_nots = why_nots

    @needs(Role.READER)
    def why_not(self, query: Query, doc_key: str, position: int | None = None, version: int | None = None) -> WhyNot:
        """Return where a passage stands for a question, what keeps it from the answer, and what would bring it up.

        Without a ``position`` it is the document's passage that stands best; without a ``version`` that of the version
        which the question may see, else of the newest. Raises: ``NotFound``, and whatever asking the question raises.
        """
        return self._why_nots.explain(query, doc_key, position, version)

    @needs(Role.READER)
    def analyse(self, text: str, *, written: bool = False) -> AnalysedText:
        """Return what the analyser makes of a text with the vocabulary that the index goes by.

        ``written`` takes the vocabulary as it was written last. Raises: ``InvalidInput``.
        """
        vocabulary = self._catalog.vocabulary.written() if written else self._catalog.vocabulary.indexed()
        return analysed(text, words_of(vocabulary), vocabulary, [self._serving().keywords.engine])

    @needs(Role.READER)
    def vocabulary(self) -> Vocabulary:
        """Return the words and synonyms as they were written last."""
        return self._catalog.vocabulary.written()

    @needs(Role.EDITOR)
    def set_vocabulary(self, words: Iterable[Sequence[str]], synonyms: Iterable[Sequence[str]]) -> Vocabulary:
        """Replace the words (pairs of surface and reading) and the groups of synonyms.

        It takes effect when ``reindex_words`` has ended. Raises: ``InvalidInput``.
        """
        return self._catalog.vocabulary.write(checked_words(words), checked_synonyms(synonyms))

    @needs(Role.ADMIN)
    def reindex_words(self) -> str:
        """Have the keyword index built anew with the vocabulary; return the id of the job that does it.

        One that waits already, or that works with this very vocabulary, does.
        """
        written = self._catalog.vocabulary.written()
        begun = self._catalog.vocabulary.begun()
        active = JobFilter(states=(JobState.QUEUED, JobState.RUNNING), kinds=(JobKind.REINDEX,))
        for job in self._catalog.jobs.recent(active):
            takes_newest = begun is None or begun[0] != job.id
            if begun is not None and begun[0] == job.id and begun[1].number == written.number:
                return job.id
            if job.state is JobState.QUEUED and takes_newest:
                return job.id
        job_id = self._catalog.jobs.add(
            NewJob(JobKind.REINDEX, f"vocabulary {written.number}", 0, actor=actor(), payload={})
        )
        self._worker.wake()
        return job_id
