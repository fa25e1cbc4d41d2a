"""The page that asks who somebody is: plain HTML that needs no script, and the way out again."""

from __future__ import annotations

import flask
from markupsafe import Markup

from app import links
from app.api.system.errors import problem
from app.components.shared.states import error_words
from app.context import kb
from app.entrance_page import EMPTY, entrance_form, entrance_page, error_said
from app.i18n import t
from app.security import cookie
from app.security.devices import device_of
from app.security.proxies import site_of
from app.security.public_paths import safe_path
from app.security.rates import rates, stranger, user
from core.errors import CodeNeeded, RateLimited, Unauthorized
from core.model import Session

entrance = flask.Blueprint("sign_in", __name__)

NAME_CHARS = 64
PASSWORD_CHARS = 1024
TICKET_CHARS = 200

FIELDS = Markup(
    """<label class="form-label" for="name">{name_label}</label>
        <input class="form-control" id="name" name="name" value="{name}" maxlength="64" required
          autocomplete="username" autocapitalize="none" spellcheck="false"{name_focus}{described}>
        <label class="form-label" for="password">{password_label}</label>
        <input class="form-control" id="password" name="password" type="password" maxlength="1024" required
          autocomplete="current-password"{password_focus}{described}>"""
)
CODE_FIELDS = Markup(
    """<input type="hidden" name="ticket" value="{ticket}">
        <label class="form-label" for="code">{code_label}</label>
        <input class="form-control" id="code" name="code" maxlength="100" required autofocus
          autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" aria-describedby="{described}">
        <p class="field-hint" id="code-hint">{code_hint}</p>"""
)
AGAIN = Markup('<p class="entrance-other"><a href="{}">{}</a></p>')
HINT = Markup('<p class="entrance-said">{}<br><code>evorag user add {} --role admin</code></p>')
FOCUS = Markup(" autofocus")
DESCRIBED = Markup(' aria-describedby="said" aria-invalid="true"')


@entrance.get(links.SIGN_IN)
def ask() -> flask.typing.ResponseReturnValue:
    """Show the form; who is known already goes on at once."""
    after = safe_path(flask.request.args.get("next", ""))
    caller = flask.g.get("evorag_caller")
    is_known = caller is not None and (caller.way != "open" or not kb().accounts.has_users())
    if is_known and not flask.request.args.get("again"):
        return flask.redirect(after)
    return _page(after)


@entrance.post(links.SIGN_IN)
def enter() -> flask.typing.ResponseReturnValue:
    """Begin a session where name and password are right, and end the one that the browser had."""
    form = flask.request.form
    after = safe_path(form.get("next", ""))
    ticket = form.get("ticket", "")[:TICKET_CHARS]
    # A ticket ends with the name of who gave the password; whether it is one of ours is seen below.
    name = ticket.rpartition(":")[2] if ticket else form.get("name", "").strip()
    whom = _counted_as(name)
    counts = rates()
    with counts.checking():
        wait = counts.locked(*whom)
        if wait:
            flask.g.evorag_retry_after = wait
            return _refused(RateLimited(t("sign_in.wait", count=wait)), after, name)
        try:
            token, session = _by_code(ticket) if ticket else _by_password(name)
        except RateLimited as error:
            return _refused(error, after, name)
        except CodeNeeded as error:
            return _code_wanted(error.ticket, after)
        except Unauthorized:
            counts.failed(*whom)
            if ticket and kb().accounts.second_factors.is_valid(ticket):
                return _code_wanted(ticket, after, is_wrong=True)
            return _refused(Unauthorized(t("sign_in.wrong"), remedy=t("sign_in.wrong_remedy")), after, name)
    if _wants_json():
        lacks = {"set_up": links.SET_UP} if session.lacks_factor else {}
        response = flask.jsonify(name=session.principal.name, role=session.principal.role, **lacks)
    else:
        response = flask.make_response(flask.redirect(after, 303))
    cookie.keep(response, token)
    cookie.keep_device(response, kb().accounts.device_token(session.principal.name))
    return response


