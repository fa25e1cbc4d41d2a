"""Recordings: what each spiking neuron did while an answer was written."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from core.model import Recording, RecordingPart

ALL = RecordingPart()


class RecordingsApi(Protocol):
    """The recordings of the caller; administrators see all. Raises ``NotFound`` for an id that is none."""

    def list(self) -> builtins.list[Recording]:
        """Return the recordings, newest first."""

    def get(self, recording_id: str) -> Recording:
        """Return one recording."""

    def disk_bytes(self) -> int:
        """Return the size of all recordings that the caller sees."""

    def rename(self, recording_id: str, name: str) -> Recording:
        """Raises: ``InvalidInput`` for a name that is empty or too long."""

    def delete(self, recording_id: str) -> None:
        """Remove a recording with its file."""

    def import_file(self, name: str, source: Path | BinaryIO) -> Recording:
        """Keep a copy of a file of spikes. Raises: ``UnreadableRecording``, ``TooLarge``, ``QuotaExceeded``, …"""

    def write(self, recording_id: str, target: Path, form: str = "pt", part: RecordingPart = ALL) -> Path:
        """Write the file of a recording (``pt``), or its spikes as ``csv``, ``neo`` or ``nwb``.

        Raises: ``InvalidInput`` for a form that cannot be written, or a file that cannot be.
        """

    def tokens(self, recording_id: str) -> dict[str, Any]:
        """Return what the network read and wrote, and its populations."""

    def summary(self, recording_id: str, part: RecordingPart = ALL) -> dict[str, Any]:
        """Return rates, intervals and the table of populations."""

    def heat_map(self, recording_id: str) -> dict[str, Any]:
        """Return the rate of every layer at every token."""

    def spikes(
        self, recording_id: str, population: str, part: RecordingPart = ALL
    ) -> tuple[bytes, tuple[int, int, int]]:
        """Return the excitatory plane of bits followed by the inhibitory one, and K, S and n."""

    def membrane(self, recording_id: str, population: str, part: RecordingPart = ALL) -> dict[str, Any]:
        """Return the membrane potentials of the traced neurons with their thresholds."""

    def compare(self, recording_id: str, other_id: str) -> dict[str, Any]:
        """Return two recordings side by side. Raises: ``InvalidInput`` where they are of different models."""
