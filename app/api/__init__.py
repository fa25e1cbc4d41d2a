"""The REST interface: small Flask blueprints over the facade."""

from __future__ import annotations

import flask

from app.api.documents import documents
from app.api.errors import answer_errors
from app.api.jobs import jobs
from app.api.state import state


def register_api(server: flask.Flask) -> None:
    """Add every route of the interface to ``server``."""
    answer_errors(server)
    for blueprint in (documents, jobs, state):
        server.register_blueprint(blueprint)
