"""Listens to the populations of a spiking model while it runs and keeps what every neuron did.

The model takes the very same way whether somebody listens or not: a hook reads what entered a population, and has it
scaled as the population did. After each pass the spikes of all neurons are expanded at once and packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from core.snn.layout import MOST_FACTOR, Layout, place_of
from core.snn.neurons import Code, Population, spikes
from core.snn.packing import Bits, pack, pack_signs, unpack, unpack_chosen
from core.snn.records import NeuronRecording, PopulationRecord, Tokens, potentials

ROWS = 8
"""Tokens of a prompt whose spikes are expanded at once."""


@dataclass(frozen=True, slots=True)
class RecordingLimit:
    """What is kept: at most so many bytes, the last tokens of the prompt, and membranes of each population."""

    bytes: int = 64 * 1024**2
    prompt_tokens: int = 32
    traces: int = 4


@dataclass(slots=True)
class _Rows:
    """What neurons did in some tokens, in the columns of a layout; ``x`` and ``unit`` as the neurons know them."""

    positive: Bits
    negative: Bits
    counts: npt.NDArray[np.uint8]
    x: npt.NDArray[np.float32]
    unit: npt.NDArray[np.float32]

    def thin(self, columns: npt.NDArray[np.intp], traced: npt.NDArray[np.intp]) -> None:
        width = self.counts.shape[-1]
        self.positive, self.negative = (
            pack(_with_none(unpack(bits, width))[..., columns].view(np.bool_))
            for bits in (self.positive, self.negative)
        )
        self.counts = _with_none(self.counts)[..., columns]
        self.x = self.x[:, traced]


class DataMonitorHook:
    """A context in which every population of a model is recorded; it takes its hooks away when it ends.

    Past the limit the currents are left out, then of each population every 2nd neuron, 4th, and so on, also of what is
    there already; at last what comes later. *Shapes*: whatever enters the populations is ``(1, tokens, n)``.
    """

    def __init__(self, populations: Mapping[str, Population], limit: RecordingLimit) -> None:
        self._populations = dict(populations)
        self._limit = limit
        self._code: Code = next(iter(self._populations.values())).code
        sizes = {name: population.n for name, population in self._populations.items()}
        self._layout = Layout(sizes, self._code.steps, limit.traces)
        self._with_currents = True
        self._handles: list[RemovableHandle] = []
        self._kept: list[_Rows] = []
        self._rows = 0
        self._left_out = 0
        self._prompt = 0
        self._prompt_rows = 0
        self._has_begun = False
        self._heard = 0
        self._make_room(0)

    def __enter__(self) -> DataMonitorHook:
        for place, population in enumerate(self._populations.values()):
            self._handles.append(population.register_forward_hook(self._listener(place)))
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    @property
    def part(self) -> slice:
        """Which of all tokens, from the first one of the prompt on, were recorded."""
        first = self._prompt - self._prompt_rows
        return slice(first, first + self._rows)

    def recording(self, tokens: Tokens, meta: Mapping[str, Any]) -> NeuronRecording:
        """Return what was recorded, of exactly these tokens; ``meta`` is what else is to be known of it.

        Raises: ``ValueError`` where nothing, or not these tokens, were recorded.
        """
        if not self._rows or len(tokens) != self._rows:
            raise ValueError(f"{self._rows} tokens were recorded")
        known = {"code": self._code.name, "steps": self._code.steps, "thresholds": "channel × token"}
        left = {"scope": self._scope(), "truncated": self._truncated(), "left_out_tokens": self._left_out}
        populations = {name: self._record(place, name) for place, name in enumerate(self._populations)}
        return NeuronRecording({**meta, **known, **left}, tokens, populations)

    def _listener(self, place: int) -> Any:
        is_first, is_last = place == 0, place == len(self._populations) - 1

        def listen(population: Population, args: tuple[Tensor, ...], _: Tensor) -> None:
            x = args[0].reshape(-1, population.n)
            if is_first:
                self._begin(len(x))
            rows = len(self._y)
            if not rows:
                return
            x = x[-rows:]
            y, unit = population.scaled(x)
            layout = self._layout
            start = layout.starts[place]
            self._y[:, start : start + layout.kept[place]] = y[:, :: layout.factor]
            self._unit[:, place] = unit
            self._x[:, layout.trace_starts[place] : layout.trace_starts[place + 1]] = x[:, self._traced[place]]
            self._heard += 1
            # Key and value come before the query. A pass that was broken off is not kept.
            if is_last and self._heard == len(self._populations):
                self._keep()

        return listen

    def _begin(self, tokens: int) -> None:
        """Make ready for a pass; of the first one, the prompt, only the last tokens count."""
        rows = tokens
        if not self._has_begun:
            self._has_begun = True
            self._prompt = tokens
            fits = max(1, self._limit.bytes // (4 * self._layout.neurons))
            self._prompt_rows = rows = min(tokens, self._limit.prompt_tokens, fits)
        while not self._fits(rows):
            if self._with_currents:
                self._with_currents = False
            elif self._layout.factor < MOST_FACTOR:
                self._thin()
            else:
                # The first tokens are kept whatever the limit, so that there is something.
                self._left_out += rows if self._rows else 0
                rows = 0 if self._rows else rows
                break
        if rows != len(self._y):
            self._make_room(rows)
        self._heard = 0

    def _fits(self, rows: int) -> bool:
        needed = self._layout.file_bytes(self._rows + rows, with_currents=self._with_currents)
        return needed <= self._limit.bytes

    def _make_room(self, rows: int) -> None:
        layout = self._layout
        self._y = torch.zeros(rows, layout.width)
        self._unit = torch.zeros(rows, len(layout.sizes))
        self._x = torch.zeros(rows, layout.trace_starts[-1])
        self._traced = [torch.from_numpy(each.astype(np.int64)) for each in layout.traced]

    def _thin(self) -> None:
        columns, traced = self._layout.every_second()
        for rows in self._kept:
            rows.thin(columns, traced)
        self._layout = self._layout.thinned()
        self._make_room(len(self._y))

    def _keep(self) -> None:
        for start in range(0, len(self._y), ROWS):
            part = slice(start, start + ROWS)
            signs = spikes(self._y[part], self._code).numpy()
            positive, negative = pack_signs(signs)
            counts = np.count_nonzero(signs, axis=0).astype(np.uint8)
            x, unit = self._x[part].numpy().copy(), self._unit[part].numpy().copy()
            self._kept.append(_Rows(positive, negative, counts, x, unit))
        self._rows += len(self._y)

    def _record(self, place: int, name: str) -> PopulationRecord:
        layout = self._layout
        n, start, end = layout.kept[place], layout.starts[place], layout.starts[place + 1]
        width, traces = slice(start // 8, end // 8), slice(*layout.trace_starts[place : place + 2])
        traced = layout.traced[place] // np.int32(layout.factor)
        scale = self._populations[name].root_scale.cpu().numpy()[:: layout.factor].copy()
        positive = np.concatenate([rows.positive[:, :, width] for rows in self._kept], axis=1)
        negative = np.concatenate([rows.negative[:, :, width] for rows in self._kept], axis=1)
        current = np.concatenate([rows.x[:, traces] for rows in self._kept])
        delta = np.concatenate([rows.unit[:, place] for rows in self._kept])
        layer, kind = place_of(name)
        record = PopulationRecord(
            n=n,
            kind=kind,
            layer=layer,
            spikes_pos=positive,
            spikes_neg=negative,
            counts=np.concatenate([rows.counts[:, start : start + n] for rows in self._kept]),
            delta=delta,
            scale=scale,
            trace_idx=traced,
            membrane_potential=potentials(
                current, unpack_chosen(positive, negative, traced), delta, scale[traced], self._code.name
            ),
            current=current if self._with_currents else None,
            neuron_idx=None if layout.factor == 1 else np.arange(n, dtype=np.int32) * np.int32(layout.factor),
            code=self._code.name,
        )
        return record

    def _scope(self) -> str:
        neurons = "all neurons" if self._layout.factor == 1 else f"one in {self._layout.factor} neurons"
        return f"{neurons}; the answer and the last {self._prompt_rows} tokens of the prompt"

    def _truncated(self) -> str:
        said = [] if self._with_currents else ["The currents were left out."]
        if self._layout.factor > 1:
            said.append(f"One in {self._layout.factor} neurons of each population was kept.")
        if self._left_out:
            said.append(f"The last {self._left_out} tokens were left out.")
        return " ".join(said)


def _with_none(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the values with one more column, of zeros."""
    return np.concatenate([values, np.zeros((*values.shape[:-1], 1), dtype=np.uint8)], axis=-1)
