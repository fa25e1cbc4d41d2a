"""What people say about an upload is checked before anything is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.errors import InvalidInput
from core.model import Filing
from core.text.language import is_storable

LABEL_CHARS = 200
NOTE_CHARS = 2000
HIGHEST_PRIORITY = 10
_ACTOR_CHARS = 256
_MOST_TAGS = 100
_TAG_CHARS = 64


def check_filing(filing: Filing) -> Filing:
    """Return the filing as it can be kept. Raises: ``InvalidInput``."""
    check_tags(filing.tags)
    return replace(
        filing,
        tags=tuple(filing.tags),
        note=check_note(filing.note),
        label=check_label(filing.label),
        actor=storable_actor(filing.actor),
        publish_at=None if filing.publish_at is None else check_moment(filing.publish_at),
        priority=check_priority(filing.priority),
    )


def check_priority(priority: int) -> int:
    """Refuse what is no priority of a job. Raises: ``InvalidInput``."""
    if isinstance(priority, bool) or not isinstance(priority, int) or abs(priority) > HIGHEST_PRIORITY:
        raise InvalidInput(f"A priority is a whole number from {-HIGHEST_PRIORITY} to {HIGHEST_PRIORITY}.")
    return priority


def check_tags(tags: Sequence[str]) -> None:
    """Refuse what cannot be a document's tags. Raises: ``InvalidInput``."""
    are_texts = all(isinstance(tag, str) and is_storable(tag) for tag in tags)
    if len(tags) > _MOST_TAGS or not are_texts or any(len(tag.strip()) > _TAG_CHARS for tag in tags):
        raise InvalidInput(f"A document has at most {_MOST_TAGS} tags, each a text of at most {_TAG_CHARS} characters.")


def check_note(note: str) -> str:
    return _short_text(note, NOTE_CHARS, "note")


def check_label(label: str) -> str:
    return _short_text(label, LABEL_CHARS, "label")


def check_moment(moment: datetime) -> datetime:
    """Refuse a moment at which nothing can be published any more. Raises: ``InvalidInput``."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInput("The moment of publication has no time zone.", remedy="Write it as 2026-11-21T09:00+09:00.")
    try:
        universal = moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("The moment of publication is beyond the calendar.", remedy="Choose another one.") from None
    if universal <= datetime.now(UTC):
        raise InvalidInput("The moment of publication has passed.", remedy="Choose a later one, or publish now.")
    return universal


def storable_actor(actor: str) -> str:
    return actor[:_ACTOR_CHARS].encode("utf-8", "replace").decode()


def _short_text(text: str, limit: int, what: str) -> str:
    if not isinstance(text, str) or len(text) > limit:
        raise InvalidInput(f"The {what} is longer than {limit:,} characters.", remedy="Shorten it and send it again.")
    return text.strip().encode("utf-8", "replace").decode()
