"""Deals the cases of the longest tests out to shards; a run of continuous integration takes the shard of its day.

A family is a test whose cases are marked ``shard``. Each shard has at least one case of every family, so that no day
passes without a test of what the family is about. A test that is long as a whole and marked ``some_days`` is in one
shard. ``EVORAG_TEST_SHARD`` chooses: a number, ``today``, or ``all``, which
is also what an unset variable means. This module is a plugin of pytest; ``tests/conftest.py`` names it.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

import pytest

SWITCH = "EVORAG_TEST_SHARD"
SHARDS = 4


def chosen() -> int | None:
    """Return the number of the shard to run; None where all run. Raises: ``UsageError`` for any other value."""
    value = os.environ.get(SWITCH) or "all"
    if value == "all":
        return None
    if value.isdecimal() and 1 <= int(value) <= SHARDS:
        return int(value)
    raise pytest.UsageError(f"{SWITCH} is {value!r}; it may be a number from 1 to {SHARDS}, today, or all")


def of_day(day: date) -> int:
    return day.timetuple().tm_yday % SHARDS + 1


def dealt(cases: Iterable[str]) -> Mapping[str, int]:
    """Give each case of a family its shard, in an order that has nothing to do with that of the parameters.

    Parameters are often a product; dealt in their order, a shard could have all cases of one of its factors.
    """
    order = sorted(cases, key=lambda case: hashlib.sha256(case.encode("utf-8", "surrogatepass")).digest())
    return {case: place % SHARDS + 1 for place, case in enumerate(order)}


def of_test(name: str) -> int:
    """Return the shard of a test that has no cases to be dealt."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[0] % SHARDS + 1


def settle() -> None:
    """Turn ``today`` into a number once, before other processes of the run begin, since midnight may pass."""
    if os.environ.get(SWITCH) == "today":
        os.environ[SWITCH] = str(of_day(datetime.now(UTC).date()))


def pytest_configure() -> None:
    settle()
    chosen()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Say which shard it is; a quiet run has no header that could."""
    number, reporter = chosen(), session.config.pluginmanager.get_plugin("terminalreporter")
    if number and reporter:
        reporter.write_line(f"longest tests: shard {number} of {SHARDS} ({SWITCH}=all runs all of them)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    number = chosen()
    if number is None:
        return
    families: dict[str, list[str]] = defaultdict(list)
    shards: dict[str, int] = {}
    for item in items:
        if item.get_closest_marker("shard"):
            families[item.nodeid.partition("[")[0]].append(item.nodeid)
        elif item.get_closest_marker("some_days"):
            shards[item.nodeid] = of_test(item.nodeid)
    for family, cases in families.items():
        if len(cases) < SHARDS:
            raise pytest.UsageError(f"{family} has fewer cases than there are shards: one would have none")
        shards |= dealt(cases)
    left = [item for item in items if shards.get(item.nodeid, number) != number]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if shards.get(item.nodeid, number) == number]
