"""The attributes of an element that Dash's keywords do not name.

``aria-*`` is for assistive technology, ``data-*`` for the scripts of the page.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack


class Aria(TypedDict, total=False):
    """The states and properties of WAI-ARIA 1.2 that the pages use."""

    busy: bool
    controls: str
    current: bool
    describedby: str
    disabled: bool
    expanded: bool
    haspopup: str
    hidden: bool
    label: str
    labelledby: str
    live: str
    orientation: str
    pressed: bool
    selected: bool
    valuemax: str | int | float
    valuemin: str | int | float
    valuenow: str | int | float
    valuetext: str


def aria(**states: Unpack[Aria]) -> dict[str, Any]:
    """Return keywords for an element of Dash; ``aria(label="Close")`` is ``{"aria-label": "Close"}``."""
    return {f"aria-{name}": _written(value) for name, value in states.items()}


def dataset(**values: str | int | float | bool) -> dict[str, Any]:
    """Return keywords for an element of Dash; ``dataset(compare_row=3)`` is ``{"data-compare-row": 3}``.

    Ids of chunks go as text: they are larger than the numbers of a browser are exact.
    """
    return {f"data-{name.replace('_', '-')}": _written(value) for name, value in values.items()}


def _written(value: object) -> object:
    """Return a value as the attribute holds it; a bare boolean would be dropped or written as an empty string."""
    return str(value).lower() if isinstance(value, bool) else value
