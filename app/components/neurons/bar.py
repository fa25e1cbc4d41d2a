"""The bar of the Neurons page: which recording, which of its neurons, which token, and beside which other recording."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dash import html
from dash.development.base_component import Component

from app import links
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import size, t
from core.model import Recording

FORMS = ("csv", "neo", "nwb")


def chooser(recordings: Sequence[Recording], chosen: Recording, beside: str, forms: Collection[str]) -> html.Div:
    """The recordings to choose from, and what can be done with the chosen one; ``forms`` are installed here."""
    others = [each for each in recordings if each.id != chosen.id]
    return html.Div(
        [
            _field("recording", t("neurons.recording"), _select("recording", recordings, chosen.id)),
            _field(
                "with",
                t("neurons.with"),
                _select(
                    "with", others, beside, nothing=t("neurons.with_none") if others else t("neurons.with_no_other")
                ),
            ),
            html.Div(
                [
                    _button("rename", "pencil", t("neurons.rename")),
                    _button("delete", "trash", t("neurons.delete")),
                    _exports(chosen, forms),
                ],
                className="button-row neurons-actions",
            ),
            html.Div(id="neurons-export-said", className="hint", role="status"),
        ],
        className="neurons-chooser",
    )


def facts(recording: Recording, disk_bytes: int) -> html.P:
    """What was recorded, by which model, and how much room it takes."""
    parts: list[Component | str] = [recording.model, recording.code]
    if recording.tokens:
        parts.append(t("neurons.tokens", count=recording.tokens))
    if recording.neurons:
        parts.append(t("neurons.neurons", count=recording.neurons))
    parts += [size(recording.size_bytes), when(recording.created_at), t("neurons.disk", size=size(disk_bytes))]
    if recording.trace_id:
        parts.append(html.A(t("neurons.its_answer"), href=links.ask(trace=recording.trace_id)))
    shown = [part for part in parts if part]
    pieces: list[Component | str] = []
    for part in shown:
        pieces += [html.Span(" · ", className="muted"), part]
    return html.P(pieces[1:], className="hint neurons-facts")


def selection() -> html.Div:
    """The fields and buttons that the script fills: layer, kind, and playing along the tokens."""
    return html.Div(
        [
            _field(
                "layer", t("neurons.layer"), html.Select(id="neurons-layer", className="form-select", disabled=True)
            ),
            _field("kind", t("neurons.kind"), html.Select(id="neurons-kind", className="form-select", disabled=True)),
            html.Div(
                [
                    _button("previous", "chevron-left", t("neurons.previous")),
                    _button("play", "play-fill", t("neurons.play")),
                    _button("next", "chevron-right", t("neurons.next")),
                    html.Div(id="neurons-slider", className="neurons-slider"),
                    html.Output(id="neurons-token-said", className="neurons-token-said numbers"),
                ],
                className="neurons-player",
                role="group",
                **aria(label=t("neurons.player")),
            ),
        ],
        className="neurons-selection",
    )


def dialogs(recording: Recording) -> list[html.Dialog]:
    """The closed dialogs that rename and delete ``recording``."""
    close = html.Button(t("shell.close"), type="button", className="btn btn-secondary", **dataset(action="close"))
    return [
        html.Dialog(
            [
                html.H2(t("neurons.rename"), id="neurons-rename-title", className="dialog-title"),
                html.Div(id="neurons-name", **dataset(name=recording.name, label=t("neurons.name"))),
                html.Div(id="neurons-rename-said", role="alert"),
                html.Div(
                    [close, _submit("rename", "btn-primary", t("neurons.rename_confirm"))], className="button-row"
                ),
            ],
            id="neurons-rename-dialog",
            className="dialog",
            **aria(labelledby="neurons-rename-title"),
        ),
        html.Dialog(
            [
                html.H2(t("neurons.delete_title"), id="neurons-delete-title", className="dialog-title"),
                html.P(t("neurons.delete_text", name=recording.name, size=size(recording.size_bytes))),
                html.Div(id="neurons-delete-said", role="alert"),
                html.Div([close, _submit("delete", "btn-danger", t("neurons.delete_confirm"))], className="button-row"),
            ],
            id="neurons-delete-dialog",
            className="dialog",
            **aria(labelledby="neurons-delete-title"),
        ),
    ]


def upload_button() -> html.Button:
    """The page's main action: a recording from elsewhere."""
    return html.Button(
        [icon("upload"), t("neurons.upload")],
        type="button",
        className="btn btn-primary",
        **dataset(neurons="upload"),
    )


def _select(name: str, recordings: Sequence[Recording], chosen: str, nothing: str = "") -> html.Select:
    options = [html.Option(nothing, value="")] if nothing else []
    options += [html.Option(each.name, value=each.id, selected=each.id == chosen) for each in recordings]
    return html.Select(options, id=f"neurons-{name}", className="form-select", disabled=not recordings)


def _field(name: str, label: str, field: html.Select) -> html.Div:
    return html.Div(
        [html.Label(label, htmlFor=f"neurons-{name}", className="form-label"), field], className="neurons-field"
    )


def _button(name: str, symbol: str, label: str) -> html.Button:
    return html.Button(
        [icon(symbol), html.Span(label, className="visually-hidden")],
        type="button",
        title=label,
        className="btn btn-secondary btn-sm",
        **dataset(neurons=name),
    )


def _submit(name: str, kind: str, label: str) -> html.Button:
    return html.Button(label, type="button", className=f"btn {kind}", **dataset(neurons=f"{name}-confirm"))


def left_out() -> html.P:
    """Room for what the recording does not hold; the script says it."""
    return html.P(
        [badge("warning", t("neurons.truncated")), " ", html.Span()],
        id="neurons-left-out",
        className="neurons-said",
        hidden=True,
    )


def _exports(recording: Recording, forms: Collection[str]) -> html.Details:
    whole = html.A(
        [icon("download"), t("neurons.export.file")],
        href=links.recording_file(recording.id),
        className="dialog-link",
        download="",
    )
    part = html.Li(html.Small(t("neurons.export.part"), id="neurons-export-part"), className="neurons-export-part")
    rows = [html.Li(whole), part, *(html.Li(_export(recording, form, form in forms)) for form in FORMS)]
    return html.Details(
        [html.Summary([icon("download"), t("neurons.export")], className="btn btn-secondary btn-sm"), html.Ul(rows)],
        id="neurons-export",
        className="menu",
    )


def _export(recording: Recording, form: str, is_installed: bool) -> html.A | html.Span:
    label = t(f"neurons.export.{form}")
    if not is_installed:
        words = html.Span([label, html.Small(t("neurons.export.not_installed"))])
        return html.Span([icon("download"), words], className="dialog-link neurons-not-installed")
    # The script adds what is chosen, and shows why it is refused.
    href = links.recording_export(recording.id, form)
    return html.A([icon("download"), label], href=href, className="dialog-link", **dataset(neurons_export=form))
