"""A child process that starts others which leave its group and lose their parents, as a hostile document would."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from core.platform.sandboxed_child import Telling, serve

LIVES_S = 60.0
"""None outlives a test that fails by much."""


def answer(order: dict[str, Any], _: Telling) -> dict[str, Any]:
    folder = Path(order["folder"])
    for _each in range(order["count"]):
        first = os.fork()
        if first == 0:
            os.setsid()
            if os.fork() == 0:
                _live(folder, moves=order["moves"])
            os._exit(0)
        os.waitpid(first, 0)
    return {}


def _live(folder: Path, *, moves: bool) -> None:
    """Note each process that there is, and where it ``moves`` be another one all the time."""
    end = time.monotonic() + LIVES_S
    while time.monotonic() < end:
        (folder / str(os.getpid())).touch()
        time.sleep(0.01 if moves else 0.2)
        if moves and os.fork():
            os._exit(0)
    os._exit(0)


if __name__ == "__main__":
    serve(answer)
