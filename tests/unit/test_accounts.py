"""Who somebody is: passwords, sessions, keys, and the rule that somebody who can administer stays."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL

from core.access import acting
from core.accounts import MOST_KEYS, Accounts
from core.adapters.passwords import WerkzeugPasswords
from core.catalog import Catalog
from core.errors import Conflict, EvoRAGError, Forbidden, InvalidInput, NotFound, PasswordNeeded, Unauthorized
from core.model import Principal, Role
from tests.builders import begin

PASSWORD = "correct horse battery"
OTHER = "another horse battery"
CHEAP = "pbkdf2:sha256:10"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **span: float) -> None:
        self.now += timedelta(**span)


class CountedPasswords(WerkzeugPasswords):
    """The real hashes, with an account of which were looked at."""

    def __init__(self) -> None:
        super().__init__(CHEAP)
        self.verified: list[str] = []

    def verify(self, password: str, hashed: str) -> bool:
        self.verified.append(hashed)
        return super().verify(password, hashed)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    begin(tmp_path)
    catalog = Catalog(URL.create("sqlite", database=str(tmp_path / "catalog.db")))
    yield catalog
    catalog.close()


@pytest.fixture
def accounts(catalog: Catalog, clock: Clock) -> Accounts:
    accounts = Accounts(catalog, CountedPasswords(), 12.0, clock)
    accounts.create_user("root", PASSWORD, Role.ADMIN)
    return accounts


def person(accounts: Accounts, name: str = "ann", role: Role = Role.EDITOR) -> Principal:
    made = accounts.create_user(name, PASSWORD, role)
    return Principal(made.name, made.role, made.id)


# ---- users


def test_the_first_user_can_administer(catalog: Catalog) -> None:
    accounts = Accounts(catalog, WerkzeugPasswords(CHEAP), 12.0)
    assert not accounts.has_users()
    with pytest.raises(InvalidInput):
        accounts.create_user("ann", PASSWORD, Role.EDITOR)
    accounts.create_user("ann", PASSWORD, Role.ADMIN)
    assert accounts.has_users()
    assert Accounts(catalog, WerkzeugPasswords(CHEAP), 12.0).has_users()


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "~a", "あ", "a\nb", "a" * 65, "a\ud800", "a:b"])
def test_a_name_is_of_few_plain_signs(accounts: Accounts, name: str) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_user(name, PASSWORD)


def test_a_name_is_one_however_it_is_written(accounts: Accounts) -> None:
    assert accounts.create_user(" ＡＮＮ.o-1_x ", PASSWORD).name == "ann.o-1_x"
    with pytest.raises(Conflict):
        accounts.create_user("Ann.O-1_X", PASSWORD)
    accounts.sign_in("ANN.o-1_x", PASSWORD)


@pytest.mark.parametrize("password", ["", "nine char", "a" * 1_025, "Annabella.x", "half \ud800 a pair"])
def test_a_password_is_neither_short_nor_endless_nor_the_name(accounts: Accounts, password: str) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_user("annabella.x", password)


def test_a_password_is_one_however_it_is_typed(accounts: Accounts) -> None:
    accounts.create_user("ann", "ﾊﾟｽﾜｰﾄﾞはとても長いです")
    accounts.sign_in("ann", "パスワードはとても長いです")


def test_a_role_that_there_is_not_is_refused(accounts: Accounts) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_user("ann", PASSWORD, "owner")


def test_the_last_administrator_stays(accounts: Accounts) -> None:
    for change in (
        lambda: accounts.remove("root"),
        lambda: accounts.set_role("root", Role.EDITOR),
        lambda: accounts.disable("root"),
    ):
        with pytest.raises(Conflict):
            change()
    person(accounts, "second", Role.ADMIN)
    accounts.disable("second")
    with pytest.raises(Conflict):
        accounts.remove("root")
    accounts.disable("second", False)
    accounts.remove("root")
    assert [user.name for user in accounts.users()] == ["second"]


def test_one_of_two_administrators_who_remove_each_other_stays(accounts: Accounts) -> None:
    person(accounts, "second", Role.ADMIN)
    start = threading.Barrier(2)

    def remove(name: str) -> None:
        start.wait()
        with contextlib.suppress(Conflict):
            accounts.remove(name)

    threads = [threading.Thread(target=remove, args=(name,)) for name in ("root", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accounts.users()) == 1


def test_the_number_of_somebody_removed_is_given_to_nobody_else(accounts: Accounts) -> None:
    first = person(accounts)
    accounts.remove("ann")
    assert person(accounts, "bob").user_id != first.user_id


def test_users_are_looked_after_by_administrators_alone(accounts: Accounts) -> None:
    with acting(person(accounts)):
        for change in (
            accounts.users,
            lambda: accounts.create_user("eve", PASSWORD),
            lambda: accounts.set_role("ann", Role.ADMIN),
            lambda: accounts.set_password("root", OTHER, present=PASSWORD),
            lambda: accounts.disable("root"),
            lambda: accounts.remove("root"),
        ):
            with pytest.raises(Forbidden):
                change()


def test_whoever_changes_their_own_password_knows_it(accounts: Accounts) -> None:
    with acting(person(accounts, role=Role.READER)):
        with pytest.raises(InvalidInput):
            accounts.set_password("ann", OTHER)
        with pytest.raises(Unauthorized):
            accounts.set_password("ann", OTHER, present="not it at all")
        accounts.set_password("ann", OTHER, present=PASSWORD)
    accounts.sign_in("ann", OTHER)


# ---- sessions


@pytest.mark.parametrize("name", ["root", "nobody", "", "ro\0ot", "a\ud800", "x" * 100_000])
def test_a_refused_sign_in_says_and_costs_the_same_whoever_is_named(accounts: Accounts, name: str) -> None:
    told = []
    for tried in (name, "nobody"):
        with pytest.raises(Unauthorized) as refused:
            accounts.sign_in(tried, "wrong password")
        told.append(refused.value.as_dict())
    assert told[0] == told[1]
    passwords = accounts._passwords
    assert isinstance(passwords, CountedPasswords)
    costs = {hashed.split("$")[0] for hashed in passwords.verified}
    assert len(passwords.verified) == 2
    assert len(costs) == 1


@pytest.mark.parametrize("password", ["", "x" * 2_000_000, "\ud800", "\0"])
def test_a_hostile_password_is_only_wrong(accounts: Accounts, password: str) -> None:
    with pytest.raises(Unauthorized):
        accounts.sign_in("root", password)


def test_a_session_slides_and_ends_when_nothing_is_done(accounts: Accounts, clock: Clock) -> None:
    token, session = accounts.sign_in("root", PASSWORD)
    assert session.expires_at == clock.now + timedelta(hours=12)
    for _ in range(3):
        clock.passes(hours=11)
        assert accounts.session(token) is not None
    clock.passes(hours=12)
    assert accounts.session(token) is None


def test_a_session_ends_after_thirty_days_whatever_is_done(accounts: Accounts, clock: Clock) -> None:
    token, _ = accounts.sign_in("root", PASSWORD)
    hours = 0
    while accounts.session(token) is not None:
        clock.passes(hours=10)
        hours += 10
    assert 30 * 24 <= hours <= 30 * 24 + 10


def test_a_session_is_written_at_most_once_a_minute(accounts: Accounts, clock: Clock) -> None:
    token, first = accounts.sign_in("root", PASSWORD)
    clock.passes(seconds=59)
    again = accounts.session(token)
    assert again is not None and again.expires_at == first.expires_at
    clock.passes(seconds=1)
    later = accounts.session(token)
    assert later is not None and later.expires_at == first.expires_at + timedelta(minutes=1)


def test_signing_in_and_out_ends_the_former_session(accounts: Accounts) -> None:
    old, _ = accounts.sign_in("root", PASSWORD)
    new, _ = accounts.sign_in("root", PASSWORD, old_token=old)
    assert accounts.session(old) is None
    accounts.sign_out(new)
    assert accounts.session(new) is None


def test_a_rotated_session_goes_on_under_another_token(accounts: Accounts) -> None:
    token, session = accounts.sign_in("root", PASSWORD)
    other = accounts.rotate(token)
    assert accounts.session(token) is None
    assert accounts.session(other) == session
    with pytest.raises(Unauthorized):
        accounts.rotate(token)


@pytest.mark.parametrize("change", ["password", "role", "disable", "remove"])
def test_what_changes_about_somebody_ends_their_sessions(accounts: Accounts, change: str) -> None:
    person(accounts)
    token, _ = accounts.sign_in("ann", PASSWORD)
    changes = {
        "password": lambda: accounts.set_password("ann", OTHER),
        "role": lambda: accounts.set_role("ann", Role.READER),
        "disable": lambda: accounts.disable("ann"),
        "remove": lambda: accounts.remove("ann"),
    }
    changes[change]()
    assert accounts.session(token) is None


def test_the_session_that_changes_the_password_goes_on(accounts: Accounts) -> None:
    who = person(accounts)
    kept, _ = accounts.sign_in("ann", PASSWORD)
    other, _ = accounts.sign_in("ann", PASSWORD)
    with acting(who):
        accounts.set_password("ann", OTHER, present=PASSWORD, keep_token=kept)
    assert accounts.session(kept) is not None
    assert accounts.session(other) is None


def test_somebody_disabled_gets_in_by_no_way(accounts: Accounts) -> None:
    person(accounts)
    _, secret = accounts.create_key("k", Role.READER, user="ann")
    accounts.disable("ann")
    with pytest.raises(Unauthorized):
        accounts.sign_in("ann", PASSWORD)
    assert accounts.principal_of_key(secret) is None
    accounts.disable("ann", False)
    assert accounts.principal_of_key(secret) is not None


def test_nobody_has_keys_without_end(accounts: Accounts, clock: Clock) -> None:
    ends = clock.now + timedelta(hours=1)
    keys = [accounts.create_key("k", Role.READER, ends, user="root")[0] for _ in range(MOST_KEYS)]
    with pytest.raises(Conflict):
        accounts.create_key("k", Role.READER, user="root")
    accounts.revoke(keys[0].id)
    accounts.create_key("k", Role.READER, ends, user="root")
    with pytest.raises(Conflict):
        accounts.create_key("k", Role.READER, user="root")
    clock.passes(hours=2)
    accounts.create_key("k", Role.READER, user="root")


def test_sessions_that_expired_are_swept(accounts: Accounts, clock: Clock, tmp_path: Path) -> None:
    for _ in range(3):
        accounts.sign_in("root", PASSWORD)
    clock.passes(hours=13)
    accounts.sign_in("root", PASSWORD)
    with sqlite3.connect(tmp_path / "catalog.db") as database:
        assert database.execute("select count(*) from sessions").fetchone() == (1,)


@pytest.mark.parametrize("token", ["", "x", "\0", "\ud800", "é" * 10_000])
def test_what_is_no_token_is_nobody(accounts: Accounts, token: str) -> None:
    assert accounts.session(token) is None
    assert accounts.principal_of_key(token) is None
    assert accounts.principal_of_key("evo_" + (token * 43)[:43]) is None


# ---- keys


@pytest.mark.long
def test_a_key_works_on_behalf_of_its_user_with_the_lesser_role(accounts: Accounts) -> None:
    who = person(accounts)
    with acting(who):
        key, secret = accounts.create_key("a  program", Role.READER)
    assert (key.name, key.user, key.role) == ("a program", "ann", Role.READER)
    assert secret.startswith(key.prefix) and len(secret) == 47
    assert accounts.principal_of_key(secret) == replace(who, role=Role.READER, key_id=key.id)
    _, strong = accounts.create_key("another", Role.EDITOR, user="ann")
    accounts.set_role("ann", Role.READER)
    found = accounts.principal_of_key(strong)
    assert found is not None and found.role is Role.READER


def test_a_key_that_expired_or_was_revoked_is_nobodys(accounts: Accounts, clock: Clock) -> None:
    key, secret = accounts.create_key("k", Role.ADMIN, clock.now + timedelta(days=1), user="root")
    clock.passes(hours=23)
    assert accounts.principal_of_key(secret) is not None
    clock.passes(hours=1)
    assert accounts.principal_of_key(secret) is None
    key, secret = accounts.create_key("k", Role.ADMIN, user="root")
    assert accounts.revoke(key.id).is_revoked
    assert accounts.principal_of_key(secret) is None


def test_the_use_of_a_key_is_written_at_most_once_a_minute(accounts: Accounts, clock: Clock) -> None:
    _, secret = accounts.create_key("k", Role.ADMIN, user="root")
    began = clock.now
    used = []
    for seconds in (0, 59, 1):
        clock.passes(seconds=seconds)
        accounts.principal_of_key(secret)
        used.append(accounts.keys()[0].last_used_at)
    assert used == [began, began, began + timedelta(minutes=1)]


@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_nobody_makes_a_key_beyond_their_role(accounts: Accounts, role: Role) -> None:
    with acting(person(accounts, role=Role.READER)), pytest.raises(Forbidden):
        accounts.create_key("k", role)
    with pytest.raises(Forbidden):
        accounts.create_key("k", role, user="ann")


def test_a_key_that_does_not_administer_manages_no_keys(accounts: Accounts) -> None:
    who = person(accounts)
    with acting(replace(who, key_id="0" * 32)):
        for act in (lambda: accounts.create_key("k", Role.READER), accounts.keys, lambda: accounts.revoke("0" * 32)):
            with pytest.raises(Forbidden):
                act()


def test_the_keys_of_others_are_as_if_they_were_not(accounts: Accounts) -> None:
    key, _ = accounts.create_key("k", Role.ADMIN, user="root")
    with acting(person(accounts)):
        assert accounts.keys() == []
        with pytest.raises(Forbidden):
            accounts.keys("root")
        told = []
        for key_id in (key.id, "0" * 32):
            with pytest.raises(NotFound) as refused:
                accounts.revoke(key_id)
            told.append(refused.value.as_dict())
        assert told[0] == told[1]
    assert accounts.principal_of_key


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "\ud800"])
def test_a_key_has_a_name(accounts: Accounts, name: str) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_key(name, Role.READER, user="root")


def test_a_key_expires_at_a_moment_to_come(accounts: Accounts, clock: Clock) -> None:
    for moment in (clock.now, datetime(2999, 1, 1)):
        with pytest.raises(InvalidInput):
            accounts.create_key("k", Role.READER, moment, user="root")


def test_a_key_belongs_to_somebody(accounts: Accounts) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_key("k", Role.READER)
    with pytest.raises(NotFound):
        accounts.create_key("k", Role.READER, user="nobody")


# ---- secrets


def test_no_secret_is_kept_or_logged(accounts: Accounts, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="core")
    who = person(accounts)
    token, _ = accounts.sign_in("ann", PASSWORD)
    with acting(who):
        _, secret = accounts.create_key("a program", Role.EDITOR)
        accounts.set_password("ann", OTHER, present=PASSWORD)
    with pytest.raises(EvoRAGError):
        accounts.sign_in("ann\nINFO root signed in", "a wrong secret")
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for hidden in (PASSWORD, OTHER, token, secret, secret.removeprefix("evo_"), "a wrong secret"):
        assert hidden.encode() not in kept
        assert hidden not in caplog.text
    assert "root signed in" not in caplog.text
    assert "ann: user “ann” has another password" in caplog.text


def test_passwords_are_hashed_slowly_and_each_with_its_own_salt() -> None:
    passwords = WerkzeugPasswords()
    first, second = passwords.hash(PASSWORD), passwords.hash(PASSWORD)
    assert first.startswith("scrypt:32768:8:1$")
    assert first != second
    assert passwords.verify(PASSWORD, first) and not passwords.verify(OTHER, first)


# ---- passwords that are guessed first, and those that are asked for again


@pytest.mark.parametrize("password", ["eleven char", "password1234", "qwertyuiop12", "aaaaaaaaaaaaaa", "annannannann"])
def test_a_password_that_is_guessed_first_is_refused(accounts: Accounts, password: str) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_user("ann", password)


@pytest.mark.parametrize(
    "password",
    [
        "four plain words here",
        "Tr0ub4dour&3xy",
        "秘密の合言葉は海辺の風車です",
        "the tide comes in at noon and leaves a boat upon the sand by the old stone pier",
    ],
)
def test_a_password_that_is_not_guessed_soon_is_taken(accounts: Accounts, password: str) -> None:
    accounts.create_user("ann", password)
    assert accounts.sign_in("ann", password)


def test_a_password_of_before_goes_on(accounts: Accounts, catalog: Catalog) -> None:
    catalog.users.add("old", Role.READER, CountedPasswords().hash("short one"))
    assert accounts.sign_in("old", "short one")


def test_keys_end_where_an_administrator_sets_the_password_and_stay_with_one_s_own(accounts: Accounts) -> None:
    ann = person(accounts)
    with acting(ann):
        _, secret = accounts.create_key("nightly", Role.READER)
        accounts.set_password("ann", OTHER, present=PASSWORD)
    assert accounts.principal_of_key(secret) is not None
    accounts.set_password("ann", PASSWORD)
    assert accounts.principal_of_key(secret) is None
    assert [key.is_revoked for key in accounts.keys("ann")] == [True]


def test_keys_and_users_need_a_password_of_a_moment_ago(catalog: Catalog, clock: Clock) -> None:
    accounts = Accounts(catalog, CountedPasswords(), 12.0, clock, confirm_minutes=15)
    accounts.create_user("root", PASSWORD, Role.ADMIN)
    token, _ = accounts.sign_in("root", PASSWORD)
    with acting(accounts.session(token).principal):  # type: ignore[union-attr]
        accounts.create_user("ann", PASSWORD)
    clock.passes(minutes=16)
    token = accounts.rotate(token)
    acts = (
        lambda: accounts.create_user("bob", PASSWORD),
        lambda: accounts.create_key("nightly", Role.READER),
        lambda: accounts.set_role("ann", Role.EDITOR),
        lambda: accounts.set_password("ann", OTHER),
        lambda: accounts.disable("ann"),
        lambda: accounts.remove("ann"),
    )
    with acting(accounts.session(token).principal):  # type: ignore[union-attr]
        for act in acts:
            with pytest.raises(PasswordNeeded):
                act()
        # Whoever gives the present one has given it now.
        accounts.set_password("root", OTHER, present=PASSWORD, keep_token=token)
    token, _ = accounts.sign_in("root", OTHER)
    with acting(accounts.session(token).principal):  # type: ignore[union-attr]
        for act in acts:
            act()


def test_a_device_is_known_for_its_user_until_they_have_another_password(accounts: Accounts) -> None:
    person(accounts)
    token = accounts.device_token("ann")
    assert accounts.is_known_device("ann", token) and accounts.is_known_device(" ANN ", token)
    for name, shown in (("root", token), ("nobody", token), ("ann", ""), ("ann", "."), ("ann", token[:-1] + "é")):
        assert not accounts.is_known_device(name, shown)
    accounts.set_password("ann", OTHER)
    assert not accounts.is_known_device("ann", token)
