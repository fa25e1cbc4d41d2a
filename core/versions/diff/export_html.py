"""A comparison as one HTML page that needs nothing else: no script, light and dark, readable without colours."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from html import escape

from core.errors import NotFound
from core.model import ChangeSummary, ComparedVersion, ImagePair, ImageRef, Tally, ValueChange
from core.versions.diff.spans import Piece, new_pieces, old_pieces
from core.versions.diff.stored_comparison import CHANGES, EQUAL
from core.versions.result import ComparisonResult

_METADATA = {
    "title": "Title",
    "subject": "Subject",
    "author": "Author",
    "language": "Language",
    "keywords": "Keywords",
    "pages": "Pages",
    "slides": "Slides",
    "sheets": "Sheets",
    "created": "Created",
    "modified": "Modified",
    "producer": "Made with",
    "encoding": "Encoding",
    "label": "Label",
    "file_name": "File name",
    "size_bytes": "Size in bytes",
    "extension": "File type",
}
TEXTS = {
    "lang": "en",
    "title": "Comparison",
    "old": "Before",
    "new": "After",
    "changed": "changed",
    "added": "added",
    "removed": "removed",
    "moved": "moved",
    "lines": "lines",
    "words": "words",
    "values": "Numbers and dates that changed",
    "chapters": "Chapters",
    "metadata": "Properties",
    "images": "Images",
    "unchanged_rows": "{count} unchanged lines",
    "more_rows": "{count} more lines are not shown.",
    "equal": "The texts are the same.",
    "columns_added": "columns added",
    "columns_removed": "columns removed",
    **{f"metadata.{name}": label for name, label in _METADATA.items()},
    "notices": "Notices",
}
MOST_ROWS_UNFOLDED = 50_000
"""In larger comparisons the unchanged lines are counted, not written."""
MOST_ROWS = 200_000
MOST_IMAGE_BYTES = 8 * 1024 * 1024
_SIGNS = {"equal": "", "changed": "~", "added": "+", "removed": "−"}
_LINES = ("changed", "added", "removed", "moved")
_COLUMNS = ("columns_added", "columns_removed")

_STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;
--add:#eaf4fe;--del:#fdeede;--addw:#cfe5fb;--delw:#f7cfa4;--addt:#0b4f94;--delt:#8a3b00}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#30363d;
--add:#122440;--del:#38230f;--addw:#1b3f70;--delw:#6b3a0c;--addt:#8ec5ff;--delt:#ffb57a}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;
margin:1.5rem auto;max-width:110rem;padding:0 1rem}
table{border-collapse:collapse;width:100%;table-layout:fixed}
td,th{text-align:left;vertical-align:top;padding:.1rem .5rem}
.d td{font:13px/1.5 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4}
.d .n{width:4rem;color:var(--dim);text-align:right}.d .s{width:1.5rem;font-weight:700}
.added .b,.changed .b,.moved .b{background:var(--add)}.removed .a,.changed .a,.moved .a{background:var(--del)}
ins{background:var(--addw);text-decoration:underline;text-decoration-color:var(--addt)}
del{background:var(--delw);text-decoration:line-through;text-decoration-color:var(--delt)}
summary{color:var(--dim);cursor:pointer;padding:.2rem .5rem;border:1px solid var(--line)}
.h td{font-weight:700}.k{color:var(--dim)}img{max-width:48%;border:1px solid var(--line);margin:.3rem}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def export_html(comparison: ComparisonResult, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the page piece by piece; ``texts`` replace the English of ``TEXTS``. Every text is escaped."""
    words = {name: escape(str(texts.get(name, default))) for name, default in TEXTS.items()}
    yield from _head(comparison.summary, words)
    yield from _summary(comparison.summary, words)
    yield from _images(comparison, words)
    yield from _rows(comparison, words)
    yield "</body></html>\n"


def _head(summary: ChangeSummary, words: Mapping[str, str]) -> Iterator[str]:
    title = f"{_name(summary.old)} → {_name(summary.new)}"
    yield (
        f'<!DOCTYPE html>\n<html lang="{words["lang"]}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{words['title']}: {title}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{words['title']}</h1><p>{title}</p>\n"
    )


def _name(side: ComparedVersion) -> str:
    return f"{escape(side.name)} #{side.version}"


def _summary(summary: ChangeSummary, words: Mapping[str, str]) -> Iterator[str]:
    tally = summary.tally
    counts = [f"{_SIGNS.get(kind, '⇄')} {getattr(tally, kind)} {words[kind]}" for kind in _LINES]
    counts += [f"{getattr(tally, kind)} {words[kind]}" for kind in _COLUMNS if getattr(tally, kind)]
    of_words = f"{words['words']}: + {tally.words_added} · − {tally.words_removed}"
    yield f"<p>{words['lines']}: {' · '.join(counts)}<br>{of_words}</p>\n"
    if summary.is_equal:
        yield f"<p><strong>{words['equal']}</strong></p>\n"
    if summary.notices:
        yield f"<p>{words['notices']}: {escape(', '.join(summary.notices))}</p>\n"
    if summary.values:
        yield f"<h2>{words['values']}</h2><table><tr><th>{words['old']}</th><th>{words['new']}</th><th></th></tr>\n"
        yield from map(_value, summary.values)
        yield "</table>\n"
    if summary.metadata:
        yield f"<h2>{words['metadata']}</h2><table>\n"
        for change in summary.metadata:
            sides = f"<td>{_plain(change.old, 'del')}</td><td>{_plain(change.new, 'ins')}</td>"
            name = words.get(f"metadata.{change.name}") or escape(change.name)
            yield f"<tr><th>{name}</th>{sides}</tr>\n"
        yield "</table>\n"
    if summary.chapters:
        yield f"<h2>{words['chapters']}</h2><ul>\n"
        for chapter in summary.chapters:
            path = escape(" › ".join(chapter.heading_path)) or "—"
            yield f'<li><a href="#r{chapter.row}">{path}</a> {_counts(chapter.tally, words)}</li>\n'
        yield "</ul>\n"


