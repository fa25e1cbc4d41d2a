"""Questions: asking them, those that were asked, and those whose answers are watched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from core.model import AnswerComparison, AskStep, Impact, Query, SavedQuestion, Trace, TraceSummary, VersionRef

if TYPE_CHECKING:
    from core.ports import Progress


class AnswersApi(Protocol):
    """What answers questions: ``EvoRAG`` over a knowledge base, or the client of a server.

    A plain string is asked with the settings of the knowledge base.
    """

    def ask(self, query: Query | str, *, keep: bool = True) -> Trace:
        """Search and answer; the trace is kept in the history unless ``keep`` is false.

        A question of a conversation becomes its next turn. Raises: ``InvalidInput``, ``QueryTooLong``, ``BadFilter``,
        ``NotFound``, ``Conflict``.
        """

    def ask_events(self, query: Query | str, *, keep: bool = True) -> Iterator[AskStep]:
        """Answer as ``ask`` does and yield each step: analysis, passages, writing, answer and at the end done."""

    def search(self, query: Query | str) -> Trace:
        """Search without answering; the history does not keep it."""

    def compare_answers(
        self, question: str, old: VersionRef, new: VersionRef, *, alone: bool = True, top_k: int | None = None
    ) -> AnswerComparison:
        """Ask one question of two versions, ``alone`` or beside all other published documents.

        Raises: ``NotFound``; ``Conflict`` for a version that is not indexed.
        """

    def impact(
        self, key: str, version: int, questions: Sequence[SavedQuestion], progress: Progress | None = None
    ) -> Iterator[Impact]:
        """Yield what publishing a version would change in the answers to saved questions.

        Raises: ``NotFound``; ``Conflict`` for a version that is not indexed.
        """


class HistoryApi(Protocol):
    """Questions that were asked, and saved questions."""

    def history(self, limit: int = 100) -> list[TraceSummary]:
        """Return the questions asked, newest first."""

    def trace(self, trace_id: str) -> Trace:
        """Return the trace of a question of the history, or of a failure in an evaluation. Raises: ``NotFound``."""

    def saved_questions(self) -> list[SavedQuestion]:
        """Return the saved questions that the caller sees, oldest first."""

    def save_question(self, text: str, *, shared: bool = True) -> SavedQuestion:
        """Save a question; one that is saved already stays as it is. Raises: ``InvalidInput``, ``QueryTooLong``."""

    def share_question(self, question_id: str, shared: bool) -> SavedQuestion:
        """Show a saved question to everybody, or to its owner alone.

        Raises: ``NotFound``; ``Conflict`` where it has no owner; ``Forbidden`` to others than its owner and
        administrators.
        """

    def forget_question(self, question_id: str) -> None:
        """Remove a saved question. Raises: ``NotFound``."""
