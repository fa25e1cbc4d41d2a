"""Moving house: a whole knowledge base into an archive, out of one, or from one house straight into another.

Any combination of stores will do on either side: only the catalogue and files travel, and the indexes of the new house
are filled from its catalogue when it is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import Connection, select

from core.backup.checks import dimension
from core.backup.encryption import Passphrase, as_file, encrypted, opened_archive
from core.backup.import_archive import ArchiveImport
from core.backup.source import BackupSource, Show, silent
from core.backup.write_archive import archive, write_to
from core.bootstrap import opened_place, rows_of_store
from core.catalog import STORES
from core.catalog.schema import index_settings
from core.errors import Conflict, InvalidInput, WrongIndex
from core.model.backup import BackupReport
from core.platform.private_file import private_file

if TYPE_CHECKING:
    from core.settings import Settings

_ADDRESSES = {"vector": "vector_url", "keyword": "keyword_url"}


def export_to(
    settings: Settings, target: BinaryIO, show: Show = silent, passphrase: str = "", *, with_keys: bool = False
) -> BackupReport:
    """Write a knowledge base as it is at this moment to an open file, encrypted where there is a passphrase.

    Raises: ``DataFolderInUse``, ``DiskFull``, ``InvalidInput`` for a passphrase that is too short.
    """
    told: list[BackupReport] = []
    with opened_place(settings, alone=False) as place:
        pieces = archive(place, show=show, told=told.append, with_keys=with_keys)
        size = write_to(target, encrypted(pieces, passphrase) if passphrase else pieces)
    return replace(told[0], size_bytes=size)


def import_from(
    settings: Settings, source: BinaryIO, show: Show = silent, passphrase: Passphrase = str
) -> BackupReport:
    """Take an archive in, wholly or not at all; ``passphrase`` is asked for where it is encrypted.

    Raises: ``BadBundle``, also for a wrong passphrase; ``Conflict`` where there is something already;
    ``DataFolderInUse``, ``DiskFull``.
    """
    with opened_place(settings) as place:
        return ArchiveImport(place, opened_archive(source, passphrase), show).take_in(
            has_room=lambda tx: _require_empty_stores(tx, settings, place)
        )


def migrate(source: Settings, target: Settings, show: Show = silent) -> BackupReport:
    """Copy a knowledge base into another house; the old one stays as it is, and nobody may work there meanwhile.

    With the same data folder only the catalogue moves. Raises: what ``export_to`` and ``import_from`` raise;
    ``InvalidInput`` where both are the same place.
    """
    is_beside = source.data_dir == target.data_dir
    if is_beside and source.catalog_url == target.catalog_url:
        raise InvalidInput(
            "Neither the catalogue nor the data folder is another one, so that nothing moves.",
            remedy="Indexes are filled by themselves: set the addresses of the stores and start the server. Originals"
            " alone are copied as they are, from the folder `blobs` to EVORAG_BLOB_URL.",
        )
    with ExitStack() as opened:
        old = opened.enter_context(opened_place(source))
        new = opened.enter_context(opened_place(target, old if is_beside else None))
        kept = _kept_stores(source, target, old)
        flow = as_file(archive(old, with_keys=True))
        return ArchiveImport(new, flow, show).take_in(has_room=lambda tx: _require_empty_stores(tx, target, new, kept))


def _kept_stores(source: Settings, target: Settings, old: BackupSource) -> set[str]:
    """Return the stores that both houses have: their rows are right already. Raises: ``Conflict`` where some wait."""
    kept = set()
    for name, setting in _ADDRESSES.items():
        ours, theirs = getattr(source, setting), getattr(target, setting)
        is_same = source.index_name == target.index_name if ours else source.data_dir == target.data_dir
        if ours == theirs and is_same:
            kept.add(name)
    pending = old.catalog.outbox.pending()
    if waiting := sum(pending.get(name, 0) for name in kept):
        raise Conflict(
            f"{waiting:,} rows wait to be written to an index that stays.",
            remedy="Start the server, wait until its health is “ok”, stop it, and move then.",
        )
    return kept


def _require_empty_stores(
    tx: Connection, settings: Settings, place: BackupSource, kept: set[str] | frozenset[str] = frozenset()
) -> None:
    number = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == "generation")) or "1"
    suffix = "" if number == "1" or not number.isdigit() else f"-{number}"
    for name in (each for each in STORES if each not in kept):
        try:
            rows = rows_of_store(name, settings, place.folder, dimension(tx), suffix)
            held = f"{rows:,} rows of something else" if rows else ""
        except WrongIndex:
            held = "what something else has made"
        if held:
            raise Conflict(
                f"The {name} store holds {held}.",
                remedy="Choose another name for the indexes with EVORAG_INDEX_NAME, or a new data folder.",
            )


def to_file(path: Path, write: Callable[[BinaryIO], BackupReport]) -> BackupReport:
    """Have ``write`` fill a file that only its owner may read, and that is then whole or as it was before."""
    with private_file(path) as file:
        return write(file)
