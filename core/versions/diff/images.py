"""Images of a version: kept as small PNG files with perceptual hashes, and paired with those of another version."""

from __future__ import annotations

import hashlib
import io
import time
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from core.errors import EvoRAGError
from core.model import Change, ImagePair, ImageRef, Locator
from core.versions.diff.image_sources import images_in

MOST_IMAGES = 200
MOST_PIXELS = 40_000_000
MOST_BYTES = 64 * 1024 * 1024
LONGEST_SIDE = 1_600
SMALLEST_SIDE = 16
LIKE_BITS = 10
"""Hashes that differ in so many of 64 bits or fewer are of one image."""
NEAR_BITS = 22
"""As far may the hashes of an edited image be apart, where place and size say that it is the same one."""
_GRID = 32


def keep_images(source: Path, extension: str, folder: Path, seconds: float) -> tuple[list[ImageRef], bool]:
    """Write the images of a document as ``<number>.png``; also tell whether some were left out."""
    found: list[ImageRef] = []
    end = time.monotonic() + seconds
    left = MOST_BYTES
    try:
        for data, place in images_in(source, extension):
            if len(found) >= MOST_IMAGES or time.monotonic() > end or left <= 0:
                return found, True
            kept = _kept(data, place, folder, len(found) + 1)
            if kept is not None:
                found.append(kept)
                left -= (folder / f"{kept.number}.png").stat().st_size
    except (EvoRAGError, OSError, RuntimeError, ValueError, KeyError):
        # The text of the document was read; images that cannot be are told of by the notice.
        return found, True
    return found, False


def _kept(data: bytes, place: Locator, folder: Path, number: int) -> ImageRef | None:
    """Keep one image; None for decorations and for what is no image that can be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = Image.open(io.BytesIO(data))
            width, height = image.size
            if min(width, height) < SMALLEST_SIDE or width * height > MOST_PIXELS:
                return None
            image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            flat = _flattened(image)
            flat.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.BILINEAR)
            flat.save(folder / f"{number}.png", compress_level=1)
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
            (folder / f"{number}.png").unlink(missing_ok=True)
            return None
    digest = hashlib.sha256(data).hexdigest()
    return ImageRef(number, width, height, f"{perceptual_hash(flat):016x}", digest, place)


def _flattened(image: Image.Image) -> Image.Image:
    """Return the image in plain colours, on white where it is transparent."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        with_alpha = image.convert("RGBA")
        white = Image.new("RGBA", with_alpha.size, "white")
        return Image.alpha_composite(white, with_alpha).convert("RGB")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def perceptual_hash(image: Image.Image) -> int:
    """Return 64 bits that stay nearly the same when an image is scaled, recoloured or compressed.

    Source: Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions" (2010), the DCT hash.
    """
    small = image.convert("L").resize((_GRID, _GRID), Image.Resampling.BOX)
    pixels = np.asarray(small, dtype=np.float64)
    waves = (_cosines() @ pixels @ _cosines().T)[:9, :9].ravel()[1:65]
    bits = waves > np.median(waves)
    return int("".join("1" if bit else "0" for bit in bits), 2)


@cache
def _cosines() -> npt.NDArray[np.float64]:
    """The discrete cosine transform as a matrix, shape ``(_GRID, _GRID)``."""
    places = np.arange(_GRID)
    return np.cos(np.pi * np.outer(places, 2 * places + 1) / (2 * _GRID))


def distance(one: str, other: str) -> int:
    """Count the bits in which two hashes differ."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def pair_images(old: Sequence[ImageRef], new: Sequence[ImageRef]) -> tuple[ImagePair, ...]:
    """Pair the images of two versions: the same bytes first, then those that look alike, then those alike in place."""
    free_old, free_new = dict(enumerate(old)), dict(enumerate(new))
    pairs: list[tuple[int, int]] = []

    def take(one: int, other: int) -> None:
        pairs.append((one, other))
        del free_old[one], free_new[other]

    for one, before in enumerate(old):
        same = next((other for other, after in free_new.items() if after.sha256 == before.sha256), None)
        if same is not None:
            take(one, same)
    for limit in (LIKE_BITS, NEAR_BITS):
        ranked = sorted(
            (distance(before.hash, after.hash), abs(one - other), one, other)
            for one, before in free_old.items()
            for other, after in free_new.items()
            if limit == LIKE_BITS or _could_be_edited(before, after)
        )
        for bits, _, one, other in ranked:
            if bits <= limit and one in free_old and other in free_new:
                take(one, other)
    for one, other in _between(pairs, free_old, free_new):
        take(one, other)
    partner = dict(pairs)
    entries = [(other, 1, _pair(old[one], new[other])) for one, other in pairs]
    entries += [(other, 1, ImagePair(Change.ADDED, None, after)) for other, after in free_new.items()]
    for one, before in free_old.items():
        earlier = max((partner[i] for i in range(one) if i in partner), default=-1)
        entries.append((earlier, 2, ImagePair(Change.REMOVED, before, None)))
    return tuple(pair for _, _, pair in sorted(entries, key=lambda entry: entry[:2]))


def _could_be_edited(before: ImageRef, after: ImageRef) -> bool:
    """Tell whether shape and place allow that one image is an edit of the other."""
    shapes = before.width * after.height, after.width * before.height
    places = {name: (getattr(before.locator, name), getattr(after.locator, name)) for name in ("page", "slide")}
    apart = max((abs(a - b) for a, b in places.values() if a is not None and b is not None), default=0)
    return max(shapes) <= 1.15 * min(shapes) and apart <= 2


def _between(
    pairs: Sequence[tuple[int, int]], free_old: dict[int, ImageRef], free_new: dict[int, ImageRef]
) -> list[tuple[int, int]]:
    """Return pairs of lone images of one size that stand at the same place between paired ones."""
    found: list[tuple[int, int]] = []
    anchors = sorted(pairs)
    for one, before in free_old.items():
        low = max((b for a, b in anchors if a < one), default=-1)
        high = min((b for a, b in anchors if a > one and b > low), default=1 << 30)
        others = [other for other in free_new if low < other < high and free_new[other].locator == before.locator]
        rivals = [rival for rival, ref in free_old.items() if rival != one and ref.locator == before.locator]
        if len(others) == 1 and not rivals:
            after = free_new[others[0]]
            if (before.width, before.height) == (after.width, after.height) and others[0] not in {b for _, b in found}:
                found.append((one, others[0]))
    return found


def _pair(before: ImageRef, after: ImageRef) -> ImagePair:
    is_same = before.sha256 == after.sha256
    return ImagePair(
        Change.EQUAL if is_same else Change.CHANGED, before, after, 0 if is_same else distance(before.hash, after.hash)
    )
