"""A machine that can be killed: a knowledge base whose process ends at a named point, and is started again."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import core
from core.model import Filing, Transfer
from core.platform import failpoints
from tests.builders import knowledge_base


class Killed(BaseException):
    """What nobody catches: as far as the code can tell, the process ends here."""


class Machine:
    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.settings = settings
        self.start()

    @property
    def files(self) -> list[str]:
        """The names of the files that hold unfinished uploads."""
        return sorted(path.name for path in (self.folder / "data" / "transfers").iterdir())

    @property
    def blobs(self) -> list[Path]:
        return [path for path in (self.folder / "data" / "blobs").rglob("*") if path.is_file()]

    def die_at(self, name: str, occurrence: int = 1) -> None:
        """End the process when a point is reached for the so-manieth time from now on."""
        left = occurrence

        def act(reached: str) -> None:
            nonlocal left
            left -= reached == name
            if left == 0 and reached == name:
                raise Killed(name)

        failpoints.on_failpoint(act)

    def restart(self) -> None:
        """Start anew on what is on the disk; nothing of the former process is asked to close anything properly."""
        failpoints.on_failpoint(None)
        self.kb.catalog.close()
        self.kb._folder.close()
        self.start()

    def start(self) -> None:
        self.kb = knowledge_base(self.folder, **self.settings)

    def do(self, act: Callable[[core.KnowledgeBase], Any]) -> bool:
        """Do something, and start anew where the process died of it; tell whether it did not."""
        try:
            act(self.kb)
        except Killed:
            self.restart()
            return False
        return True


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path, min_free_bytes=0)
    yield made
    failpoints.on_failpoint(None)
    made.kb.close()


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """A knowledge base for all tests of a module; each of them sends files of other names."""
    with knowledge_base(tmp_path_factory.mktemp("uploads"), min_free_bytes=0) as opened:
        yield opened


_numbers = count(1)


def fresh() -> str:
    """Return a file name that no other test has used."""
    return f"file-{next(_numbers)}.txt"


def begin(kb: core.KnowledgeBase, data: bytes, name: str = "", **said: Any) -> Transfer:
    return kb.transfers.create(name or fresh(), len(data), filing=Filing(), **said)


def send(kb: core.KnowledgeBase, transfer: Transfer, data: bytes, start: int = 0, **said: Any) -> Transfer:
    """Send all of ``data`` as one part."""
    return kb.transfers.append(transfer.id, start, io.BytesIO(data), size=len(data), **said)
