"""Spikes as bits: the neurons along the last axis, eight a byte, the first neuron in the lowest bit.

A signed spike takes two bits, one in the plane of the excitatory and one in that of the inhibitory spikes; at a rate of
one spike in four steps this is smaller than a list of events.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]
Signs = npt.NDArray[np.int8]


def pack(fired: npt.NDArray[np.bool_]) -> Bits:
    """Return ``(…, ⌈n/8⌉)`` bytes of ``(…, n)`` flags; the bits that fill up the last byte are 0."""
    return np.packbits(fired, axis=-1, bitorder="little")


def unpack(bits: Bits, n: int) -> npt.NDArray[np.uint8]:
    """Return the ``(…, n)`` zeros and ones of packed bits."""
    return np.unpackbits(bits, axis=-1, count=n, bitorder="little")


def unpack_chosen(positive: Bits, negative: Bits, chosen: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Return the signs of the chosen neurons alone, ``(…, m)``, of two planes."""
    byte, bit = chosen >> 3, (chosen & 7).astype(np.uint8)
    excited, inhibited = (((bits[..., byte] >> bit) & 1).astype(np.float32) for bits in (positive, negative))
    return excited - inhibited


def pack_signs(signs: Signs) -> tuple[Bits, Bits]:
    """Return the excitatory and the inhibitory plane of signs −1, 0 and 1."""
    return pack(signs > 0), pack(signs < 0)


def unpack_signs(positive: Bits, negative: Bits, n: int) -> Signs:
    """Return ``(…, n)`` signs −1, 0 and 1 of two planes."""
    signs = unpack(positive, n).view(np.int8)
    signs -= unpack(negative, n).view(np.int8)
    return signs
