"""Where the neurons of all populations lie beside each other in one row, and how many bytes their recording takes.

Each population begins with a whole byte of packed bits. Thinned, it keeps every 2nd, 4th, … of its neurons. Those
whose membrane is kept have numbers that are multiples of a power of two, so that they stay for long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

BYTE = 8
MOST_FACTOR = 4_096
TENSOR_BYTES = 600
"""What the file spends on a tensor besides its values: three headers, an alignment and its description."""
TENSORS = 9
TOKEN_BYTES = 96
HEAD_BYTES = 16_384


@dataclass(frozen=True)
class Layout:
    """``sizes`` are the neurons of each population; of each, one in ``factor`` is kept, and ``traces`` membranes."""

    sizes: Mapping[str, int]
    steps: int
    traces: int
    factor: int = 1

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """How many neurons of each population are kept."""
        return tuple(-(-n // self.factor) for n in self.sizes.values())

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each population begins in the row, and where the row ends; multiples of 8."""
        widths = [-(-n // BYTE) * BYTE for n in self.kept]
        return tuple(int(start) for start in np.concatenate(([0], np.cumsum(widths))))

    @cached_property
    def traced(self) -> tuple[npt.NDArray[np.int32], ...]:
        """The numbers of the neurons whose membrane is kept, for each population."""
        return tuple(chosen[chosen % self.factor == 0] for chosen in map(self._chosen, self.sizes.values()))

    @cached_property
    def trace_starts(self) -> tuple[int, ...]:
        """Where the traced neurons of each population begin among all traced ones, and how many these are."""
        return tuple(int(start) for start in np.concatenate(([0], np.cumsum([len(each) for each in self.traced]))))

    @property
    def width(self) -> int:
        return self.starts[-1]

    @property
    def neurons(self) -> int:
        return sum(self.sizes.values())

    def thinned(self) -> Layout:
        return Layout(self.sizes, self.steps, self.traces, self.factor * 2)

    def every_second(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return which columns of this row and of its traced neurons make the row of ``thinned``.

        A column behind the end stands for none.
        """
        after = self.thinned()
        columns = np.full(after.width, self.width, dtype=np.intp)
        for old, new, kept in zip(self.starts, after.starts, after.kept, strict=False):
            columns[new : new + kept] = old + 2 * np.arange(kept)
        stays = [each % after.factor == 0 for each in self.traced]
        return columns, np.flatnonzero(np.concatenate(stays)).astype(np.intp)

    def file_bytes(self, tokens: int, *, with_currents: bool) -> int:
        """Return no less than the bytes of a file with this many tokens."""
        traces, kept = self.trace_starts[-1], sum(self.kept)
        bits = 2 * self.steps * self.width // BYTE
        # Those of the middle layer are there once more, in time.
        membranes = 4 * self.steps * traces + 5 * self.steps * max(map(len, self.traced)) * BYTE
        row = bits + kept + membranes + 4 * len(self.sizes) + TOKEN_BYTES + (4 * traces if with_currents else 0)
        fixed = HEAD_BYTES + TENSORS * TENSOR_BYTES * len(self.sizes) + 8 * kept + 4 * traces
        return fixed + tokens * row

    def _chosen(self, n: int) -> npt.NDArray[np.int32]:
        count = min(self.traces, n)
        if not count:
            return np.zeros(0, dtype=np.int32)
        grain = 1 << ((n // count).bit_length() - 1)
        return np.arange(count, dtype=np.int32) * n // count // grain * grain


def place_of(name: str) -> tuple[int, str]:
    """Return layer and kind of a population by its name; the layer is −1 where it belongs to none."""
    *_, layer, kind = ("", "", *name.split("."))
    return (int(layer), kind) if layer.isdigit() else (-1, kind)
