"""The page that asks who somebody is: plain HTML that needs no script, and the way out again."""

from __future__ import annotations

import flask
from markupsafe import Markup

from app import links
from app.api.system.errors import problem
from app.components.shared.states import error_words
from app.context import kb
from app.i18n import LANGUAGES, language, t
from app.security import cookie
from app.security.proxies import site_of
from app.security.public_paths import ASSETS, ICON, SCRIPT, STYLES, safe_path
from app.security.rates import rates, stranger, user
from core.errors import RateLimited, Unauthorized

entrance = flask.Blueprint("sign_in", __name__)

NAME_CHARS = 64
PASSWORD_CHARS = 1024

PAGE = Markup(
    """<!DOCTYPE html>
<html lang="{lang}" data-bs-theme="light">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{title} · EvoRAG</title>
    <link rel="icon" type="image/svg+xml" href="{icon}">
    <script src="{script}"></script>
    {styles}
  </head>
  <body class="entrance">
    <main class="entrance-card">
      <p class="entrance-brand"><span class="entrance-mark" aria-hidden="true">E</span>EvoRAG</p>
      <h1 class="entrance-title">{title}</h1>
      {said}
      <form method="post" action="{action}">
        <input type="hidden" name="next" value="{after}">
        <label class="form-label" for="name">{name_label}</label>
        <input class="form-control" id="name" name="name" value="{name}" maxlength="64" required
          autocomplete="username" autocapitalize="none" spellcheck="false"{name_focus}{described}>
        <label class="form-label" for="password">{password_label}</label>
        <input class="form-control" id="password" name="password" type="password" maxlength="1024" required
          autocomplete="current-password"{password_focus}{described}>
        <button class="btn btn-primary entrance-button" type="submit">{button}</button>
      </form>
    </main>
    <nav class="entrance-languages" aria-label="{languages_label}">{languages}</nav>
  </body>
</html>
"""
)
STYLE = Markup('<link rel="stylesheet" href="{}">')
ERROR = Markup('<p class="entrance-said entrance-error" id="said" role="alert">{}</p>')
HINT = Markup('<p class="entrance-said">{}<br><code>evorag user add {} --role admin</code></p>')
FOCUS = Markup(" autofocus")
DESCRIBED = Markup(' aria-describedby="said" aria-invalid="true"')
LANGUAGE = Markup('<a href="{}" lang="{}" hreflang="{}"{}>{}</a>')
HERE = Markup(' aria-current="true"')


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
    name, password = form.get("name", "").strip(), form.get("password", "")
    whom = _counted_as(name)
    counts = rates()
    with counts.checking():
        wait = counts.locked(*whom)
        if wait:
            flask.g.evorag_retry_after = wait
            return _refused(RateLimited(t("sign_in.wait", count=wait)), after, name)
        try:
            if len(name) > NAME_CHARS or len(password) > PASSWORD_CHARS:
                raise Unauthorized("Name or password is wrong.")
            old = cookie.token_of(flask.request) or ""
            token, session = kb().accounts.sign_in(name, password, old_token=old)
        except RateLimited as error:
            return _refused(error, after, name)
        except Unauthorized:
            counts.failed(*whom)
            return _refused(Unauthorized(t("sign_in.wrong"), remedy=t("sign_in.wrong_remedy")), after, name)
    if _wants_json():
        response = flask.jsonify(name=session.principal.name, role=session.principal.role)
    else:
        response = flask.make_response(flask.redirect(after, 303))
    cookie.keep(response, token)
    cookie.keep_device(response, kb().accounts.device_token(session.principal.name))
    return response


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


def _refused(error: Unauthorized | RateLimited, after: str, name: str) -> flask.typing.ResponseReturnValue:
    if _wants_json():
        return problem({**error_words(error), "detail": error.message}, error.status)
    return _page(after, name=name[:NAME_CHARS], error=error.message), error.status


def _page(after: str, *, name: str = "", error: str = "") -> str:
    said = ERROR.format(error) if error else Markup("")
    if not error and not kb().accounts.has_users():
        said = HINT.format(t("sign_in.no_users"), t("sign_in.name").upper())
    return PAGE.format(
        lang=language(),
        title=t("sign_in.title"),
        icon=ASSETS + ICON,
        script=ASSETS + SCRIPT,
        styles=Markup("\n    ").join(STYLE.format(ASSETS + style) for style in STYLES),
        said=said,
        action=links.SIGN_IN,
        after=after,
        name=name,
        name_label=t("sign_in.name"),
        password_label=t("sign_in.password"),
        name_focus=Markup("") if name else FOCUS,
        password_focus=FOCUS if name else Markup(""),
        described=DESCRIBED if error else Markup(""),
        button=t("sign_in.button"),
        languages_label=t("shell.language"),
        languages=Markup(" ").join(_language_link(code, word, after) for code, word in LANGUAGES.items()),
    )


def _language_link(code: str, word: str, after: str) -> Markup:
    address = links.sign_in(after)
    address += ("&" if "?" in address else "?") + f"lang={code}"
    return LANGUAGE.format(address, code, code, HERE if code == language() else Markup(""), word)
