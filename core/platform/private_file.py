"""Files that only their owner may read: written so from their first byte on, or tightened afterwards."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput

log = logging.getLogger(__name__)

_OTHERS = 0o077


def keep_private() -> None:
    """Have this process, and those that it starts, write files that only their owner may read."""
    os.umask(os.umask(_OTHERS) | _OTHERS)


def tighten(root: Path) -> None:
    """Take from everybody but their owners what they may do with a folder and what is in it, and say so.

    Only where the folder, or something directly in it, is open: a folder that EvoRAG made is not looked through. A file
    system that refuses is told of, and left as it is. Links are not followed, but for those directly in the folder.
    """
    with os.scandir(root) as entries:
        top = list(entries)
    if not any(map(_is_open, [str(root), *(each.path for each in top)])):
        return
    changed, refused = 0, 0
    for path in _paths(root, top):
        if _is_open(path):
            is_tight = _tightened(path)
            changed += is_tight
            refused += not is_tight
    if changed:
        log.warning("%s was open to other users: %d files and folders are their owner's alone now", root, changed)
    if refused:
        log.warning(
            "%s is open to other users: the file system refuses to change the modes of %d files and folders",
            root,
            refused,
        )


def _paths(root: Path, top: list[os.DirEntry[str]]) -> Iterator[str | Path]:
    yield root
    for entry in top:
        yield entry.path
        if entry.is_dir():
            for folder, folders, files in os.walk(entry.path):
                yield from (os.path.join(folder, name) for name in (*folders, *files))


def _is_open(path: str | Path) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        # Another process has removed it.
        return False
    return not stat.S_ISLNK(mode) and bool(mode & _OTHERS)


def _tightened(path: str | Path) -> bool:
    """Leave a folder or a file to its owner alone; tell whether the file system did it."""
    try:
        mode = os.lstat(path).st_mode
        os.chmod(path, stat.S_IMODE(mode) & (0o700 if stat.S_ISDIR(mode) else 0o600))
    except OSError:
        return not os.path.lexists(path)
    return not _is_open(path)


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Give a new file that takes the place of ``path`` where the block ends well, and is gone where it does not.

    Nobody can have put it there, or opened it, before. Raises: ``InvalidInput`` where it cannot be written.
    """
    try:
        number, name = tempfile.mkstemp(prefix=".evorag-", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                yield file
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"The file “{path.name}” cannot be written: {error.strerror}.") from error
