"""Evaluations: question sets, their runs, and the gate before a version is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.model import (
    EvaluationRun,
    GateVerdict,
    JudgedQuestion,
    Query,
    QuestionOutcome,
    QuestionSet,
    Right,
    RunComparison,
)


class EvaluationsApi(Protocol):
    """Question sets and runs. Raises ``NotFound`` for an id that is none."""

    # ---- question sets

    def sets(self) -> list[QuestionSet]:
        """Return the question sets that the caller sees by name."""

    def set_of(self, set_id: str) -> QuestionSet:
        """Return one question set."""

    def questions(self, set_id: str, limit: int = 10_000, after: int = 0) -> list[JudgedQuestion]:
        """Return questions of a set in order, after a position."""

    def import_set(self, name: str, data: bytes, form: str, *, shared: bool = True) -> QuestionSet:
        """Keep a file (``csv`` or ``jsonl``) as a set of the caller, which others see where it is ``shared``.

        Raises: ``InvalidInput`` with the line, ``Conflict``, …
        """

    def set_from_history(self, name: str, trace_ids: Sequence[str], *, shared: bool = True) -> QuestionSet:
        """Keep asked questions as a set; what each answer cited and said counts as right.

        Private documents, follow-ups and questions about the knowledge base are left out. Raises: ``Conflict``;
        ``InvalidInput`` where nothing is left.
        """

    def share_set(self, set_id: str, shared: bool) -> QuestionSet:
        """Show a set and its runs to everybody, or to its owner alone.

        Raises: ``Conflict`` where it has no owner, or its name is taken; ``Forbidden`` to others than its owner and
        administrators.
        """

    def mark_wrong(self, trace_id: str, right: Right | None = None, note: str = "", text: str = "") -> JudgedQuestion:
        """Put a question whose answer was wrong into the set of such questions; marked again, it is judged anew.

        A follow-up needs ``text``, words that stand by themselves. Raises: ``InvalidInput``, ``Purged``.
        """

    def marked_wrong(self, trace_id: str) -> JudgedQuestion | None:
        """Return how an answer was marked as wrong, None where it was not."""

    def unmark_wrong(self, trace_id: str) -> None:
        """Take a question out of the set of answers marked as wrong."""

    def export_set(self, set_id: str, form: str) -> str:
        """Return a set as a file that ``import_set`` reads. Raises: ``InvalidInput``."""

    def delete_set(self, set_id: str) -> None:
        """Delete a set with all its runs."""

    def set_gate(self, set_id: str, gates: bool) -> QuestionSet:
        """Ask a set before a draft is published, or stop asking it. Raises: ``InvalidInput`` for too many questions."""

    # ---- runs

    def run(self, set_id: str, query: Query | None = None, label: str = "") -> EvaluationRun:
        """Ask every question of a set in the background with the settings of ``query``; its text does not matter.

        Raises: ``Conflict`` while too many runs wait; ``InvalidInput``.
        """

    def runs(self, set_id: str | None = None, limit: int = 1_000) -> list[EvaluationRun]:
        """Return the runs of a set, or of all sets, newest first."""

    def run_of(self, run_id: str) -> EvaluationRun:
        """Return one run."""

    def wait(self, run_id: str, timeout_s: float = 60.0) -> EvaluationRun:
        """Return a run once it has ended, or as it is after ``timeout_s``."""

    def cancel(self, run_id: str) -> EvaluationRun:
        """End a run; outcomes so far stay."""

    def delete_run(self, run_id: str) -> None:
        """Delete a run. Raises: ``Conflict`` while it is running."""

    def outcomes(
        self, run_id: str, limit: int = 100, after: int = 0, failures_first: bool = True
    ) -> list[QuestionOutcome]:
        """Return the outcomes of a run without the first ``after``."""

    def compare(self, old_run_id: str, new_run_id: str) -> RunComparison:
        """Compare two finished runs of one set. Raises: ``Conflict``."""

    # ---- the gate

    def gate(self, doc_key: str, version: int) -> list[GateVerdict]:
        """Return what publishing a version would change in the results of every gating set.

        Raises: ``Conflict`` for a version that is not indexed.
        """
