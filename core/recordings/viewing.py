"""What is read out of recordings: tokens, numbers, spikes, membranes, what differs between two, and other forms."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.access import needs
from core.blobs.quota import disk_errors
from core.errors import Damaged, InvalidInput, NotFound
from core.model import RecordingPart, Role
from core.model.codec import to_dict

if TYPE_CHECKING:
    from core.snn.recording import NeuronRecording, PopulationRecord

MOST_STEPS = 200_000
"""Most steps, or tokens, that one answer tells of."""
MOST_VALUES = 1_000_000
"""Most membrane potentials in one answer."""
_REMEDY = "Put it back from a backup; or delete the recording, and record the answer again."
_PIECE = 1024 * 1024


ALL = RecordingPart()


class Viewing:
    """Reads recordings for pages and programs."""

    def open(self, recording_id: str) -> NeuronRecording:
        raise NotImplementedError

    def path(self, recording_id: str) -> Path:
        raise NotImplementedError

    def _begun(self) -> Path:
        raise NotImplementedError

    @needs(Role.READER)
    def tokens(self, recording_id: str) -> dict[str, Any]:
        """Return what the network read and wrote, its populations, and what is said of the recording.

        Raises: ``NotFound``, ``UnreadableRecording``.
        """
        found = self.open(recording_id)
        shown = found.tokens.texts[:MOST_STEPS], found.tokens.roles[:MOST_STEPS]
        return {
            "steps": found.steps,
            "total": len(found.tokens),
            "tokens": [
                {"id": int(number), "text": text, "role": role}
                for number, text, role in zip(found.tokens.ids[:MOST_STEPS], *shown, strict=True)
            ],
            "populations": [
                {
                    "name": name,
                    "kind": each.kind,
                    "layer": each.layer,
                    "neurons": each.n,
                    "traced": len(each.trace_idx),
                    "is_thinned": each.neuron_idx is not None,
                    "factor": each.factor,
                }
                for name, each in found.populations.items()
            ],
            "meta": dict(found.meta),
            "left_out": found.left_out,
        }

    @needs(Role.READER)
    def summary(self, recording_id: str, part: RecordingPart = ALL) -> dict[str, Any]:
        """Return rates, intervals and the table of populations, as ``core.snn.statistics.Summary`` describes them.

        Raises: ``InvalidInput`` where nothing is chosen, or too much.
        """
        from core.snn.statistics import summary

        found = self.open(recording_id)
        populations, tokens = _chosen(found, part)
        _check_steps(found, tokens)
        return summary(found, populations, tokens).to_dict()

    @needs(Role.READER)
    def heat_map(self, recording_id: str) -> dict[str, Any]:
        """Return the rate of every layer at every token, all kinds together and each by itself."""
        from core.snn.statistics import heat_map

        found = self.open(recording_id)
        _check_steps(found, slice(0, len(found.tokens)))
        return heat_map(found).to_dict()

    @needs(Role.READER)
    def spikes(
        self, recording_id: str, population: str, part: RecordingPart = ALL
    ) -> tuple[bytes, tuple[int, int, int]]:
        """Return the excitatory plane of bits and behind it the inhibitory one, and K, S and n.

        *Shapes*: each plane ``(K, S, ⌈n/8⌉)`` bytes, the first neuron in the lowest bit.
        """
        found = self.open(recording_id)
        record = _population(found, population)
        tokens = _tokens(found, part)
        planes = [np.ascontiguousarray(plane[:, tokens]) for plane in (record.spikes_pos, record.spikes_neg)]
        steps, count = planes[0].shape[:2]
        return b"".join(plane.tobytes() for plane in planes), (steps, count, record.n)

    @needs(Role.READER)
    def membrane(self, recording_id: str, population: str, part: RecordingPart = ALL) -> dict[str, Any]:
        """Return the membrane potentials of the traced neurons with their thresholds and what was encoded.

        Where they are too many, traced neurons are left out evenly. *Shapes*: ``idx`` ``[m]``, numbers of neurons;
        ``potential`` and ``thresholds`` (or null) ``[K, S, m]``; ``current`` (or null) ``[S, m]``; all in units of the
        activation. Raises: ``InvalidInput`` where one neuron alone has too many steps.
        """
        found = self.open(recording_id)
        record = _population(found, population)
        tokens = _tokens(found, part)
        each = record.steps * len(range(*tokens.indices(len(found.tokens))))
        _check_steps(found, tokens)
        kept = np.arange(0, len(record.trace_idx), max(1, -(-len(record.trace_idx) * each // MOST_VALUES)))
        places = record.trace_idx[kept]
        thresholds = record.thresholds()
        return {
            "steps": record.steps,
            "first": tokens.start,
            "idx": (places if record.neuron_idx is None else record.neuron_idx[places]).tolist(),
            "rows": places.tolist(),
            "potential": record.membrane_potential[:, tokens][:, :, kept].tolist(),
            "thresholds": None if thresholds is None else thresholds[:, tokens][:, :, kept].tolist(),
            "current": None if record.current is None else record.current[tokens][:, kept].tolist(),
        }

    @needs(Role.READER)
    def compare(self, recording_id: str, other_id: str) -> dict[str, Any]:
        """Return two recordings side by side, as ``core.snn.comparing.RecordingComparison`` describes them.

        Raises: ``InvalidInput`` where they are of different models.
        """
        from core.snn.comparing import compare

        return dict(to_dict(compare(self.open(recording_id), self.open(other_id))))

    @needs(Role.READER)
    def export(self, recording_id: str, form: str = "csv", part: RecordingPart = ALL) -> tuple[Iterator[bytes], str]:
        """Return the spikes in another form, and how a file of that form ends.

        ``csv`` is a line a spike; ``neo`` and ``nwb`` are written where their packages are installed. Raises:
        ``InvalidInput`` for another form, or one that is not installed.
        """
        from core.snn.exporting import SUFFIXES, csv_events, export

        found = self.open(recording_id)
        populations, tokens = _chosen(found, part)
        if form not in SUFFIXES:
            raise InvalidInput(f"A recording is exported as {', '.join(SUFFIXES)}.")
        if form == "csv":
            return csv_events(found, populations, tokens), SUFFIXES[form]
        begun = self._begun()
        target = begun.with_name(f"{begun.name}{SUFFIXES[form]}")
        try:
            with disk_errors():
                export(found, form, target, populations, tokens)
            # The name goes at once, the bytes with whoever reads them.
            return _pieces(target), SUFFIXES[form]
        finally:
            target.unlink(missing_ok=True)

    @needs(Role.READER)
    def export_forms(self) -> tuple[str, ...]:
        """Return the forms of ``export`` that can be written here: what they need is installed."""
        from core.snn.exporting import SUFFIXES, is_available

        return tuple(form for form in SUFFIXES if is_available(form))

    @needs(Role.READER)
    def write(self, recording_id: str, target: Path, form: str = "pt", part: RecordingPart = ALL) -> Path:
        """Write the file of a recording (``pt``), or its spikes in another form, to a file, and return its path.

        The file is whole or as it was before. Raises: what ``export`` raises, ``DiskFull``; ``InvalidInput`` where
        nothing can be written.
        """
        parts = _pieces(self.path(recording_id)) if form == "pt" else self.export(recording_id, form, part)[0]
        write_whole(parts, target)
        return target


def write_whole(parts: Iterable[bytes], target: Path) -> None:
    """Write a file that is whole afterwards, or as it was before.

    Raises: ``DiskFull``; ``InvalidInput`` where nothing can be written.
    """
    begun = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with disk_errors():
            with begun.open("xb") as file:
                file.writelines(parts)
            begun.replace(target)
    except OSError as error:
        raise InvalidInput(f"The file “{target.name}” cannot be written: {error.strerror}.") from error
    finally:
        begun.unlink(missing_ok=True)


def _chosen(recording: NeuronRecording, part: RecordingPart) -> tuple[Sequence[str], slice]:
    """Return the names and tokens of a part. Raises: ``InvalidInput`` where that is nothing."""
    names = [
        name
        for name, each in recording.populations.items()
        if part.layer in (None, each.layer) and part.kind in ("", each.kind)
    ]
    if not names:
        raise InvalidInput("The recording has no population of this layer and kind.", remedy="Choose others.")
    return names, _tokens(recording, part)


def _tokens(recording: NeuronRecording, part: RecordingPart) -> slice:
    count = len(recording.tokens)
    end = count if part.end is None else min(part.end, count)
    if not 0 <= part.first < end:
        raise InvalidInput(f"The recording has the tokens 0 to {count - 1}; none of them is chosen.")
    return slice(part.first, end)


def _population(recording: NeuronRecording, name: str) -> PopulationRecord:
    found = recording.populations.get(name)
    if found is None:
        raise InvalidInput(f"The recording has no population “{name[:64]}”.", remedy="Its tokens list the populations.")
    return found


def _check_steps(recording: NeuronRecording, tokens: slice) -> None:
    if recording.steps * (tokens.stop - tokens.start) > MOST_STEPS:
        raise InvalidInput(
            f"More than {MOST_STEPS:,} steps are chosen.", remedy="Choose fewer tokens with “from” and “to”."
        )


def gone() -> NotFound:
    return NotFound("The file of this recording is not in the data folder.", remedy=_REMEDY)


def damaged() -> Damaged:
    return Damaged("The file of this recording is damaged.", remedy=_REMEDY)


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise gone() from error

    def read() -> Iterator[bytes]:
        with file:
            while piece := file.read(_PIECE):
                yield piece

    return read()
