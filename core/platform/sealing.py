"""What is written once, with its checksums: damage is seen before anybody reads it."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

_SEAL = "seal.json"
_SUM = ".sum"


def seal(folder: Path) -> None:
    """Note the checksums of all files of a folder."""
    sums = {path.name: _sum_of(path) for path in folder.iterdir() if path.is_file()}
    (folder / _SEAL).write_text(json.dumps(sums), encoding="ascii")


def is_whole(folder: Path) -> bool:
    """Tell whether all files are as they were sealed; a folder of before there were seals is taken as it is."""
    try:
        sums = json.loads((folder / _SEAL).read_bytes())
        return all(_sum_of(folder / name) == told for name, told in sums.items())
    except FileNotFoundError as error:
        return bool(error.filename == str(folder / _SEAL))
    except (OSError, ValueError, AttributeError):
        return False


def seal_file(written: Path, name: str) -> None:
    """Note the checksum of a file that is to be called ``name`` in its folder."""
    written.with_name(f"{name}{_SUM}").write_text(_sum_of(written), encoding="ascii")


def is_whole_file(path: Path) -> bool:
    """Tell whether a file is there as it was sealed; one of before there were seals is not."""
    try:
        return path.with_name(f"{path.name}{_SUM}").read_bytes() == _sum_of(path).encode("ascii")
    except OSError:
        return False


def _sum_of(path: Path) -> str:
    found = size = 0
    with path.open("rb") as file:
        while piece := file.read(1024 * 1024):
            found = zlib.crc32(piece, found)
            size += len(piece)
    return f"{size}:{found:08x}"
