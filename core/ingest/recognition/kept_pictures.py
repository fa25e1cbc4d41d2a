"""What has been recognised of documents that are being read: each picture is kept once, and survives a crash."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from core.ingest.parsers.embedded import OWN
from core.ingest.recognition.lines import picture_of
from core.model.recognition import RecognisedPicture
from core.platform.child_pool import ChildPool
from core.platform.child_process import ChildLost
from core.platform.processors import usable_processors
from core.platform.retrying import Stopped

TIMEOUT_S = 120.0
"""Time of all processors that one picture may take."""
_MOST_WAITED_S = 5 * TIMEOUT_S
"""Recognition gives way to all else: on a busy machine a page may get a tenth of a processor."""
MEMORY_BYTES = 6 * 1024**3
_PER_CHILD = 500


class Recognition:
    """Recognises pictures in a child process of their own, and keeps their lines in files until they are read."""

    def __init__(self, engine: str, folder: Path, scratch: Path) -> None:
        """``engine`` names the module and class of the port ``Ocr``; empty where nothing is recognised."""
        self.is_on = bool(engine)
        self._engine = engine
        self._folder = folder
        self._children = ChildPool("core.ingest.recognition.worker", scratch, max_orders=_PER_CHILD)

    def recognise(self, sha256: str, source: Path, extension: str, name: str) -> None:
        """Recognise one picture and keep its lines; one that cannot be read, or takes too much, has none.

        Raises: ``Stopped`` where the process ends meanwhile.
        """
        order = {
            "source": str(source.absolute()),
            "extension": extension,
            "name": name,
            "embedded": str(self.folder_of(sha256)),
            "engine": self._engine,
            "threads": usable_processors(),
            "timeout_s": TIMEOUT_S * usable_processors(),
            "memory_bytes": MEMORY_BYTES,
        }
        try:
            found = self._children.ask(order, _MOST_WAITED_S).get("picture")
        except ChildLost:
            if self._children.is_closed:
                raise Stopped from None
            found = None
        self._keep(sha256, name, None if found is None else picture_of(found))

    def folder_of(self, sha256: str) -> Path:
        """Return where pictures within a document wait that are no pages; its parser puts them there."""
        return (self._folder / sha256).absolute()

    def is_there(self, sha256: str, name: str) -> bool:
        """Tell whether a picture can be recognised: another job on the same bytes may have ended and removed it."""
        return not name.startswith(OWN) or (self.folder_of(sha256) / name).is_file()

    def leave(self, sha256: str, name: str) -> None:
        """Keep of a picture that it is not recognised: those of its document have taken too long."""
        self._keep(sha256, name, None)

    def lines_file(self, sha256: str) -> Path | None:
        """Return the file that holds what was recognised of an original, where there is any."""
        path = self._path(sha256)
        return path if path.is_file() else None

    def forget(self, sha256: str) -> None:
        self._path(sha256).unlink(missing_ok=True)
        shutil.rmtree(self.folder_of(sha256), ignore_errors=True)

    def keep_only(self, sha256s: Collection[str]) -> None:
        """Remove what was recognised of originals that nobody reads any more."""
        for sha256 in {path.stem for path in self._folder.glob("*")}.difference(sha256s):
            self.forget(sha256)

    def rest(self) -> None:
        """Give back the memory of the engine while there is nothing to recognise."""
        self._children.rest()

    def close(self) -> None:
        self._children.close()

    def _path(self, sha256: str) -> Path:
        return self._folder / f"{sha256}.jsonl"

    def _keep(self, sha256: str, name: str, picture: RecognisedPicture | None) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        entry = {"name": name, **({"lines": None} if picture is None else asdict(picture))}
        with self._path(sha256).open("a", encoding="utf-8", errors="replace") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
