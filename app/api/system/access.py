"""Routes of access: who asks, the keys of programs, and for administrators the users."""

from __future__ import annotations

from functools import partial

import flask

from app.api.description.describe import Field, moment, obj, one_of, operation, words
from app.api.description.reading import arguments, body
from app.context import kb, principal
from app.security import cookie
from app.security.rates import counted
from core.errors import Conflict, InvalidInput, NotFound, PasswordNeeded
from core.model import ApiKey, OwnCounts, Role, SecondFactor, SecondFactorSetup, User, to_dict

access = flask.Blueprint("access", __name__, url_prefix="/api/v1")

ROLES = tuple(Role)
NAME_CHARS = 64
KEY_NAME_CHARS = 200
PASSWORD_CHARS = 1_024
WRONG_OFTEN = "The code was wrong too often."

USER_NAME = words("The name to sign in with.", most=NAME_CHARS, least=1, required=True, example="mori")
PASSWORD = words("At least twelve characters that are hard to guess.", most=PASSWORD_CHARS, least=1, required=True)
CODE = words("The code that the app shows, or a recovery code.", most=100, least=1, required=True, example="287082")
WHOSE = words("Whose; one's own where nobody is named, everybody's for an administrator.", most=NAME_CHARS)


@access.get("/me")
@operation(
    "Who asks",
    tag="access",
    answers={200: obj(name=str, role=Role, way=one_of("How that is known.", "key", "session", "open"))},
)
def show_me() -> flask.Response:
    """Answer on whose behalf a request with these credentials is made; an open server has no name for it."""
    who = principal()
    return flask.jsonify(name=who.name, role=who.role, way=flask.g.evorag_caller.way)


@access.post("/me/password")
@operation(
    "Change one's password",
    tag="access",
    body=obj(present=words("The present one.", most=PASSWORD_CHARS, required=True), password=PASSWORD),
    answers={204: None},
    errors=(NotFound,),
)
def change_password() -> tuple[str, int]:
    """Set another password; all other sessions of the user end. A wrong present one counts as a failed sign-in."""
    given = body()
    who = principal()
    if who.user_id is None:
        raise InvalidInput("Nobody is signed in, so that there is no password to change.")
    token = cookie.token_of(flask.request) or ""
    change = partial(kb().accounts.set_password, who.name, given["password"], present=given["present"])
    counted(lambda: change(keep_token=token), "The present password was wrong too often.")
    return "", 204


@access.get("/me/data")
@operation("How much is kept of oneself", tag="access", answers={200: OwnCounts})
def count_own_data() -> flask.Response:
    """Answer how many questions, conversations, ended jobs, uploads and publications are kept of who asks."""
    return flask.jsonify(to_dict(kb().accounts.own_data.counts()))


