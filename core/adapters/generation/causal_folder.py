"""Finds the folder of a causal language model and refuses what could run code: pickled weights and own modules."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from core.adapters.generation.model_folder import FILES, TOKENIZER_BYTES, read_json
from core.errors import ModelUnavailable

PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib")
REMEDY = (
    "Choose a model with safetensors weights and without code of its own, or EVORAG_LLM_MODEL=smollm2, which a package"
    " brings."
)


class ModelSource(Protocol):
    """Where a model comes from."""

    label: str

    def look(self) -> None:
        """Look without loading anything, so that it takes no time. Raises: ``ModelUnavailable``."""

    def folder(self) -> Path:
        """Return a checked folder, which may take a while. Raises: ``ModelUnavailable``."""


class NamedModel:
    """A model by its folder, or by its name on the hub where this machine has a copy."""

    def __init__(self, name_or_folder: str, missing: str = "") -> None:
        self._name = name_or_folder
        self._missing = missing
        self._path = Path(name_or_folder).expanduser()
        self.label = self._path.name if self._path.exists() or self._path.is_absolute() else name_or_folder

    def look(self) -> None:
        if self._path.exists() or self._path.is_absolute():
            self.folder()
        elif find_spec("huggingface_hub") is None:
            raise self._not_here()

    def folder(self) -> Path:
        folder = self._path
        if not folder.exists():
            folder = self._from_hub()
        elif not folder.is_dir():
            raise refused(self.label, "it is a file, and only folders with safetensors weights are read", "file")
        check(self.label, folder)
        return folder

    def _from_hub(self) -> Path:
        if self._path.is_absolute() or self._name.startswith((".", "~")):
            raise self._not_here()
        try:
            from huggingface_hub import snapshot_download

            return Path(snapshot_download(self._name, local_files_only=True, allow_patterns=[*FILES, "*.jinja"]))
        except Exception as error:
            raise self._not_here() from error

    def _not_here(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"The language model {self.label} is not on this machine.",
            remedy=self._missing
            or "Download it where there is a network, copy its folder here and set EVORAG_LLM_MODEL to that folder, "
            "or use EVORAG_LLM_MODEL=smollm2, which a package brings.",
            reason="" if self._missing else "llm_missing",
            model=self.label,
        )


def check(label: str, folder: Path) -> None:
    """Raises: ``ModelUnavailable`` for a folder that is no causal model, or holds what could run code."""
    config = folder / "config.json"
    if not config.is_file():
        raise refused(label, "its folder has no config.json", "config")
    for path in folder.glob("*.json"):
        if path.stat().st_size > TOKENIZER_BYTES:
            raise refused(label, f"{path.name} is too large", "size")
    for name in ("config.json", "tokenizer_config.json", "generation_config.json"):
        if "auto_map" in read_json(folder / name):
            raise refused(label, "it brings code of its own", "code")
    if not any(folder.glob("*.safetensors")):
        pickled = any(path.suffix in PICKLED for path in folder.iterdir())
        raise refused(label, "its weights are pickled" if pickled else "it has no weights as safetensors", "weights")


def refused(label: str, why: str, kind: str) -> ModelUnavailable:
    told = f"The language model {label} was refused: {why}."
    return ModelUnavailable(told, remedy=REMEDY, reason=f"llm_refused_{kind}", model=label)
