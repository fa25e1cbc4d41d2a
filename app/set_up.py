"""The page that sets up a second factor for whoever needs one and has none: all that is open to them until then.

It is plain HTML like the page before it, so that no callback and no route has to be opened for it. Nothing is begun by
looking at it. A wrong code leaves the secret as it is; whoever has closed the picture begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import flask
from markupsafe import Markup

from app import links
from app.components.access.qr_code import qr_picture
from app.context import kb
from app.entrance_page import EMPTY, entrance_form, entrance_page, error_said
from app.i18n import t
from app.security import cookie
from app.security.public_paths import safe_path
from app.security.rates import counted
from core.errors import Conflict, EvoRAGError, PasswordNeeded, RateLimited

set_up = flask.Blueprint("set_up", __name__)

CODE_CHARS = 100
KEY_GROUP = 4

TEXT = Markup("<p>{}</p>")
SECRET = Markup(
    """<p>{scan}</p>
        <img class="entrance-picture" src="{picture}" alt="{alt}">
        <p id="key-label">{type}</p>
        <p><code class="entrance-secret" aria-labelledby="key-label">{key}</code></p>"""
)
CODE = Markup(
    """<input type="hidden" name="step" value="confirm">
        <label class="form-label" for="code">{label}</label>
        <input class="form-control" id="code" name="code" maxlength="100" required autofocus inputmode="numeric"
          autocomplete="one-time-code" spellcheck="false"{described}>"""
)
DESCRIBED = Markup(' aria-describedby="said" aria-invalid="true"')
CODES = Markup('<p><strong>{}</strong> {}</p>\n      <pre class="entrance-secret">{}</pre>')
GO_ON = Markup('<p><a class="btn btn-primary entrance-button" href="{}">{}</a></p>')
LEAVE = Markup(
    """<form class="entrance-other" method="post" action="{}">
        <button class="btn btn-link" type="submit">{}</button>
      </form>"""
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows below its title."""

    content: Markup
    said: Markup = EMPTY


@set_up.get(links.SET_UP)
def show() -> flask.typing.ResponseReturnValue:
    """Say why, with the button that begins; whoever needs none goes on."""
    after = safe_path(flask.request.args.get("next", ""))
    if not flask.g.evorag_caller.lacks_factor:
        return flask.redirect(after)
    return _page(_beginning(after), after)


@set_up.post(links.SET_UP)
def go_on() -> flask.typing.ResponseReturnValue:
    """Show a new secret, or take the first code of it and show the recovery codes."""
    form = flask.request.form
    after = safe_path(form.get("next", ""))
    if not flask.g.evorag_caller.lacks_factor:
        return flask.redirect(after, 303)
    try:
        if form.get("step") != "confirm":
            return _page(_secret(after), after)
        return _page(_confirmed(form.get("code", "")[:CODE_CHARS], after), after)
    except PasswordNeeded:
        return flask.redirect(links.sign_in(links.set_up(after), again=True), 303)
    except RateLimited as error:
        return _page(_code_again(after, t("factor.often")), after), error.status
    except Conflict as error:
        return _page(_beginning(after), after), error.status
    except EvoRAGError as error:
        return _page(_code_again(after, t("sign_in.code_wrong")), after), error.status


def _beginning(after: str) -> Shown:
    text = TEXT.format(t("set_up.text")) + TEXT.format(t("factor.apps"))
    return Shown(text + entrance_form(links.SET_UP, after, EMPTY, t("factor.begin")))


def _secret(after: str) -> Shown:
    setup = kb().accounts.second_factors.begin()
    grouped = " ".join(setup.secret[at : at + KEY_GROUP] for at in range(0, len(setup.secret), KEY_GROUP))
    picture = SECRET.format(
        scan=t("factor.scan"),
        picture=qr_picture(setup.uri),
        alt=t("factor.picture"),
        type=t("factor.type"),
        key=grouped,
    )
    return Shown(picture + _code_form(after, EMPTY))


def _code_again(after: str, error: str) -> Shown:
    anew = entrance_form(links.SET_UP, after, EMPTY, t("set_up.anew"), "btn-secondary")
    return Shown(_code_form(after, DESCRIBED) + anew, error_said(error))


def _code_form(after: str, described: Markup) -> Markup:
    fields = CODE.format(label=t("factor.code"), described=described)
    return entrance_form(links.SET_UP, after, fields, t("factor.confirm"))


def _confirmed(code: str, after: str) -> Shown:
    factors, token = kb().accounts.second_factors, cookie.token_of(flask.request) or ""
    codes = counted(lambda: factors.confirm(code, keep_token=token), t("factor.often"))
    shown = CODES.format(t("factor.codes_title"), t("factor.codes_text"), "\n".join(codes))
    return Shown(shown + GO_ON.format(after, t("set_up.go_on")))


def _page(shown: Shown, after: str) -> str:
    leave = LEAVE.format(links.SIGN_OUT, t("shell.sign_out"))
    return entrance_page(t("set_up.title"), shown.content, links.set_up(after), said=shown.said, below=leave)
