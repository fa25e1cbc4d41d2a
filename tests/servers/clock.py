"""A clock of the machine that a test sets, for the processes that it starts (libfaketime)."""

from __future__ import annotations

from pathlib import Path

from tests import programs


class MachineClock:
    """The time of day of processes with ``variables`` in their environment; no stop watch of theirs changes."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.set("+0")
        file.chmod(0o644)

    def set(self, offset: str) -> None:
        """Set the clock, such as ``-3h`` from what it really is; processes notice it within a second."""
        self.file.write_text(f"{offset}\n", encoding="ascii")

    @property
    def variables(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


def _library() -> Path | None:
    return next(programs.place("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def missing() -> str | None:
    return programs.missing("faketime") if _library() is None else None
