"""What keeps a passage from the answer: the first of the steps of a search at which it is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.explain.ranks import RankedQuestion
from core.model import Filters, LegPlace, Obstacle, PlacedChunk, Publication, Version
from core.query.search.fuse import choose
from core.query.understand.advanced_syntax import is_met

if TYPE_CHECKING:
    from core.catalog import Catalog

KINDS = {
    "doc_keys": "doc",
    "tags": "tag",
    "extensions": "type",
    "updated_after": "after",
    "updated_before": "before",
}
READ = "read:"
SYNTAX = "syntax"


@dataclass(frozen=True, slots=True)
class Case:
    """A passage of a version that a question is held against, with its place in both searches."""

    ranked: RankedQuestion
    placed: PlacedChunk
    version: Version
    vector: LegPlace
    keyword: LegPlace


@dataclass(frozen=True, slots=True)
class ExclusionFound:
    """What keeps a passage from the answer.

    ``detail`` holds names and numbers only. ``filters`` are those that leave it out: fields of ``Filters``, ``read:``
    with the id of a filter read from the question, ``syntax``. ``shown`` is the version shown in its stead.
    """

    obstacle: Obstacle
    detail: str = ""
    filters: tuple[str, ...] = ()
    shown: int | None = None


def obstacle_of(catalog: Catalog, case: Case) -> ExclusionFound:
    """Return what keeps the passage of a case from the answer to its question."""
    ranked, placed = case.ranked, case.placed
    if not catalog.visibility.visible([placed.id], ranked.scope.view):
        return _not_visible(catalog.publications.of(placed.doc_id), case)
    if ranked.scope.doc_ids is not None and placed.doc_id not in ranked.scope.doc_ids:
        return _filtered(catalog, case)
    for hit in ranked.trace.candidates:
        if placed.id in hit.merged:
            return ExclusionFound(
                Obstacle.MERGED, f"{hit.placed.doc_key}#v{hit.placed.version} · {hit.placed.chunk.position + 1}"
            )
    if any(hit.placed.id == placed.id for hit in ranked.trace.hits):
        return ExclusionFound(Obstacle.NONE)
    if any(hit.placed.id == placed.id for hit in ranked.trace.candidates):
        query = ranked.trace.query
        freely = choose(ranked.trace.candidates, query.top_k, 0)
        is_full = any(hit.placed.id == placed.id for hit in freely)
        return ExclusionFound(Obstacle.DOCUMENT_FULL if is_full else Obstacle.OUTRANKED)
    syntax = ranked.trace.analysis.syntax
    if syntax is not None and not is_met(syntax, placed):
        return ExclusionFound(Obstacle.FILTERED, SYNTAX, (SYNTAX,))
    if any(
        leg.depth_needed is not None and leg.depth_needed <= ranked.trace.query.depth
        for leg in (case.vector, case.keyword)
    ):
        # The vector store looks into the nearest clusters only, and this passage stands in another one.
        return ExclusionFound(Obstacle.TOO_DEEP, ranked.trace.vector.engine)
    if case.keyword.rank is None and ranked.trace.keyword.error is None:
        return ExclusionFound(Obstacle.NO_COMMON_TERM)
    return ExclusionFound(Obstacle.TOO_DEEP)


def _not_visible(publications: list[Publication], case: Case) -> ExclusionFound:
    sequence = case.ranked.scope.view.sequence
    last = next((each for each in publications if each.seq <= sequence), None)
    if last is not None and last.version is None:
        if last.action == "delete":
            return ExclusionFound(Obstacle.DELETED)
        return ExclusionFound(Obstacle.NOT_SHOWN, last.action)
    shown = last.version if last is not None else None
    if case.version.is_draft:
        detail = f"v{case.version.number} (draft)"
        return ExclusionFound(Obstacle.NOT_SHOWN, detail if shown is None else f"{detail}, v{shown}", shown=shown)
    return ExclusionFound(Obstacle.NOT_SHOWN, "" if shown is None else f"v{shown}", shown=shown)


def _filtered(catalog: Catalog, case: Case) -> ExclusionFound:
    failing = [
        (name, said) for name, said, filters in _demands(case) if _leaves_out(catalog, filters, case.placed.doc_id)
    ]
    if not failing:
        failing = [(SYNTAX, SYNTAX)]
    return ExclusionFound(Obstacle.FILTERED, ", ".join(said for _, said in failing), tuple(name for name, _ in failing))


def _demands(case: Case) -> Iterator[tuple[str, str, Filters]]:
    """Yield each filter of the question by itself, with its name and how it is said."""
    given = case.ranked.trace.query.filters
    for field, kind in KINDS.items():
        value = getattr(given, field)
        if value:
            said = ", ".join(value) if isinstance(value, tuple) else value.isoformat(timespec="minutes")
            yield field, f"{kind}: {said}", replace(Filters(), **{field: value})
    for read in case.ranked.trace.analysis.read_filters:
        if read.is_applied:
            yield READ + read.id, f"“{read.words}”", read.filters


def _leaves_out(catalog: Catalog, filters: Filters, doc_id: int) -> bool:
    allowed = catalog.visibility.documents_matching(filters)
    return allowed is not None and doc_id not in allowed
