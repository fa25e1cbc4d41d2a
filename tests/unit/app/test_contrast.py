"""Text can be read in both themes: contrast after WCAG 2.2, computed from the tokens that the pages use."""

from __future__ import annotations

import pytest

from app.components.shared.design_tokens import ASSETS, tokens

GROUNDS = ("bg", "surface", "sunken")
TEXT = [
    *[(ink, ground) for ink in ("text", "muted", "accent") for ground in GROUNDS],
    *[(meaning, f"{meaning}-soft") for meaning in ("ok", "working", "warning", "error")],
    *[(meaning, "surface") for meaning in ("ok", "working", "warning", "error")],
    ("accent", "accent-soft"),
    ("text", "accent-soft"),
    ("muted", "accent-soft"),
    ("text", "mark"),
    *[
        ("text", ground)
        for ground in ("removed-soft", "removed-mark", "added-soft", "added-mark", "moved-soft", "found")
    ],
    *[(kind, f"{kind}-soft") for kind in ("removed", "added", "moved")],
    *[(kind, "surface") for kind in ("removed", "added", "moved")],
    ("removed", "removed-mark"),
    ("added", "added-mark"),
    *[("muted", f"{kind}-soft") for kind in ("removed", "added", "moved")],
    ("on-accent", "accent-fill"),
    ("on-accent", "accent-hover"),
]
SHAPES = [("control", "surface"), ("control", "bg"), ("accent", "sunken"), ("working", "sunken"), ("accent", "bg")]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(theme: str, ink: str, ground: str) -> float:
    light, dark = sorted((luminance(tokens(theme)[ink]), luminance(tokens(theme)[ground])), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_stands_out_from_its_ground(theme: str, ink: str, ground: str) -> None:
    assert contrast(theme, ink, ground) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), SHAPES)
def test_edges_of_controls_and_bars_can_be_seen(theme: str, ink: str, ground: str) -> None:
    assert contrast(theme, ink, ground) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_removed_and_added_words_differ_in_lightness_as_well_as_in_hue(theme: str) -> None:
    assert contrast(theme, "removed-mark", "added-mark") >= 1.1


def test_dark_theme_redefines_every_colour() -> None:
    css = (ASSETS / "theme.css").read_text(encoding="utf-8")
    colours = [name for name, value in tokens("light").items() if value.startswith("#") and name != "on-accent"]
    same = [name for name in colours if tokens("dark")[name] == tokens("light")[name]]
    assert same == []
    assert "prefers-reduced-motion" in css


def test_measure_agrees_with_the_published_example() -> None:
    assert luminance("#ffffff") == pytest.approx(1.0)
    assert (luminance("#ffffff") + 0.05) / (luminance("#767676") + 0.05) == pytest.approx(4.54, abs=0.01)