def _by_password(name: str) -> tuple[str, Session]:
    password = flask.request.form.get("password", "")
    if len(name) > NAME_CHARS or len(password) > PASSWORD_CHARS:
        raise Unauthorized("Name or password is wrong.")
    old, device = cookie.token_of(flask.request) or "", device_of(flask.request)
    return kb().accounts.sign_in(name, password, old_token=old, device=device)


def _by_code(ticket: str) -> tuple[str, Session]:
    old, device = cookie.token_of(flask.request) or "", device_of(flask.request)
    return kb().accounts.sign_in_by_code(ticket, flask.request.form.get("code", ""), old_token=old, device=device)


@entrance.post(links.SIGN_OUT)
def leave() -> flask.typing.ResponseReturnValue:
    """End the session."""
    token = cookie.token_of(flask.request)
    if token is not None:
        kb().accounts.sign_out(token)
    response = flask.make_response(flask.redirect(links.SIGN_IN, 303))
    cookie.drop(response)
    return response


def _counted_as(name: str) -> tuple[str, ...]:
    """By whom wrong passwords are counted: by a browser that has signed in as this user, else by name and address.

    So whoever guesses a user's password keeps nobody but strangers out.
    """
    device = cookie.device_of(flask.request)
    if device and len(name) <= NAME_CHARS and kb().accounts.is_known_device(name, device):
        return (stranger("device", device),)
    return _counted(name), stranger("address", site_of(flask.request.remote_addr or ""))


def _counted(name: str) -> str:
    """By which name wrong passwords for ``name`` are counted: one for each user, however it is written."""
    user_id = kb().accounts.user_id(name) if len(name) <= NAME_CHARS else None
    return stranger("name", name.casefold()[:NAME_CHARS]) if user_id is None else user(user_id)


def _wants_json() -> bool:
    """Say whether a script asks, which shows the answer by itself."""
    return flask.request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json"


def _code_wanted(ticket: str, after: str, *, is_wrong: bool = False) -> flask.typing.ResponseReturnValue:
    """Ask for a code of the second factor, with what tells at the next request that the password was right."""
    said = t("sign_in.code_wrong") if is_wrong else t("sign_in.code_text")
    if _wants_json():
        return problem({**error_words(CodeNeeded(said)), "detail": said}, CodeNeeded.status, ticket=ticket)
    fields = CODE_FIELDS.format(
        ticket=ticket,
        code_label=t("sign_in.code"),
        code_hint=t("sign_in.code_hint"),
        described="said code-hint" if is_wrong else "code-hint",
    )
    shown = _page(
        after,
        error=said if is_wrong else "",
        fields=fields,
        below=AGAIN.format(links.sign_in(after), t("sign_in.as_other")),
    )
    return shown, CodeNeeded.status if is_wrong else 200


def _refused(error: Unauthorized | RateLimited, after: str, name: str) -> flask.typing.ResponseReturnValue:
    if _wants_json():
        return problem(error_words(error), error.status)
    return _page(after, name=name[:NAME_CHARS], error=error_words(error)["detail"]), error.status


def _page(after: str, *, name: str = "", error: str = "", fields: Markup = EMPTY, below: Markup = EMPTY) -> str:
    said = error_said(error) if error else EMPTY
    if not error and not kb().accounts.has_users():
        said = HINT.format(t("sign_in.no_users"), t("sign_in.name").upper())
    fields = fields or _fields(name, is_refused=bool(error))
    form = entrance_form(links.SIGN_IN, after, fields, t("sign_in.button"))
    return entrance_page(t("sign_in.title"), form, links.sign_in(after), said=said, below=below)


def _fields(name: str, *, is_refused: bool) -> Markup:
    return FIELDS.format(
        name=name,
        name_label=t("sign_in.name"),
        password_label=t("sign_in.password"),
        name_focus=Markup("") if name else FOCUS,
        password_focus=FOCUS if name else Markup(""),
        described=DESCRIBED if is_refused else Markup(""),
    )
