"""Serving: the generations of the indexes, opened, and which of them answers questions now."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.catalog.outbox import STORES, place_of, stores_beside
from core.errors import EvoRAGError, NotFound, StoreUnavailable, WrongIndex
from core.indexes.query_embedding_cache import LastQuestions
from core.model import Generation, GenerationState, Part
from core.ports import Embedder, KeywordIndex, VectorIndex
from core.text.vocabulary import PLAIN, Words

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

Store = VectorIndex | KeywordIndex

_LONGEST_LOADING_S = 120.0


class Model:
    """The embedder that built a generation, opened when it is first needed: whoever only deletes needs none."""

    def __init__(self, found: Generation, opens: Callable[[str], Embedder]) -> None:
        self.id = found.model
        self._found = found
        self._opens = opens
        self._lock = threading.Lock()
        self._opened: tuple[Embedder, Embedder] | None = None

    def open(self) -> tuple[Embedder, Embedder]:
        """Return the embedder, and the same one as it remembers the last questions.

        Raises: ``WrongIndex`` where its name stands for another one now; ``ModelUnavailable``.
        """
        with self._lock:
            if self._opened is None:
                embedder = self._opens(self._found.embedder)
                if embedder.id != self.id:
                    raise WrongIndex(
                        f"Generation {self._found.number} of the index was built with “{self.id}”;"
                        f" “{self._found.embedder}” is “{embedder.id}” now.",
                        remedy="Configure the embedder that built it, then build a new generation with the other one.",
                    )
                self._opened = embedder, LastQuestions(embedder)
            return self._opened


@dataclass(frozen=True, slots=True)
class IndexHandle:
    """One generation: whoever begins to work with its embedder goes on with its stores."""

    number: int
    model: Model
    vectors: VectorIndex
    keywords: KeywordIndex

    @property
    def embedder(self) -> Embedder:
        """The embedder that built it. Raises: what opening it raises."""
        return self.model.open()[0]

    @property
    def questions(self) -> Embedder:
        """The same embedder, which remembers the last questions."""
        return self.model.open()[1]

    def close(self) -> None:
        self.vectors.close()
        self.keywords.close()


@dataclass(frozen=True, slots=True)
class IndexFactories:
    """How a generation is opened; stores are named by the generation, and embedders as the setting names them."""

    embedder: Callable[[str], Embedder]
    vectors: Callable[[Generation], VectorIndex]
    keywords: Callable[[Generation], KeywordIndex]
    tidy: Callable[[Collection[int]], None]
    """Removes what stores of other generations than these have left on this machine."""


class ActiveIndex:
    """Opens generations when they are needed, and follows the catalogue in which of them serves."""

    def __init__(self, catalog: Catalog, factories: IndexFactories) -> None:
        self._catalog = catalog
        self._factories = factories
        self._lock = threading.RLock()
        self._opened: dict[int, IndexHandle] = {}
        self._has_loaded = threading.Event()
        self._words = (PLAIN, PLAIN)
        found = catalog.generations.serving()
        self.embedder_name = found.embedder
        """The embedder that serves, as the setting ``embedder`` names it."""
        self._now = self.ready(found.number)

    def now(self) -> IndexHandle:
        """Return the generation that answers questions."""
        return self._now

    @property
    def embedder(self) -> Embedder:
        return self._now.embedder

    def of(self, number: int) -> IndexHandle:
        """Return a generation with its stores opened. Raises: ``NotFound``, what opening them raises."""
        with self._lock:
            if number not in self._opened:
                self._opened[number] = self._open(self._catalog.generations.get(number))
            return self._opened[number]

    def ready(self, number: int) -> IndexHandle:
        """Return a generation, opened with its embedder. Raises: also ``WrongIndex``, ``ModelUnavailable``."""
        opened = self.of(number)
        opened.model.open()
        return opened

    def _open(self, found: Generation) -> IndexHandle:
        if found.state is GenerationState.REMOVING:
            raise NotFound(f"Generation {found.number} is being removed.")
        keywords = self._factories.keywords(found)
        keywords.use(*self._words)
        return IndexHandle(
            found.number, Model(found, self._factories.embedder), self._factories.vectors(found), keywords
        )

    def resolve_store(self, store: str) -> IndexHandle:
        """Return the generation whose store the outbox names; for one that serves, as the catalogue says now."""
        _, number = place_of(store)
        return self.follow() if number is None else self.of(number)

    def follow(self) -> IndexHandle:
        """Serve what the catalogue says, and close what it does not know any more."""
        with self._lock:
            # Read before the lock is had, it could be older than what another thread has chosen by.
            states = self._catalog.generations.states()
            number = next(number for number, state in states.items() if state is GenerationState.SERVING)
            if number != self._now.number:
                self._now = self.ready(number)
                self.embedder_name = self._catalog.generations.get(number).embedder
                log.info("generation %d serves", number)
            for gone in self._opened.keys() - states.keys():
                self._opened.pop(gone).close()
            return self._now

    def use(self, of_rows: Words, of_questions: Words) -> None:
        """Have the keyword index of every generation go by these vocabularies."""
        with self._lock:
            self._words = (of_rows, of_questions)
            for opened in self._opened.values():
                opened.keywords.use(of_rows, of_questions)

    def stores(self) -> list[tuple[str, Store]]:
        """Return the stores of all generations with the names that the outbox has for them, those that serve first.

        Raises: what opening them raises; ``StoreUnavailable`` while one is being removed, whose rows are out of reach.
        """
        if any(each.state is GenerationState.REMOVING for each in self._catalog.generations.known()):
            raise StoreUnavailable(
                "A generation is being removed.", remedy="Its stores are emptied as soon as they can."
            )
        now = self.follow()
        beside = self._catalog.generations.states().keys() - {now.number}
        return [each for number in (now.number, *sorted(beside)) for each in self.stores_of(number)]

    def stores_of(self, number: int) -> list[tuple[str, Store]]:
        """Return both stores of a generation with their names. Raises: what opening them raises."""
        opened = self.of(number)
        names = STORES if number == self._now.number else stores_beside(number)
        return list(zip(names, (opened.vectors, opened.keywords), strict=True))

    def load(self) -> None:
        """Take into memory the vectors of every generation, those that serve first, where they are searched there."""
        self._load(Part.HEAD)

    def load_rest(self) -> None:
        """Take into memory passages, and the vectors of what is not shown, which questions about the past search."""
        try:
            self._catalog.visibility.warm_up()
            self._load(Part.HISTORY)
        finally:
            self._has_loaded.set()

    def wait_until_loaded(self) -> None:
        """Return once ``load_rest`` has ended, or where that takes too long."""
        self._has_loaded.wait(_LONGEST_LOADING_S)

    def _load(self, part: Part) -> None:
        numbers = self._catalog.generations.states().keys() - {self._now.number}
        for number in (self._now.number, *sorted(numbers)):
            try:
                opened = self.of(number)
            except EvoRAGError as error:
                log.error("generation %d cannot be opened: %s", number, error.message)
                continue
            embeddings = self._catalog.embeddings
            vectors_of = embeddings.head_vectors if part is Part.HEAD else embeddings.past_vectors
            opened.vectors.load(vectors_of(opened.model.id), part)

    def forget(self, found: Generation) -> None:
        """Empty, close and remove the stores of a generation that is being removed.

        Raises: ``StoreUnavailable``; then it has to be tried again.
        """
        with self._lock:
            opened = self._opened.pop(found.number, None)
            vectors = opened.vectors if opened else self._factories.vectors(found)
            keywords = opened.keywords if opened else self._factories.keywords(found)
        try:
            vectors.clear()
            keywords.clear()
        finally:
            vectors.close()
            keywords.close()
            self._factories.tidy(self._catalog.generations.states().keys())

    def close(self) -> None:
        with self._lock:
            for opened in self._opened.values():
                opened.close()
