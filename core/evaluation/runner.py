"""Asks the questions of runs in the background, one run at a time, with pauses in which people come first."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core.access import acting
from core.blobs.pins import BlobPins
from core.catalog.questions.evaluations import INTERRUPTED, KeptOutcome
from core.errors import Conflict, EvoRAGError
from core.evaluation.from_history import quoted_by
from core.evaluation.measure import Observation, measures_of, observe, unplaced
from core.model import EvaluationRun, JudgedQuestion, Principal, Query, Role, Trace
from core.model.codec import to_dict

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

PUBLIC = Principal("evaluation", Role.READER)
"""Whose eyes runs are asked with: they see no private document, so that everybody may see what came of them."""

MOST_WAITING = 20
MOST_TRACES = 300
"""Failures of a run whose accounts are kept."""
_BATCH = 50
_BATCH_S = 1.0
_PAUSE_SHARE = 0.25
_LONGEST_PAUSE_S = 0.5

Ask = Callable[[Query, int], Trace]
"""Answers a question of what was shown at a sequence number."""

_TURN_S = 1.0
"""How often is looked whether another process has ended its run."""


@dataclass(frozen=True, slots=True)
class Work:
    run: EvaluationRun
    questions: Mapping[int, JudgedQuestion]
    """By their positions in the set."""
    query: Query


class Runner:
    """Runs one after the other in a thread that starts with the first; a run is held by its id until it is over."""

    def __init__(self, catalog: Catalog, ask: Ask, pins: BlobPins) -> None:
        self._catalog = catalog
        self._ask = ask
        self._pins = pins
        self._waiting: queue.Queue[Work | None] = queue.Queue()
        self._closing = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._begun: set[str] = set()

    def start(self, work: Work) -> None:
        """Keep a run and ask its questions after those of the runs before it. Raises: ``Conflict`` for too many."""
        with self._starting:
            if self._closing.is_set() or self._waiting.qsize() >= MOST_WAITING:
                raise Conflict("Too many runs are waiting.", remedy="Wait until some are over, or cancel them.")
            self._pins.take(work.run.id)
            try:
                self._catalog.evaluations.begin(work.run)
            except BaseException:
                self._pins.release(work.run.id)
                raise
            self._begun.add(work.run.id)
            self._waiting.put(work)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work_off, name="evorag-evaluation", daemon=True)
                self._thread.start()

    def fail_abandoned(self) -> None:
        """Mark as failed the runs that go on in name only: nobody holds them, for their processes are gone."""
        gone: list[str] = []
        for run_id in self._catalog.evaluations.going_on():
            self._pins.unless_held(run_id, partial(gone.append, run_id))
        if gone:
            self._catalog.evaluations.fail_interrupted(gone)

    def close(self) -> None:
        """Stop; what was going on counts as interrupted."""
        with self._starting:
            self._closing.set()
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(timeout=30)
            self._catalog.evaluations.fail_interrupted(self._begun)

    def _work_off(self) -> None:
        while (work := self._waiting.get()) is not None and not self._closing.is_set():
            try:
                self._run_in_turn(work)
            except EvoRAGError as error:
                self._fail(work.run.id, f"{error.code}: {error.message}")
            except Exception as error:
                log.exception("a run of a question set has failed")
                self._fail(work.run.id, type(error).__name__)
            finally:
                self._pins.release(work.run.id)

    def _run_in_turn(self, work: Work) -> None:
        """Run where no other process does: each question takes what answers to people need too."""
        while not self._closing.is_set():
            with self._catalog.database.if_free("evaluation") as is_ours:
                if is_ours:
                    return self._run(work)
            self._closing.wait(_TURN_S)

    def _fail(self, run_id: str, why: str) -> None:
        """End a run as failed; where the catalogue refuses that too, the runs after it are asked all the same."""
        try:
            self._catalog.evaluations.end(run_id, "failed", error=why)
        except Exception as error:
            # It goes on in name only: it can be cancelled, and is marked as failed by who looks for such runs.
            log.error("the failure of a run of a question set was not kept: %s", type(error).__name__)

    def _run(self, work: Work) -> None:
        kept = self._catalog.evaluations
        observations: list[Observation] = []
        batch: list[KeptOutcome] = []
        traces, flushed = 0, time.monotonic()
        if not kept.append(work.run.id, ()):
            return
        for number, (position, question) in enumerate(work.questions.items(), 1):
            if self._closing.is_set():
                kept.end(work.run.id, "failed", error=INTERRUPTED)
                return
            observed, trace = asked(self._catalog, self._ask, question, work.query, work.run.sequence)
            observations.append(observed)
            has_trace = observed.is_failure and traces < MOST_TRACES
            traces += has_trace
            batch.append(kept_outcome(work.run.id, position, observed, trace, has_trace=has_trace))
            is_last = number == len(work.questions)
            if is_last or len(batch) >= _BATCH or time.monotonic() - flushed >= _BATCH_S:
                if not kept.append(work.run.id, batch):
                    return
                batch, flushed = [], time.monotonic()
            self._closing.wait(min(observed.duration_ms / 1000 * _PAUSE_SHARE, _LONGEST_PAUSE_S))
        kept.end(work.run.id, "done", measures_of(observations))


def asked(
    catalog: Catalog, ask: Ask, question: JudgedQuestion, query: Query, sequence: int, who: Principal = PUBLIC
) -> tuple[Observation, Trace]:
    """Ask one question afresh, on behalf of somebody, and measure what it got."""
    with acting(who):
        started = time.perf_counter()
        trace = ask(replace(query, text=question.text, fresh=True, conversation_id=""), sequence)
        duration_ms = (time.perf_counter() - started) * 1000
        merged = unplaced(trace)
        return observe(question, trace, catalog.evaluations.documents_of(merged) if merged else {}, duration_ms), trace


def kept_outcome(run_id: str, position: int, observed: Observation, trace: Trace, *, has_trace: bool) -> KeptOutcome:
    """Return an observation as the catalogue keeps it, with the account of a failure."""
    sources = quoted_by(trace)
    if has_trace:
        sources |= {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}
    data = {item.name: to_dict(getattr(observed, item.name)) for item in fields(observed) if item.name != "question"}
    return KeptOutcome(
        position=position,
        data={**data, "has_trace": has_trace},
        sources=sources,
        trace=to_dict(replace(trace, id=trace_id_of(run_id, position))) if has_trace else None,
    )


def observation_of(question: JudgedQuestion, data: Mapping[str, Any]) -> Observation:
    """Return what ``kept_outcome`` kept; runs of earlier programs called a question without a judgement right."""
    kept = {name: value for name, value in data.items() if name != "has_trace"}
    return Observation(question, **(kept if question.has_judgement else {**kept, "is_right": None}))


def trace_id_of(run_id: str, position: int) -> str:
    """Return the id of the account of a failure: it tells where it is kept."""
    return f"{run_id}-{position}"
