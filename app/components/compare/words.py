"""What is said of a comparison in sentences: what changed, what is coarser than usual, what a change is."""

from __future__ import annotations

from collections.abc import Sequence

from app.components.shared.wording import on_one_line
from app.i18n import has, language, t
from core.model import Change, ChangeSummary, Row, Tally

SPOKEN_CHARS = 120
COUNTED = ("changed", "added", "removed", "moved")


def sentence(summary: ChangeSummary) -> str:
    """What changed, in one sentence of counts; the numbers and dates are said last because they are looked at first."""
    pictures = sum(each.change is not Change.EQUAL for each in summary.images)
    shown = [t("compare.count.images", count=pictures)] if pictures else []
    if summary.is_equal:
        return t("compare.same_text_but", changes=joined(shown)) if shown else t("compare.same_text")
    text = joined([*(counts(summary.tally) or [t("compare.count.format")]), *shown])
    if summary.values:
        return t("compare.sentence_values", changes=text, count=len(summary.values))
    return t("compare.sentence", changes=text)


def counts(tally: Tally) -> list[str]:
    """What a tally counts, each kind in words; the first one names what is counted."""
    found = [(name, getattr(tally, name)) for name in COUNTED if getattr(tally, name)]
    lines = [
        t(f"compare.count.{name}" if at else f"compare.count.first_{name}", count=count)
        for at, (name, count) in enumerate(found)
    ]
    return lines + _columns(tally)


def _columns(tally: Tally) -> list[str]:
    kinds = ("columns_added", "columns_removed")
    return [t(f"compare.count.{kind}", count=getattr(tally, kind)) for kind in kinds if getattr(tally, kind)]


def joined(parts: Sequence[str]) -> str:
    return ("、" if language() == "ja" else ", ").join(parts)


def tally_words(tally: Tally) -> str:
    """Lines and words of a chapter that changed, short."""
    parts = [t(f"compare.tally.{name}", count=getattr(tally, name)) for name in COUNTED if getattr(tally, name)]
    if tally.words_added or tally.words_removed:
        parts.append(t("compare.tally.words", added=tally.words_added, removed=tally.words_removed))
    if tally.cells_changed:
        parts.append(t("compare.tally.cells", count=tally.cells_changed))
    parts += _columns(tally)
    return " · ".join(parts)


def notice_words(code: str) -> str:
    """What a notice of the diff means to a reader."""
    return t(f"compare.notice.{code}") if has(f"compare.notice.{code}") else code


def spoken(row: Row, path: Sequence[str], index: int, count: int) -> str:
    """A change as it is announced: which one of how many, where, and what became of what."""
    place = t("compare.under", heading=path[-1]) if path else ""
    return t("compare.change_of", index=index, count=count, place=place, what=_what(row)).strip()


def _what(row: Row) -> str:
    kind = "moved" if row.move is not None else str(row.change)
    if row.change is Change.CHANGED and row.words:
        old = _cut(" … ".join(part.text for part in row.words if part.change is Change.REMOVED))
        new = _cut(" … ".join(part.text for part in row.words if part.change is Change.ADDED))
        if old and new:
            return t("compare.spoken.replaced", old=old, new=new)
        return t("compare.spoken.added_words", text=new) if new else t("compare.spoken.removed_words", text=old)
    cells = [cell for cell in row.cells if cell.change is Change.CHANGED]
    if cells:
        before = " … ".join(cell.old or "" for cell in cells)
        after = " … ".join(cell.new or "" for cell in cells)
        return t("compare.spoken.replaced", old=_cut(before), new=_cut(after))
    line = row.new or row.old
    if row.move is not None and row.words:
        kind = "moved_edited"
    return t(f"compare.spoken.{kind}", text=_cut(line.text if line else ""))


def _cut(text: str) -> str:
    return on_one_line(text, SPOKEN_CHARS)
