"""Which files ``evorag add`` takes from the paths that it is given."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli import output
from core.cli.session import doc_key
from core.errors import EmptyDocument, NotFound
from core.ingest.archives import archive_kind
from core.ingest.archives.members import plan
from core.model.file_types import EXTENSIONS

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi
    from core.model import Upload

_WANTED = frozenset(f".{extension}" for extension in EXTENSIONS)
"""What is looked for in folders. A file that is named itself is always tried, so that its error is seen."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to add, and the name that its document gets."""

    path: Path
    name: str


def found_files(paths: Sequence[Path]) -> list[FoundFile]:
    """Return the named files, and those below the named folders in order, without links and hidden ones.

    Where several share a name, those of folders get their folders in front, as in an archive; files that were named
    themselves keep theirs. Raises: ``NotFound`` for a path that does not exist, before anything is added.
    """
    for path in paths:
        if not path.exists():
            raise NotFound(f"There is no file or folder “{path}”.", remedy="Check the path.")
    own = {_absolute(path): path for path in paths if not path.is_dir()}
    places = {path: path.name for path in own.values()}
    for folder in paths:
        if folder.is_dir():
            above = _absolute(folder).parent
            for path in _below(folder):
                if (full := _absolute(path)) not in own:
                    own[full] = path
                    places[path] = full.relative_to(above).as_posix()
    files = [
        FoundFile(path, path.name if member.refusal or place == path.name else member.name)
        for (path, place), member in zip(
            places.items(), plan([(place, 1) for place in places.values()], sys.maxsize), strict=True
        )
    ]
    for key, times in Counter(doc_key(file.name) for file in files).items():
        if times > 1 and not archive_kind(key):
            output.note(f"warning: {times} files are named “{key}”; they become versions of one document.")
    return files


def send(kb: KnowledgeBaseApi, file: FoundFile, **filing: Any) -> Upload:
    """Add a file under its name, to a data folder or a server. Raises: what ``add_path`` raises."""
    if file.path.is_file() and not file.path.stat().st_size:
        raise EmptyDocument("The file is empty.", remedy="Choose a file that has something in it.")
    if file.name == file.path.name:
        return kb.add_path(file.path, **filing)
    with file.path.open("rb") as stream:
        return kb.add_file(file.name, stream, **filing)


def _absolute(path: Path) -> Path:
    """Return a path without dots, its links as they are."""
    return Path(os.path.abspath(path))


def _below(folder: Path) -> Iterator[Path]:
    skipped = 0
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            skipped += path.is_symlink()
        elif path.is_dir():
            yield from _below(path)
        elif path.suffix.lower() in _WANTED:
            yield path
        else:
            skipped += 1
    if skipped:
        output.note(f"{skipped} links or files of other types in “{folder.name}” were left out.")
