"""Fixtures that the whole suite shares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from tests.builders import knowledge_base


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    """A knowledge base in memory whose jobs run when ``work_off`` is called."""
    with knowledge_base(tmp_path) as opened:
        yield opened
