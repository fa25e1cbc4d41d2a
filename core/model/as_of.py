"""What “as of” says in an address, a request or on the command line, as a value."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, tzinfo

from core.errors import InvalidInput
from core.model.questions import AsOf, VersionRef

_VERSION = re.compile(r"(?P<name>.+)#v(?P<number>[1-9][0-9]{0,8})", re.DOTALL)
_SEQUENCE = re.compile(r"[0-9]{1,18}")


def format_as_of(as_of: AsOf | None) -> str | None:
    """Return what ``parse_as_of`` reads."""
    if as_of is None:
        return None
    return as_of.isoformat() if isinstance(as_of, datetime) else str(as_of)


def parse_as_of(text: str, zone: tzinfo | None = None) -> AsOf:
    """Return a sequence number (``12``), a version (``handbook.pdf#v2``) or a moment (ISO 8601).

    A moment without a zone is read in ``zone``, or in this machine's where that is None. Raises: ``InvalidInput``.
    """
    text = text.strip()
    if _SEQUENCE.fullmatch(text):
        return int(text)
    if version := _VERSION.fullmatch(text):
        return VersionRef(unicodedata.normalize("NFC", version["name"]).lower(), int(version["number"]))
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo:
            return moment
        # Long ago offsets had seconds, which browsers do not read.
        return moment.replace(tzinfo=zone).astimezone(UTC) if zone else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"“{text[:64]}” is no version, no sequence number and no moment.",
            remedy="Write handbook.pdf#v2, 12, or 2026-11-21T09:00+09:00.",
        ) from None
