"""The recording of an answer on its way: begun with the question, kept with its account, and gone where that is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import DiskFull, EvoRAGError, is_for_want_of_room
from core.model import Query, Trace

if TYPE_CHECKING:
    from core.recordings.facade import Recordings


class AnswerRecording:
    """One answer that is being recorded ``into`` a file."""

    def __init__(self, recordings: Recordings, into: Path) -> None:
        self.into = into
        self._recordings = recordings
        self._kept_id = ""

    def account(self, trace: Trace) -> Trace:
        """Keep what was recorded and return the trace with ``generation["recording"]``: what it is, or its error.

        The trace is as it was where no neuron fired, because nothing was to be written, and where it tells already why
        there is no file.
        """
        told: dict[str, Any]
        try:
            if not self.into.is_file():
                if not trace.generation.get("pieces") or "recording" in trace.generation:
                    return trace
                raise unrecorded()
            kept = self._recordings.keep(self.into, trace)
            if kept is None:
                return trace
            self._kept_id = kept.id
            told = {
                "id": kept.id,
                "tokens": kept.tokens,
                "size_bytes": kept.size_bytes,
                "truncated": kept.truncated,
            }
        except EvoRAGError as error:
            # The answer was written all the same.
            told = {"error": error.as_dict()}
        return replace(trace, generation={**trace.generation, "recording": told})

    def finalize(self, trace_id: str = "") -> None:
        """Say that the account was kept under an id, or that none is to be: the recording stays."""
        if self._kept_id and trace_id:
            self._recordings.belongs(self._kept_id, trace_id)
        self._kept_id = ""

    def end(self) -> None:
        """Remove what was begun, and what was kept for an account that was not."""
        self._recordings.discard(self.into)
        if self._kept_id:
            self._recordings.drop(self._kept_id)


def unrecorded(error: Exception | None = None) -> EvoRAGError:
    """Return what to say of a recording that could not be written, by what went wrong where that is known."""
    if is_for_want_of_room(error):
        return DiskFull("The recording could not be written: there is no room on the disk of the data folder.")
    cause = (error.strerror if isinstance(error, OSError) else None) or "its file is missing"
    return EvoRAGError(
        f"The recording could not be written: {cause}.",
        remedy="See that the server may write to the folder “recordings” of its data folder, then ask again.",
    )


@contextmanager
def record_answer(recordings: Recordings, query: Query) -> Iterator[AnswerRecording | None]:
    """Give a recording to a question that wants one. Raises: ``QuotaExceeded``, ``DiskFull``."""
    if not query.record:
        yield None
        return
    taken = AnswerRecording(recordings, recordings.begin())
    try:
        yield taken
    finally:
        taken.end()
