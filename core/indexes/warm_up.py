"""What is done when a knowledge base is opened, before its workers begin."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from core.indexes.active import ActiveIndex
    from core.ports import Reader

log = logging.getLogger(__name__)


def warm_up(active: ActiveIndex, open_reader: Callable[[], Reader] | None = None) -> None:
    """Take into memory what the first question would otherwise wait for."""
    active.load()
    try:
        active.embedder.load()
    except ModelUnavailable as error:
        log.error("the embedding model cannot be loaded: %s", error.message)
    if open_reader is not None:
        try:
            open_reader().load()
        except ModelUnavailable as error:
            log.error("the reader cannot be loaded: %s", error.message)
