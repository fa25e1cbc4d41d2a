"""Writes a row of a table as an answer says it: each cell with the head of its column."""

from __future__ import annotations

from core.query.answer.candidates import Candidate
from core.query.answer.question_profile import QuestionProfile
from core.query.answer.quotable_units import CELL_JOINT


def row_text(profile: QuestionProfile, candidate: Candidate, room: int) -> str:
    """Write a table row as ``header: cell`` pairs; where it is too long, the cells that the question names."""
    heads = [head.strip() for head in candidate.unit.header.split(CELL_JOINT)]
    cells = [cell.strip() for cell in candidate.text.split(CELL_JOINT)]
    if not candidate.unit.header and len(cells) > 1:
        heads, cells = [cells[0].rstrip(":： "), *[""] * (len(cells) - 2)], cells[1:]
    elif len(heads) != len(cells):
        heads = [""] * len(cells)
    pairs = [f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=True) if cell]
    text = "; ".join(pairs)
    if len(text) > room:
        kept = sorted(range(len(pairs)), key=lambda i: (i > 0, -profile.pair_share(pairs[i])))
        chosen: list[int] = []
        for i in kept:
            if sum(len(pairs[j]) + 2 for j in [*chosen, i]) <= room:
                chosen.append(i)
        text = "; ".join(pairs[i] for i in sorted(chosen))
    return text if len(text) <= room else ""
