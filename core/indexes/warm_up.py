"""What is taken into memory when a knowledge base is opened, so that the first question does not wait for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import ModelUnavailable
from core.text.translations import load_translations

if TYPE_CHECKING:
    from core.indexes.active import ActiveIndex
    from core.ports import Reader

log = logging.getLogger(__name__)


def loading_models(active: ActiveIndex, open_reader: Callable[[], Reader] | None = None) -> threading.Thread:
    """Load the models in a thread, which is returned: they take as long as the stores, and neither needs the other."""
    thread = threading.Thread(target=_load, args=(active, open_reader), name="evorag-models", daemon=True)
    thread.start()
    return thread


def _load(active: ActiveIndex, open_reader: Callable[[], Reader] | None) -> None:
    try:
        active.embedder.load()
    except ModelUnavailable as error:
        log.error("the embedding model cannot be loaded: %s", error.message)
    if open_reader is not None:
        try:
            open_reader().load()
        except ModelUnavailable as error:
            log.error("the reader cannot be loaded: %s", error.message)
    load_translations()
