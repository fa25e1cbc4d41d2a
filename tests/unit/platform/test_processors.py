"""The processors that a process may use, from control groups as Linux writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.platform.processors import usable_processors


@pytest.fixture(autouse=True)
def _eight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)


def groups(folder: Path, own: str, files: dict[str, str]) -> tuple[Path, Path]:
    (folder / "own").write_text(own)
    for name, content in files.items():
        path = folder / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder / "cgroup", folder / "own"


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/\n", {}, 8),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "1600000 100000\n"}, 8),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/elsewhere/on/the/host\n", {"cpu.max": "400000 100000\n"}, 4),
        ("4:cpu,cpuacct:/box\n", {"cpu,cpuacct/box/cpu.cfs_quota_us": "-1\n"}, 8),
        (
            "4:cpu,cpuacct:/box\n1:name=systemd:/\n",
            {"cpu,cpuacct/box/cpu.cfs_quota_us": "200000\n", "cpu,cpuacct/box/cpu.cfs_period_us": "100000\n"},
            2,
        ),
        ("3:cpuset:/box\n", {"cpuset/box/cpu.cfs_quota_us": "1\n", "cpuset/box/cpu.cfs_period_us": "1\n"}, 8),
        ("broken", {"cpu.max": "100000 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "100000 0\n"}, 8),
    ],
)
def test_the_smallest_share_counts(tmp_path: Path, own: str, files: dict[str, str], expected: int) -> None:
    assert usable_processors(*groups(tmp_path, own, files)) == expected


def test_without_control_groups_the_affinity_counts(tmp_path: Path) -> None:
    assert usable_processors(tmp_path / "none", tmp_path / "none") == 8
