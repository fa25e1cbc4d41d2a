"""Pictures that are drawn in lines: their texts are read in lines, whatever program has drawn them."""

from __future__ import annotations

import base64
import gzip
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.parsers.drawing import lines_of
from core.ingest.parsers.embedded import Embedded
from core.model import Locator
from tests.unit.ingest.documents import read, texts


def record(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, 8 + len(body)) + body


def emf(*records: bytes) -> bytes:
    header = record(1, struct.pack("<8i", *range(8)) + b" EMF" + b"\0" * 64)
    return header + b"".join(records) + record(14, b"\0" * 12)


def emf_text(text: str, left: int, base: int, advance: int = 10, options: int = 0) -> bytes:
    raw = text.encode("utf-16-le")
    raw += b"\0" * (-len(raw) % 4)
    fixed = struct.pack("<4iIffiiIIIiiiiI", 0, 0, 0, 0, 1, 1.0, 1.0, left, base, len(text), 76, options, 0, 0, 0, 0,
                        76 + len(raw))  # fmt: skip
    return record(84, fixed + raw + struct.pack(f"<{len(text)}I", *[advance] * len(text)))


def emf_small(text: str, left: int, base: int) -> bytes:
    return record(108, struct.pack("<iiIIIff", left, base, len(text), 0x300, 1, 1.0, 1.0) + text.encode("latin-1"))


def emf_plus(text: str, left: float, top: float) -> bytes:
    body = struct.pack("<IIIffff", 0, 0, len(text), left, top, 0, 0) + text.encode("utf-16-le")
    inner = struct.pack("<HHII", 0x401C, 0, 12 + len(body), len(body)) + body
    return record(70, struct.pack("<I", 4 + len(inner)) + b"EMF+" + inner)


def wmf(*records: tuple[int, bytes], placeable: bool = False) -> bytes:
    head = b"\xd7\xcd\xc6\x9a" + b"\0" * 18 if placeable else b""
    body = b"".join(struct.pack("<IH", 3 + len(data) // 2, kind) + data for kind, data in records)
    return head + struct.pack("<HHHIHIH", 1, 9, 0x300, 0, 0, 0, 0) + body + struct.pack("<IH", 3, 0)


def wmf_font(charset: int) -> tuple[int, bytes]:
    return 0x02FB, b"\0" * 13 + bytes([charset]) + b"\0" * 4


def wmf_text(text: bytes, left: int, base: int) -> tuple[int, bytes]:
    return 0x0521, struct.pack("<H", len(text)) + text + b"\0" * (len(text) % 2) + struct.pack("<hh", base, left)


def wmf_ext(text: bytes, left: int, base: int, options: int = 0) -> tuple[int, bytes]:
    return 0x0A32, struct.pack("<hhHH", base, left, len(text), options) + b"\0" * (8 if options else 0) + text


def test_texts_of_one_height_are_a_line_with_blanks_where_gaps_are() -> None:
    drawn = emf(
        emf_text("Pum", 0, 20), emf_text("ps", 30, 20), emf_text("Oil", 80, 20), emf_text("揚程", 0, 40),
        emf_text("Same place", 0, 0), emf_text("Again", 0, 0),
    )  # fmt: skip
    assert lines_of(drawn) == ["Pumps Oil", "揚程", "Same place", "Again"]


def test_glyphs_are_no_letters() -> None:
    assert lines_of(emf(emf_text("Kxyz", 0, 20, options=0x10))) == []


def test_short_records_and_those_of_emf_plus_are_read_and_the_fuller_of_two_is_told() -> None:
    assert lines_of(emf(emf_small("Café", 5, 9))) == ["Café"]
    both = emf(emf_small("Sales", 5, 9), emf_plus("Sales of 2024", 5, 9), emf_plus("in tons", 5, 30))
    assert lines_of(both) == ["Sales of 2024", "in tons"]


@pytest.mark.parametrize("placeable", [False, True])
def test_wmf_is_read_in_the_code_of_its_font(placeable: bool) -> None:
    drawn = wmf(
        wmf_font(0), wmf_text("Länge".encode("cp1252"), 5, 10),
        wmf_font(128), wmf_ext("揚程曲線".encode("cp932"), 5, 30, options=2),
        wmf_font(2), wmf_text(b"abcd", 5, 50), placeable=placeable,
    )  # fmt: skip
    assert lines_of(drawn) == ["Länge", "揚程曲線"]


def test_svg_tells_its_texts_and_nothing_else() -> None:
    drawn = (
        b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><style>text {}</style><script>x()</script>'
        b'<title>T</title><text x="1">Inlet <tspan>valve</tspan></text><text>12 bar</text></svg>'
    )
    assert lines_of(drawn) == lines_of(gzip.compress(drawn)) == ["Inlet valve", "12 bar"]


def test_svg_with_entities_is_not_read() -> None:
    assert lines_of(b'<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg><text>&a;&a;</text></svg>') == []


@given(st.binary(max_size=200), st.integers(0, 400))
def test_damaged_drawings_are_no_error(noise: bytes, cut: int) -> None:
    for whole in (
        emf(emf_text("Pumps", 0, 20), emf_small("Oil", 5, 9), emf_plus("Water", 1, 1)),
        wmf(wmf_font(0), wmf_text(b"Pumps", 5, 10), wmf_ext(b"Oil", 5, 10, 2)),
    ):
        lines_of(whole[:cut] + noise)
        lines_of(whole[:cut] + noise + whole[cut + len(noise) :])


def test_drawings_of_documents_are_told_once_where_they_say_more_than_a_name(tmp_path: Path) -> None:
    embedded = Embedded({}, tmp_path / "waiting")
    drawn = emf(emf_text("The inlet valve opens at 12 bar.", 0, 20))
    blocks = [*embedded.blocks(drawn, Locator(page=3)), *embedded.blocks(drawn, Locator(page=4))]
    assert [(block.text, block.locator) for block in blocks] == [("The inlet valve opens at 12 bar.", Locator(page=3))]
    assert not list(embedded.blocks(emf(emf_text("Pump", 0, 20)), Locator()))
    assert not embedded.wanted


def test_drawings_within_pages_are_read(tmp_path: Path) -> None:
    inline = "<svg><text>The inlet valve</text><text>opens at 12 bar</text></svg>"
    linked = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg"><text>Outlet closes at 3 bar</text></svg>')
    (tmp_path / "a.html").write_text(
        f"<p>Before {inline} after <svg><text>Icon</text></svg>.</p>"
        f'<img src="data:image/svg+xml;base64,{linked.decode()}">'
    )
    assert texts(read(tmp_path / "a.html")[0])[:3] == ["Before", "The inlet valve\nopens at 12 bar", "after ."]
