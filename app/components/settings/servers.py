"""The servers that write answers, as the page Settings shows them to administrators: set up, tried, one the default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.attributes import aria
from app.components.shared.generator_choice import failure_words
from app.components.shared.icon import icon
from app.components.shared.states import badge, empty
from app.components.shared.times import when
from app.i18n import number, t
from core.model import GeneratorFailure, GeneratorServer, GeneratorTrial

NEW = "+"
"""Stands where a form adds a server; no server has this name."""
FIELD, SAVE, PROBLEM = "server-field", "server-save", "server-problem"
TRY, TRIED, DEFAULT, REMOVE = "server-try", "server-tried", "server-default", "server-remove"
FIELDS = ("name", "url", "model", "key", "inside")
_CHARS = {"name": 64, "url": 1_000, "model": 256, "key": 4_096}


def server_list(servers: Sequence[GeneratorServer], overriding: str, usual: str) -> list[Any]:
    """Each server with what can be done to it; ``overriding`` names the variable that says what is usual."""
    shown: list[Any] = []
    if overriding:
        said = t("settings.server_overriding", variable=overriding, name=usual)
        shown.append(html.P([badge("warning", t("settings.server_environment")), " ", said], className="settings-note"))
    if not servers:
        return [*shown, empty("cpu", t("settings.no_servers_title"), t("settings.no_servers_text"))]
    return [*shown, *(_server(each, is_free=not overriding) for each in servers)]


def server_form(server: GeneratorServer | None = None) -> html.Div:
    """What is asked of a server; its key is never shown, and stays where none is written."""
    name = NEW if server is None else server.name
    given = {"name": name, "url": server.url, "model": server.model} if server is not None else {}
    fields = [_field(name, field, given.get(field, ""), has_key=bool(server and server.has_key)) for field in _CHARS]
    inside = _id(FIELD, name, "inside")
    allow = dbc.Checkbox(id=inside, label=t("settings.server_inside"), value=bool(server and server.allows_inside))
    save = html.Button(
        [icon("check-circle-fill"), t("settings.server_save")],
        id=_id(SAVE, name),
        type="button",
        className="btn btn-primary",
    )
    return html.Div(
        [
            html.Div(fields, className="settings-fields"),
            html.P(t("settings.server_key_hint"), className="hint"),
            allow,
            html.P(t("settings.server_inside_hint"), className="hint"),
            html.Div(save),
            html.Div(id=_id(PROBLEM, name)),
        ],
        className="settings-form",
    )


def trial_words(trial: GeneratorTrial) -> html.Div:
    """What a server answered when it was tried, and how long that took."""
    head = badge("ok", t("settings.server_answered", seconds=number(trial.seconds, digits=1)))
    question = html.Span(trial.question, lang="en")
    facts: list[Any] = [
        t("settings.server_asked"),
        " ",
        html.Q(question),
        " · ",
        html.Span(trial.model, className="user-text"),
    ]
    answer = html.Blockquote(trial.text, className="server-answer user-text")
    return html.Div([head, html.P(facts, className="hint"), answer])


def failed_trial(failure: GeneratorFailure) -> html.Div:
    """Why a server did not answer, and what to do."""
    return html.Div([badge("error", t("settings.server_failed")), failure_words(failure)])


def _server(server: GeneratorServer, *, is_free: bool) -> html.Div:
    words: list[Any] = [html.Strong(server.name)]
    if server.is_default:
        words.append(badge("ok", t("settings.server_is_default")))
    words += [
        badge("warning", t("settings.server_wins", variable=variable))
        for variable in server.overridden_by
        if not server.is_default or variable != "EVORAG_GENERATOR"
    ]
    buttons: list[Any] = [_button(TRY, "try", server.name)]
    if is_free:
        buttons.append(_button(DEFAULT, "no_default" if server.is_default else "default", server.name))
    buttons.append(
        dcc.ConfirmDialogProvider(
            _plain_button("remove", server.name),
            id=_id(REMOVE, server.name),
            message=t("settings.server_ask_remove", name=server.name),
        )
    )
    change = html.Details(
        [
            html.Summary(t("settings.server_change"), **aria(label=_about("change", server.name))),
            server_form(server),
        ],
        className="settings-more",
    )
    return html.Div(
        [
            html.Div(
                [html.Div(words, className="run-words"), html.Div(buttons, className="button-row")],
                className="run-head",
            ),
            html.P(_facts(server), className="hint"),
            html.Div(id=_id(TRIED, server.name), role="status", className="server-tried"),
            change,
        ],
        className="run-progress settings-training",
    )


def _facts(server: GeneratorServer) -> list[Any]:
    facts: list[Any] = [
        html.Span(server.url, className="settings-model-name", lang="en"),
        html.Span(server.model, className="settings-model-name") if server.model else t("settings.server_first_model"),
        t("settings.server_has_key" if server.has_key else "settings.server_no_key"),
    ]
    if server.allows_inside:
        facts.append(t("settings.server_may_inside"))
    who = t("settings.server_changed_by", name=server.changed_by) if server.changed_by else t("settings.server_changed")
    facts.append(html.Span([who, " ", when(server.changed_at)]))
    return [part for fact in facts for part in (" · ", fact)][1:]


def _field(server: str, field: str, value: str, *, has_key: bool) -> html.Div:
    is_key = field == "key"
    control = dbc.Input(
        id=_id(FIELD, server, field),
        type="password" if is_key else "url" if field == "url" else "text",
        value=value,
        maxLength=_CHARS[field],
        placeholder=t("settings.server_key_kept") if is_key and has_key else t(f"settings.server_{field}_example"),
        # A browser that offers to keep it would offer a password of this site.
        autocomplete="new-password" if is_key else "off",
        readonly=field == "name" and server != NEW,
    )
    name = t(f"settings.server_{field}")
    said = f"{name}: {server}" if server != NEW else name
    # A label that points to an id made of parts would not find it.
    label = html.Label([html.Span(name, className="form-label"), control], title=said, className="server-label")
    return html.Div(label, className="run-field")


def _button(kind: str, act: str, name: str) -> html.Button:
    return _plain_button(act, name, id=_id(kind, name))


def _plain_button(act: str, name: str, **more: Any) -> html.Button:
    return html.Button(
        t(f"settings.server_{act}"),
        **more,
        type="button",
        className="btn btn-secondary btn-sm",
        **aria(label=_about(act, name)),
    )


def _about(act: str, name: str) -> str:
    return f"{t(f'settings.server_{act}')}: {name}"


def _id(kind: str, server: str, field: str = "") -> dict[str, str]:
    return {"type": kind, "server": server, **({"field": field} if field else {})}
