"""How many processors this process may use: its affinity, and the share that a container gives it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def usable_processors(cgroups: Path = CGROUPS, own_groups: Path = OWN_GROUPS) -> int:
    """Return the number of processors, at least 1; a share of 2.5 processors counts as 2.

    Both versions of control groups are read (Linux, cgroups(7)), each group with those above it.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min([count, *_shares(cgroups, own_groups)])))


def _shares(cgroups: Path, own_groups: Path) -> Iterator[float]:
    for line in _read(own_groups).splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            for folder in _with_parents(cgroups, path):
                quota, period = [*_read(folder / "cpu.max").split(), "", ""][:2]
                yield from _share(quota, period)
        elif "cpu" in controllers.split(","):
            for mount in (cgroups / controllers, cgroups / "cpu"):
                for folder in _with_parents(mount, path):
                    yield from _share(_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us"))


def _share(quota: str, period: str) -> Iterator[float]:
    """Give the share, unless there is no limit, which is ``max`` or -1."""
    if quota.strip().isdecimal() and period.strip().isdecimal() and int(period):
        yield int(quota) / int(period)


def _with_parents(mount: Path, path: str) -> Iterator[Path]:
    own = PurePosixPath(path.lstrip("/"))
    # A container may see its group under another path than the host; the mount's own files are then the group's.
    return (mount / folder for folder in (own, *own.parents))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
