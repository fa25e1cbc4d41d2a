"""What every benchmark says about where it ran, and how it tells what it does."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
LIBRARIES = (
    *("torch", "transformers", "onnxruntime", "numpy", "faiss-cpu", "pymilvus", "milvus-lite", "tantivy"),
    *("elasticsearch", "sqlalchemy", "dash", "flask"),
)


def describe() -> dict[str, Any]:
    """Return the machine in words; the load tells how far its times can be trusted."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_mb": round(psutil.virtual_memory().total / 2**20),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": {name: found for name in LIBRARIES if (found := _version(name))},
        "commit": _commit(),
        "load_1_min": round(os.getloadavg()[0], 2),
    }


def peak_resident_mb() -> float:
    """Return the highest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident_mb() -> float:
    """Return the resident memory of this process now, in MB."""
    return float(psutil.Process().memory_info().rss) / 2**20


def resident_mb_of_all() -> tuple[float, float]:
    """Return the resident memory of this process and of all that it has started, and what of it are files, in MB."""
    own = psutil.Process()
    total = files = 0
    for process in (own, *own.children(recursive=True)):
        try:
            held = process.memory_info()
        except psutil.NoSuchProcess:
            continue
        total, files = total + held.rss, files + held.shared
    return total / 2**20, files / 2**20


def note(text: str) -> None:
    """Say on stderr what is being done."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    """Return the commit of this code, with a plus where files differ from it; nothing outside a checkout."""
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
        dirty = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip()[:12] + ("+" if dirty.stdout.strip() else "")
