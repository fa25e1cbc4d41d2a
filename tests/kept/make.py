"""Writes the kept data folder, the kept archive, what they say of themselves, and the names that they are written with.

What lies beside this file was written by commit bb92060, the last one before the modules moved, and stands for
every data folder and archive of that time: it is not written anew when the program changes. To see how it was made,
check out the commit that added this file, whose program is that of bb92060
(``git log --diff-filter=A --format=%h -- tests/kept/make.py``), and run there:

    PYTHONPATH=. EVORAG_LOG_LEVEL=ERROR python tests/kept/make.py FOLDER

Times, ids and secrets differ each time; all else is the same. Vectors are those of the hashing embedder in 32
dimensions: real ones take twelve times the room in three places, and what they mean is not what is tested here.
"""

from __future__ import annotations

import json
import lzma
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from facts import facts, missing, travelled
from furnish import Caller, furnish, settings
from names import of_files, outline

import core
from app.main import create_app
from core.cli.transfer import export_to, import_from


def make(target: Path, scratch: Path) -> None:
    folder, archive = scratch / "data", scratch / "archive.tar"
    secrets = furnish(folder, scratch)
    with archive.open("wb") as file:
        export_to(settings(folder), file)
    with tarfile.open(target / "kept.tar.xz", "w:xz", preset=9 | lzma.PRESET_EXTREME) as packed:
        packed.add(folder, "data")
        packed.add(archive, "archive.tar")
    said, described = read(folder, secrets["importer"])
    (target / "names.txt").write_text("\n".join(sorted(of_files(folder, archive))) + "\n", encoding="utf-8")
    routes = json.dumps(outline(described), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    (target / "routes.json.xz").write_bytes(lzma.compress(routes.encode(), preset=9 | lzma.PRESET_EXTREME))
    told = json.dumps({"secrets": secrets, "facts": said}, ensure_ascii=False, indent=1)
    (target / "facts.json.xz").write_bytes(lzma.compress(told.encode(), preset=9 | lzma.PRESET_EXTREME))
    with archive.open("rb") as file:
        import_from(settings(scratch / "other"), file)
    imported, _ = read(scratch / "other", secrets["importer"])
    assert not list(missing(travelled(said), imported)), list(missing(travelled(said), imported))


def read(folder: Path, secret: str) -> tuple[dict, dict]:
    with core.build(settings(folder)) as kb:
        call = Caller(create_app(kb).server.test_client(), secret)
        call.wait_until_ready()
        return json.loads(json.dumps(facts(call))), call("GET", "openapi.json")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp())
    try:
        make(place, scratch)
    finally:
        shutil.rmtree(scratch)
