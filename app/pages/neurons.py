"""Neurons: what the spiking model's neurons did while it wrote an answer, token by token.

The page brings the frames, the words and the list of recordings; ``assets/modules/neurons/`` reads the chosen recording
through ``/api/v1/recordings`` and draws it. The address is the state.
"""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback, dcc, html, register_page

from app import links
from app.components.ask.figures import EXCITATORY, INHIBITORY
from app.components.attributes import aria, dataset
from app.components.neurons.bar import chooser, dialogs, facts, left_out, selection, upload_button
from app.components.neurons.figures import figure_frame
from app.components.neurons.words import explanation
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import page, tab_title
from app.context import kb
from app.i18n import t
from core.errors import NotFound
from core.model import Recording

IN_TIME = ("raster", "steps", "rates", "heat")
"""The plots that share the axis of tokens."""
BESIDE = ("membrane", "histogram", "intervals")

register_page(__name__, path=links.NEURONS, title=tab_title("neurons.title"), script="neurons/page.js")


@shows_errors
def layout(recording: Any = "", **state: Any) -> html.Div:
    """The recording that the address names, else the newest; without any, how one comes about."""
    recordings = kb().recordings.list()
    wanted = recording if isinstance(recording, str) else ""
    if not recordings and not wanted:
        return page(t("neurons.title"), t("neurons.purpose"), _nothing(), wide=True)
    try:
        chosen = kb().recordings.get(wanted) if wanted else recordings[0]
    except NotFound:
        return page(t("neurons.title"), t("neurons.purpose"), _missing(), action=_upload())
    beside = state.get("with", "")
    content = [
        _head(recordings, chosen, beside if isinstance(beside, str) else ""),
        html.Div(id="neurons-error", role="alert"),
        _body(),
        explanation(),
        *dialogs(chosen),
        dcc.Store(id="neurons-open", data={"id": chosen.id}),
        dcc.Store(id="neurons-opened"),
    ]
    body = html.Div(
        content,
        id="neurons",
        className="neurons",
        **dataset(excitatory=EXCITATORY, inhibitory=INHIBITORY, recording=chosen.id),
    )
    return page(t("neurons.title"), t("neurons.purpose"), body, action=_upload(), wide=True)


def _missing() -> html.Div:
    others = link_button(t("neurons.missing.again"), links.NEURONS, "activity")
    return html.Div(empty("activity", t("neurons.missing.title"), t("neurons.missing.text"), others), role="alert")


def _head(recordings: list[Recording], chosen: Recording, beside: str) -> html.Section:
    return html.Section(
        [
            chooser(recordings, chosen, beside, kb().recordings.export_forms()),
            facts(chosen, kb().recordings.disk_bytes()),
            left_out(),
            html.P([html.Strong(t("neurons.question")), " ", chosen.question], className="neurons-question")
            if chosen.question
            else None,
        ],
        className="card-plain",
    )


def _body() -> html.Div:
    tokens = html.Section(
        [
            html.H2(t("neurons.text.title"), id="neurons-text-title", className="section-title"),
            html.P(t("neurons.text.hint"), id="neurons-text-hint", className="neurons-said"),
            html.Div(
                html.Div(className="skeleton-line"),
                id="neurons-text",
                className="neurons-text",
                role="group",
                **aria(labelledby="neurons-text-title", describedby="neurons-text-hint"),
            ),
        ],
        className="card-plain",
    )
    neuron = html.Select(id="neurons-neuron", className="form-select form-select-sm", **aria(label=t("neurons.neuron")))
    reset = html.Button(t("figure.reset"), type="button", className="btn btn-quiet btn-sm", **dataset(neurons="reset"))
    tools = {"membrane": neuron, "raster": reset}
    columns = [
        html.Div([figure_frame(name, tools=tools.get(name)) for name in names], className=f"neurons-column-{place}")
        for place, names in (("time", IN_TIME), ("beside", BESIDE))
    ]
    return html.Div(
        [
            selection(),
            tokens,
            html.Div(
                [figure_frame("both"), figure_frame("other"), _table("differ")],
                id="neurons-comparison",
                className="neurons-comparison",
                hidden=True,
            ),
            html.Div(columns, className="neurons-columns"),
            _table("table"),
        ],
        className="neurons-body",
    )


def _table(name: str) -> html.Section:
    # A region that scrolls can be reached with the keyboard.
    rows = html.Div(
        id=f"neurons-{name}",
        className="neurons-scroll",
        tabIndex=0,
        role="region",
        **aria(labelledby=f"neurons-{name}-title"),
    )
    title = html.H2(t(f"neurons.{name}.title"), id=f"neurons-{name}-title", className="section-title")
    return html.Section([title, rows], className="card-plain")


def _nothing() -> html.Div:
    steps = html.Div(
        [link_button(t("neurons.empty.ask"), links.ASK, "chat-square-text"), _upload()], className="button-row"
    )
    return html.Div(
        [empty("activity", t("neurons.empty.title"), t("neurons.empty.text"), steps), explanation()],
        id="neurons",
        className="neurons",
    )


def _upload() -> html.Div:
    return html.Div([upload_button(), html.Div(id="neurons-upload-said", role="status")], className="for-editors")


clientside_callback(
    ClientsideFunction("neurons", "open"),
    Output("neurons-opened", "data"),
    Input("neurons-open", "data"),
)
