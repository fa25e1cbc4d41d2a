"""How often somebody may ask is counted for each apart, in a memory that does not grow."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from app.main import create_app
from app.security.proxies import site_of
from app.security.rates import COUNTERS, Rates, stranger, user
from core.model import Role
from tests.builders import knowledge_base


def test_request_beyond_the_limit_waits() -> None:
    rates = Rates(3, 3)
    assert [rates.ask("a") for _ in range(3)] == [0, 0, 0]
    assert 1 <= rates.ask("a") <= 60
    assert rates.ask("b") == 0


def test_limit_of_nought_is_none() -> None:
    rates = Rates(0, 0)
    rates.failed("a")
    assert not any(rates.ask("a") for _ in range(100))
    assert rates.locked("a") == 0


def test_strangers_from_everywhere_fill_no_memory() -> None:
    rates = Rates(10, 10)
    for number in range(3 * COUNTERS):
        rates.ask(f"address {number}")
    assert len(rates._own.requests.storage.storage) <= 2 * COUNTERS


def test_network_of_an_ipv6_address_counts_as_one() -> None:
    assert site_of("2001:db8::1") == site_of("2001:db8::ffff") != site_of("2001:db8:0:1::1")
    assert site_of("::ffff:192.0.2.1") == site_of("192.0.2.1")
    assert site_of("x" * 1000) == "x" * 64


def test_users_share_no_counter_with_anybody() -> None:
    rates = Rates(1, 1)
    assert not any(rates.ask(user(number)) for number in range(3 * COUNTERS))
    for number in range(3 * COUNTERS):
        rates.failed(stranger("name", str(number)))
    assert not rates.locked(user(1))


def test_keys_of_one_user_share_their_requests_and_files_of_pages_cost_none(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, rate_limit=5) as kb:
        kb.accounts.create_user("mori", "a long enough password", Role.ADMIN)
        kb.accounts.create_user("ann", "a long enough password", Role.READER)
        secrets = [kb.accounts.create_key("k", Role.READER, user=name)[1] for name in ("mori", "mori", "ann")]
        client = create_app(kb).server.test_client()
        given = [{"Authorization": f"Bearer {secret}"} for secret in secrets]
        for _ in range(20):
            assert client.get("/assets/upload.css", headers=given[0]).status_code == 200
        statuses = [client.get("/api/v1/me", headers=given[0]).status_code for _ in range(6)]
        assert statuses == [200] * 5 + [429]
        limited = client.get("/api/v1/me", headers=given[0])
        assert limited.json["code"] == "rate_limited"
        assert int(limited.headers["Retry-After"]) >= 1
        assert [client.get("/api/v1/me", headers=own).status_code for own in given] == [429, 429, 200]


@pytest.mark.long
def test_own_machine_without_users_is_never_slowed_down(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, rate_limit=5) as kb:
        client = create_app(kb).server.test_client()
        assert {client.get("/api/v1/me").status_code for _ in range(20)} == {200}


def test_whoever_goes_on_guessing_waits_longer_and_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    rates, waits = Rates(0, 2), []
    for _ in range(60):
        wait = rates.locked("name mori")
        if wait:
            waits.append(wait)
            now[0] += wait
        rates.failed("name mori")
    assert waits[0] <= 60 < waits[1] <= 900
    assert 900 < max(waits) <= 86_400
    assert rates.locked("name other") == 0
