"""A circuit lets calls through, leaves what failed alone for a while, and tries it with one call at a time."""

from __future__ import annotations

import pytest

from core.adapters.circuit import Circuit, State
from core.errors import InvalidInput, StoreUnavailable

PAUSE_S = 5.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def circuit(clock: Clock) -> Circuit:
    return Circuit("The store", PAUSE_S, clock)


def fail(circuit: Circuit) -> None:
    with pytest.raises(StoreUnavailable, match=r"^refused$"), circuit.call():
        raise StoreUnavailable("refused")


def is_let_through(circuit: Circuit) -> bool:
    """Try a call that fails where it gets through."""
    with pytest.raises(StoreUnavailable) as caught, circuit.call():
        raise StoreUnavailable("refused")
    return caught.value.message == "refused"


def test_calls_go_through_until_one_fails(circuit: Circuit) -> None:
    for _ in range(3):
        with circuit.call():
            pass
    assert circuit.state is State.CLOSED


def test_after_a_failure_calls_fail_at_once_and_say_why(circuit: Circuit) -> None:
    fail(circuit)
    assert circuit.state is State.OPEN
    reached = []
    with pytest.raises(StoreUnavailable, match=r"The store failed and is left alone .*: refused"), circuit.call():
        reached.append(True)
    assert not reached


def test_after_the_pause_one_call_tries_and_others_go_on_failing(circuit: Circuit, clock: Clock) -> None:
    fail(circuit)
    clock.now += PAUSE_S
    assert circuit.state is State.HALF_OPEN
    with circuit.call():
        assert not is_let_through(circuit)
    assert circuit.state is State.CLOSED


def test_a_try_that_fails_begins_the_pause_anew(circuit: Circuit, clock: Clock) -> None:
    fail(circuit)
    clock.now += PAUSE_S
    assert is_let_through(circuit)
    clock.now += PAUSE_S - 0.1
    assert not is_let_through(circuit)
    clock.now += 0.1
    assert is_let_through(circuit)


def test_a_try_that_hangs_keeps_nobody_from_the_next_one(circuit: Circuit, clock: Clock) -> None:
    fail(circuit)
    clock.now += PAUSE_S
    with circuit.call():
        clock.now += PAUSE_S
        with circuit.call():
            pass
    assert circuit.state is State.CLOSED


def test_a_call_from_before_the_failure_does_not_close_the_circuit(circuit: Circuit, clock: Clock) -> None:
    with circuit.call():
        clock.now += 1
        fail(circuit)
    assert circuit.state is State.OPEN


def test_an_error_that_is_not_the_stores_says_nothing_of_it(circuit: Circuit, clock: Clock) -> None:
    with pytest.raises(InvalidInput), circuit.call():
        raise InvalidInput("not like that")
    assert circuit.state is State.CLOSED
    fail(circuit)
    clock.now += PAUSE_S
    with pytest.raises(InvalidInput), circuit.call():
        raise InvalidInput("not like that")
    assert circuit.state is State.OPEN
