"""One furnished house, and its archive."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from core.cli.transfer import export_to
from tests.builders import settings
from tests.integration.backup.house import Members, apart, furnished


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a knowledge base that nobody has open."""
    folder = tmp_path_factory.mktemp("house")
    furnished(folder).close()
    return folder


@pytest.fixture(scope="session")
def archive(house: Path) -> bytes:
    target = io.BytesIO()
    export_to(settings(house), target)
    return target.getvalue()


@pytest.fixture
def members(archive: bytes) -> Members:
    return apart(archive)
