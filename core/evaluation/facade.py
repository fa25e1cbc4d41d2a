"""Evaluations as people use them: question sets, runs of them, their comparison, and the gate before publishing.

Sets are their owners', who share them or keep them private with their runs: what is shared every reader sees and every
editor changes. Runs are asked with the eyes of somebody who sees no private document, and a set that is made from
somebody's history leaves out what rests on private ones.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from core.access import acting, current, needs
from core.blobs.pins import BlobPins
from core.catalog.questions.question_sets import NewQuestion
from core.errors import Conflict, InvalidInput, NotFound
from core.evaluation.compare_runs import compare
from core.evaluation.from_history import is_private, judged
from core.evaluation.gate import MOST_QUESTIONS as MOST_GATING
from core.evaluation.gate import verdict
from core.evaluation.mark_wrong import WRONG_NAME, judged_wrong
from core.evaluation.measure import Observation, outcome_of
from core.evaluation.runner import PUBLIC, Runner, Work, observation_of, trace_id_of
from core.evaluation.set_files import MOST_QUESTIONS, checked_name, read_questions, written
from core.model import (
    WRONG_SET,
    EvaluationRun,
    GateVerdict,
    JudgedQuestion,
    Query,
    QuestionOutcome,
    QuestionSet,
    Right,
    Role,
    RunComparison,
    Task,
    Trace,
    VersionRef,
    format_as_of,
    to_dict,
)
from core.model.codec import from_dict
from core.query.understand.validate import check_query
from core.text.language import is_storable

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.generators import Generators
    from core.query.pipeline import QueryPipeline
    from core.settings import SearchSettings

LABEL_CHARS = 200
OVER = ("done", "failed", "cancelled")
_KEPT_TRACE = re.compile(r"([0-9a-f]{32})-([0-9]{1,6})")
_POLL_S = 0.02


class Evaluations:
    """Question sets and their runs over one knowledge base."""

    def __init__(
        self,
        catalog: Catalog,
        queries: QueryPipeline,
        generators: Generators,
        settings: SearchSettings,
        embedder: str,
        pins: BlobPins,
    ) -> None:
        """Offer question sets and their runs; those that a killed process left have failed."""
        self._catalog = catalog
        self._queries = queries
        self._generators = generators
        self._settings = settings
        self._embedder = embedder
        self._runner = Runner(catalog, self._ask, pins)
        self.fail_abandoned()

    # ---- question sets

    @needs(Role.READER)
    def sets(self) -> list[QuestionSet]:
        """Return the question sets that whoever acts sees by name."""
        return self._catalog.question_sets.all()

    @needs(Role.READER)
    def set_of(self, set_id: str) -> QuestionSet:
        """Raises: ``NotFound``."""
        return self._catalog.question_sets.get(set_id)

    @needs(Role.READER)
    def questions(self, set_id: str, limit: int = MOST_QUESTIONS, after: int = 0) -> list[JudgedQuestion]:
        """Return the questions of a set in their order, without the first ``after``. Raises: ``NotFound``."""
        return self._catalog.question_sets.questions(set_id, limit, after)

    @needs(Role.EDITOR)
    def import_set(self, name: str, data: bytes, form: str, *, shared: bool = True) -> QuestionSet:
        """Keep a file (``csv`` or ``jsonl``) as a set. Raises: ``InvalidInput`` with the line, ``Conflict``, …"""
        new = [NewQuestion(each) for each in read_questions(data, form, self._settings.max_question_chars)]
        return self._catalog.question_sets.keep(checked_name(name), new, shared=shared)

    @needs(Role.EDITOR)
    def set_from_history(self, name: str, trace_ids: Sequence[str], *, shared: bool = True) -> QuestionSet:
        """Keep questions that were asked as a set: what each answer cited and said counts as right.

        Left out is what rests on private documents, for a set can be shared, questions about the knowledge base, and
        follow-up questions. Raises: ``NotFound``, ``Conflict``, ``InvalidInput`` where nothing is left.
        """
        checked = checked_name(name)
        if len(trace_ids) > MOST_QUESTIONS:
            raise InvalidInput(f"A question set has at most {MOST_QUESTIONS:,} questions.")
        wanted = [trace_id for trace_id in dict.fromkeys(trace_ids) if is_storable(trace_id)]
        if len(wanted) < len(set(trace_ids)):
            raise NotFound("A question is not in the history.", remedy="Reload the history.")
        traces = (self._catalog.questions.get(trace_id) for trace_id in wanted)
        found = [new for number, trace in enumerate(traces, 1) if (new := judged(trace, number)) is not None]
        if not found:
            raise InvalidInput(
                "None of the questions can be shared.",
                remedy="Choose some about the documents that stand by themselves and rest on no private document.",
            )
        return self._catalog.question_sets.keep(checked, found, shared=shared)

    @needs(Role.EDITOR)
    def share_set(self, set_id: str, shared: bool) -> QuestionSet:
        """Show a set and its runs to everybody, or to its owner alone.

        Raises: ``NotFound``; ``Conflict`` without an owner, or for a name that is taken; ``Forbidden`` to others.
        """
        return self._catalog.question_sets.share(set_id, shared)

    # ---- answers marked as wrong

    @needs(Role.READER)
    def mark_wrong(self, trace_id: str, right: Right | None = None, note: str = "", text: str = "") -> JudgedQuestion:
        """Put a question whose answer was wrong into the set of such questions; marked again, it is judged anew.

        ``right`` is what would have been. ``text`` are the words in which it is kept; a follow-up needs some that stand
        by themselves, since everybody sees the set, which has no owner. Raises: ``NotFound``, ``InvalidInput``, …
        """
        trace = self._catalog.questions.get(trace_id)
        new = judged_wrong(trace, right or Right(), note, text)
        for key in new.question.doc_keys:
            self._catalog.documents.id_of(key)
        self._catalog.question_sets.put(WRONG_SET, WRONG_NAME, new, MOST_QUESTIONS)
        return new.question

    @needs(Role.READER)
    def marked_wrong(self, trace_id: str) -> JudgedQuestion | None:
        """Return how an answer was marked as wrong, None where it was not. Raises: ``NotFound``."""
        return self._catalog.question_sets.find(WRONG_SET, self._catalog.questions.get(trace_id).id)

    @needs(Role.READER)
    def unmark_wrong(self, trace_id: str) -> None:
        """Take a question out of the set of answers marked as wrong. Raises: ``NotFound``."""
        if not self._catalog.question_sets.take(WRONG_SET, self._catalog.questions.get(trace_id).id):
            raise NotFound("This answer is not marked as wrong.", remedy="Reload the page.")

    @needs(Role.READER)
    def export_set(self, set_id: str, form: str) -> str:
        """Return a set as a file that ``import_set`` reads. Raises: ``NotFound``, ``InvalidInput``."""
        return written(self._catalog.question_sets.questions(set_id), form)

    @needs(Role.EDITOR)
    def delete_set(self, set_id: str) -> None:
        """Delete a set with all its runs; one that is going on ends. Raises: ``NotFound``."""
        self._catalog.question_sets.delete(set_id)

    @needs(Role.EDITOR)
    def set_gate(self, set_id: str, gates: bool) -> QuestionSet:
        """Have a set asked before a draft is published, or no longer. Raises: ``NotFound``, ``InvalidInput``."""
        size = self._catalog.question_sets.get(set_id).size
        others = sum(each.size for each in self._gating() if each.id != set_id)
        if gates and size + others > MOST_GATING:
            raise InvalidInput(
                f"The sets that are asked before publishing have at most {MOST_GATING} questions together; "
                f"this one has {size:,}, the others have {others:,}.",
                remedy="Make a smaller set of the questions that matter most, or take another set out.",
            )
        self._catalog.question_sets.set_gate(set_id, gates)
        return self._catalog.question_sets.get(set_id)

    @needs(Role.READER)
    def gates(self, set_id: str) -> bool:
        """Tell whether a set is asked before a draft is published. Raises: ``NotFound``."""
        return self._catalog.question_sets.get(set_id).gates

    # ---- runs

    @needs(Role.EDITOR)
    def run(self, set_id: str, query: Query | None = None, label: str = "") -> EvaluationRun:
        """Ask every question of a set in the background with the settings of ``query``, whose text does not matter.

        Raises: ``NotFound``, ``Conflict`` while too many runs wait, and what a question with such settings raises.
        """
        asked_set = self._catalog.question_sets.get(set_id)
        chosen = self._base(query)
        self._check(chosen)
        if len(label) > LABEL_CHARS or not is_storable(label):
            raise InvalidInput(f"A label is a text of at most {LABEL_CHARS} characters.")
        run = EvaluationRun(
            id=secrets.token_hex(16),
            set_id=set_id,
            set_name=asked_set.name,
            started_at=datetime.now(UTC),
            sequence=self._catalog.publications.sequence(),
            settings=self._told(chosen),
            label=" ".join(label.split()),
            state="running",
            total=asked_set.size,
        )
        self._runner.start(Work(run, self._catalog.question_sets.numbered(set_id), chosen))
        return run

    @needs(Role.READER)
    def runs(self, set_id: str | None = None, limit: int = 1_000) -> list[EvaluationRun]:
        """Return the runs of a set (None: of all), newest first, each with its settings and measures."""
        if set_id is not None:
            self._catalog.question_sets.get(set_id)
        return self._catalog.evaluations.runs(set_id, limit)

    @needs(Role.READER)
    def run_of(self, run_id: str) -> EvaluationRun:
        """Raises: ``NotFound``."""
        return self._catalog.evaluations.get(run_id)

    @needs(Role.EDITOR)
    def cancel(self, run_id: str) -> EvaluationRun:
        """End a run that is going on; what was asked stays. Raises: ``NotFound``."""
        self._catalog.evaluations.get(run_id)
        self._catalog.evaluations.end(run_id, "cancelled")
        return self._catalog.evaluations.get(run_id)

    @needs(Role.EDITOR)
    def delete_run(self, run_id: str) -> None:
        """Raises: ``NotFound``, ``Conflict`` while it is going on."""
        self._catalog.evaluations.get(run_id)
        self._catalog.evaluations.delete(run_id)

    @needs(Role.READER)
    def wait(self, run_id: str, timeout_s: float = 60.0) -> EvaluationRun:
        """Return a run once it is over, or as it is after ``timeout_s``. Raises: ``NotFound``."""
        deadline = time.monotonic() + timeout_s
        while (run := self.run_of(run_id)).state not in OVER and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return run

    @needs(Role.READER)
    def outcomes(
        self, run_id: str, limit: int = 100, after: int = 0, failures_first: bool = True
    ) -> list[QuestionOutcome]:
        """Return what the questions of a run got, without the first ``after``; failures first where wished.

        Raises: ``NotFound``.
        """
        found = self._observed(self._catalog.evaluations.get(run_id))
        if failures_first:
            found.sort(key=lambda each: not each[1].is_failure)
        return [
            outcome_of(observed, position, trace_id_of(run_id, position) if has_trace else "")
            for position, observed, has_trace in found[max(after, 0) : max(after, 0) + max(limit, 0)]
        ]

    @staticmethod
    def keeps(trace_id: str) -> bool:
        """Tell whether an id is that of the account of a failure, not of a question of the history."""
        return _KEPT_TRACE.fullmatch(trace_id) is not None

    @needs(Role.READER)
    def trace(self, trace_id: str) -> Trace:
        """Return the account of a failure by the ``trace_id`` of its outcome. Raises: ``NotFound``."""
        named = _KEPT_TRACE.fullmatch(trace_id)
        data = self._catalog.evaluations.trace(named[1], int(named[2])) if named else None
        if data is None:
            raise NotFound("The account of this question is not kept.", remedy="Ask it again.")
        return from_dict(Trace, data)

    @needs(Role.READER)
    def compare(self, old_run_id: str, new_run_id: str) -> RunComparison:
        """Compare two finished runs of one set. Raises: ``NotFound``, ``Conflict``."""
        old, new = self._catalog.evaluations.get(old_run_id), self._catalog.evaluations.get(new_run_id)
        if old.set_id != new.set_id:
            raise Conflict("The two runs are of different question sets.", remedy="Choose two runs of one set.")
        for run in (old, new):
            if run.state != "done":
                raise Conflict(f"A run is {run.state}.", remedy="Only finished runs are compared.")
        observed = [{each[0]: each[1] for each in self._observed(run)} for run in (old, new)]
        # A set of answers marked as wrong may have grown between the two.
        both = [position for position in observed[0] if position in observed[1]]
        return compare(old, new, *([each[position] for position in both] for each in observed))

    # ---- before a draft is published

    @needs(Role.EDITOR)
    def gate(self, doc_key: str, version: int) -> list[GateVerdict]:
        """Ask every gating set as things are and with the version shown, answers extracted; warn of what gets worse.

        Raises: ``NotFound``, and ``Conflict`` for a version that is not indexed.
        """
        ref = VersionRef(doc_key, version)
        self._catalog.visibility.version_of(ref)
        # A private document changes the answers of its owner alone.
        who = current() if is_private(doc_key) else PUBLIC
        # Answers that are written differ from one time to the next, and a person waits.
        query = replace(self._base(None), generator="none")
        sequence = self._catalog.publications.sequence()
        return [
            verdict(
                self._catalog, self._ask_whole, each, self._catalog.question_sets.questions(each.id), ref, query,
                sequence, who,
            )
            for each in self._gating()
        ]  # fmt: skip

    def _gating(self) -> list[QuestionSet]:
        """Return the sets that whoever acts is warned by: shared ones and their own, also of an administrator."""
        sets = self._catalog.question_sets.all()
        return [each for each in sets if each.gates and (each.is_shared or each.owner == (current().name or None))]

    def fail_abandoned(self) -> None:
        """Have the runs failed that processes which are gone have left."""
        self._runner.fail_abandoned()

    def close(self) -> None:
        self._runner.close()

    # ---- asking

    def _ask(self, query: Query, sequence: int) -> Trace:
        return self._queries.run(query, answering=True, sequence=sequence)

    def _ask_whole(self, query: Query, sequence: int) -> Trace:
        # Both sides of the gate search the same rows, so that only the version differs.
        return self._queries.run(query, answering=True, whole=True, sequence=sequence)

    def _base(self, query: Query | None) -> Query:
        settings = self._settings
        return query or Query("", top_k=settings.top_k, depth=settings.search_depth)

    def _check(self, query: Query) -> None:
        """Refuse at once what every question would be refused for."""
        check_query(replace(query, text="?"), datetime.now(UTC))
        self._generators.chosen(Task.ANSWER, query.generator)
        if isinstance(query.as_of, VersionRef):
            with acting(PUBLIC):
                self._catalog.visibility.version_of(query.as_of)
        elif isinstance(query.as_of, int) and query.as_of > (newest := self._catalog.publications.sequence()):
            raise InvalidInput(
                f"There is no publication {query.as_of}; the newest is {newest}.",
                remedy="Choose an earlier sequence number, or leave it out.",
            )

    def _told(self, query: Query) -> dict[str, Any]:
        """Return the settings that matter for the results, with those that the query leaves to the installation."""
        settings = self._settings
        return {
            "generator": self._generators.chosen(Task.ANSWER, query.generator),
            "rerank": query.rerank or settings.rerank,
            "recency": settings.recency if query.recency is None else query.recency,
            "read_filters": settings.read_filters if query.read_filters is None else query.read_filters,
            "fusion": query.fusion,
            "top_k": query.top_k,
            "depth": query.depth,
            "per_document": query.per_document,
            "versions": query.versions,
            "syntax": query.syntax,
            "as_of": format_as_of(query.as_of) or "",
            "filters": {name: value for name, value in to_dict(query.filters).items() if value},
            "rrf_k": settings.rrf_k,
            "embedder": self._embedder,
            **({"alpha": query.alpha} if query.fusion == "mix" else {}),
        }

    def _observed(self, run: EvaluationRun) -> list[tuple[int, Observation, bool]]:
        """Return position, observation, and whether a trace is kept, of each question that a run has asked."""
        questions = self._catalog.question_sets.numbered(run.set_id)
        return [
            (kept.position, observation_of(questions[kept.position], kept.data), kept.data["has_trace"])
            for kept in self._catalog.evaluations.outcomes(run.id)
            # What was marked as wrong by mistake was taken out of its set since.
            if kept.position in questions
        ]
