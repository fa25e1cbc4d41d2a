"""Which files ``evorag add`` takes from the paths that it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.cli import output
from core.errors import NotFound

EXTENSIONS = frozenset(
    [
        ".txt",
        ".md",
        ".markdown",
        ".pdf",
        ".doc",
        ".docx",
        ".xls",
        ".xlsx",
        ".ppt",
        ".pptx",
        ".html",
        ".htm",
        ".gdoc",
        ".csv",
    ]
)
"""What is looked for in folders. A file that is named itself is always tried, so that its error is seen."""


def found_files(paths: Sequence[Path]) -> list[Path]:
    """Return the named files, and those below the named folders in order, without links and hidden ones.

    Raises: ``NotFound`` for a path that does not exist, before anything is added.
    """
    for path in paths:
        if not path.exists():
            raise NotFound(f"There is no file or folder “{path}”.", remedy="Check the path.")
    files = [file for path in paths for file in (_below(path) if path.is_dir() else [path])]
    for name, times in Counter(file.name for file in files).items():
        if times > 1:
            output.note(f"warning: {times} files are named “{name}”; they become versions of one document.")
    return files


def _below(folder: Path) -> Iterator[Path]:
    skipped = 0
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            skipped += path.is_symlink()
        elif path.is_dir():
            yield from _below(path)
        elif path.suffix.lower() in EXTENSIONS:
            yield path
        else:
            skipped += 1
    if skipped:
        output.note(f"{skipped} links or files of other types in “{folder.name}” were left out.")
