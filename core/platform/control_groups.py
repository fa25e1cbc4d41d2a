"""The control groups that this process is in (Linux, cgroups(7)), each with those above it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def own_folders(controller: str, cgroups: Path, own_groups: Path) -> Iterator[tuple[int, Path]]:
    """Give the folders of the own groups that may limit what ``controller`` counts, with the version of their files."""
    for line in read(own_groups).splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            yield from ((2, folder) for folder in _with_parents(cgroups, path))
        elif controller in controllers.split(","):
            for mount in (cgroups / controllers, cgroups / controller):
                yield from ((1, folder) for folder in _with_parents(mount, path))


def read(path: Path) -> str:
    """Return what a file says, nothing where it cannot be read."""
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""


def _with_parents(mount: Path, path: str) -> Iterator[Path]:
    own = PurePosixPath(path.lstrip("/"))
    # A container may see its group under another path than the host; the mount's own files are then the group's.
    return (mount / folder for folder in (own, *own.parents))
