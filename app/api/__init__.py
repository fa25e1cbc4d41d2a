"""The REST interface: small Flask blueprints over the facade."""

from __future__ import annotations

import flask
from werkzeug.routing import BaseConverter

from app.api.description.openapi import openapi
from app.api.documents.receiving import receiving
from app.api.documents.routes import documents
from app.api.evaluate.routes import evaluations
from app.api.events.streams import register_streams
from app.api.jobs.routes import jobs
from app.api.neurons.recordings import recordings
from app.api.neurons.training import training
from app.api.search.conversations import conversations
from app.api.search.explain import insight
from app.api.search.questions import questions
from app.api.search.routes import search
from app.api.system.access import access
from app.api.system.backup import backup
from app.api.system.errors import answer_errors
from app.api.system.generations import generations
from app.api.system.generators import generators
from app.api.system.metrics import measure
from app.api.system.seed_names import seed_names
from app.api.system.sessions import sessions
from app.api.system.state import state
from app.api.system.stores import stores
from app.api.system.unknown import refuse_unknown
from app.api.uploads.routes import uploads
from app.api.versions.audit import audit
from app.api.versions.compare import compare
from app.api.versions.diff import diff
from app.api.versions.pages import pages
from app.api.versions.readings import readings
from app.api.versions.routes import versions
from app.api.versions.underway import underway
from app.context import KB_KEY

BLUEPRINTS = (
    access,
    audit,
    backup,
    compare,
    conversations,
    diff,
    pages,
    documents,
    evaluations,
    generations,
    generators,
    insight,
    jobs,
    openapi,
    questions,
    readings,
    receiving,
    recordings,
    search,
    seed_names,
    sessions,
    state,
    stores,
    training,
    underway,
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
