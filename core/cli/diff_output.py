"""A comparison in the terminal: what changed in short, then the changed lines with their words marked.

Colour is never the only sign: a line begins with ``~``, ``+``, ``-`` or ``>`` (moved), removed words stand in ``[-…-]``
and added ones in ``{+…+}``. In a pipe there is no colour.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.cli import output
from core.model import ChangeSummary, ComparedVersion, to_dict

if TYPE_CHECKING:
    from rich.console import Console

    from core.api import ComparisonApi
    from core.cli.remote import ScreenView, ViewOf
    from core.versions.diff.layout import ScreenLine

_SIGNS = {"equal": " ", "changed": "~", "added": "+", "removed": "-"}
_BRACKETS = {"equal": ("", ""), "added": ("{+", "+}"), "removed": ("[-", "-]")}
_COLOURS = {"added": "\x1b[32m", "removed": "\x1b[31m"}
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_GUTTER = 16
_WIDEST = 1000
_AT_ONCE = 500
_MOST_VALUES = 50


def write_json(comparison: ComparisonApi, view: ViewOf, *, every: bool) -> None:
    """Write the summary and the rows that differ (or all of them) as one JSON document."""
    sys.stdout.write(f'{{"summary": {_json(comparison.summary)},\n"rows": [')
    joint = "\n"
    for row in range(comparison.count) if every else _changed_rows(view):
        [found] = comparison.rows(row, row + 1)
        plain = {"row": row, **to_dict(found)}
        sys.stdout.write(joint + json.dumps(plain, ensure_ascii=False))
        joint = ",\n"
    sys.stdout.write("\n]}\n")


def _json(value: object) -> str:
    return json.dumps(to_dict(value), ensure_ascii=False, indent=2)


def _changed_rows(view: ViewOf) -> Iterator[int]:
    for line in _lines(view(mode="inline", width=_WIDEST, context=0)):
        if line.line == 0 and line.fold is None and line.change != "equal":
            yield line.row


def _lines(view: ScreenView) -> Iterator[ScreenLine]:
    for at in range(0, view.total, _AT_ONCE):
        yield from view.lines(at, at + _AT_ONCE)


def print_comparison(comparison: ComparisonApi, view: ViewOf, *, every: bool) -> None:
    """Write the summary and the changed lines with a few lines around them, or all lines."""
    print_summary(comparison.summary)
    if comparison.summary.is_equal and not every:
        return
    in_terminal = sys.stdout.isatty()
    coloured = in_terminal and not _console().no_color
    width = shutil.get_terminal_size().columns - _GUTTER if in_terminal else _WIDEST
    begins = True
    for line in _lines(view(mode="inline", width=width, folded=not every)):
        if begins and line.fold is None:
            output.print_text(f"\n@ {' › '.join(line.path) or 'Beginning'}")
        begins = line.fold is not None
        sys.stdout.write(_shown(line, coloured=coloured) + "\n")


def _console() -> Console:
    from rich.console import Console

    return Console()


def print_summary(summary: ChangeSummary) -> None:
    """Write what changed in short: numbers and dates first, since they are what people look for."""
    tally = summary.tally
    output.print_text(f"{_side(summary.old)} → {_side(summary.new)}")
    if summary.is_equal:
        output.print_text("The texts are the same.")
    output.print_text(
        f"lines: ~{tally.changed} changed, +{tally.added} added, -{tally.removed} removed, >{tally.moved} moved; "
        f"words: +{tally.words_added} -{tally.words_removed}; table cells: ~{tally.cells_changed}"
    )
    if summary.notices:
        output.print_text(f"coarser than usual: {', '.join(summary.notices)}")
    if summary.values:
        output.print_text("\nNumbers and dates that changed")
        shown = summary.values[:_MOST_VALUES]
        output.print_rows(
            ("old", "new", "in"), ([value.old or "-", value.new or "-", value.context] for value in shown)
        )
        if len(summary.values) > len(shown):
            output.print_text(f"… and {len(summary.values) - len(shown)} more")
    if summary.metadata:
        output.print_text("\nProperties")
        output.print_rows(
            ("property", "old", "new"),
            ([change.name, _value(change.old), _value(change.new)] for change in summary.metadata),
        )
    if summary.images:
        changed = [pair for pair in summary.images if pair.change.value != "equal"]
        output.print_text(f"\nImages: {len(changed)} of {len(summary.images)} differ")


def _side(side: ComparedVersion) -> str:
    return f"{side.name} version {side.version} ({side.lines:,} lines, {side.words:,} words)"


def _value(value: object) -> str:
    return "-" if value is None else str(value)


def _shown(line: ScreenLine, *, coloured: bool) -> str:
    if line.fold is not None:
        text = f"{'':{_GUTTER - 2}}… {line.fold:,} unchanged lines"
        return f"{_DIM}{text}{_PLAIN}" if coloured else text
    sign = ">" if line.move is not None and line.change != "equal" else _SIGNS[line.change]
    numbers = f"{line.old_no or '':>6} {line.new_no or '':>6} "
    whole = line.change in ("added", "removed") and not line.edited
    text = "".join(_piece(change, text, whole=whole, coloured=coloured) for change, text in line.merged)
    if coloured and line.heading:
        text = f"{_BOLD}{text}{_PLAIN}"
    return f"{_DIM}{numbers}{_PLAIN}{sign} {text}" if coloured else f"{numbers}{sign} {text}"


def _piece(change: str, text: str, *, whole: bool, coloured: bool) -> str:
    """Return a run of words with its marks; a line that is new or gone as a whole has its sign already."""
    before, after = ("", "") if whole else _BRACKETS[change]
    marked = f"{before}{output.clean(text)}{after}"
    return f"{_COLOURS[change]}{marked}{_PLAIN}" if coloured and change in _COLOURS else marked
