"""A model that was trained here, as the source of a generator."""

from __future__ import annotations

from pathlib import Path

from core.adapters.generation.causal_folder import check
from core.errors import ModelUnavailable
from core.platform.sealing import is_whole
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
        self._place()

    def folder(self) -> Path:
        """Return the model's folder, read whole and checked. Raises: ``ModelUnavailable``."""
        folder = self._place()
        if not is_whole(folder):
            raise ModelUnavailable(
                f"Files of the trained model “{self.label}” are damaged.",
                remedy="Put its folder back from a backup, or delete the model and train it again.",
                reason="trained_damaged",
                model=self.label,
            )
        return folder

    def _place(self) -> Path:
        folder = self._artifacts.folder(self._name)
        if folder is None:
            has_any = bool(self._artifacts.all())
            told = "No trained model is chosen." if has_any else "No model has been trained here yet."
            remedy = "Choose one on the page Settings." if has_any else REMEDY
            raise ModelUnavailable(told, remedy=remedy, reason="trained_unchosen" if has_any else "trained_none")
        check(self.label, folder)
        return folder
