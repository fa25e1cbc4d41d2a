"""What is done when a knowledge base is opened, before its workers begin."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from core.indexes.active import ActiveIndex

log = logging.getLogger(__name__)


def warm_up(active: ActiveIndex) -> None:
    """Take into memory what the first question would otherwise wait for."""
    active.load()
    try:
        active.embedder.load()
    except ModelUnavailable as error:
        log.error("the embedding model cannot be loaded: %s", error.message)
