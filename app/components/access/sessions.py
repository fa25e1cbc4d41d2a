"""The sessions of the person who asks, and whether everybody needs a second factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from app.components.attributes import aria, dataset
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import t
from core.model import SecondFactorRule, UserSession


def session_list(sessions: Sequence[UserSession]) -> list[Any]:
    """Every session with where and when it was begun, and the buttons that end one, or all others."""
    columns = ("browser", "address", "began", "seen")
    head = [html.Th(t(f"sessions.column_{name}")) for name in columns]
    head.append(html.Th(html.Span(t("sessions.column_actions"), className="visually-hidden")))
    rows = [_row(each) for each in sessions]
    table = html.Table([html.Thead(html.Tr(head)), html.Tbody(rows)], className="access-table")
    others = html.Button(
        t("sessions.end_others"),
        id="access-sessions-end",
        type="button",
        className="btn btn-secondary",
        disabled=not any(not each.is_present for each in sessions),
    )
    return [html.Div(table, className="access-scroll"), html.Div(others, className="button-row access-below")]


def browser_name(session: UserSession) -> str:
    """The family of a session's browser with its system, in the language of the page."""
    browser, _, system = session.browser.partition(" on ")
    if system:
        return t("sessions.browser_on", browser=browser, system=system)
    return browser or t("sessions.unknown_browser")


def factor_rule(rule: SecondFactorRule, without: int) -> list[Any]:
    """Whether a second factor is demanded, how many have none, and the button for the other state."""
    state = badge("ok", t("demand.is_on")) if rule.is_demanded else badge("neutral", t("demand.is_off"))
    facts = [state, *([html.Span(t("demand.without", count=without))] if without else [])]
    if rule.decided_by:
        return [html.Div([*facts, html.Span(t("demand.decided", variable=rule.decided_by))], className="button-row")]
    name = "demand.turn_off" if rule.is_demanded else "demand.turn_on"
    turn = html.Button(
        t(name), id="access-demand", type="button", className="btn btn-secondary", value=str(not rule.is_demanded)
    )
    return [html.Div([*facts, turn], className="button-row")]


def _row(session: UserSession) -> html.Tr:
    browser, address = browser_name(session), session.address or t("sessions.unknown_address")
    name: list[Any] = [html.Span(browser, className="access-name")]
    if session.is_present:
        name.append(html.Span(t("sessions.this"), className="muted"))
    end = html.Button(
        t("sessions.end"),
        id={"type": "access-session-end", "session": session.id},
        type="button",
        className="btn btn-quiet btn-sm",
        **aria(label=t("sessions.end_named", browser=browser, address=address)),
    )
    cells = (
        ("browser", html.Div(name, className="access-named")),
        ("address", address),
        ("began", when(session.began_at)),
        ("seen", when(session.seen_at)),
    )
    shown = [html.Td(cell, **dataset(column=t(f"sessions.column_{column}"))) for column, cell in cells]
    # The present one ends by signing out, which every page has.
    return html.Tr([*shown, html.Td("" if session.is_present else end)])
