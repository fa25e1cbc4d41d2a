"""What pages of a layout say is missed in the text that was read, whatever the order, the line ends and the script."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.model import Version
from core.versions.office_check import told_of
from core.versions.pages.layout_words import LayoutFindings, compared

MOMENT = datetime(2026, 5, 1, tzinfo=UTC)
WORDS = "Whoever greases hydraulic bearings wears gloves goggles and an apron made of thick leather because oil sprays"
PAGE = "The turquoise gate opens at nine and closes at five on every day but Monday, unless it rains cats and dogs."
SAID = "水門は午前九時に開き、午後五時に閉まります。月曜日は休みです。油を差す人は手袋と眼鏡と革の前掛けを着けます。"
UNSAID = "夜間の点検では懐中電灯を持ち、階段の滑り止めを確かめ、記録簿へ署名してから守衛へ鍵を返却すること。"


def version(extension: str, **metadata: object) -> Version:
    return Version(1, "a", 1, f"a.{extension}", extension, "0" * 64, "0" * 40, 1, "ready", MOMENT, metadata=metadata)


@pytest.mark.parametrize(("said", "unsaid"), [(PAGE, WORDS), (SAID, UNSAID)])
def test_pages_whose_words_are_nowhere_in_the_text_are_lost(said: str, unsaid: str) -> None:
    assert compared([said], [said, unsaid, said]) == LayoutFindings(3, (2,), is_repeated=False)
    assert compared([said, unsaid], [unsaid, said]) == LayoutFindings(2, (), is_repeated=False)


def test_hyphens_line_ends_running_heads_and_numbers_lose_nothing() -> None:
    broken_words = WORDS.replace("hydraulic", "hydrau-\nlic")
    page = f"Handbook of gates, page 17\n{broken_words}\n4711 4712"
    assert compared(["Handbook of gates", WORDS], [page] * 5).lost == ()
    broken = "\n".join(UNSAID[at : at + 9] for at in range(0, len(UNSAID), 9))
    assert compared([UNSAID], [broken]).lost == ()


def test_few_words_say_nothing() -> None:
    assert compared(["gate"], ["gate closed by order of the town " * 3]).lost == ()


def test_words_that_stand_far_more_often_than_on_the_pages_are_repeated() -> None:
    pages = [f"{WORDS} {PAGE}"] * 3
    assert compared([*pages, *pages], pages).is_repeated
    assert not compared([*pages, "and a remark"], pages).is_repeated


def test_findings_are_told_where_pages_are_places_of_the_document() -> None:
    lost = LayoutFindings(9, (3, 7, 8), is_repeated=False)
    assert told_of(version("docx"), lost) == {"losses": {"words": "3, 7–8"}, "in_part": "3, 7–8"}
    slides = version("pptx", slides=9, losses={"picture": "slides 1–2"})
    assert told_of(slides, lost)["in_part"] == "slides 1–3, 7–8"
    hidden = version("pptx", slides=10)
    assert told_of(hidden, lost) == {"losses": {"words": ""}, "in_part": "*"}
    sheets = version("xlsx", losses={"formulas": "sheets Costs"})
    assert told_of(sheets, lost) == {"losses": {"formulas": "sheets Costs", "words": ""}, "in_part": "sheets Costs"}


def test_nothing_is_told_where_all_arrived_and_repetition_only_of_running_text() -> None:
    assert told_of(version("docx", losses={"chart": ""}), LayoutFindings(9, (), is_repeated=False)) == {}
    again = LayoutFindings(9, (), is_repeated=True)
    assert told_of(version("odt"), again) == {"losses": {"repeated": ""}, "in_part": "*"}
    assert told_of(version("pptx", slides=9), again) == told_of(version("xls"), again) == {}
