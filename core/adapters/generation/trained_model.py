"""A model that was trained here, as the source of a generator."""

from __future__ import annotations

from pathlib import Path

from core.adapters.generation.causal_folder import check
from core.errors import ModelUnavailable
from core.snn.artifacts import Artifacts

REMEDY = "Train one on the page Settings or with `evorag train`, or choose another generator."


class TrainedModel:
    """The trained model ``name``; empty means that none was chosen."""

    def __init__(self, artifacts: Artifacts, name: str) -> None:
        self._artifacts = artifacts
        self._name = name
        # Two trainings may have had the same name.
        digest = str(artifacts.get(name).manifest.get("training_config_hash", ""))[:8] if artifacts.has(name) else ""
        self.label = f"{name} {digest}".strip()

    def look(self) -> None:
        self.folder()

    def folder(self) -> Path:
        """Return the model's checked folder. Raises: ``ModelUnavailable``."""
        folder = self._artifacts.folder(self._name)
        if folder is None:
            has_any = bool(self._artifacts.all())
            told = "No trained model is chosen." if has_any else "No model has been trained here yet."
            remedy = "Choose one on the page Settings." if has_any else REMEDY
            raise ModelUnavailable(told, remedy=remedy, reason="trained_unchosen" if has_any else "trained_none")
        check(self.label, folder)
        return folder
