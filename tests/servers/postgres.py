"""A PostgreSQL server of one test process, with a password, on a free port of this machine."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from core.catalog import Catalog
from tests import programs
from tests.servers.clock import MachineClock

_START_S = 30
_SMALL = ("shared_buffers=32MB", "max_connections=150", "autovacuum=off")
_FAST = ("fsync=off", "full_page_writes=off")


class PostgresServer:
    """A server on one data folder; its databases are copies of an empty catalogue."""

    def __init__(
        self,
        programs: Path,
        folder: Path,
        account: dict[str, Any],
        options: Sequence[str],
        clock: MachineClock | None = None,
    ) -> None:
        self._programs, self._folder, self._account, self._options = programs, folder, account, options
        self._clock = clock
        self._numbers = count(1)
        self._password = secrets.token_hex(8)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._create()
        self.restart()

    @cached_property
    def url(self) -> str:
        """The address of one migrated database, the same each time."""
        return self.database()

    def database(self, template: str = "") -> str:
        """Create a migrated database without rows, or a copy of the template, and return its address."""
        name = f"kb{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template or self._migrated}")
        return self._url(name)

    def run(self, statement: str) -> list[Any]:
        """Carry a statement of a test out as the server's owner, in no transaction; return its rows."""
        address = self._url("postgres").replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def cut(self) -> int:
        """End every session of EvoRAG from the server's side, and wait until they have; return how many there were."""
        return len(
            self.run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'evorag'")
        )

    def kill(self) -> None:
        """Kill the server's first process; its sessions notice that and end."""
        self._process.kill()
        self._process.wait()

    def kill_all(self) -> None:
        """Kill the server's first process and all its children at once, as the kernel does that lacks memory."""
        first = self._process.pid
        children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
        os.kill(first, signal.SIGSTOP)  # it starts no others meanwhile
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self.kill()

    def restart(self) -> None:
        """Start the server on what its folder holds, and wait until it answers."""
        self._process = self._started()
        deadline = time.monotonic() + _START_S
        while True:
            try:
                self.run("SELECT 1")
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
                if self._process.poll() is not None:  # a killed one's sessions were still there
                    self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        options = [part for name in self._options for part in ("-c", name)]
        return subprocess.Popen(
            [
                *(self._programs / "postgres", "-D", self._folder),
                *("-h", "127.0.0.1", "-p", str(self._port), "-k", ""),
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(self._clock.variables if self._clock is not None else {})},
            **self._account,
        )

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://evorag:{self._password}@127.0.0.1:{self._port}/{name}"

    @cached_property
    def _migrated(self) -> str:
        self.run("CREATE DATABASE migrated")
        Catalog(self._url("migrated")).close()
        return "migrated"

    def _create(self) -> None:
        secret = self._folder.parent / "password"
        secret.touch(0o600)
        if self._account:
            shutil.chown(secret, self._account["user"])
        secret.write_text(self._password, encoding="ascii")
        subprocess.run(
            [
                *(self._programs / "initdb", "-D", self._folder, "-U", "evorag", "--pwfile", secret, "--no-sync"),
                *("-A", "scram-sha-256", "-E", "UTF8", "--locale", "C.UTF-8"),
                *("--locale-provider", "icu", "--icu-locale", "ja-JP"),
            ],
            check=True,
            capture_output=True,
            cwd="/",
            **self._account,
        )


def _programs() -> Path | None:
    """Return the newest PostgreSQL's folder of programs, from 15 on."""
    found = programs.find("postgres")
    folders = sorted(programs.place("/usr/lib/postgresql").glob("1[5-9]/bin"), reverse=True)
    return Path(found).resolve().parent if found else next(iter(folders), None)


def missing() -> str | None:
    if _programs() is None:
        return programs.missing("postgres")
    if os.geteuid() == 0 and "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


@contextmanager
def running(folder: Path, *, durable: bool = False, clock: MachineClock | None = None) -> Iterator[PostgresServer]:
    """Run a server until the end, by a ``clock`` of the test; its files lie where only its own user may enter.

    Unless it is ``durable``, what it has committed outlives its own death, but no power cut.
    """
    account = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    place = Path(tempfile.mkdtemp(prefix="evorag-postgres-"))
    try:
        if account:
            shutil.chown(place, "postgres", "postgres")
        programs = _programs()
        assert programs is not None
        server = PostgresServer(programs, place / "data", account, _SMALL if durable else _SMALL + _FAST, clock)
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(place, ignore_errors=True)
