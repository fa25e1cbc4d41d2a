"""Trained models on the disk: the folder of each, its manifest, and which one the generator ``standard`` uses.

A folder holds what transformers loads (safetensors, tokenizer, configuration), ``artifact_manifest.json``,
``training_config.json`` (the settings whose hash the manifest carries) and, for a model that was trained with spikes,
its calibration. It appears whole, by renaming, or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.errors import NotFound
from core.model import Artifact
from core.model.training import NAME, TrainingLabels
from core.platform.durable import sync

MANIFEST = "artifact_manifest.json"
CONFIGURATION = "training_config.json"
LOG = "training_log.jsonl"
SOURCES = "training_sources.json"
"""Which versions of documents a model learnt from; it is deleted when one of them is purged."""
CHOSEN = "chosen.json"
MODEL_VERSION = "1.0.0"


def config_hash(config: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the normalised JSON: sorted keys, no blanks, UTF-8."""
    normal = json.dumps(config, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return sha256(normal.encode()).hexdigest()


def manifest(
    labels: TrainingLabels, config: Mapping[str, Any], tags: Sequence[str] = (), left_out: int = 0
) -> dict[str, Any]:
    """Return the manifest of a model that was trained as ``config`` says, without ``left_out`` texts."""
    return {
        "artifact_name": labels.artifact_name,
        "model_version": MODEL_VERSION,
        "base_model": "none",
        "task": "text-generation",
        "embedding_dim": config["width"],
        "quantized": config["quantize"] != "none",
        "precision": config["precision"],
        "training_config_hash": config_hash(config),
        "train_data_tags": list(tags),
        "license": labels.license,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "node_type": labels.node_type,
        "privacy_level": labels.privacy_level,
        "spiking": bool(config["spiking"]),
        "left_out": left_out,
    }


def written(path: Path, write: Callable[[Path], object]) -> None:
    """Have ``write`` fill a file that takes the place of ``path`` at once, durable when this returns."""
    begun = path.with_name(f".{path.name}.begun")
    try:
        write(begun)
        with begun.open("rb+") as stream:
            os.fsync(stream.fileno())
        begun.replace(path)
    finally:
        begun.unlink(missing_ok=True)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object in one step."""
    text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    written(path, lambda begun: begun.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file, empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def publish(begun: Path, place: Path) -> None:
    """Give a finished folder its place, durable when this returns. Raises: ``OSError`` where one is there already."""
    for path in (*begun.iterdir(), begun):
        sync(path)
    begun.rename(place)
    sync(place.parent)


class Artifacts:
    """The trained models below the folder ``models``."""

    def __init__(self, models: Path) -> None:
        self.trained = models / "trained"
        self._choice = models / CHOSEN

    def all(self) -> list[Artifact]:
        """Return the models, newest first."""
        chosen = self.chosen()
        found = []
        for path in self.trained.glob("*") if self.trained.is_dir() else ():
            # One that is being deleted is not listed.
            with suppress(OSError, NotFound):
                self._require(path.name)
                found.append(self._artifact(path.name, chosen))
        return sorted(found, key=lambda each: each.created_at, reverse=True)

    def get(self, name: str) -> Artifact:
        """Raises: ``NotFound``."""
        self._require(name)
        try:
            return self._artifact(name, self.chosen())
        except OSError as error:
            raise _absent() from error

    def has(self, name: str) -> bool:
        return NAME.fullmatch(name) is not None and (self.trained / name).is_dir()

    def folder(self, name: str) -> Path | None:
        """Return the folder of a trained model, None where no model has this name."""
        return self.trained / name if self.has(name) else None

    def chosen(self) -> str:
        """Return the name of the model that ``standard`` writes with, empty for none."""
        name = read_json(self._choice).get("standard", "")
        return name if isinstance(name, str) and self.has(name) else ""

    def choose(self, name: str) -> None:
        """Have ``standard`` write with a model. Raises: ``NotFound``."""
        self._require(name)
        write_json(self._choice, {"standard": name})

    def delete(self, name: str) -> None:
        """Remove a model; it is gone from every list before its files go. Raises: ``NotFound``."""
        self._require(name)
        going = Path(tempfile.mkdtemp(prefix=".going-", dir=self.trained))
        try:
            (self.trained / name).rename(going / name)
        except FileNotFoundError as error:
            raise _absent() from error
        finally:
            shutil.rmtree(going, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what a killed process had not finished writing or deleting."""
        for left in (*self.trained.glob(".going-*"), *self.trained.glob(".begun-*")):
            shutil.rmtree(left, ignore_errors=True)

    def _require(self, name: str) -> None:
        if not self.has(name):
            raise _absent()

    def _artifact(self, name: str, chosen: str) -> Artifact:
        folder = self.trained / name
        told = read_json(folder / MANIFEST)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        is_spiking = told.get("spiking") is True
        made = Artifact(name, _moment(told, folder), size, told, is_spiking, is_chosen=name == chosen)
        # It may have gone while it was read.
        self._require(name)
        return made


def _absent() -> NotFound:
    return NotFound("There is no trained model of this name.", remedy="The page Settings lists them.")


def _moment(told: Mapping[str, Any], folder: Path) -> datetime:
    try:
        found = datetime.fromisoformat(str(told.get("created_at")))
    except ValueError:
        found = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def tags_of(groups: Sequence[Sequence[str]], most: int = 100) -> tuple[str, ...]:
    """Return the tags of several documents, each once, by name."""
    return tuple(sorted({tag for group in groups for tag in group})[:most])
