"""Whose something is and who sees it: as facts of a list, as a switch, and as a choice for what is new."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.shared.states import badge
from app.context import principal
from app.i18n import t
from core.model import QuestionSet, Role, SavedQuestion


def is_own(item: QuestionSet | SavedQuestion) -> bool:
    """Say whether the person who asks works with it: what is shared, or theirs, not what administrators see beside."""
    return item.is_shared or bool(item.owner and item.owner == principal().name)


def may_share(item: QuestionSet | SavedQuestion) -> bool:
    """Say whether the person who asks decides who sees it."""
    who = principal()
    is_theirs = bool(item.owner) and item.owner == who.name
    return who.role.includes(Role.EDITOR) and (is_theirs or (who.role is Role.ADMIN and bool(item.owner)))


def sharing_facts(item: QuestionSet | SavedQuestion) -> list[Any]:
    """Whose it is, and that only they see it where that is so; nothing where it is nobody's."""
    private = [] if item.is_shared else [badge("neutral", t("sharing.private"), t("sharing.private_explain"))]
    owner = [html.Span(t("sharing.owner", name=item.owner), className="user-text")] if item.owner else []
    return [*private, *owner]


def sharing_switch(name: str, item: QuestionSet) -> html.Div:
    """The switch that shows a set to everybody; whoever may not press it reads whose the set is."""
    if not may_share(item):
        said = t("sharing.owner", name=item.owner) if item.owner else t("sharing.nobodys")
        return html.Div(html.P(said, className="hint user-text"))
    switch = dbc.Switch(id=name, value=item.is_shared, label=t("sharing.switch"))
    whose = html.Span(t("sharing.owner", name=item.owner), className="user-text")
    return html.Div([switch, html.P([t("sharing.explain"), " ", whose], className="hint")], className="gate-switch")


def sharing_choice(name: str) -> html.Div:
    """Who is to see what is about to be made; nobody is asked where nobody has signed in."""
    switch = dbc.Switch(id=name, value=True, label=t("sharing.switch"))
    is_hidden = principal().user_id is None
    return html.Div([switch, html.P(t("sharing.explain"), className="hint")], className="gate-switch", hidden=is_hidden)
