"""The exported page: whole, escaped, and readable without script or colour."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.model import Block
from core.versions.diff import export_html as exports
from core.versions.diff.export_html import export_html
from core.versions.result import ComparisonResult
from tests.unit.versions.compared import comparison, paragraphs, table

_PAYLOADS = [
    "<script>window.__xss=1</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'-alert(1)-'",
    "</td></table><iframe src=javascript:alert(1)>",
    "&lt;b&gt;",
]


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page(kept: ComparisonResult, **texts: str) -> str:
    return "".join(export_html(kept, texts))


def test_every_text_of_a_document_is_escaped(tmp_path: Path) -> None:
    old = [*paragraphs(f"# {_PAYLOADS[0]}"), *(Block(f"{payload} costs 1 yen") for payload in _PAYLOADS)]
    new = [*paragraphs(f"# {_PAYLOADS[0]}"), *(Block(f"{payload} costs 2 yen") for payload in _PAYLOADS)]
    facts = ({"title": _PAYLOADS[1]}, {"title": _PAYLOADS[2]})
    kept = comparison(tmp_path, old, new, names=(_PAYLOADS[0], _PAYLOADS[2]), metadata=facts)

    read = Page(page(kept, title=_PAYLOADS[4], lang='en"><script>'))

    assert not {"script", "svg", "iframe", "img"} & set(read.tags)
    assert not {name for name in read.attributes if name.startswith("on")}
    assert all(any(payload in text for text in "".join(read.texts).splitlines()) for payload in _PAYLOADS)


def test_changes_are_told_by_signs_and_marks_besides_colour(tmp_path: Path) -> None:
    kept = comparison(tmp_path, paragraphs("The fee is 100 yen."), paragraphs("The fee is 120 yen."))

    text = page(kept)

    assert "The fee is <del>100</del> yen." in text and "The fee is <ins>120</ins> yen." in text
    assert "<td class=s>~</td>" in text
    assert "prefers-color-scheme:dark" in text and "text-decoration:line-through" in text


def test_unchanged_lines_are_folded_without_script(tmp_path: Path) -> None:
    lines = [f"Line number {number} of the text." for number in range(40)]
    kept = comparison(tmp_path, paragraphs(*lines), paragraphs(*lines[:-1], "An end that is not the same."))

    text = page(kept, unchanged_rows="{count} Zeilen")

    assert "<details><summary>36 Zeilen</summary>" in text
    assert text.count("<tr id=") == kept.count


def test_unchanged_lines_of_a_huge_text_are_only_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_ROWS_UNFOLDED", 20)
    lines = [f"Line number {number} of the text." for number in range(40)]
    kept = comparison(tmp_path, paragraphs(*lines), paragraphs(*lines[:-1], "An end that is not the same."))

    text = page(kept)

    assert "Line number 3 " not in text and "36 unchanged lines" in text


def test_links_lead_to_rows_of_the_page(tmp_path: Path) -> None:
    kept = comparison(tmp_path, paragraphs("# One", "fee: 5"), paragraphs("# One", "fee: 6"))

    text = page(kept)

    assert 'href="#r1"' in text and 'id="r1"' in text


def test_a_page_that_no_browser_could_show_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_ROWS", 10)
    kept = comparison(tmp_path, [], paragraphs(*(f"New line {number}." for number in range(40))))

    text = page(kept)

    assert text.count("<tr id=") == 10 and "30 more lines are not shown." in text
    assert text.endswith("</body></html>\n")


def test_properties_are_named_in_words_of_the_reader(tmp_path: Path) -> None:
    facts = ({"title": "A", "size_bytes": 10}, {"title": "B", "size_bytes": 20})
    kept = comparison(tmp_path, paragraphs("one"), paragraphs("two"), metadata=facts)

    text = page(kept, **{"metadata.title": "タイトル <b>"})

    assert "<th>タイトル &lt;b&gt;</th>" in text and "<th>Size in bytes</th>" in text


def test_a_chapter_tells_only_what_happened_in_it(tmp_path: Path) -> None:
    same = [f"Sentence number {number} stays where it is." for number in range(12)]
    moved = "This long sentence about the harbour is moved to another place."
    kept = comparison(tmp_path, paragraphs("# One", moved, *same), paragraphs("# One", *same, moved))

    assert "One</a> ⇄1</li>" in page(kept)


def test_columns_that_came_are_counted(tmp_path: Path) -> None:
    old = table("Item | Price", "Lamp | 100", "Chair | 55")
    new = table("Item | Colour | Price", "Lamp | red | 100", "Chair | blue | 55")

    text = page(comparison(tmp_path, [old], [new]), columns_added="新しい列")

    assert "~ 0 changed" in text and "1 新しい列" in text
