"""Evaluations on a server: question sets and their runs, under the names of ``core.evaluation.facade``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from core.client.changes import asked
from core.client.http import Http, path_of, values
from core.client.reading import PAGE
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
from core.model.codec import from_dict, to_dict

MOST_QUESTIONS = 10_000
POLL_S = 0.25
CHOICES = ("rerank", "recency", "read_filters", "syntax")
PLAIN = Query("")


class RemoteEvaluations:
    """Question sets and runs of a server."""

    def __init__(self, http: Http) -> None:
        self._http = http

    # ---- question sets

    def sets(self) -> list[QuestionSet]:
        """Return the question sets by name."""
        return values(QuestionSet, self._http.get(path_of("question-sets"))["sets"])

    def set_of(self, set_id: str) -> QuestionSet:
        return from_dict(QuestionSet, self._http.get(path_of("question-sets", set_id)))

    def questions(self, set_id: str, limit: int = MOST_QUESTIONS, after: int = 0) -> list[JudgedQuestion]:
        """Return the questions of a set in their order, from behind a position on."""
        path = path_of("question-sets", set_id, "questions")
        return values(JudgedQuestion, self._rows(path, "questions", limit, after))

    def import_set(self, name: str, data: bytes, form: str, *, shared: bool = True) -> QuestionSet:
        """Keep a file (``csv`` or ``jsonl``) as a set. Raises: ``InvalidInput`` with the line, ``Conflict``, …"""
        files, fields = {"file": (f"questions.{form}", data)}, {"name": name, "form": form}
        # What is shared is said as servers of old know it.
        fields |= {} if shared else {"shared": "false"}
        return from_dict(
            QuestionSet, self._http.call("POST", path_of("question-sets"), files=files, data=fields).json()
        )

    def set_from_history(self, name: str, trace_ids: Sequence[str], *, shared: bool = True) -> QuestionSet:
        """Keep questions that were asked as a set: what each answer cited and said counts as right."""
        body = {"name": name, "trace_ids": list(trace_ids), **({} if shared else {"shared": False})}
        return from_dict(QuestionSet, self._http.post(path_of("question-sets", "from-history"), body))

    def share_set(self, set_id: str, shared: bool) -> QuestionSet:
        """Show a set and its runs to everybody, or to its owner alone. Raises: ``Conflict``, ``Forbidden``."""
        path = path_of("question-sets", set_id)
        return from_dict(QuestionSet, self._http.call("PATCH", path, json={"shared": shared}, again=True).json())

    def mark_wrong(self, trace_id: str, right: Right | None = None, note: str = "", text: str = "") -> JudgedQuestion:
        """Put a question whose answer was wrong into the set of such questions; marked again, it is judged anew."""
        body: dict[str, Any] = {"note": note, "text": text}
        if right is not None:
            body |= {name: value for name, value in to_dict(right).items() if value}
        return from_dict(JudgedQuestion, self._http.post(path_of("traces", trace_id, "wrong"), body))

    def marked_wrong(self, trace_id: str) -> JudgedQuestion | None:
        """Return how an answer was marked as wrong, None where it was not."""
        found = self._http.get(path_of("traces", trace_id, "wrong"))["marked"]
        return None if found is None else from_dict(JudgedQuestion, found)

    def unmark_wrong(self, trace_id: str) -> None:
        """Take a question out of the set of answers marked as wrong."""
        self._http.call("DELETE", path_of("traces", trace_id, "wrong"))

    def export_set(self, set_id: str, form: str) -> str:
        """Return a set as a file that ``import_set`` reads."""
        path, accept = path_of("question-sets", set_id, "export"), {"Accept": "*/*"}
        return self._http.call("GET", path, params={"form": form}, headers=accept).content.decode("utf-8")

    def delete_set(self, set_id: str) -> None:
        """Delete a set with all its runs."""
        self._http.call("DELETE", path_of("question-sets", set_id))

    def set_gate(self, set_id: str, gates: bool) -> QuestionSet:
        """Have a set asked before a draft is published, or no longer."""
        path = path_of("question-sets", set_id)
        return from_dict(QuestionSet, self._http.call("PATCH", path, json={"gates": gates}, again=True).json())

    # ---- runs

    def run(self, set_id: str, query: Query | None = None, label: str = "") -> EvaluationRun:
        """Ask every question of a set in the background of the server, with the settings of ``query``."""
        body: dict[str, Any] = {"set_id": set_id, "label": label}
        if query is not None:
            chosen = {name: getattr(query, name) for name in CHOICES if getattr(query, name) != getattr(PLAIN, name)}
            body |= {name: value for name, value in asked(query).items() if name != "question"} | chosen
        return from_dict(EvaluationRun, self._http.post(path_of("evaluations"), body))

    def runs(self, set_id: str | None = None, limit: int = PAGE) -> list[EvaluationRun]:
        """Return the runs of a set (None: of all), newest first."""
        given = {"set": set_id, "limit": min(max(limit, 1), PAGE)}
        return values(EvaluationRun, self._http.get(path_of("evaluations"), **given)["runs"])[: max(limit, 0)]

    def run_of(self, run_id: str) -> EvaluationRun:
        return from_dict(EvaluationRun, self._http.get(path_of("evaluations", run_id)))

    def wait(self, run_id: str, timeout_s: float = 60.0) -> EvaluationRun:
        """Return a run once it is over, or as it is after ``timeout_s``."""
        deadline = time.monotonic() + timeout_s
        while (run := self.run_of(run_id)).state == "running" and time.monotonic() < deadline:
            time.sleep(min(POLL_S, timeout_s))
        return run

    def cancel(self, run_id: str) -> EvaluationRun:
        """End a run that is going on; what was asked stays."""
        return from_dict(EvaluationRun, self._http.post(path_of("evaluations", run_id, "cancel"), again=True))

    def delete_run(self, run_id: str) -> None:
        """Raises: ``Conflict`` while it is going on."""
        self._http.call("DELETE", path_of("evaluations", run_id))

    def outcomes(
        self, run_id: str, limit: int = 100, after: int = 0, failures_first: bool = True
    ) -> list[QuestionOutcome]:
        """Return what the questions of a run got."""
        path, order = path_of("evaluations", run_id, "outcomes"), str(int(failures_first))
        return values(QuestionOutcome, self._rows(path, "outcomes", limit, after, failures_first=order))

    def compare(self, old_run_id: str, new_run_id: str) -> RunComparison:
        """Compare two finished runs of one set. Raises: ``Conflict``."""
        path = path_of("evaluations", "compare")
        return from_dict(RunComparison, self._http.get(path, old=old_run_id, new=new_run_id))

    def gate(self, doc_key: str, version: int) -> list[GateVerdict]:
        """Return what publishing a version would do to the results of every gating set."""
        path = path_of("documents", doc_key, "versions", version, "gate")
        return values(GateVerdict, self._http.get(path)["verdicts"])

    def _rows(self, path: str, name: str, limit: int, after: int, **params: Any) -> list[Any]:
        """Return up to ``limit`` rows of a list from behind a position on, page by page."""
        found: list[Any] = []
        following: int | None = max(after, 0)
        while following is not None:
            page = self._http.get(path, limit=min(max(limit - len(found), 1), PAGE), after=following, **params)
            found += page[name]
            following = page["next"] if len(found) < limit else None
        return found[: max(limit, 0)]
