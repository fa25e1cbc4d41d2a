"""The REST interface: small Flask blueprints over the facade."""

from __future__ import annotations

import flask
from werkzeug.routing import BaseConverter

from app.api.access import access
from app.api.audit import audit
from app.api.backup import backup
from app.api.compare import compare
from app.api.conversations import conversations
from app.api.diff import diff
from app.api.documents import documents
from app.api.errors import answer_errors
from app.api.evaluations import evaluations
from app.api.generations import generations
from app.api.generators import generators
from app.api.insight import insight
from app.api.jobs import jobs
from app.api.metrics import measure
from app.api.openapi import openapi
from app.api.questions import questions
from app.api.receiving import receiving
from app.api.recordings import recordings
from app.api.search import search
from app.api.seed_names import seed_names
from app.api.state import state
from app.api.stores import stores
from app.api.streams import register_streams
from app.api.training import training
from app.api.unknown import refuse_unknown
from app.api.uploads import uploads
from app.api.versions import versions
from app.context import KB_KEY

BLUEPRINTS = (
    access,
    audit,
    backup,
    compare,
    conversations,
    diff,
    documents,
    evaluations,
    generations,
    generators,
    insight,
    jobs,
    openapi,
    questions,
    receiving,
    recordings,
    search,
    seed_names,
    state,
    stores,
    training,
    uploads,
    versions,
)


class DocKey(BaseConverter):
    """A document's key in a path: a name, or ``~user/name`` for a private document."""

    regex = r"~[^/]+/[^/]+|[^/]+"
    part_isolating = False


def register_api(server: flask.Flask) -> None:
    """Add every route of the interface to ``server``, whose knowledge base is set."""
    measure(server, server.config[KB_KEY])
    server.url_map.converters["doc_key"] = DocKey
    server.url_map.merge_slashes = False
    answer_errors(server)
    refuse_unknown(server)
    for blueprint in BLUEPRINTS:
        server.register_blueprint(blueprint)
    register_streams(server)
