"""Identity: a data folder and its catalogue carry the same mark, so that neither is opened with a stranger's.

Folders and catalogues of earlier releases carry none. They get one when they are opened, unless the folder holds
originals and the catalogue is empty or names none of them.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from core.catalog.engine import Database
from core.catalog.identity import identity_of, is_new, named_blobs
from core.errors import StoreUnavailable, WrongCatalog
from core.platform.data_folder import DataFolder
from core.ports import BlobStore

_SHOWN = 8


def agreed_identity(folder: DataFolder, database: Database, blobs: BlobStore | None) -> str:
    """Return the identity that folder and catalogue share, or shall share; nothing is written, and nothing migrated.

    ``blobs`` are the originals of the folder, None where it has none yet.
    Raises: ``WrongCatalog`` where the catalogue is another's, or an empty one beside originals; ``StoreUnavailable``.
    """
    marked = folder.identity
    exists = not database.is_sqlite or Path(database.engine.url.database or "").exists()
    told = identity_of(database) if exists else ""
    if told and marked:
        if told != marked:
            raise WrongCatalog(
                f"The data folder “{folder.root}” is of the knowledge base {marked[:_SHOWN]}, and"
                f" {_place(database)} is of {told[:_SHOWN]}.",
                remedy=f"{WrongCatalog.remedy} Where only the folder's file `identity` is damaged, remove it: the"
                " catalogue is then held against the originals.",
            )
        return told
    if blobs is not None:
        _require_own(folder, database, blobs, "missing" if not exists else "empty" if is_new(database) else "")
    return told or marked or folder.bucket_owner or secrets.token_hex(16)


def _require_own(folder: DataFolder, database: Database, blobs: BlobStore, lack: str) -> None:
    """Raises: ``WrongCatalog`` where there are originals, and the catalogue names none of them.

    ``lack`` says that it is empty or missing, and therefore names none.
    """
    try:
        if next(iter(blobs.names()), None) is None:
            return
        is_nothing_named = True
        for sha256 in () if lack else named_blobs(database):
            if blobs.size(sha256) is not None:
                return
            is_nothing_named = False
    except StoreUnavailable:
        if lack:
            raise
        return
    of = f" of the knowledge base {folder.identity[:_SHOWN]}" if folder.identity else ""
    if lack:
        raise WrongCatalog(f"The data folder “{folder.root}” holds originals{of}, and {_place(database)} is {lack}.")
    if not is_nothing_named:
        raise WrongCatalog(
            f"The data folder “{folder.root}” holds originals{of}, of which {_place(database)} knows none."
        )


def _place(database: Database) -> str:
    """Say where the catalogue is, without its password."""
    url = database.engine.url
    return f"the catalogue “{url.database}”" + (f" on {url.host}" if url.host else "")
