"""Codes of an app as a second factor: asked for once confirmed, each taken once, and replaced by recovery codes."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

import core
from core.access import acting
from core.catalog.schema import second_factors
from core.errors import CodeNeeded, Conflict, EvoRAGError, Forbidden, NotFound, PasswordNeeded, Unauthorized
from core.model import Principal, Role, SecondFactor
from core.second_factors import STEP_S, code_of
from tests.builders import knowledge_base

PASSWORD = "a long enough password"
RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()
RFC_6238 = {59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924",
            2000000000: "69279037", 20000000000: "65353130"}  # fmt: skip
"""The vectors of RFC 6238, appendix B, for SHA-1; theirs have eight digits, of which ours are the last six."""


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def code(self, secret: str, steps: int = 0) -> str:
        return code_of(secret, int(self.now.timestamp()) // STEP_S + steps)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kb(tmp_path: Path, clock: Clock) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        opened.accounts._clock = clock
        opened.accounts.second_factors._clock = clock
        opened.accounts.create_user("root", PASSWORD, Role.ADMIN)
        opened.accounts.create_user("mori", PASSWORD, Role.EDITOR)
        yield opened


def person(kb: core.KnowledgeBase, name: str = "mori") -> Principal:
    user = next(each for each in kb.accounts.users() if each.name == name)
    return Principal(user.name, user.role, user.id, signed_in_at=kb.accounts._clock())


def set_up(kb: core.KnowledgeBase, clock: Clock) -> tuple[str, list[str]]:
    """Give mori a second factor; return its secret and the recovery codes. Its present code is used by that."""
    with acting(person(kb)):
        secret = kb.accounts.second_factors.begin().secret
        return secret, kb.accounts.second_factors.confirm(clock.code(secret))


@pytest.mark.parametrize("moment", RFC_6238)
def test_codes_are_those_of_the_standard(moment: int) -> None:
    assert code_of(RFC_SECRET, moment // STEP_S) == RFC_6238[moment][-6:]


def test_factor_is_asked_for_once_a_code_of_it_was_confirmed(kb: core.KnowledgeBase, clock: Clock) -> None:
    factors = kb.accounts.second_factors
    with acting(person(kb)):
        setup = factors.begin()
        assert factors.own() == SecondFactor()
        # Until then the password alone is enough.
        kb.accounts.sign_in("mori", PASSWORD)
        with pytest.raises(Unauthorized):
            factors.confirm("000000" if clock.code(setup.secret) != "000000" else "111111")
        codes = factors.confirm(clock.code(setup.secret))
        assert factors.own() == SecondFactor(True, clock.now, 10)
        with pytest.raises(Conflict):
            factors.begin()
        with pytest.raises(Conflict):
            factors.confirm(clock.code(setup.secret))
    address = urlsplit(setup.uri)
    assert (address.scheme, address.netloc, address.path) == ("otpauth", "totp", "/EvoRAG%3Amori")
    assert parse_qs(address.query)["secret"] == [setup.secret] and parse_qs(address.query)["issuer"] == ["EvoRAG"]
    assert len(set(codes)) == 10 and all(re.fullmatch(r"([A-Z2-7]{6}-){3}[A-Z2-7]{6}", code) for code in codes)
    with kb.catalog.database.read() as tx:
        kept = str(tx.execute(select(second_factors)).all())
    assert not [code for code in codes if code in kept or code.replace("-", "") in kept]
    assert {user.name: user.has_second_factor for user in kb.accounts.users()} == {"root": False, "mori": True}


def test_sign_in_takes_a_password_and_a_code(kb: core.KnowledgeBase, clock: Clock) -> None:
    secret, _ = set_up(kb, clock)
    clock.now += timedelta(seconds=STEP_S)
    with pytest.raises(CodeNeeded) as wanted:
        kb.accounts.sign_in("mori", PASSWORD)
    with pytest.raises(Unauthorized) as refused:
        kb.accounts.sign_in("mori", "another long password", code=clock.code(secret))
    assert not isinstance(refused.value, CodeNeeded)
    token, session = kb.accounts.sign_in_by_code(wanted.value.ticket, clock.code(secret))
    assert session.principal.name == "mori" and kb.accounts.session(token) is not None
    clock.now += timedelta(seconds=STEP_S)
    assert kb.accounts.sign_in("mori", PASSWORD, code=f" {clock.code(secret)[:3]} {clock.code(secret)[3:]} ")
    assert kb.accounts.sign_in("root", PASSWORD)


def test_code_is_taken_once_and_so_is_none_before_it(kb: core.KnowledgeBase, clock: Clock) -> None:
    secret, _ = set_up(kb, clock)
    for steps in (0, -1):
        with pytest.raises(Unauthorized):
            kb.accounts.sign_in("mori", PASSWORD, code=clock.code(secret, steps))
    clock.now += timedelta(seconds=2 * STEP_S)
    assert kb.accounts.sign_in("mori", PASSWORD, code=clock.code(secret))
    for steps in (0, -1):
        with pytest.raises(Unauthorized):
            kb.accounts.sign_in("mori", PASSWORD, code=clock.code(secret, steps))


@pytest.mark.parametrize(("steps", "is_taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_clock_of_an_app_may_be_off_by_one_step(
    kb: core.KnowledgeBase, clock: Clock, steps: int, is_taken: bool
) -> None:
    secret, _ = set_up(kb, clock)
    clock.now += timedelta(seconds=5 * STEP_S)
    if is_taken:
        assert kb.accounts.sign_in("mori", PASSWORD, code=clock.code(secret, steps))
    else:
        with pytest.raises(Unauthorized):
            kb.accounts.sign_in("mori", PASSWORD, code=clock.code(secret, steps))


def test_full_width_digits_of_a_japanese_keyboard_are_taken(kb: core.KnowledgeBase, clock: Clock) -> None:
    secret, _ = set_up(kb, clock)
    clock.now += timedelta(seconds=STEP_S)
    wide = clock.code(secret).translate({ord("0") + digit: chr(0xFF10 + digit) for digit in range(10)})
    assert kb.accounts.sign_in("mori", PASSWORD, code=wide)


@pytest.mark.parametrize("code", ["12345", "abcdef", "\ud800", "\0" * 6, "9" * 10_000, "²²²²²²", "AAAAAA-" * 4])
def test_what_is_no_code_is_refused(kb: core.KnowledgeBase, clock: Clock, code: str) -> None:
    set_up(kb, clock)
    with pytest.raises(Unauthorized):
        kb.accounts.sign_in("mori", PASSWORD, code=code)


def test_recovery_code_stands_in_for_the_app_once(kb: core.KnowledgeBase, clock: Clock) -> None:
    _, codes = set_up(kb, clock)
    assert kb.accounts.sign_in("mori", PASSWORD, code=codes[0].lower())
    with pytest.raises(Unauthorized):
        kb.accounts.sign_in("mori", PASSWORD, code=codes[0])
    assert kb.accounts.sign_in("mori", PASSWORD, code=codes[1].replace("-", ""))
    with acting(person(kb)):
        assert kb.accounts.second_factors.own().recovery_left == 8


def test_ticket_is_of_one_user_one_password_and_five_minutes(kb: core.KnowledgeBase, clock: Clock) -> None:
    secret, _ = set_up(kb, clock)
    with pytest.raises(CodeNeeded) as wanted:
        kb.accounts.sign_in("mori", PASSWORD)
    mark, until, _ = wanted.value.ticket.split(":")
    later = str(int(until) + 600)
    for forged in (
        # Who has no factor, or does not exist, has no mark at all.
        f"{mark}:{until}:root",
        f"{mark}:{later}:mori",
        f":{until}:mori",
        f":{until}:root",
        "",
        "::",
        "a:b:mori",
    ):
        with pytest.raises(Unauthorized):
            kb.accounts.sign_in_by_code(forged, clock.code(secret, 1))
    clock.now += timedelta(minutes=6)
    with pytest.raises(Unauthorized):
        kb.accounts.sign_in_by_code(wanted.value.ticket, clock.code(secret))
    with pytest.raises(CodeNeeded) as again:
        kb.accounts.sign_in("mori", PASSWORD)
    kb.accounts.set_password("mori", "another long enough one")
    with pytest.raises(Unauthorized):
        kb.accounts.sign_in_by_code(again.value.ticket, clock.code(secret))


def test_other_sessions_end_when_a_factor_is_confirmed_and_keys_go_on(kb: core.KnowledgeBase, clock: Clock) -> None:
    here, elsewhere = (kb.accounts.sign_in("mori", PASSWORD)[0] for _ in range(2))
    secret_of_key = kb.accounts.create_key("robot", Role.READER, user="mori")[1]
    with acting(person(kb)):
        secret = kb.accounts.second_factors.begin().secret
        kb.accounts.second_factors.confirm(clock.code(secret), keep_token=here)
    assert kb.accounts.session(here) is not None and kb.accounts.session(elsewhere) is None
    assert kb.accounts.principal_of_key(secret_of_key) is not None


def test_removing_it_takes_a_code_and_an_administrator_none(kb: core.KnowledgeBase, clock: Clock) -> None:
    _, codes = set_up(kb, clock)
    factors = kb.accounts.second_factors
    with acting(person(kb)), pytest.raises(Unauthorized):
        factors.remove("123456")
    with acting(person(kb)), pytest.raises(Forbidden):
        factors.reset("mori")
    with acting(person(kb)):
        factors.remove(codes[0])
        assert factors.own() == SecondFactor()
    token, _ = kb.accounts.sign_in("mori", PASSWORD)
    clock.now += timedelta(minutes=1)
    set_up(kb, clock)
    with acting(person(kb, "root")):
        factors.reset("mori")
        with pytest.raises(NotFound):
            factors.reset("nobody")
    assert kb.accounts.session(token) is None
    assert kb.accounts.sign_in("mori", PASSWORD)


def test_it_is_set_up_by_people_who_gave_their_password_lately(kb: core.KnowledgeBase, clock: Clock) -> None:
    kb.accounts._confirmed_for = timedelta(minutes=10)
    factors, mori = kb.accounts.second_factors, person(kb)
    refused: tuple[tuple[Principal, type[EvoRAGError]], ...] = (
        (Principal(mori.name, mori.role, mori.user_id, "key"), Forbidden),
        (Principal(), Forbidden),
    )
    for who, error in refused:
        with acting(who), pytest.raises(error):
            factors.begin()
    clock.now += timedelta(minutes=11)
    with acting(mori), pytest.raises(PasswordNeeded):
        factors.begin()


def test_secret_that_was_not_confirmed_in_time_is_none(kb: core.KnowledgeBase, clock: Clock) -> None:
    with acting(person(kb)):
        secret = kb.accounts.second_factors.begin().secret
    clock.now += timedelta(minutes=16)
    with acting(person(kb)), pytest.raises(Conflict):
        kb.accounts.second_factors.confirm(clock.code(secret))


def test_factor_goes_with_its_user(kb: core.KnowledgeBase, clock: Clock) -> None:
    set_up(kb, clock)
    kb.accounts.remove("mori")
    with kb.catalog.database.read() as tx:
        assert tx.execute(select(second_factors)).all() == []
