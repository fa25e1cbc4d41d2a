"""Which members of an archive become documents, and under which names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.errors import BadFilename
from core.ingest.archives import archive_kind
from core.ingest.validate import MAX_NAME_BYTES, clean_name, doc_key
from core.model.file_types import EXTENSIONS

_IGNORED_FOLDER = "__MACOSX"
_IGNORED = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
_OTHER_ARCHIVES = frozenset({"7z", "rar", "gz", "bz2", "xz", "zst", "lzh", "cab", "jar", "iso"})
_SEPARATORS = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive; ``refusal`` is the code of what keeps it from becoming a document, or empty.

    ``ignored`` and ``nested_archive`` are refusals that nobody needs to mend.
    """

    number: int
    name: str
    size_bytes: int
    refusal: str = ""


def plan(found: Sequence[tuple[str, int]], max_bytes: int) -> list[Member]:
    """Return the members in order, each with the name of its document.

    That is its file name; where several share one, each gets its folders in front (``install - guide.pdf``), and a
    number behind it where even that is taken.
    """
    places = [_parts(path) for path, _ in found]
    refusals = [_refusal(parts, size, max_bytes) for parts, (_, size) in zip(places, found, strict=True)]
    named = Counter(doc_key(clean_name(parts[-1])) for parts, no in zip(places, refusals, strict=True) if not no)
    taken = {key for key, times in named.items() if times == 1}
    members = []
    for number, (parts, (_, size), refusal) in enumerate(zip(places, found, refusals, strict=True)):
        if refusal:
            shown = parts[-1] if parts else ""
            members.append(Member(number, shown[:MAX_NAME_BYTES], size, refusal))
            continue
        name = clean_name(parts[-1])
        if doc_key(name) not in taken or named[doc_key(name)] > 1:
            name = _free(_with_folders(parts), taken)
            taken.add(doc_key(name))
        members.append(Member(number, name, size))
    return members


def _parts(path: str) -> list[str]:
    return [part for part in _SEPARATORS.split(path) if part not in ("", ".")]


def _refusal(parts: list[str], size_bytes: int, max_bytes: int) -> str:
    if not parts or parts[0] == _IGNORED_FOLDER or parts[-1].lower() in _IGNORED or parts[-1].startswith("._"):
        return "ignored"
    try:
        name = clean_name(parts[-1])
    except BadFilename as error:
        return error.code
    stem, dot, extension = name.lower().rpartition(".")
    if archive_kind(name) or (dot and extension in _OTHER_ARCHIVES):
        return "nested_archive"
    if dot and stem and extension not in EXTENSIONS:
        return "unsupported_type"
    if not size_bytes:
        return "empty_document"
    return "too_large" if size_bytes > max_bytes else ""


def _with_folders(parts: list[str]) -> str:
    """Return the file name with as many of its folders in front as a name has room for."""
    name = clean_name(parts[-1])
    for folder in reversed(parts[:-1]):
        try:
            name = clean_name(f"{folder} - {name}")
        except BadFilename:
            break
    return name


def _free(name: str, taken: set[str]) -> str:
    path, number = PurePosixPath(name), 2
    while doc_key(name) in taken:
        mark = f" ({number}){path.suffix}"
        stem = path.stem.encode()[: MAX_NAME_BYTES - len(mark.encode())].decode("utf-8", "ignore")
        name, number = stem + mark, number + 1
    return name
