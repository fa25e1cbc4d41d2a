"""Stores: their state, whether they hold what the catalogue says, their generations, and a backup of everything."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Protocol

from core.model import Counts, FilesCheck, Generation, Health, StoreCheck, StoreReport, UnnamedFile, Upload

if TYPE_CHECKING:
    from core.ports import Progress


class StoresApi(Protocol):
    """The stores of a knowledge base; ``store`` is ``vector``, ``keyword``, or None for both."""

    def health(self) -> Health:
        """Return the state of the stores and models, without waiting for any of them."""

    def counts(self) -> Counts:
        """Return how much there is of everything that the caller sees."""

    def check(self, store: str | None = None, *, progress: Progress | None = None) -> tuple[StoreCheck, ...]:
        """Compare a store with the catalogue and change nothing. Raises: ``InvalidInput``."""

    def check_files(self) -> FilesCheck:
        """Compare originals, uploads and recordings with the catalogue and change nothing."""

    def repair(self, store: str | None = None, *, dry_run: bool = True, deep: bool = False) -> str:
        """Queue the job that checks and, unless ``dry_run``, repairs; return its id. Raises: ``InvalidInput``.

        With ``deep`` it reads every original and parsed text to its end.
        """

    def reindex(self, store: str | None = None) -> str:
        """Queue the job that writes all rows anew; return its id. Raises: ``InvalidInput``."""

    def reindex_elasticsearch(self) -> str:
        """Do what ``reindex`` does for the keyword index, whatever its engine, under the name of the seed system."""

    def store_report(self, job_id: str | None = None) -> StoreReport:
        """Return what such a job found and did, by default the newest. Raises: ``NotFound``."""

    def backup(self, *, with_keys: bool = False) -> Iterator[bytes]:
        """Yield an archive of everything as it is now; ``with_keys`` with those of servers that write answers.

        Raises: ``Conflict`` while another is made; ``DiskFull``.
        """


class QuarantineApi(Protocol):
    """Files that no row of the catalogue names, until a person takes them back or removes them."""

    def list(self) -> builtins.list[UnnamedFile]:
        """Return the files that nothing names. Raises: ``StoreUnavailable``."""

    def restore(self, name: str, file_name: str) -> Upload:
        """Take an original back as the next version of the document that ``file_name`` says.

        Raises: ``NotFound``; what ``add_file`` raises.
        """

    def empty(self, names: Collection[str] | None = None) -> int:
        """Remove files of these names, or all of them, for good; return how many. Raises: ``NotFound``."""


class GenerationsApi(Protocol):
    """Pairs of indexes, each built by one embedder and one analyser; one pair serves."""

    def list(self) -> builtins.list[Generation]:
        """Return all generations, by number."""

    def build(self, embedder: str = "", *, switch: bool = False) -> Generation:
        """Begin a generation; with ``switch`` it serves once it is ready. Raises: ``InvalidInput``, ``Conflict``."""

    def switch(self, number: int) -> Generation:
        """Let a generation that is ready serve. Raises: ``NotFound``, ``Conflict``."""

    def remove(self, number: int) -> None:
        """Remove a generation that does not serve. Raises: ``NotFound``, ``Conflict``."""
