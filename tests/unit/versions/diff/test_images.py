"""Images of documents: taken out within limits, hashed by how they look, and paired across versions."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
import pytest
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image, ImageDraw

from core.model import Change, ImagePair, ImageRef, Locator
from core.versions.diff import images
from core.versions.diff.images import distance, keep_images, pair_images, perceptual_hash

_SENTENCES = ("The harbour opens at six.", "Ferries leave every hour.", "Tickets are sold at the counter.")


def chart(seed: int, *, bars: int = 6, taller: int | None = None, size: tuple[int, int] = (480, 320)) -> Image.Image:
    """A bar chart; with ``taller`` one of its bars has grown."""
    rng = random.Random(seed)
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    wide = size[0] // (2 * bars)
    for bar in range(bars):
        high = rng.randint(size[1] // 8, size[1] // 2) + (size[1] // 3 if bar == taller else 0)
        left = wide // 2 + 2 * bar * wide
        draw.rectangle((left, size[1] - 20 - high, left + wide, size[1] - 20), fill=(30, 60 + 20 * bar, 160))
    draw.text((10, 5), f"Figure {seed}", fill="black")
    return image


def png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def pdf(path: Path, pages: list[list[Image.Image]]) -> Path:
    document = pymupdf.open()
    for shown in pages:
        page = document.new_page()
        page.insert_text((50, 500), "What is said on this page: " + _SENTENCES[document.page_count % 3])
        for number, image in enumerate(shown):
            page.insert_image(pymupdf.Rect(50, 60 + 200 * number, 350, 250 + 200 * number), stream=png(image))
    document.save(path)
    return path


def kept(path: Path, folder: Path, seconds: float = 60.0) -> list[ImageRef]:
    folder.mkdir(exist_ok=True)
    return keep_images(path, path.suffix[1:], folder, seconds)[0]


def signs(pairs: tuple[ImagePair, ...]) -> list[tuple[str, int | None, int | None]]:
    return [(p.change.value, p.old.number if p.old else None, p.new.number if p.new else None) for p in pairs]


def test_images_of_a_pdf_are_kept_with_their_pages(tmp_path: Path) -> None:
    source = pdf(tmp_path / "a.pdf", [[chart(1)], [], [chart(2), chart(3)]])

    found = kept(source, tmp_path / "out")

    assert [(ref.number, ref.locator.page) for ref in found] == [(1, 1), (2, 3), (3, 3)]
    with Image.open(tmp_path / "out" / "2.png") as image:
        assert image.size == (480, 320)


def test_images_of_office_documents_come_in_the_order_of_use(tmp_path: Path) -> None:
    first, second = io.BytesIO(png(chart(1))), io.BytesIO(png(chart(2)))
    text = docx.Document()
    text.add_heading("Harbour", 1)
    text.add_picture(first)
    text.add_heading("Islands", 1)
    text.add_picture(second)
    text.save(str(tmp_path / "a.docx"))
    slides = pptx.Presentation()
    for stream in (second, first):
        slide = slides.slides.add_slide(slides.slide_layouts[6])
        stream.seek(0)
        slide.shapes.add_picture(stream, 0, 0)
    slides.save(str(tmp_path / "a.pptx"))
    book, bitmap = openpyxl.Workbook(), io.BytesIO()
    # openpyxl reads the file of a PNG from an attribute that Pillow has dropped; other formats it converts.
    chart(1).save(bitmap, "BMP")
    book.create_sheet("Charts").add_image(SheetImage(bitmap), "B2")
    book.save(tmp_path / "a.xlsx")

    of_text = kept(tmp_path / "a.docx", tmp_path / "docx")
    of_slides = kept(tmp_path / "a.pptx", tmp_path / "pptx")
    of_book = kept(tmp_path / "a.xlsx", tmp_path / "xlsx")

    assert [ref.locator.heading_path for ref in of_text] == [("Harbour",), ("Islands",)]
    assert [ref.locator.slide for ref in of_slides] == [1, 2]
    assert [ref.sha256 for ref in of_slides] == [ref.sha256 for ref in reversed(of_text)]
    assert [ref.locator.sheet for ref in of_book] == ["Charts"]


def test_large_images_are_made_smaller_and_decorations_left_out(tmp_path: Path) -> None:
    source = pdf(tmp_path / "a.pdf", [[chart(1, size=(3200, 800)), Image.new("RGB", (400, 8), "red")]])

    (found,) = kept(source, tmp_path / "out")

    assert (found.width, found.height) == (3200, 800)
    with Image.open(tmp_path / "out" / "1.png") as image:
        assert max(image.size) == images.LONGEST_SIDE


def test_more_images_than_are_compared_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MOST_IMAGES", 2)
    source = pdf(tmp_path / "a.pdf", [[chart(1), chart(2), chart(3)]])

    found, was_skipped = keep_images(source, "pdf", tmp_path, 60.0)

    assert (len(found), was_skipped) == (2, True)


def test_time_that_is_over_is_told_of(tmp_path: Path) -> None:
    assert keep_images(pdf(tmp_path / "a.pdf", [[chart(1)]]), "pdf", tmp_path, -1.0) == ([], True)


def test_an_image_that_unpacks_to_a_bomb_is_left_out(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    text = docx.Document()
    text.add_picture(io.BytesIO(png(chart(1))))
    text.save(str(tmp_path / "a.docx"))
    with zipfile.ZipFile(tmp_path / "a.docx") as old, zipfile.ZipFile(tmp_path / "b.docx", "w") as new:
        for name in old.namelist():
            new.writestr(name, bomb.getvalue() if name.endswith(".png") else old.read(name))

    assert keep_images(tmp_path / "b.docx", "docx", tmp_path, 60.0) == ([], False)


@pytest.mark.parametrize("data", [b"", b"not a pdf", b"%PDF-1.7 broken"])
@pytest.mark.parametrize("extension", ["pdf", "docx", "pptx", "xlsx"])
def test_a_damaged_file_costs_only_its_images(tmp_path: Path, data: bytes, extension: str) -> None:
    source = tmp_path / f"a.{extension}"
    source.write_bytes(data)

    found, was_skipped = keep_images(source, extension, tmp_path, 60.0)

    assert found == [] and was_skipped


def test_documents_without_images_have_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")

    assert keep_images(tmp_path / "a.txt", "txt", tmp_path, 60.0) == ([], False)


def test_the_hash_survives_scaling_and_compression_but_tells_images_apart() -> None:
    image = chart(1)
    jpeg = io.BytesIO()
    image.resize((240, 160)).save(jpeg, "JPEG", quality=40)
    same, other = perceptual_hash(Image.open(jpeg)), perceptual_hash(chart(2))

    assert (perceptual_hash(image) ^ same).bit_count() <= images.LIKE_BITS
    assert (perceptual_hash(image) ^ other).bit_count() > images.LIKE_BITS


def test_an_edited_image_pairs_with_the_one_it_was(tmp_path: Path) -> None:
    old = kept(pdf(tmp_path / "a.pdf", [[chart(1)], [chart(2)], [chart(3)]]), tmp_path / "old")
    new = kept(pdf(tmp_path / "b.pdf", [[chart(1)], [chart(2, taller=3)], [chart(3)]]), tmp_path / "new")

    pairs = pair_images(old, new)

    assert signs(pairs) == [("equal", 1, 1), ("changed", 2, 2), ("equal", 3, 3)]
    assert pairs[1].distance == distance(old[1].hash, new[1].hash)


@pytest.mark.parametrize("bar", range(6))
def test_any_one_bar_of_a_chart_may_grow(tmp_path: Path, bar: int) -> None:
    shown = [[chart(seed)] for seed in (4, 5, 6)]
    edited = [[chart(4, taller=bar)], [chart(5, taller=bar)], [chart(6, taller=bar)]]
    old = kept(pdf(tmp_path / "a.pdf", shown), tmp_path / "old")
    new = kept(pdf(tmp_path / "b.pdf", edited), tmp_path / "new")

    assert signs(pair_images(old, new)) == [("changed", 1, 1), ("changed", 2, 2), ("changed", 3, 3)]


def test_images_that_came_and_went_stand_in_their_order(tmp_path: Path) -> None:
    plain = Image.radial_gradient("L").convert("RGB")
    old = kept(pdf(tmp_path / "a.pdf", [[chart(1)], [plain], [chart(3)]]), tmp_path / "old")
    new = kept(pdf(tmp_path / "b.pdf", [[chart(1)], [chart(3)], [chart(2, size=(300, 300))]]), tmp_path / "new")

    assert signs(pair_images(old, new)) == [("equal", 1, 1), ("removed", 2, None), ("equal", 3, 2), ("added", None, 3)]


def test_an_image_that_moved_to_another_page_is_the_same() -> None:
    before = [ImageRef(1, 9, 9, "0" * 16, "aa", Locator(page=1)), ImageRef(2, 9, 9, "f" * 16, "bb", Locator(page=2))]
    after = [ImageRef(1, 9, 9, "f" * 16, "bb", Locator(page=7)), ImageRef(2, 9, 9, "0" * 16, "aa", Locator(page=9))]

    assert {pair.change for pair in pair_images(before, after)} == {Change.EQUAL}
