"""The list of keys says until when each works."""

from __future__ import annotations

from datetime import UTC, datetime

import flask

from app.components.access.keys import key_list
from core.model import ApiKey, Role
from tests.unit.app.drawn import by_class, text


def test_the_day_on_which_a_key_ends_is_written_by_the_browser() -> None:
    made, ends = datetime(2026, 11, 1, tzinfo=UTC), datetime(2199, 1, 31, 20, tzinfo=UTC)
    keys = [ApiKey("k1", "ada", "nightly", Role.READER, "evo_1", made, expires_at=ends)]
    with flask.Flask("test").test_request_context(headers={"Accept-Language": "en"}):
        [day] = by_class(key_list(keys, of_everybody=False), "when-exact")
    assert (text(day), day.dateTime, getattr(day, "data-told")) == ("31 Jan 2199", ends.isoformat(), "day")
