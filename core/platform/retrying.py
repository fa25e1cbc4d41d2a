"""Waiting for a store: work that needs one is neither failed nor lost while it does not answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from core.errors import StoreUnavailable

log = logging.getLogger(__name__)

_PAUSE_S = 2.0

T = TypeVar("T")


class Stopped(Exception):
    """The process ends; what is being worked on stays as it is for the next one."""


def retry_while_unavailable(
    act: Callable[[], T], *, go_on: Callable[[], object], note: Callable[[str], None], stop: threading.Event
) -> T:
    """Return what ``act`` gives, tried again for as long as a store does not answer.

    ``note`` is told of the first failure's code; ``go_on`` is called before each further try, and raises an error where
    nobody waits for it any more. Raises: ``Stopped`` where ``stop`` is set.
    """
    is_noted = False
    while not stop.is_set():
        try:
            if is_noted:
                go_on()
            return act()
        except StoreUnavailable as error:
            if not is_noted:
                log.warning("work waits for a store: %s", error.message)
                note(error.code)
                is_noted = True
        stop.wait(_PAUSE_S)
    raise Stopped
