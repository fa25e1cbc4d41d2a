"""What every benchmark says about where it ran, and how it prints."""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from collections.abc import Mapping
from typing import Any


def describe() -> dict[str, Any]:
    """Return the machine in words; the load tells how far its times can be trusted."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load_1_min": round(os.getloadavg()[0], 2),
    }


def peak_resident_mb() -> float:
    """Return the highest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident_mb() -> float:
    """Return the resident memory of this process now, in MB."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def note(text: str) -> None:
    """Say on stderr what is being done."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def emit(report: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a report as JSON, or as one line a value."""
    if as_json:
        print(json.dumps(report, ensure_ascii=False, indent=2))
        return
    for name, value in _flat(report, ""):
        print(f"{name:44} {value:.4g}" if isinstance(value, float) else f"{name:44} {value}")


def _flat(report: Mapping[str, Any], prefix: str) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in report.items():
        rows += _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else [(prefix + name, value)]
    return rows
