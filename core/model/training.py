"""What a training is asked for: the size and the course of it, and what the manifest says of the model."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import InvalidInput

PRIVACY_LEVELS = ("public", "internal", "confidential")
PRECISIONS = ("fp32", "fp16", "bf16")
QUANTISATIONS = ("none", "int8")
NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
WORDS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._()+-]{0,63}")
TRAINING_BOUNDS = {
    "steps": (1, 100_000),
    "layers": (1, 24),
    "width": (32, 1_024),
    "window": (16, 1_024),
    "batch": (1, 256),
    "vocabulary": (300, 32_000),
    "seed": (0, 2**31 - 1),
    "code_steps": (1, 16),
    "threads": (1, 64),
}
MOST_BYTES = 4 * 1024**3
"""Of memory that a training may need."""
WIDTHS = 32
"""A width is a multiple of it: each head of the attention has so many channels."""


def check_name(name: str) -> None:
    """Raises: ``InvalidInput`` for what is no name of a trained model, such as a path."""
    if not NAME.fullmatch(name) or ".." in name:
        raise InvalidInput(
            "This is no name for a trained model.",
            remedy="At most 64 small letters, digits, dots, dashes and underscores; first and last a letter or digit.",
        )


@dataclass(frozen=True, slots=True)
class TrainingLabels:
    """What the manifest says of a model besides how it was trained."""

    artifact_name: str
    privacy_level: str = "internal"
    node_type: str = "language"
    license: str = "unspecified"

    def check(self) -> None:
        """Raises: ``InvalidInput`` for what is none of the offered values or no short word."""
        check_name(self.artifact_name)
        if self.privacy_level not in PRIVACY_LEVELS:
            raise InvalidInput("There is no such privacy level.", remedy=f"One of {', '.join(PRIVACY_LEVELS)}.")
        for name, value in (("node type", self.node_type), ("licence", self.license)):
            if not WORDS.fullmatch(value):
                raise InvalidInput(
                    f"The {name} is a short word.", remedy="At most 64 letters, digits, blanks, dots and dashes."
                )


@dataclass(frozen=True, slots=True)
class TrainingCourse:
    """How a model is trained; ``window`` and ``vocabulary`` are in tokens, ``batch`` in windows.

    With ``spiking`` every product of a matrix sees what spikes carry, coded as ``code_steps`` of few-spike.
    ``precision`` is that of the stored weights; ``quantize`` ``int8`` rounds each row of a matrix to 255 levels.
    """

    steps: int = 600
    layers: int = 4
    width: int = 256
    window: int = 128
    batch: int = 8
    vocabulary: int = 4_096
    learning_rate: float = 1e-3
    seed: int = 0
    spiking: bool = False
    code_steps: int = 8
    precision: str = "fp32"
    quantize: str = "none"
    threads: int = 1

    def check(self) -> None:
        """Raises: ``InvalidInput`` for a number out of its bounds or a word that is none of the offered ones."""
        for name, (low, high) in TRAINING_BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise InvalidInput(f"“{name}” must be a whole number from {low} to {high}.")
        if self.width % WIDTHS:
            raise InvalidInput(f"“width” must be a multiple of {WIDTHS}.")
        if not 0 < self.learning_rate <= 1:
            raise InvalidInput("“learning_rate” must be above 0 and at most 1.")
        for name, offered in (("precision", PRECISIONS), ("quantize", QUANTISATIONS)):
            if getattr(self, name) not in offered:
                raise InvalidInput(f"“{name}” must be one of {', '.join(offered)}.")
        if self.memory_bytes > MOST_BYTES:
            raise InvalidInput(
                f"This training needs about {self.memory_bytes / 1024**3:.1f} GB of memory, and 4 GB are allowed.",
                remedy="Choose a smaller width, window, batch or vocabulary, or fewer layers.",
            )

    @property
    def parameters(self) -> int:
        """About how many weights the model has: embeddings, and 12 matrices of width × width a layer."""
        return self.vocabulary * self.width + 12 * self.layers * self.width**2

    @property
    def memory_bytes(self) -> int:
        """About how much memory a step needs: weights, gradients and two moments, and what is kept of each token."""
        kept = max(3 * self.vocabulary, 20 * self.layers * self.width)
        return 4 * (4 * self.parameters + self.batch * self.window * kept)

    @property
    def disk_bytes(self) -> int:
        """About how much is written at once: two checkpoints of weights and two moments, and the model."""
        return 4 * 7 * self.parameters

    def config(self, corpus_sha256: str) -> dict[str, Any]:
        """Return all that decides the weights: the settings and the hash of the texts. The threads do not."""
        settings = {name: value for name, value in asdict(self).items() if name != "threads"}
        return {**settings, "corpus_sha256": corpus_sha256}
