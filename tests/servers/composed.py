"""The processes of docker-compose.yml's profile `scale`, started on this machine with what is written there.

Commands and environment are those of the file and of the Dockerfile; hosts, ports and folders are replaced, and the
hashing embedder stands in for the model, which three processes would load.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import yaml

from core.bootstrap import opened_accounts
from core.model import Role
from core.settings import Settings
from tests import programs

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
PROXY = ROOT / "examples" / "scale" / "nginx.conf"
_READY_S = 60
_STANDS_IN = {
    "EVORAG_EMBEDDER": "hash",
    "EVORAG_HOST": "127.0.0.1",
    "EVORAG_TRUSTED_PROXIES": "127.0.0.1/32",
    # A killed worker's job is another's that much sooner.
    "EVORAG_JOB_LEASE_S": "3",
}


def missing() -> str | None:
    """Say in one line why the proxy cannot run here."""
    return programs.missing("nginx")


class Composed:
    """Web processes behind a proxy, and a worker; ``urls`` are the web processes' own addresses."""

    def __init__(self, folder: Path, *, postgres: Any, redis: Any, elastic: Any, milvus: Any) -> None:
        self.folder = folder
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        secrets = folder / "secrets"
        secrets.mkdir()
        self._catalog_url = postgres.database()
        values = {
            "evorag_catalog_url": self._catalog_url,
            "evorag_jobs_url": redis.url,
            # The server of the tests knows people, that of the file stands in a network of its own.
            "evorag_vector_token": milvus.token,
        }
        assert set(SERVICES["web"]["secrets"]) <= set(values)
        for name, value in values.items():
            (secrets / name).write_text(value)
        self._places = {
            "EVORAG_SECRETS_DIR": str(secrets),
            "EVORAG_VECTOR_URL": milvus.url,
            "EVORAG_KEYWORD_URL": elastic.url,
            "EVORAG_DATA_DIR": str(folder / "shared"),
        }
        self.urls = [f"http://127.0.0.1:{_free_port()}" for _ in range(SERVICES["web"]["deploy"]["replicas"])]
        self.url = f"http://127.0.0.1:{_free_port()}"

    def environment(self, service: str) -> dict[str, str]:
        """Return what the file gives a service, with this machine's places instead of those of containers."""
        written = SERVICES[service]["environment"]
        replaced = {name: self._places.get(name, value) for name, value in written.items()}
        means = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "OMP_NUM_THREADS") if name in os.environ}
        return {**means, "EVORAG_DATA_DIR": self._places["EVORAG_DATA_DIR"], **replaced, **_STANDS_IN}

    def run(self, service: str, *arguments: str, given: str = "") -> str:
        """Run a command in the place of a service, as `docker compose run` does; return what it printed."""
        done = subprocess.run(
            [*_command([arguments[0]]), *arguments[1:]],
            env=self.environment(service),
            cwd=ROOT,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def key(self, user: str) -> str:
        """Make a key of an administrator, as `evorag key create` does, and return its secret."""
        settings = Settings(
            data_dir=self._places["EVORAG_DATA_DIR"],
            catalog_url=self._catalog_url,
            vector_url=self._places["EVORAG_VECTOR_URL"],
            keyword_url=self._places["EVORAG_KEYWORD_URL"],
        )
        with opened_accounts(settings) as accounts:
            return accounts.create_key("tests", Role.ADMIN, None, user=user)[1]

    def start(self) -> None:
        for number, url in enumerate(self.urls):
            self.start_program(f"web{number}", "web", EVORAG_PORT=url.rpartition(":")[2])
        self.start_program("worker", "worker")
        settings = self.folder / "nginx.conf"
        settings.write_text(self._proxy_settings())
        command = list(SERVICES["proxy"]["command"])
        command[command.index("-c") + 1] = str(settings)
        if os.getuid() == 0:
            command[-1] += " user root;"
        self._programs["proxy"] = self._popen("proxy", command, dict(os.environ))
        for url in (*self.urls, self.url):
            self._wait_for(f"{url}/health/live")

    def start_program(self, name: str, service: str, **more: str) -> None:
        self._programs[name] = self._popen(
            name, _command(SERVICES[service]["command"]), self.environment(service) | more
        )

    def _popen(self, name: str, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _proxy_settings(self) -> str:
        written = PROXY.read_text()
        servers = "".join(f"server {url.removeprefix('http://')}; " for url in self.urls)
        for old, new in (
            ("server web:8050 resolve;", servers),
            ("resolver 127.0.0.11 valid=5s;", ""),
            ("listen 8080;", f"listen {self.url.removeprefix('http://')};"),
            ("/tmp/", f"{self.folder}/"),
        ):
            assert old in written
            written = written.replace(old, new)
        return written

    def _wait_for(self, address: str) -> None:
        deadline = time.monotonic() + _READY_S
        while True:
            with suppress(OSError), urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
            ended = [name for name, program in self._programs.items() if program.poll() is not None]
            assert not ended and time.monotonic() < deadline, self.logs()
            time.sleep(0.1)

    def logs(self) -> str:
        """Return the ends of what all processes have written."""
        return "\n".join(f"--- {log.stem}\n{log.read_text()[-3000:]}" for log in sorted(self.folder.glob("*.log")))

    def kill(self, name: str) -> None:
        self._programs[name].kill()
        self._programs.pop(name).wait()

    def stop(self) -> None:
        for program in self._programs.values():
            program.send_signal(signal.SIGTERM)
        for program in self._programs.values():
            try:
                program.wait(20)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


@contextmanager
def running(folder: Path, **servers: Any) -> Iterator[Composed]:
    """Give the processes, not yet started, and end them with the block."""
    composed = Composed(folder, **servers)
    try:
        yield composed
    finally:
        composed.stop()


def _command(written: list[str]) -> list[str]:
    """Return a command of the image as it is called here."""
    assert written[0] == "evorag"
    return [sys.executable, "-m", "core.cli", *written[1:]]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
