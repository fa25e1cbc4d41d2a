"""Routes of open sessions, one's own and for administrators everybody's, and of whether a second factor is demanded."""

from __future__ import annotations

import flask

from app.api.description.describe import Field, obj, operation
from app.api.description.reading import body
from app.context import kb
from app.security import cookie
from core.errors import Conflict, NotFound, PasswordNeeded
from core.model import Role, SecondFactorRule, UserSession, to_dict

sessions = flask.Blueprint("sessions", __name__, url_prefix="/api/v1")

ENDED = {200: obj(ended=int)}


def _token() -> str:
    return cookie.token_of(flask.request) or ""


@sessions.get("/me/sessions")
@operation("One's own sessions", tag="access", answers={200: obj(sessions=[UserSession])})
def list_own() -> flask.Response:
    """Answer where the caller is signed in, lately seen first; keys of programs have no sessions."""
    return flask.jsonify(sessions=[to_dict(each) for each in kb().accounts.sessions.all(token=_token())])


@sessions.delete("/me/sessions")
@operation("End all other sessions", tag="access", answers=ENDED, errors=(PasswordNeeded,))
def end_others() -> flask.Response:
    """Sign the caller out everywhere but here, and answer how many sessions ended."""
    return flask.jsonify(ended=kb().accounts.sessions.end_all(keep_token=_token()))


@sessions.delete("/me/sessions/<session_id>")
@operation("End a session", tag="access", answers={204: None}, errors=(NotFound, PasswordNeeded))
def end_own(session_id: str) -> tuple[str, int]:
    """End one of the caller's sessions, which may be the present one; its next request is a stranger's."""
    kb().accounts.sessions.end(session_id)
    return "", 204


@sessions.get("/users/<name>/sessions")
@operation(
    "Sessions of a user", tag="access", role=Role.ADMIN, answers={200: obj(sessions=[UserSession])}, errors=(NotFound,)
)
def list_of_user(name: str) -> flask.Response:
    """Answer where somebody is signed in, lately seen first."""
    return flask.jsonify(sessions=[to_dict(each) for each in kb().accounts.sessions.all(name, token=_token())])


@sessions.delete("/users/<name>/sessions")
@operation(
    "End all sessions of a user",
    tag="access",
    role=Role.ADMIN,
    answers=ENDED,
    errors=(NotFound, PasswordNeeded),
)
def end_all_of_user(name: str) -> flask.Response:
    """Sign somebody out everywhere, and answer how many sessions ended; their keys go on."""
    return flask.jsonify(ended=kb().accounts.sessions.end_all(name))


@sessions.delete("/users/<name>/sessions/<session_id>")
@operation(
    "End a session of a user", tag="access", role=Role.ADMIN, answers={204: None}, errors=(NotFound, PasswordNeeded)
)
def end_of_user(name: str, session_id: str) -> tuple[str, int]:
    """End one session of somebody."""
    kb().accounts.sessions.end(session_id, name)
    return "", 204


@sessions.get("/second-factor")
@operation("Whether everybody needs a second factor", tag="access", answers={200: SecondFactorRule})
def show_rule() -> flask.Response:
    """Answer whether a second factor is demanded of everybody who signs in, and the setting that decides it, if any."""
    return flask.jsonify(to_dict(kb().accounts.second_factors.rule()))


@sessions.put("/second-factor")
@operation(
    "Demand a second factor",
    tag="access",
    role=Role.ADMIN,
    body=obj(is_demanded=Field({"type": "boolean"}, "Of everybody, or of nobody.", required=True)),
    answers={200: SecondFactorRule},
    errors=(Conflict, PasswordNeeded),
)
def demand() -> flask.Response:
    """Demand a second factor of everybody who signs in, or leave it to each; whoever has none sets one up first."""
    return flask.jsonify(to_dict(kb().accounts.second_factors.demand(body()["is_demanded"])))
