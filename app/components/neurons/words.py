"""How the Neurons page names layers and kinds, and its explanation of what is seen and what is not claimed."""

from __future__ import annotations

from dash import html

from app.i18n import t

EXPLAINED = ("model", "code", "signs", "raster", "rates", "heat", "membrane", "intervals")
NOT_CLAIMED = ("analogue", "reset", "time", "meaning")


def explanation() -> html.Details:
    """What the figures show, and what must not be read into them, folded under a heading."""
    return html.Details(
        [
            html.Summary(html.H2(t("neurons.explain.title"), className="section-title")),
            html.Dl(
                [
                    part
                    for name in EXPLAINED
                    for part in (html.Dt(t(f"neurons.explain.{name}.title")), html.Dd(t(f"neurons.explain.{name}")))
                ],
                className="neurons-explained",
            ),
            html.H3(t("neurons.explain.not_title"), className="section-title"),
            html.Ul([html.Li(t(f"neurons.explain.not.{name}")) for name in NOT_CLAIMED]),
        ],
        className="card-plain neurons-explain",
    )
