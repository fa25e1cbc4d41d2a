"""How many processors this process may use: its affinity, and the share that a container gives it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from core.platform.control_groups import CGROUPS, OWN_GROUPS, own_folders, read


def usable_processors(cgroups: Path = CGROUPS, own_groups: Path = OWN_GROUPS) -> int:
    """Return the number of processors, at least 1; a share of 2.5 processors counts as 2.

    Both versions of control groups are read.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min([count, *_shares(cgroups, own_groups)])))


def _shares(cgroups: Path, own_groups: Path) -> Iterator[float]:
    for version, folder in own_folders("cpu", cgroups, own_groups):
        if version == 2:
            quota, period = [*read(folder / "cpu.max").split(), "", ""][:2]
        else:
            quota, period = read(folder / "cpu.cfs_quota_us"), read(folder / "cpu.cfs_period_us")
        yield from _share(quota, period)


def _share(quota: str, period: str) -> Iterator[float]:
    """Give the share, unless there is no limit, which is ``max`` or -1."""
    if quota.strip().isdecimal() and period.strip().isdecimal() and int(period):
        yield int(quota) / int(period)
