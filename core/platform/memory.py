"""How much memory this process may use, the machine's and the limit that a container gives it; and giving it back."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from core.platform.control_groups import CGROUPS, OWN_GROUPS, own_folders, read


def usable_memory(cgroups: Path = CGROUPS, own_groups: Path = OWN_GROUPS) -> int:
    """Return bytes, those of the machine where no group has a limit; both versions of control groups are read."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits(cgroups, own_groups)])


def giving_back(rest: Callable[[], bool]) -> Callable[[], bool]:
    """Return what does as ``rest`` and, where that tells that something is free now, gives it back to the machine."""

    def done() -> bool:
        is_free = rest()
        # The C library keeps what was freed for itself until it is told.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if is_free and trim is not None:
            gc.collect()
            trim(0)
        return is_free

    return done


def _limits(cgroups: Path, own_groups: Path) -> Iterator[int]:
    for version, folder in own_folders("memory", cgroups, own_groups):
        limit = read(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")).strip()
        # Without a limit it is ``max``, or a number that no machine has.
        if limit.isdecimal() and int(limit):
            yield int(limit)
