"""What a hostile reader starts ends with it, and it starts no more than it may."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.platform.child_process import Child
from core.platform.sandboxed_child import MOST_TASKS
from tests.waiting import until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def living(folder: Path) -> list[int]:
    found = []
    for path in folder.iterdir():
        try:
            state = Path(f"/proc/{path.name}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX":
            found.append(int(path.name))
    return found


@pytest.mark.parametrize("moves", [False, True])
def test_processes_that_left_its_group_and_lost_their_parents_end_with_a_child(tmp_path: Path, moves: bool) -> None:
    child = Child("tests.unit.platform.multiplying_child")
    try:
        child.ask({"folder": str(tmp_path), "count": 8, "moves": moves}, 60)
        until(lambda: len(list(tmp_path.iterdir())) >= (40 if moves else 8))
        assert moves or len(living(tmp_path)) == 8
    finally:
        child.kill()
    until(lambda: living(tmp_path) == [])
    time.sleep(0.3)
    assert living(tmp_path) == []


MULTIPLIES = """
import os, signal, sys
from pathlib import Path
from core.platform import sandboxed_child as child

# Read while this user may still read the library.
Path("/proc/self/status").read_text("ascii", "replace")
if os.getuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
child.isolate()
child.bound_processes()
made = []
try:
    while len(made) < 4 * child.MOST_TASKS:
        made.append(os.fork())
        if made[-1] == 0:
            signal.pause()
except OSError:
    pass
for each in made:
    os.kill(each, signal.SIGKILL)
print(len(made))
"""


def test_child_that_is_not_roots_multiplies_no_further_than_it_may() -> None:
    done = subprocess.run([sys.executable, "-c", MULTIPLIES], capture_output=True, text=True, timeout=120, check=True)
    made = int(done.stdout)
    # What else this user has is counted where there is no name space of users.
    present = sum(os.stat(path).st_uid == os.getuid() for path in Path("/proc").glob("[0-9]*") if path.exists())
    assert 0 < made <= MOST_TASKS + 64 * present
    assert made < 4 * MOST_TASKS
