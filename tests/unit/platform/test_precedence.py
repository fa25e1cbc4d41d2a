"""Those who ask go first, and never for ever."""

from __future__ import annotations

import threading
import time

import pytest

import core
from core.ingest.chunk import chunk_text_auto
from core.model import Block
from core.platform import precedence
from tests.builders import add


def waited() -> float:
    """Give way in another thread until it returns; return for how long."""
    started = time.monotonic()
    thread = threading.Thread(target=precedence.give_way)
    thread.start()
    thread.join(5.0)
    return time.monotonic() - started


def test_nobody_waits_while_nobody_asks() -> None:
    started = time.monotonic()
    for _ in range(10_000):
        precedence.give_way()
    assert time.monotonic() - started < 0.5


def test_a_question_goes_first_and_its_end_lets_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precedence, "LONGEST_WAIT_S", 30.0)
    monkeypatch.setattr(precedence, "_open_until", 0.0)
    ended = threading.Event()
    with precedence.asked():
        thread = threading.Thread(target=lambda: (precedence.give_way(), ended.set()))
        thread.start()
        assert not ended.wait(0.05)
    assert ended.wait(5.0)
    thread.join()


def test_questions_without_end_leave_others_their_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precedence, "LONGEST_WAIT_S", 0.5)
    monkeypatch.setattr(precedence, "TURN_S", 30.0)
    monkeypatch.setattr(precedence, "_open_until", 0.0)
    with precedence.asked(), precedence.asked():
        assert 0.4 <= waited() < 5.0
        assert waited() < 0.4, "the turn has not ended"


def test_a_question_counts_until_its_search_has_ended(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "medlar")
    seen: list[int] = []
    search = kb._keywords.search

    def watching(*of: object, **named: object) -> object:
        seen.append(precedence._asking)
        return search(*of, **named)  # type: ignore[arg-type]

    kb._keywords.search = watching  # type: ignore[method-assign, assignment]
    core.EvoRAG(kb=kb).search("medlar")
    assert seen == [1]
    assert precedence._asking == 0


def test_chunks_are_cut_one_at_a_time_while_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[None] = []
    monkeypatch.setattr("core.ingest.chunk.give_way", lambda: given.append(None))
    blocks = [Block(f"The medlar of row {n} is ripe. " * 40) for n in range(20)]
    chunks = list(chunk_text_auto(blocks))
    assert len(chunks) > 5
    assert len(given) >= len(chunks) - 1
