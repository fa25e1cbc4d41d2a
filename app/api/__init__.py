"""The REST interface: small Flask blueprints over the facade."""

from __future__ import annotations

import flask

from app.api.audit import audit
from app.api.compare import compare
from app.api.documents import documents
from app.api.errors import answer_errors
from app.api.jobs import jobs
from app.api.state import state
from app.api.versions import versions


def register_api(server: flask.Flask) -> None:
    """Add every route of the interface to ``server``."""
    answer_errors(server)
    for blueprint in (audit, compare, documents, jobs, state, versions):
        server.register_blueprint(blueprint)
