"""Draws the figures of the sample documents: bars or a line, from a few lines of text, as PNG bytes."""

from __future__ import annotations

import io
import math

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
WIDTH, HEIGHT = 960, 520
LEFT, TOP, RIGHT, BOTTOM = 90, 70, 30, 80
INK, GRID, ACCENT = "#26303a", "#d8dde3", "#4450b8"


def draw(kind: str, source: str) -> bytes:
    """Return a PNG of ``title:``, ``x:``, ``y:`` lines and a ``bars: NAME VALUE, …`` or ``points: X Y, …`` line."""
    fields = dict(line.split(": ", 1) for line in source.strip().splitlines())
    pairs = [tuple(pair.rsplit(" ", 1)) for pair in fields["bars" if kind == "bars" else "points"].split(", ")]
    values = [float(value) for _, value in pairs]
    step = _step(max(values))
    top = math.ceil(max(values) / step) * step
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(image)
    pen.text((LEFT, 20), fields["title"], INK, _font(26))
    pen.text((LEFT, HEIGHT - 34), fields.get("x", ""), INK, _font(18))
    _grid(pen, step, top, fields.get("y", ""))
    if kind == "bars":
        _bars(pen, [name for name, _ in pairs], values, top)
    else:
        _line(pen, [float(x) for x, _ in pairs], values, top)
    target = io.BytesIO()
    image.convert("P", palette=Image.Palette.ADAPTIVE, colors=32).save(target, "PNG", optimize=True)
    return target.getvalue()


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONT, size)


def _step(highest: float) -> float:
    rough = highest / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough))


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)


def _grid(pen: ImageDraw.ImageDraw, step: float, top: float, label: str) -> None:
    for number in range(round(top / step) + 1):
        y = _y(number * step, top)
        pen.line((LEFT, y, WIDTH - RIGHT, y), GRID, 1)
        pen.text((LEFT - 10, y), f"{number * step:g}", INK, _font(16), anchor="rm")
    pen.text((WIDTH - RIGHT, 46), label, INK, _font(16), anchor="ra")


def _bars(pen: ImageDraw.ImageDraw, names: list[str], values: list[float], top: float) -> None:
    room = (WIDTH - LEFT - RIGHT) / len(values)
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        middle = LEFT + room * (index + 0.5)
        pen.rectangle((middle - room * 0.3, _y(value, top), middle + room * 0.3, _y(0, top)), fill=ACCENT)
        pen.text((middle, _y(value, top) - 4), f"{value:g}", INK, _font(16), anchor="mb")
        pen.text((middle, _y(0, top) + 8), name, INK, _font(16), anchor="ma")


def _line(pen: ImageDraw.ImageDraw, xs: list[float], values: list[float], top: float) -> None:
    scale = (WIDTH - LEFT - RIGHT) / (xs[-1] - xs[0])
    points = [(LEFT + (x - xs[0]) * scale, _y(value, top)) for x, value in zip(xs, values, strict=True)]
    pen.line(points, ACCENT, 4, joint="curve")
    for x, point in zip(xs, points, strict=True):
        pen.ellipse((point[0] - 4, point[1] - 4, point[0] + 4, point[1] + 4), fill=ACCENT)
        pen.text((point[0], _y(0, top) + 8), f"{x:g}", INK, _font(14), anchor="ma")
