"""The route of backups: the whole knowledge base as one archive, made while the server goes on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import flask

from app.api.description.describe import operation, yes_no
from app.api.description.reading import arguments
from app.context import kb
from core.errors import Conflict, DiskFull, PasswordNeeded
from core.model import Role

backup = flask.Blueprint("backup", __name__, url_prefix="/api/v1/backup")


@backup.get("")
@operation(
    "Back everything up",
    tag="state",
    role=Role.ADMIN,
    query={"with_keys": yes_no("Also the keys of the servers that write answers, as they are.")},
    answers={200: "application/x-tar"},
    answer_headers={"Content-Disposition": ""},
    errors=(Conflict, DiskFull, PasswordNeeded),
)
def send_backup() -> flask.Response:
    """Send everything as it is at this moment, with the hashes of passwords and keys, as `evorag import` reads it.

    The answer begins once all rows are packed. One that ends early lacks its manifest, and is refused as a whole.
    """
    kb().accounts.require_recent_password()
    pieces = kb().backup(with_keys=arguments()["with_keys"])
    first = next(pieces)

    def parts() -> Iterator[bytes]:
        yield first
        yield from pieces

    response = flask.Response(parts(), mimetype="application/x-tar")
    name = f"evorag-{datetime.now(UTC):%Y%m%d-%H%M%S}.tar"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(pieces.close)  # type: ignore[attr-defined]
    return response
