"""Images of two versions: pairs side by side and one over the other, then those that are on one side only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app import links
from app.components.attributes import aria
from app.components.compare.address import Pair
from app.components.shared.passage import locator_text
from app.components.shared.states import badge, empty
from app.i18n import t
from core.model import Change, ImagePair, ImageRef

MEANINGS = {Change.CHANGED: "warning", Change.ADDED: "ok", Change.REMOVED: "error", Change.EQUAL: "neutral"}
ORDER = (Change.CHANGED, Change.ADDED, Change.REMOVED)


def images(pairs: Sequence[ImagePair], pair: Pair) -> html.Div:
    """The images that differ, changed ones first; how many are the same is said under them."""
    differing = [each for change in ORDER for each in pairs if each.change is change]
    same = len(pairs) - len(differing)
    if not pairs:
        return html.Div(empty("file-earmark-slides", t("compare.no_images"), t("compare.no_images_text")))
    parts: list[Any] = [_pair(each, pair, number) for number, each in enumerate(differing, 1)]
    if same:
        parts.append(html.P(t("compare.images_same", count=same), className="hint"))
    return html.Div(parts, className="image-list")


def _pair(each: ImagePair, pair: Pair, number: int) -> html.Section:
    title = html.H3([badge(MEANINGS[each.change], t(f"compare.image.{each.change}")), " ", _place(each)])
    if each.old is None or each.new is None:
        side, ref = ("old", each.old) if each.old is not None else ("new", each.new)
        return html.Section([title, _figure(pair, side, ref)] if ref else [title], className="image-pair card-plain")
    views = [
        _figure(pair, "old", each.old),
        _figure(pair, "new", each.new),
        _differing(each.old, each.new, pair),
        _slider(each.old, each.new, pair, number),
    ]
    distance = html.P(t("compare.image_distance", count=each.distance), className="hint")
    return html.Section([title, distance, html.Div(views, className="image-views")], className="image-pair card-plain")


def _differing(old: ImageRef, new: ImageRef, pair: Pair) -> html.Figure:
    """Both images, one taken from the other by the browser: white where they are the same, dark where they differ."""
    layers = html.Div(
        [
            html.Img(src=_address(pair, "old", old), alt=""),
            html.Img(src=_address(pair, "new", new), alt="", className="image-taken-off"),
        ],
        className="image-stage image-differing",
        style=_shape(old, new),
        role="img",
        **aria(label=t("compare.image_differing")),
    )
    return html.Figure([layers, html.Figcaption(t("compare.image_differing"))])


def _shape(old: ImageRef, new: ImageRef) -> dict[str, str]:
    width, height = max(old.width, new.width, 1), max(old.height, new.height, 1)
    return {"aspectRatio": f"{width} / {height}", "maxWidth": f"{width}px"}


def _slider(old: ImageRef, new: ImageRef, pair: Pair, number: int) -> html.Figure:
    """The old image at the left of the slider, the new one at its right."""
    stage = html.Div(
        [
            html.Img(src=_address(pair, "new", new), alt=_alt(pair, "new", new), className="image-under"),
            html.Img(src=_address(pair, "old", old), alt=_alt(pair, "old", old), className="image-over"),
            html.Span(className="image-edge", **aria(hidden=True)),
        ],
        className="image-stage",
        style=_shape(old, new),
    )
    name = f"image-slider-{number}"
    knob = dbc.Input(id=name, type="range", min=0, max=100, step=1, value=50, className="image-range", debounce=True)
    ends = html.Div([html.Span(t("compare.old")), html.Span(t("compare.new"))], className="image-ends")
    label = html.Label(t("compare.image_slider"), htmlFor=name, className="visually-hidden")
    return html.Figure([stage, label, knob, ends], className="image-compare")


def _figure(pair: Pair, side: str, ref: ImageRef) -> html.Figure:
    picture = html.Img(src=_address(pair, side, ref), alt=_alt(pair, side, ref))
    words = [t(f"compare.{side}"), locator_text(ref.locator), f"{ref.width} × {ref.height}"]
    return html.Figure([picture, html.Figcaption(" · ".join(word for word in words if word))])


def _address(pair: Pair, side: str, ref: ImageRef) -> str:
    doc, version = (pair.doc, pair.old) if side == "old" else (pair.new_doc, pair.new)
    return links.image(doc, version, ref.number)


def _alt(pair: Pair, side: str, ref: ImageRef) -> str:
    version = pair.old if side == "old" else pair.new
    return t("compare.image_alt", number=ref.number, version=version)


def _place(each: ImagePair) -> str:
    ref = each.new or each.old
    return locator_text(ref.locator) if ref else ""
