"""Deals the long tests out to shards; a run of continuous integration takes all short tests and one shard of the long.

A file's long tests are in one shard, since many of them share what takes long to set up. The cases of a test that is
marked ``shard`` are dealt out themselves, a quarter to each run, so that none passes without a test of what they are
about, and what is marked ``every_run`` is in all shards: what must never be broken for a day. ``EVORAG_TEST_SHARD``
chooses: a number, ``now``, or ``all``, which is also what an unset variable means. This module is a plugin of pytest;
``tests/conftest.py`` names it.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import pytest

SWITCH = "EVORAG_TEST_SHARD"
SHARDS, SHARES = 11, 4
"""Each run has the long tests of every eleventh file, and a quarter of the cases of each family; eleven is a prime, so
that runs at the same hour of each day come to all of them."""
_HOURS = 3
"""Work is landed several times a day, often at the same hours."""


def chosen() -> int | None:
    """Return the number of the shard to run; None where all run. Raises: ``UsageError`` for any other value."""
    value = os.environ.get(SWITCH) or "all"
    if value == "all":
        return None
    if value.isdecimal() and 1 <= int(value) <= SHARDS:
        return int(value)
    raise pytest.UsageError(f"{SWITCH} is {value!r}; it may be a number from 1 to {SHARDS}, now, or all")


def of_moment(moment: datetime) -> int:
    """Return the shard of a run that begins then: another one every few hours, and another one the next day."""
    return (24 // _HOURS * moment.toordinal() + moment.hour // _HOURS) % SHARDS + 1


def dealt(cases: Iterable[str], count: int = SHARDS) -> Mapping[str, int]:
    """Give each file, or case of a family, one of ``count`` numbers, in an order that parameters have no part in.

    Parameters are often a product; dealt in their order, a shard could have all cases of one of its factors.
    """
    order = sorted(cases, key=lambda case: hashlib.sha256(case.encode("utf-8", "surrogatepass")).digest())
    return {case: place % count + 1 for place, case in enumerate(order)}


def settle() -> None:
    """Turn ``now`` into a number once, before other processes of the run begin, since an hour may pass."""
    if os.environ.get(SWITCH) == "now":
        os.environ[SWITCH] = str(of_moment(datetime.now(UTC)))


def pytest_configure() -> None:
    settle()
    chosen()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Say which shard it is; a quiet run has no header that could."""
    number, reporter = chosen(), session.config.pluginmanager.get_plugin("terminalreporter")
    if number and reporter:
        reporter.write_line(f"long tests: shard {number} of {SHARDS} ({SWITCH}=all runs all of them)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    number = chosen()
    if number is None:
        return
    families: dict[str, list[str]] = defaultdict(list)
    files: dict[str, list[str]] = defaultdict(list)
    for item in items:
        name, is_sharded = item.nodeid, item.get_closest_marker("shard")
        if is_sharded:
            families[name.partition("[")[0]].append(name)
        elif item.get_closest_marker("long") and not item.get_closest_marker("every_run"):
            files[name.partition("::")[0]].append(name)
    shards: dict[str, int] = {}
    for family, cases in families.items():
        if len(cases) < SHARES:
            raise pytest.UsageError(f"{family} has fewer than {SHARES} cases: a run would have none")
        own = (number - 1) % SHARES + 1
        shards |= {case: number if share == own else 0 for case, share in dealt(cases, SHARES).items()}
    for file, shard in dealt(files).items():
        shards |= dict.fromkeys(files[file], shard)
    left = [item for item in items if shards.get(item.nodeid, number) != number]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if shards.get(item.nodeid, number) == number]
