"""The vocabulary that the keyword index goes by: one for the rows that are written, one for the questions."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from core.catalog.consistency import Making
from core.catalog.jobs.ledger import ACTIVE
from core.errors import NotFound
from core.model import Vocabulary
from core.text.vocabulary import Words

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.indexes.active import ActiveIndex


class ActiveVocabulary:
    """Has the keyword index go by what the catalogue says; both differ while a job writes the rows anew."""

    def __init__(self, catalog: Catalog, active: ActiveIndex) -> None:
        self._catalog = catalog
        self._active = active
        self.lock = threading.Lock()
        """What has been begun and what the keyword index goes by change together."""
        self._followed: tuple[int, str] | None = None

    def restore(self) -> None:
        """Have the keyword index go by what it was built with, and write rows as an interrupted job wrote them."""
        indexed = self._catalog.vocabulary.indexed()
        begun = self._catalog.vocabulary.begun()
        of_rows = indexed if begun is None or not self.is_active(begun[0]) else begun[1]
        self.use(words_of(of_rows), words_of(indexed))

    def use(self, of_rows: Words, of_questions: Words) -> None:
        """Write rows by one vocabulary from now on, and search by the other."""
        self._active.use(of_rows, of_questions)
        self._catalog.chunks.keywords_built_by = of_rows.built_by
        # Another process may end what this one has begun: the next look is a new one.
        self._followed = None

    def making(self) -> Making:
        """Say what the terms of the rows are made by at the moment."""
        indexed, begun = words_of(self._catalog.vocabulary.indexed()), self._catalog.vocabulary.begun()
        if begun is None or not self.is_active(begun[0]):
            return Making(indexed.built_by)
        return Making(words_of(begun[1]).built_by, former=indexed.built_by)

    def follow(self) -> None:
        """Do as ``restore`` where another process has changed what the keyword index goes by."""
        with self.lock:
            if (seen := self._seen()) != self._followed:
                self.restore()
                self._followed = seen

    def is_active(self, job_id: str) -> bool:
        """Tell whether the job that writes the rows anew will go on."""
        try:
            return self._catalog.jobs.get(job_id).state in ACTIVE
        except NotFound:
            return False

    def _seen(self) -> tuple[int, str]:
        begun = self._catalog.vocabulary.begun()
        return self._catalog.vocabulary.indexed().number, "" if begun is None else begun[0]


@lru_cache(maxsize=4)
def words_of(vocabulary: Vocabulary) -> Words:
    """Return a vocabulary as texts are analysed with it."""
    return Words((word for word, _ in vocabulary.words), vocabulary.synonyms)
