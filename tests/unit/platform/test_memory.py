"""The memory that a process may use, from control groups as Linux writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.platform.memory import usable_memory
from tests.unit.platform.test_processors import groups

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
LIMIT = MACHINE // 2


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/\n", {}, MACHINE),
        ("0::/\n", {"memory.max": "max\n"}, MACHINE),
        ("0::/a/b\n", {"a/b/memory.max": f"{MACHINE * 3}\n", "a/memory.max": f"{LIMIT}\n"}, LIMIT),
        ("4:memory:/box\n", {"memory/box/memory.limit_in_bytes": f"{LIMIT}\n"}, LIMIT),
        ("4:memory:/box\n", {"memory/box/memory.limit_in_bytes": "9223372036854771712\n"}, MACHINE),
        ("4:cpu:/box\n", {"memory/box/memory.limit_in_bytes": f"{LIMIT}\n"}, MACHINE),
    ],
)
def test_the_smallest_limit_counts(tmp_path: Path, own: str, files: dict[str, str], expected: int) -> None:
    assert usable_memory(*groups(tmp_path, own, files)) == expected
