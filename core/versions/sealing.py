"""A folder that is written once, with the checksums of its files: damage is seen before anybody reads them."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

_SEAL = "seal.json"


def seal(folder: Path) -> None:
    """Note the checksums of all files of a folder."""
    sums = {path.name: _sum_of(path) for path in folder.iterdir()}
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


def _sum_of(path: Path) -> str:
    found = size = 0
    with path.open("rb") as file:
        while piece := file.read(1024 * 1024):
            found = zlib.crc32(piece, found)
            size += len(piece)
    return f"{size}:{found:08x}"
