"""Real servers for the tests of this folder, each started once; its tests are skipped where it cannot run.

A module ``tests.servers.<name>`` has ``missing()``, the reason in one line or None, and ``running(folder)``, which
gives the server as an object with ``url``, ``kill()`` (SIGKILL) and ``restart()`` (on the same data).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest


def _started(name: str, folders: pytest.TempPathFactory) -> Iterator[Any]:
    program = import_module(f"tests.servers.{name}")
    if reason := program.missing():
        pytest.skip(reason)
    with program.running(folders.mktemp(name)) as server:
        yield server


@pytest.fixture(scope="package")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started("postgres", tmp_path_factory)


@pytest.fixture(scope="package")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started("redis", tmp_path_factory)


@pytest.fixture(scope="package")
def elastic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started("elastic", tmp_path_factory)


@pytest.fixture(scope="package")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started("milvus", tmp_path_factory)


@pytest.fixture(scope="package")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started("s3", tmp_path_factory)
