"""What is said of an upload before its bytes come is checked, so that what can never be taken is not sent."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.access import current
from core.catalog.documents.transfers import TransferRow
from core.errors import BadFilename, EmptyDocument, InvalidInput
from core.ingest.intake import check_extension, check_private
from core.ingest.upload_options import check_filing
from core.ingest.validate import clean_name
from core.model import Filing, Transfer, TransferState

LARGEST = 2**63 - 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
_METADATA_CHARS = 64 * 1024


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """What a client says of an upload; ``metadata`` is how it wrote that, to be given back to it."""

    name: str | None
    size_bytes: int | None
    filing: Filing
    sha256: str | None = None
    is_partial: bool = False
    metadata: str = ""


def new_transfer(request: UploadRequest, expiry: timedelta) -> TransferRow:
    """Return a new upload on behalf of whoever acts.

    Raises: ``BadFilename``, ``UnsupportedType``, ``EmptyDocument``, ``InvalidInput``.
    """
    who = current()
    filing = check_filing(replace(request.filing, actor=request.filing.actor or who.name))
    check_private(filing)
    name = "" if request.is_partial and not request.name else _checked_name(request.name)
    if request.size_bytes is not None and not 0 <= request.size_bytes <= LARGEST:
        raise InvalidInput("The size of an upload is a whole number of bytes.")
    if request.size_bytes == 0 and not request.is_partial:
        raise EmptyDocument("The file is empty.", remedy="Choose a file that has something in it.")
    if len(request.metadata) > _METADATA_CHARS:
        raise InvalidInput("What is said about the upload is too long.")
    now = datetime.now(UTC)
    transfer = Transfer(
        id=secrets.token_hex(16),
        name=name,
        size_bytes=request.size_bytes,
        offset_bytes=0,
        state=TransferState.RECEIVING,
        created_at=now,
        expires_at=now + expiry,
        is_partial=request.is_partial,
        owner=who.name if who.user_id is not None else "",
        sha256=checked_sha256(request.sha256),
        filing=filing,
    )
    return TransferRow(transfer, who.user_id, request.metadata, (), None)


def checked_sha256(sha256: str | None) -> str | None:
    """Return a SHA-256 in lower case, None where none is said. Raises: ``InvalidInput``."""
    if sha256 is not None and not _SHA256.fullmatch(sha256.lower()):
        raise InvalidInput("A SHA-256 has 64 hexadecimal digits.")
    return None if sha256 is None else sha256.lower()


def _checked_name(name: str | None) -> str:
    if not name:
        raise BadFilename("The file has no name.")
    shown = clean_name(name)
    check_extension(shown)
    return shown
