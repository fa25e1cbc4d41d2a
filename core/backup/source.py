"""A house to move out of or into: catalogue, blobs and data folder, without stores and models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.platform.data_folder import DataFolder
from core.ports import BlobStore
from core.snn.artifacts import CHOSEN, Artifacts

if TYPE_CHECKING:
    from core.catalog import Catalog


class Show(Protocol):
    """Shows what is done, of how much (0: nobody knows), and what is being done."""

    def __call__(self, done: int, total: int, remark: str = "") -> None: ...


def silent(done: int, total: int, remark: str = "") -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class BackupSource:
    catalog: Catalog
    blobs: BlobStore
    folder: DataFolder

    def models(self) -> Iterator[tuple[str, Path]]:
        """Yield the files of trained models, with their names below the folder of models."""
        artifacts = Artifacts(self.folder.models)
        for folder in sorted(artifacts.trained.iterdir()) if artifacts.trained.is_dir() else ():
            if artifacts.has(folder.name):
                for path in sorted(folder.iterdir()):
                    if path.is_file() and not path.name.startswith("."):
                        yield f"trained/{folder.name}/{path.name}", path
        if (chosen := self.folder.models / CHOSEN).is_file():
            yield CHOSEN, chosen
