"""What became of the recording of an answer: the way to its neurons, or why there are none."""

from __future__ import annotations

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.shared.icon import icon
from app.components.shared.states import error_line
from app.i18n import t
from core.model import Recording, Trace


def recording_link(recording: Recording) -> dcc.Link:
    """The way to the neurons that wrote an answer."""
    words: list[Component | str] = [icon("activity"), t("answer.neurons", tokens=recording.tokens)]
    return dcc.Link(words, href=links.neurons(recording.id), className="btn btn-secondary btn-sm")


def unrecorded(trace: Trace, recording: Recording | None) -> Component | None:
    """Why an answer that was to be recorded has no recording; None where it has one, or was not to."""
    if recording is not None or not trace.query.record:
        return None
    told = trace.generation.get("recording", {})
    if "error" in told:
        return html.Div(error_line(told["error"]), className="degraded")
    return html.P(t("answer.recording_gone" if "id" in told else "answer.not_recorded"), className="hint")
