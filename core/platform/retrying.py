"""Waiting for the store of the originals: what needs it is neither failed nor lost while it does not answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from core.errors import StoreUnavailable

log = logging.getLogger(__name__)

_PAUSE_S = 2.0

T = TypeVar("T")


def patiently(
    act: Callable[[], T], *, go_on: Callable[[], object], note: Callable[[str], None], stop: threading.Event
) -> T:
    """Return what ``act`` gives, tried again for as long as a store does not answer.

    ``note`` is told of the first failure's code; ``go_on`` raises an error where nobody waits for it any more.
    """
    is_noted = False
    while True:
        try:
            return act()
        except StoreUnavailable as error:
            if not is_noted:
                log.warning("work waits for a store: %s", error.message)
                note(error.code)
                is_noted = True
        stop.wait(_PAUSE_S)
        go_on()
