"""Users and keys from the command line: secrets come and go by no argument and no log."""

import io
import json
import os
import subprocess
import sys

import pytest

from core.bootstrap import opened_accounts
from core.model import Device
from core.platform.data_folder import DataFolder
from core.settings import Settings

PASSWORD = "correct horse battery"


@pytest.fixture
def typed(evorag, monkeypatch):
    """Run a command with a password on standard input."""

    def run(*arguments, password=PASSWORD):
        monkeypatch.setattr(sys, "stdin", io.StringIO(password + "\n"))
        return evorag(*arguments, "--password-stdin")

    return run


@pytest.fixture
def root(typed):
    status, _, err = typed("user", "add", "root", "--role", "admin")
    assert status == 0, err


def test_users_are_added_changed_and_removed(evorag, typed, root):
    assert typed("user", "add", "Ann", "--role", "editor")[0] == 0
    assert evorag("user", "role", "ann", "reader")[1].split("\t")[:2] == ["ann", "reader"]
    assert "disabled" in evorag("user", "disable", "ann")[1]
    assert "disabled" not in evorag("user", "enable", "ann")[1]
    users = json.loads(evorag("user", "list", "--json")[1])
    assert [(user["name"], user["role"]) for user in users] == [("ann", "reader"), ("root", "admin")]
    assert evorag("user", "remove", "ann")[0] == 0
    assert evorag("user", "list")[1].count("\n") == 1


def test_a_password_is_read_from_standard_input_and_never_an_argument(evorag, typed, root):
    assert typed("user", "password", "root", password="another horse battery")[0] == 0
    assert evorag("user", "add", "ann", PASSWORD)[0] == 2
    assert evorag("user", "password", "root", "--password", PASSWORD)[0] == 2


def answered(arguments, answers):
    """Run a command in a terminal, type an answer whenever it asks, and return its status and what was shown."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "core.cli", *arguments]
    # Without a terminal of its own it would ask on that of whoever runs the tests.
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown, rest, left = b"", b"", list(answers)
    try:
        while piece := os.read(ours, 65_536):
            shown, rest = shown + piece, rest + piece
            if left and rest.endswith(b": "):
                os.write(ours, left.pop(0).encode() + b"\n")
                rest = b""
    except OSError:
        pass  # The terminal hangs up when its last process ends.
    os.close(ours)
    return process.wait(timeout=30), shown.decode()


def test_a_password_is_asked_for_twice_in_a_terminal_and_not_shown(data_dir):
    answers = (PASSWORD, "mistyped", PASSWORD, PASSWORD)
    status, shown = answered(("user", "add", "root", "--role", "admin"), answers)
    assert status == 0, shown
    assert shown.count("Password") == 2
    assert PASSWORD not in shown and "mistyped" not in shown


def test_without_a_terminal_a_password_has_to_be_sent(evorag, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(PASSWORD))
    status, _, err = evorag("user", "add", "root")
    assert status == 2
    assert "add --password-stdin" in err


def test_a_key_is_shown_once_and_then_by_its_beginning(evorag, root):
    status, secret, err = evorag(
        "key", "create", "nightly import", "--user", "root", "--role", "editor", "--days", "90"
    )
    assert status == 0
    listed = json.loads(evorag("key", "list", "--json")[1])
    assert listed[0]["id"] in err and "nightly import" in err
    assert secret.strip() not in err
    assert [(key["name"], key["role"], key["prefix"]) for key in listed] == [("nightly import", "editor", secret[:12])]
    assert secret.strip() not in evorag("key", "list")[1]
    revoked = json.loads(evorag("key", "revoke", listed[0]["id"], "--json")[1])
    assert revoked[0]["is_revoked"]


def test_a_key_is_revoked_by_its_name_or_beginning_where_that_is_one(evorag, typed, root):
    typed("user", "add", "ann")
    _, secret, _ = evorag("key", "create", "import", "--user", "root")
    evorag("key", "create", "import", "--user", "ann")
    status, out, err = evorag("key", "revoke", "import")
    assert (status, out) == (1, "")
    assert "root" in err and "ann" in err and "--user" in err
    assert json.loads(evorag("key", "revoke", "import", "--user", "ann", "--json")[1])[0]["user"] == "ann"
    assert json.loads(evorag("key", "revoke", secret[:12], "--json")[1])[0]["user"] == "root"
    assert evorag("key", "revoke", "import")[0] == 1


def test_a_key_made_for_programs_is_json(evorag, root):
    made = json.loads(evorag("key", "create", "k", "--user", "root", "--json")[1])
    assert made["secret"].startswith(made["prefix"])
    assert made["role"] == "reader"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("user", "remove", "root"), "conflict"),
        (("user", "disable", "nobody"), "not_found"),
        (("key", "create", "k", "--user", "nobody"), "not_found"),
        (("key", "revoke", "0" * 32), "not_found"),
    ],
)
def test_what_cannot_be_is_said(evorag, root, arguments, code):
    status, out, err = evorag(*arguments)
    assert (status, out) == (1, "")
    assert code in err


def test_a_weak_password_adds_nobody(evorag, typed):
    assert typed("user", "add", "root", "--role", "admin", password="short")[0] == 1
    assert evorag("user", "list", "--json")[1] == "[]\n"


def test_while_a_server_holds_the_folder_its_page_is_named(evorag, data_dir):
    folder = DataFolder(data_dir)
    try:
        status, _, err = evorag("user", "list")
    finally:
        folder.close()
    assert status == 1
    assert "data_folder_in_use" in err
    assert "“Access”" in err


def test_a_server_is_not_taken_for_the_folder_of_this_machine(evorag, monkeypatch):
    monkeypatch.setenv("EVORAG_URL", "http://127.0.0.1:9")
    status, _, err = evorag("user", "list")
    assert status == 1
    assert "--data-dir" in err


def test_sessions_of_a_user_are_listed_and_ended(evorag, typed, root):
    with opened_accounts(Settings()) as accounts:
        accounts.sign_in("root", PASSWORD, device=Device("Firefox on Linux", "192.0.2.7"))
        accounts.sign_in("root", PASSWORD)
    told = json.loads(evorag("user", "sessions", "root", "--json")[1])
    assert {(each["browser"], each["address"]) for each in told} == {("Firefox on Linux", "192.0.2.7"), ("", "")}
    assert evorag("user", "sessions", "root")[1].count("\n") == 2
    assert evorag("user", "end-sessions", "root", "--session", told[0]["id"])[0] == 0
    assert [each["id"] for each in json.loads(evorag("user", "sessions", "root", "--json")[1])] == [told[1]["id"]]
    assert evorag("user", "end-sessions", "root")[0] == 0
    assert json.loads(evorag("user", "sessions", "root", "--json")[1]) == []
    assert evorag("user", "sessions", "nobody")[0] != 0


def test_a_second_factor_is_demanded_and_left_to_everybody_again(evorag, typed, root):
    rule = json.loads(evorag("user", "demand-second-factor", "--json")[1])
    assert rule == {"is_demanded": True, "decided_by": ""}
    assert json.loads(evorag("user", "demand-second-factor", "--off", "--json")[1])["is_demanded"] is False
