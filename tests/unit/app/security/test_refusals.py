"""Refused attempts are in the log: who, what, when and from where; nothing that was sent is, and not without end."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

import core
from app.main import create_app
from app.security import refusals
from core.settings.log import LOG_FORMAT, DiscreetFormatter
from tests.builders import knowledge_base

MARK = "mark-of-a-caller"
PASSWORD = "a long enough password"


@pytest.fixture
def kb(tmp_path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path, rate_limit=0) as opened:
        opened.accounts.create_user("root", PASSWORD, "admin")
        opened.accounts.create_user("ron", PASSWORD, "reader")
        yield opened


@pytest.fixture
def client(kb: core.KnowledgeBase) -> FlaskClient:
    return create_app(kb).server.test_client()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    formatter = DiscreetFormatter(LOG_FORMAT)
    return [formatter.format(record) for record in caplog.records if record.name == refusals.__name__]


def test_who_is_refused_what_is_in_the_log_and_what_they_sent_is_not(
    client: FlaskClient, kb: core.KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    secret = kb.accounts.create_key("k", "reader", user="ron")[1]
    known = {"Authorization": f"Bearer {secret}"}
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert client.delete(f"/api/v1/documents/{MARK}", headers=known).status_code == 403
        assert client.get(f"/api/v1/users?q={MARK}", headers=known).status_code == 403
        assert client.get("/api/v1/documents", headers={"Authorization": f"Bearer {MARK}"}).status_code == 401
        assert client.get("/api/v1/documents").status_code == 401
        assert client.open(f"/{MARK}", method=MARK.upper(), headers={"Authorization": MARK}).status_code == 401
        assert client.get("/health", headers={"Host": f"{MARK}.example"}).status_code == 421
    told = lines(caplog)
    assert [line.split("WARNING app.security.refusals: ")[1] for line in told] == [
        "refused: DELETE /api/v1/documents/<doc_key:doc_key> to ron from 127.0.0.1 (403 forbidden)",
        "refused: GET /api/v1/users to ron from 127.0.0.1 (403 forbidden)",
        "refused: GET /api/v1/documents to nobody from 127.0.0.1 (401 unauthorized)",
        "refused: an unknown method an unknown address to nobody from 127.0.0.1 (401 unauthorized)",
        "refused: GET /health to nobody from 127.0.0.1 (421 cross_site)",
    ]
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", line) for line in told)
    assert MARK not in caplog.text and secret not in caplog.text


def test_whoever_tries_again_and_again_fills_no_log(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(refusals, "monotonic", lambda: now[0])
    for _ in range(refusals.MOST + 25):
        client.get("/api/v1/documents", headers={"Authorization": "Bearer x"})
    assert len(lines(caplog)) == refusals.MOST
    now[0] += refusals.WITHIN_S
    client.get("/api/v1/documents", headers={"Authorization": "Bearer x"})
    assert [line.split("refusals: ")[1] for line in lines(caplog)[refusals.MOST :]] == [
        "25 more attempts were refused",
        "refused: GET /api/v1/documents to nobody from 127.0.0.1 (401 unauthorized)",
    ]