def _counts(tally: Tally, words: Mapping[str, str]) -> str:
    lines = [f"{_SIGNS.get(kind, '⇄')}{count}" for kind in _LINES if (count := getattr(tally, kind))]
    columns = [f"{count} {words[kind]}" for kind in _COLUMNS if (count := getattr(tally, kind))]
    return " ".join((*lines, *columns))


def _value(value: ValueChange) -> str:
    context = f'<a href="#r{value.row}">{escape(value.context)}</a>'
    return (
        f"<tr><td>{_plain(value.old, 'del')}</td><td>{_plain(value.new, 'ins')}</td><td class=k>{context}</td></tr>\n"
    )


def _plain(value: object, tag: str) -> str:
    return "—" if value is None else f"<{tag}>{escape(str(value))}</{tag}>"


def _images(comparison: ComparisonResult, words: Mapping[str, str]) -> Iterator[str]:
    differing = [pair for pair in comparison.summary.images if pair.change.value != "equal"]
    if not differing:
        return
    yield f"<h2>{words['images']}</h2>\n"
    left = MOST_IMAGE_BYTES
    for pair in differing:
        shown, size = _image_pair(comparison, pair, left)
        left -= size
        yield f"<p>{_SIGNS[pair.change.value]} {words[pair.change.value]}<br>{shown}</p>\n"


def _image_pair(comparison: ComparisonResult, pair: ImagePair, left: int) -> tuple[str, int]:
    shown, size = "", 0
    sides: tuple[tuple[str, ImageRef | None], ...] = (("old", pair.old), ("new", pair.new))
    for side, ref in sides:
        try:
            data = comparison.image(side, ref.number).read_bytes() if ref is not None else b""
        except (NotFound, OSError):
            data = b""
        if data and size + len(data) <= left:
            size += len(data)
            shown += f'<img alt="" src="data:image/png;base64,{base64.b64encode(data).decode()}">'
    return shown, size


def _rows(comparison: ComparisonResult, words: Mapping[str, str]) -> Iterator[str]:
    with_unchanged = comparison.count <= MOST_ROWS_UNFOLDED
    items = comparison.view().items
    is_open = False
    for number, (row, hidden) in enumerate(zip(items.row.tolist(), items.hidden.tolist(), strict=True)):
        if number >= MOST_ROWS:
            yield "</table>\n" * is_open
            yield f"<p>{words['more_rows'].replace('{count}', f'{comparison.count - row:,}')}</p>\n"
            return
        if hidden:
            yield "</table>\n" * is_open
            is_open = False
            label = words["unchanged_rows"].replace("{count}", f"{hidden:,}")
            if not with_unchanged:
                yield f"<p class=k>{label}</p>\n"
                continue
            yield f"<details><summary>{label}</summary><table class=d>\n"
            for unchanged in range(row, row + hidden):
                yield _row(comparison, unchanged)
            yield "</table></details>\n"
            continue
        if not is_open:
            yield "<table class=d>\n"
            is_open = True
        yield _row(comparison, row)
    yield "</table>\n" * is_open


def _row(comparison: ComparisonResult, row: int) -> str:
    stored = comparison.stored
    record = stored.index[row]
    change = CHANGES[record["change"] if record["differs"] else EQUAL].value
    old_no, new_no = int(record["old_no"]), int(record["new_no"])
    old, new = stored.old_text(row) if old_no else "", stored.new_text(row) if new_no else ""
    sign, kinds = _SIGNS[change], [change]
    if record["move"]:
        sign, kinds = "⇄", [change, "moved"]
    if record["level"]:
        kinds.append("h")
    left: list[Piece] = [("equal", old)]
    right: list[Piece] = [("equal", new)]
    if change == "changed":
        marks = stored.marks(row)
        left, right = old_pieces(old, *marks), new_pieces(new, *marks)
    elif record["move"] and record["marks_size"]:
        left = right = [(word.change.value, word.text) for word in stored.marks(row)[0]]
    return (
        f'<tr id="r{row}" class="{" ".join(kinds)}"><td class=n>{old_no or ""}</td><td class=s>{sign}</td>'
        f'<td class="{"a" if old_no else ""}">{_marked(left) if old_no else ""}</td><td class=n>{new_no or ""}</td>'
        f'<td class="{"b" if new_no else ""}">{_marked(right) if new_no else ""}</td></tr>\n'
    )


def _marked(pieces: list[Piece]) -> str:
    tags = {"removed": "del", "added": "ins"}
    found = []
    for change, text in pieces:
        tag = tags.get(change)
        found.append(f"<{tag}>{escape(text)}</{tag}>" if tag else escape(text))
    return "".join(found)
