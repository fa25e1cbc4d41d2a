"""Which two versions an address names, for all routes that compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.api.description.describe import whole, words
from app.api.description.inputs import KEY_CHARS
from app.api.description.reading import arguments
from app.components.compare.address import Pair
from app.context import kb
from core.errors import Conflict, DiffLimit, NotFound, Purged

if TYPE_CHECKING:
    from core.versions.result import ComparisonResult

WHICH = {
    "doc": words("Key of the document.", most=KEY_CHARS, least=1, required=True),
    "old": whole("Number of the old version.", low=1, required=True),
    "new": whole("Number of the new version.", low=1, required=True),
    "other": words("Key of the document that holds the new version, where it is another one.", most=KEY_CHARS),
}
REFUSALS = (NotFound, Purged, Conflict, DiffLimit)


def pair_of(given: Mapping[str, Any]) -> Pair:
    """Return the two versions that an address names."""
    other = given["other"] or None
    return Pair(given["doc"], given["old"], given["new"], None if other == given["doc"] else other)


def compared(pair: Pair | None = None) -> ComparisonResult:
    """Return the comparison of the two versions that the present address names, or of others."""
    wanted = pair or pair_of(arguments())
    return kb().compare(wanted.doc, wanted.old, wanted.new, other=wanted.other)
