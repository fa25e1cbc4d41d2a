"""Pages: marks that lead to their own place are no text; targets outside stand beside theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model import Block
from tests.unit.ingest.documents import read, texts

PUMPS = "https://pumps.example/manual"


def page(folder: Path, body: str, head: str = "") -> list[Block]:
    path = folder / "a.html"
    path.write_text(f"<html><head>{head}</head><body>{body}</body></html>", encoding="utf-8")
    return read(path)[0]


@pytest.mark.parametrize(
    "mark",
    [
        '<a class="headerlink" href="#o" title="Permalink to this headline">¶</a>',
        '<a class="headerlink" href="#o" title="Link to this heading">\uf0c1</a>',
        '<a class="headerlink" href="#o">Permanent link</a>',
        '<a class="anchor" href="#o">§</a>',
        '<a href="#o" class="id_link">#</a>',
        '<span><a class="copiable-link" href="#o"> &para;</a></span>',
        '<a href="page.html#o" class="hash-link" aria-label="Direct link to Overview">\u200b</a>',
        '<a href="#o" aria-label="Permalink: Overview"><svg><path d="M4 9h1"/></svg></a>',
        '<a class="sl-anchor-link" href="#o"><span>Section titled “Overview”</span></a>',
        '<span class="permalink"><a href="#o">&#9670;&#160;</a></span>',
    ],
)
def test_permalinks_are_no_text_of_headings_terms_cells_and_captions(tmp_path: Path, mark: str) -> None:
    blocks = page(
        tmp_path,
        f'<h1 id="o">{mark}Overview{mark}</h1><p>Oil it.{mark}</p><dl><dt>--all{mark}</dt><dd>Everything.</dd></dl>'
        f"<table><caption>Sizes{mark}</caption><tr><th>Name{mark}</th><th>Size</th></tr>"
        f"<tr><td>A</td><td>1{mark}</td></tr></table>",
    )
    assert texts(blocks) == ["Overview", "Oil it.", "--all", "Everything.", "Sizes", "Name | Size\nA | 1"]
    assert {block.locator.heading_path for block in blocks[1:]} == {("Overview",)}
    assert blocks[3].header == "--all"


def test_links_that_say_something_stay_text(tmp_path: Path) -> None:
    body = (
        '<h2><a class="header" href="#setup">Set-up</a></h2><p>See <a class="anchor" href="#five">§ 5</a>, the '
        '<a href="#link">link</a> and <a class="permalink" href="/2020/06/#june">June 3</a>; <a name="x">#</a> is a '
        'number, <a href="https://pumps.example/">#</a> too.</p>'
    )
    assert texts(page(tmp_path, body)) == [
        "Set-up",
        "See § 5, the link and June 3; # is a number, # (https://pumps.example/) too.",
    ]


def test_targets_are_named_once_in_a_paragraph_or_cell_and_not_in_headings_or_code(tmp_path: Path) -> None:
    link = f'<a href="{PUMPS}">the manual</a>'
    body = (
        f'<h1>About {link}</h1><p>Read {link}, and again {link}; <a href="other.html">this</a>, <a href="#a">that</a>, '
        f'<a href="javascript:alert(1)">a trap</a>, <a href="{PUMPS}">pumps.example/manual</a>.</p>'
        f"<ul><li>First {link}</li></ul><pre>make {link}</pre>"
        f"<table><tr><th>Name</th><th>Where</th></tr><tr><td>Pump</td><td>{link}</td></tr></table>"
        '<p>Ask <a href="mailto:help@pumps.example?subject=Oil">the desk</a>.</p>'
    )
    assert texts(page(tmp_path, body)) == [
        "About the manual",
        f"Read the manual ({PUMPS}), and again the manual; this, that, a trap, pumps.example/manual.",
        f"• First the manual ({PUMPS})",
        "make the manual",
        f"Name | Where\nPump | the manual ({PUMPS})",
        "Ask the desk (help@pumps.example).",
    ]


def test_targets_within_the_own_site_are_not_named(tmp_path: Path) -> None:
    head = '<link rel="canonical" href="https://www.pumps.example/guide">'
    body = f'<p>Read <a href="{PUMPS}">the manual</a> or <a href="https://oil.example/x">of oil</a>.</p>'
    assert texts(page(tmp_path, body, head)) == ["Read the manual or of oil (https://oil.example/x)."]


def test_a_host_that_a_page_leads_to_again_and_again_is_not_named(tmp_path: Path) -> None:
    rows = "".join(
        f'<tr><td><a href="https://packages.example/{at}">package{at}</a></td><td>{at} kB</td></tr>' for at in range(40)
    )
    body = f'<table><tr><th>Name</th><th>Size</th></tr>{rows}</table><p>Ask <a href="{PUMPS}">the makers</a>.</p>'
    text = "\n".join(texts(page(tmp_path, body)))
    assert "package39 | 39 kB" in text and "packages.example" not in text and f"the makers ({PUMPS})." in text


def test_targets_outside_the_main_text_are_not_named(tmp_path: Path) -> None:
    said = "Every pump needs oil after ninety hours of work, and a filter when it is loud. " * 8
    body = (
        f'<nav><a href="https://a.example/">A</a></nav><main><p>{said}<a href="{PUMPS}">The manual</a></p></main>'
        '<footer><a href="https://b.example/">B</a></footer>'
    )
    text = "\n".join(texts(page(tmp_path, body)))
    assert PUMPS in text and "a.example" not in text and "b.example" not in text
