"""Fixtures of the pages and routes: the application over a knowledge base in memory, and a client for it."""

from __future__ import annotations

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.main import create_app


@pytest.fixture
def window(kb: core.KnowledgeBase) -> Dash:
    """The application over ``kb``."""
    return create_app(kb)


@pytest.fixture
def client(window: Dash) -> FlaskClient:
    """A client that is no browser: it sends neither ``Origin`` nor ``Sec-Fetch-Site``."""
    return window.server.test_client()
