"""The commands of access: ``user add | list | role | password | …`` and ``key create | list | revoke``.

They work on a data folder that no server holds. A password is typed twice, or read from standard input with
``--password-stdin``; it is never an argument, which other people of the machine could read.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli import output, remote
from core.cli.options import AsJson, DataDir
from core.cli.session import settings
from core.errors import DataFolderInUse, InvalidInput
from core.model import ApiKey, Role, User, to_dict

if TYPE_CHECKING:
    from core.accounts import Accounts

users = typer.Typer(no_args_is_help=True, help="Who can sign in.")
keys = typer.Typer(no_args_is_help=True, help="Keys of programs.")

Who = Annotated[str, typer.Argument(metavar="NAME", help="A user.")]
Kind = Annotated[Role, typer.Option("--role", help="What somebody may do.")]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]

_MOST_READ = 4_096


@users.command("add")
def add_user(
    name: Who,
    role: Kind = Role.READER,
    password_stdin: FromStdin = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add somebody; the first one has to be an administrator."""
    password = _password(from_stdin=password_stdin)
    with _accounts(data_dir) as accounts:
        _show_users([accounts.create_user(name, password, role)], as_json)


@users.command("list")
def list_users(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List everybody."""
    with _accounts(data_dir) as accounts:
        _show_users(accounts.users(), as_json)


@users.command("role")
def set_role(
    name: Who,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="reader, editor or admin.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Give somebody another role, and end their sessions."""
    with _accounts(data_dir) as accounts:
        _show_users([accounts.set_role(name, role)], as_json)


@users.command("password")
def set_password(name: Who, password_stdin: FromStdin = False, data_dir: DataDir = None) -> None:
    """Give somebody another password, and end their sessions."""
    password = _password(from_stdin=password_stdin)
    with _accounts(data_dir) as accounts:
        accounts.set_password(name, password)


@users.command()
def disable(name: Who, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Shut somebody out, with their keys."""
    with _accounts(data_dir) as accounts:
        _show_users([accounts.disable(name)], as_json)


@users.command()
def enable(name: Who, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Let somebody in again."""
    with _accounts(data_dir) as accounts:
        _show_users([accounts.disable(name, False)], as_json)


@users.command("second-factor")
def remove_second_factor(name: Who, data_dir: DataDir = None) -> None:
    """Remove the second factor of somebody who has lost it, and end their sessions."""
    with _accounts(data_dir) as accounts:
        accounts.second_factors.reset(name)


@users.command("demand-second-factor")
def demand_second_factor(
    off: Annotated[bool, typer.Option("--off", help="Leave it to everybody.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Demand a second factor of everybody who signs in; who has none sets one up first. Keys go on."""
    with _accounts(data_dir) as accounts:
        rule = accounts.second_factors.demand(not off)
    if as_json:
        return output.print_json(rule)
    output.note("A second factor is demanded of everybody." if rule.is_demanded else "A second factor is optional.")


@users.command("sessions")
def list_sessions(name: Who, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List where somebody is signed in."""
    with _accounts(data_dir) as accounts:
        found = accounts.sessions.all(name)
    if as_json:
        return output.print_json(found)
    header = ("session", "browser", "address", "signed in", "last seen")
    output.print_rows(header, ([s.id, s.browser, s.address, _day(s.began_at), _day(s.seen_at)] for s in found))


@users.command("end-sessions")
def end_sessions(
    name: Who,
    session: Annotated[str | None, typer.Option("--session", help="Only this one, by its id.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Sign somebody out everywhere; their keys go on."""
    with _accounts(data_dir) as accounts:
        if session is not None:
            return accounts.sessions.end(session, name)
        ended = accounts.sessions.end_all(name)
    output.note(f"{ended} sessions ended.")


@users.command("remove")
def remove_user(name: Who, data_dir: DataDir = None) -> None:
    """Remove somebody with their keys; their private documents stay, for administrators alone."""
    with _accounts(data_dir) as accounts:
        accounts.remove(name)


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    user: Annotated[str, typer.Option("--user", help="On whose behalf it works.")],
    role: Kind = Role.READER,
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Days until it expires.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print its secret, which cannot be shown again."""
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with _accounts(data_dir) as accounts:
        key, secret = accounts.create_key(name, role, expires_at, user=user)
    if as_json:
        return output.print_json({**to_dict(key), "secret": secret})
    output.print_text(secret)
    output.note(f"Key {key.id}, “{key.name}” of {key.user}. Its secret cannot be shown again.")


@keys.command("list")
def list_keys(
    user: Annotated[str | None, typer.Option("--user", help="Only the keys of this user.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the keys, without their secrets."""
    with _accounts(data_dir) as accounts:
        _show_keys(accounts.keys(user), as_json)


@keys.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key by its id, its name or what it begins with.")],
    user: Annotated[str | None, typer.Option("--user", help="Only among the keys of this user.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a key useless from now on."""
    with _accounts(data_dir) as accounts:
        _show_keys([accounts.revoke(_key_id(accounts.keys(user), key))], as_json)


def _key_id(found: Sequence[ApiKey], wanted: str) -> str:
    """Return the id of the key that is meant; where none is, ``wanted``. Raises: ``InvalidInput`` where many are."""
    if any(key.id == wanted for key in found):
        return wanted
    named = [key for key in found if wanted in (key.name, key.prefix) and not key.is_revoked]
    if len(named) > 1:
        ids = ", ".join(f"{key.id} ({key.user})" for key in named)
        raise InvalidInput(
            f"Several keys are meant by “{wanted}”: {ids}.", remedy="Name one by its id, or give --user."
        )
    return named[0].id if named else wanted


@contextmanager
def _accounts(data_dir: Path | None) -> Iterator[Accounts]:
    from core.bootstrap import opened_accounts

    # Users of a server are looked after on the server.
    remote.chosen(data_dir)
    logging.getLogger("core").setLevel(logging.WARNING)
    try:
        with opened_accounts(settings(data_dir)) as accounts:
            yield accounts
    except DataFolderInUse as error:
        error.remedy = f"Change users and keys on the server's page “Access”. {error.remedy}"
        raise


def _password(*, from_stdin: bool) -> str:
    """Return what was typed twice, or the first line of standard input. Raises: ``BadParameter``."""
    if from_stdin:
        return sys.stdin.readline(_MOST_READ).rstrip("\r\n")
    if not sys.stdin.isatty():
        raise typer.BadParameter("no terminal to ask for a password; add --password-stdin")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _show_users(found: Sequence[User], as_json: bool) -> None:
    if as_json:
        return output.print_json(found)
    header = ("user", "role", "state", "last seen")
    output.print_rows(
        header, ([u.name, u.role, "disabled" if u.is_disabled else "", _day(u.last_seen_at)] for u in found)
    )


def _show_keys(found: Sequence[ApiKey], as_json: bool) -> None:
    if as_json:
        return output.print_json(found)
    header = ("key", "user", "name", "role", "begins with", "expires", "last used", "state")
    rows = (
        [k.id, k.user, k.name, k.role, k.prefix, _day(k.expires_at), _day(k.last_used_at), "revoked" * k.is_revoked]
        for k in found
    )
    output.print_rows(header, rows)


def _day(moment: datetime | None) -> str:
    return "-" if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M}"
