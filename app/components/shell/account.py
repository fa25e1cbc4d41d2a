"""Who is signed in: the entry in the rail, its dialog, and the dialog of those whose session has ended."""

from __future__ import annotations

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.i18n import t
from core.model import Principal

NAME_CHARS = 64
PASSWORD_CHARS = 1024
CODE_CHARS = 100


def account_entry(who: Principal) -> html.Button | None:
    """The entry of the rail; None where nobody is signed in, on an open server."""
    if who.user_id is None:
        return None
    return html.Button(
        [icon("person-circle"), html.Span(who.name, className="rail-word account-name")],
        className="rail-link",
        type="button",
        title=t("shell.account"),
        **aria(haspopup="dialog"),
        **dataset(opens="account-dialog"),
    )


def account_rows(who: Principal) -> list[html.Div]:
    """Who is signed in and what they can do about it, as rows of a dialog."""
    if who.user_id is None:
        return []
    known = html.Div(
        [html.Strong(who.name, className="user-text"), " ", html.Span(t(f"access.role_{who.role}"), className="muted")]
    )
    manage = dcc.Link([icon("key"), t("shell.manage_access")], href=links.ACCESS, className="dialog-link")
    leave = html.Button(
        [icon("box-arrow-right"), t("shell.sign_out")],
        type="button",
        className="btn btn-secondary",
        **dataset(leaves=links.SIGN_OUT),
    )
    return [known, html.Div(manage), html.Div(leave)]


def account_dialog(who: Principal) -> html.Dialog | None:
    """What opens from the rail."""
    if who.user_id is None:
        return None
    return html.Dialog(
        [
            html.H2(t("shell.account"), id="account-title", className="dialog-title"),
            html.Div(account_rows(who), className="dialog-rows"),
            html.Button(t("shell.close"), type="button", className="btn btn-secondary", **dataset(action="close")),
        ],
        id="account-dialog",
        className="dialog",
        **aria(labelledby="account-title"),
    )


def signed_out_dialog(who: Principal) -> html.Dialog:
    """What opens when the server knows nobody any more; what stands on the page stays as it is."""
    return html.Dialog(
        [
            html.H2(t("signed_out.title"), id="signed-out-title", className="dialog-title"),
            html.P(t("signed_out.text")),
            html.Div(id="signed-out-error", className="signed-out-error", role="alert"),
            html.Label(t("sign_in.name"), htmlFor="signed-out-name", className="form-label"),
            dbc.Input(id="signed-out-name", maxLength=NAME_CHARS, autocomplete="username"),
            html.Label(t("sign_in.password"), htmlFor="signed-out-password", className="form-label"),
            dbc.Input(
                id="signed-out-password", type="password", maxLength=PASSWORD_CHARS, autocomplete="current-password"
            ),
            html.Div(
                [
                    html.Label(t("sign_in.code"), htmlFor="signed-out-code", className="form-label"),
                    dbc.Input(id="signed-out-code", maxLength=CODE_CHARS, autocomplete="one-time-code"),
                    html.P(t("sign_in.code_hint"), className="field-hint"),
                ],
                id="signed-out-second",
                hidden=True,
            ),
            html.Button(
                t("sign_in.button"), id="signed-out-enter", type="button", className="btn btn-primary signed-out-enter"
            ),
        ],
        id="signed-out",
        className="dialog",
        **aria(labelledby="signed-out-title"),
        **dataset(user=who.name, failed=t("signed_out.failed")),
    )