@access.get("/me/data/export")
@operation(
    "Everything that is kept of oneself",
    tag="access",
    answers={200: "application/json"},
    answer_headers={"Content-Disposition": ""},
    errors=(PasswordNeeded,),
    is_linked=False,
)
def export_own_data() -> flask.Response:
    """Send everything that is kept of who asks, without secrets."""
    kb().accounts.require_recent_password()
    response = flask.Response(kb().accounts.own_data.export(), mimetype="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="evorag-my-data.json"'
    return response


@access.delete("/me/data")
@operation("Delete what is kept of oneself", tag="access", answers={200: OwnCounts}, errors=(PasswordNeeded,))
def delete_own_data() -> flask.Response:
    """Delete one's questions, conversations, ended jobs and private question sets, and answer what is kept then.

    Uploads and publications are the knowledge base's, and stay.
    """
    kb().accounts.require_recent_password()
    return flask.jsonify(to_dict(kb().accounts.own_data.delete()))


@access.get("/me/second-factor")
@operation("Whether a code is asked for at sign-in", tag="access", answers={200: SecondFactor})
def show_second_factor() -> flask.Response:
    """Answer whether the caller has a second factor, since when, and how many recovery codes are left."""
    return flask.jsonify(to_dict(kb().accounts.second_factors.own()))


@access.post("/me/second-factor")
@operation(
    "Begin a second factor",
    tag="access",
    answers={201: SecondFactorSetup},
    errors=(Conflict, PasswordNeeded),
)
def begin_second_factor() -> tuple[flask.Response, int]:
    """Answer a new secret for an app that shows codes (RFC 6238); it is asked for once a code of it was confirmed."""
    return flask.jsonify(to_dict(kb().accounts.second_factors.begin())), 201


@access.post("/me/second-factor/confirm")
@operation(
    "Have a second factor asked for",
    tag="access",
    body=obj(code=CODE),
    answers={200: obj(recovery_codes=[str])},
    errors=(Conflict, PasswordNeeded),
)
def confirm_second_factor() -> flask.Response:
    """Answer recovery codes, each good for one sign-in and shown once; all other sessions of the user end."""
    code, token = body()["code"], cookie.token_of(flask.request) or ""
    factors = kb().accounts.second_factors
    return flask.jsonify(recovery_codes=counted(lambda: factors.confirm(code, keep_token=token), WRONG_OFTEN))


@access.post("/me/second-factor/remove")
@operation(
    "Have no second factor any more", tag="access", body=obj(code=CODE), answers={204: None}, errors=(PasswordNeeded,)
)
def remove_second_factor() -> tuple[str, int]:
    """Ask for no code any more; it takes one, or a recovery code."""
    code = body()["code"]
    counted(lambda: kb().accounts.second_factors.remove(code), WRONG_OFTEN)
    return "", 204


@access.get("/keys")
@operation("Keys", tag="access", query={"user": WHOSE}, answers={200: obj(keys=[ApiKey])}, errors=(NotFound,))
def list_keys() -> flask.Response:
    """Answer the keys, newest first; a secret is never among what is answered."""
    return flask.jsonify(keys=[to_dict(key) for key in kb().accounts.keys(arguments()["user"] or None)])


@access.post("/keys")
@operation(
    "Make a key",
    tag="access",
    body=obj(
        name=words("What it is for.", most=KEY_NAME_CHARS, least=1, required=True, example="nightly import"),
        role=one_of("What it may do at most.", *ROLES, default=Role.READER),
        expires_at=moment("When it ends; never where none is given.", nullable=True),
        user=words("Whose it is; one's own where nobody is named.", most=NAME_CHARS),
    ),
    answers={201: obj(key=ApiKey, secret=str)},
    errors=(NotFound, Conflict),
)
def create_key() -> tuple[flask.Response, int]:
    """Make a key and answer its secret, which is kept by nobody and never shown again."""
    given = body()
    key, secret = kb().accounts.create_key(
        given["name"], given["role"], given["expires_at"] or None, user=given["user"] or None
    )
    return flask.jsonify(key=to_dict(key), secret=secret), 201


@access.delete("/keys/<key_id>")
@operation("Revoke a key", tag="access", answers={200: ApiKey}, errors=(NotFound,))
def revoke_key(key_id: str) -> flask.Response:
    """Make a key useless from now on."""
    return flask.jsonify(to_dict(kb().accounts.revoke(key_id)))


@access.get("/users")
@operation("Users", tag="access", role=Role.ADMIN, answers={200: obj(users=[User])})
def list_users() -> flask.Response:
    """Answer everybody who can sign in."""
    return flask.jsonify(users=[to_dict(user) for user in kb().accounts.users()])


@access.post("/users")
@operation(
    "Add a user",
    tag="access",
    role=Role.ADMIN,
    body=obj(name=USER_NAME, password=PASSWORD, role=one_of("What they may do.", *ROLES, default=Role.READER)),
    answers={201: User},
    errors=(Conflict,),
)
def add_user() -> tuple[flask.Response, int]:
    """Add somebody who can sign in; the first user is an administrator, and closes a server that was open."""
    given = body()
    user = kb().accounts.create_user(given["name"], given["password"], given["role"])
    return flask.jsonify(to_dict(user)), 201


@access.patch("/users/<name>")
@operation(
    "Change a user",
    tag="access",
    role=Role.ADMIN,
    body=obj(
        role=one_of("Another role.", *ROLES),
        is_disabled=Field({"type": "boolean"}, "Shut out, or let in again."),
        password=words("Another password; ends their sessions and keys.", most=PASSWORD_CHARS, least=1),
    ),
    answers={200: User},
    errors=(NotFound, Conflict),
)
def change_user(name: str) -> flask.Response:
    """Change what is given of somebody."""
    given = body()
    accounts = kb().accounts
    if given["password"]:
        accounts.set_password(name, given["password"])
    if given["role"]:
        accounts.set_role(name, given["role"])
    if given["is_disabled"] is not None:
        accounts.disable(name, given["is_disabled"])
    found = next((user for user in accounts.users() if user.name == name), None)
    if found is None:
        raise NotFound(f"There is no user “{name}”.", remedy="Look the name up in the list of users.")
    return flask.jsonify(to_dict(found))


@access.delete("/users/<name>/second-factor")
@operation(
    "Remove the second factor of a user",
    tag="access",
    role=Role.ADMIN,
    answers={204: None},
    errors=(NotFound, PasswordNeeded),
)
def reset_second_factor(name: str) -> tuple[str, int]:
    """Ask somebody who has lost it for no code any more, and end their sessions."""
    kb().accounts.second_factors.reset(name)
    return "", 204


@access.delete("/users/<name>")
@operation("Remove a user", tag="access", role=Role.ADMIN, answers={204: None}, errors=(NotFound, Conflict))
def remove_user(name: str) -> tuple[str, int]:
    """Remove somebody with their sessions and keys; the last administrator cannot be removed."""
    kb().accounts.remove(name)
    return "", 204
