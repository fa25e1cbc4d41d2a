"""Whether an upload is shown early: asked for, declined, or left to what its document shows."""

from __future__ import annotations

from typing import Any

import pytest

from app.api.description.fields import filing
from core.client.uploads import _said
from core.model import Filing


@pytest.mark.parametrize(
    ("given", "early"),
    [({}, None), ({"early": None}, None), ({"early": ""}, None), ({"early": "0"}, False), ({"early": True}, True)],
)
def test_a_request_says_so_or_leaves_it_open(given: dict[str, Any], early: bool | None) -> None:
    assert Filing(**filing(given)).early is early


@pytest.mark.parametrize("early", [None, False, True])
def test_the_client_sends_what_it_was_told_and_nothing_else(early: bool | None) -> None:
    said = _said(Filing(early=early))
    assert said == ({} if early is None else {"early": early})
    assert Filing(**filing(said)).early is early
