"""The spikes of each neuron as moments in time, as other programs want them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.snn.packing import Bits, unpack

Times = npt.NDArray[np.float64]


def trains(bits: Bits, n: int, first: int) -> list[Times]:
    """Return the times of each neuron's spikes, in steps from the first recorded token; ``bits`` begin at ``first``.

    *Shapes*: ``bits`` ``(K, S, ⌈n/8⌉)``; n arrays, ascending.
    """
    steps, tokens = bits.shape[:2]
    fired = unpack(bits, n).transpose(2, 1, 0).reshape(n, tokens * steps)
    neurons, times = np.nonzero(fired)
    ends = np.searchsorted(neurons, np.arange(1, n))
    return np.split(times + float(first * steps), ends)
