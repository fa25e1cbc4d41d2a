"""A writer in a thread of its own, and the one who reads it."""

from __future__ import annotations

import threading

import pytest

from core.adapters.generation import background_writing
from core.adapters.generation.background_writing import Put, read_pieces
from core.errors import GenerationTimedOut


def test_a_reader_hears_of_a_silent_writer_and_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_writing, "BEAT_S", 0.01)
    told = threading.Event()

    def write(put: Put, stopped: threading.Event) -> None:
        put("Nine.")
        stopped.wait(30)
        told.set()

    pieces = read_pieces(write, timeout_s=30, max_bytes=100)
    assert [next(pieces) for _ in range(3)] == ["Nine.", "", ""]
    pieces.close()
    assert told.wait(60)


def test_silence_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_writing, "BEAT_S", 0.01)
    said: list[str] = []
    with pytest.raises(GenerationTimedOut):
        said.extend(read_pieces(lambda put, stopped: stopped.wait(30), timeout_s=0.1, max_bytes=100))
    assert set(said) <= {""}
