"""Opening the catalogue of a data folder, wherever it is."""

from __future__ import annotations

import logging

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from core.catalog import Catalog
from core.catalog.engine import Database
from core.catalog.folder_identity import agreed_identity
from core.catalog.journal import Journal, Point, point_of
from core.catalog.reached import Reached
from core.catalog.snapshots import Snapshots, point_in
from core.errors import CatalogDamaged, InvalidInput, StoreUnavailable
from core.platform.data_folder import DataFolder
from core.ports import BlobStore
from core.settings import StoreSettings

log = logging.getLogger(__name__)


def opened_catalog(settings: StoreSettings, folder: DataFolder, blobs: BlobStore, *, is_copy: bool = False) -> Catalog:
    """Open the catalogue on its server, or in the data folder; both carry the same identity from then on.

    With ``is_copy`` a new catalogue is made that is to take the place of the folder's own.
    Raises: ``InvalidInput`` for an address that is none; ``WrongCatalog`` for the catalogue of another folder,
    ``Conflict`` for originals of another one at EVORAG_BLOB_URL.
    """
    try:
        url = make_url(
            settings.catalog_url.get_secret_value() or URL.create("sqlite", database=str(folder.catalog_file))
        )
        url.get_dialect()
    except ArgumentError:
        # What was given may hold a password: it is not repeated.
        raise InvalidInput(
            "The address of the catalogue is not understood.",
            remedy="Write EVORAG_CATALOG_URL as postgresql+psycopg://user:password@host:5432/database.",
        ) from None
    has_originals = bool(folder.bucket_owner) or not settings.blob_url.get_secret_value()
    own = blobs if has_originals and not is_copy else None

    journal, snapshots = Journal(folder.journal_file), Snapshots(folder)
    is_journalled = not is_copy and not settings.catalog_url.get_secret_value()

    def agree(database: Database) -> str:
        identity = agreed_identity(folder, database, own)
        if is_journalled:
            _require_whole(database, journal, snapshots)
        if database.is_sqlite and not settings.catalog_url.get_secret_value() and database.is_to_be_migrated():
            snapshots.take()
        return identity

    catalog = Catalog(url, agree, journal if is_journalled else None)
    folder.mark(catalog.identity)
    if is_journalled:
        journal.go_on(catalog.database.read, *snapshots.oldest())
    else:
        # The catalogue of the folder is another one from now on.
        journal.remove()
        if not is_copy:
            Reached(folder.reached_file, catalog.database, catalog.identity).look()
    if not has_originals:
        try:
            # The first look at a bucket claims it, or finds that it is somebody else's.
            blobs.size("0" * 64)
        except StoreUnavailable as error:
            log.warning("%s", error.message)
        except BaseException:
            catalog.close()
            raise
    return catalog


def _require_whole(database: Database, journal: Journal, snapshots: Snapshots) -> None:
    """Raises: ``CatalogDamaged`` where the catalogue has not got what the journal, or a snapshot, has."""
    told = journal.point()
    if told is None:
        # A journal that is gone as well leaves the snapshots to tell.
        told = max((point for path in snapshots.paths() if (point := point_in(path))), key=_order, default=Point())
    with database.read() as tx:
        found = point_of(tx)
    if told.is_beyond(found):
        raise CatalogDamaged(
            "The catalogue lacks the newest versions and publications that were acknowledged"
            f" ({max(0, told.version - found.version)} and {max(0, told.sequence - found.sequence)}):"
            " its file or its log catalog.db-wal is an older one, or was cut off or removed.",
            remedy="Run `evorag recover`, which brings them back; or `evorag recover --as-is` where the catalogue is"
            " an older one on purpose.",
        )


def _order(point: Point) -> tuple[int, int]:
    return point.sequence, point.version
