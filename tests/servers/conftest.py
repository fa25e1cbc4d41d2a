"""Real servers for the tests of this folder, each started once; its tests are skipped where it cannot run.

A module ``tests.servers.<name>`` has ``missing()``, the reason in one line or None, and ``running(folder)``, which
gives the server as an object with ``url``, ``kill()`` (SIGKILL) and ``restart()`` (on the same data).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from tests import programs
from tests.servers import elastic as elasticsearch
from tests.servers import milvus as milvus_server
from tests.servers import postgres as postgresql
from tests.servers import redis as redis_server
from tests.servers import s3 as s3_server

OF_PYTHON = {"milvus", "s3"}
"""Servers that Python's packages bring; the others are programs of the system."""
OTHERS = {"postgres", "redis", "elastic"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out of a bare run the tests of this folder that no program of the system makes any difference to."""
    if programs.is_bare():
        items[:] = [
            item
            for item in items
            if not OF_PYTHON & set(item.fixturenames) or OTHERS & set(item.fixturenames)  # type: ignore[attr-defined]
        ]


def _started(program: ModuleType, folders: pytest.TempPathFactory) -> Iterator[Any]:
    if reason := program.missing():
        pytest.skip(reason)
    with program.running(folders.mktemp(program.__name__.rpartition(".")[2])) as server:
        yield server


@pytest.fixture(scope="package")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started(postgresql, tmp_path_factory)


@pytest.fixture(scope="package")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started(redis_server, tmp_path_factory)


@pytest.fixture(scope="package")
def elastic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started(elasticsearch, tmp_path_factory)


@pytest.fixture(scope="package")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started(milvus_server, tmp_path_factory)


@pytest.fixture(scope="package")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _started(s3_server, tmp_path_factory)
