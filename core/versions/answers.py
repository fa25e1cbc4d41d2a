"""What another version changes in an answer: two traces of one question become the fate of every passage."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rapidfuzz.distance import Indel

from core.model import AnswerComparison, AnswerType, Evidence, EvidenceChange, Reason, VersionRef
from core.text.analysis import analyse

if TYPE_CHECKING:
    from core.model import Hit, Trace

REWRITTEN = 0.4
"""Least share of terms, in order, that one passage has in common before and after it was rewritten."""
_SAME_SCORE = 1e-4
_MARK = re.compile(r"\[\d{1,3}\]")
_SPACE = re.compile(r"\s+")

Pair = tuple["Hit", "Hit"]


def compare_traces(
    question: str, old: Trace, new: Trace, *, in_old: Collection[int] = (), in_new: Collection[int] = ()
) -> AnswerComparison:
    """Return the fate of the first hits of both sides: those of the new side in their order, then what vanished.

    ``in_old`` and ``in_new`` are ids of chunks that a side could see, beside those that it found.
    """
    known_old = _ids(old.candidates) | set(in_old)
    known_new = _ids(new.candidates) | set(in_new)
    same = _same(old.hits, new.hits)
    gone = _without(old.hits, [before for before, _ in same])
    come = _without(new.hits, [after for _, after in same])
    lost = [hit for hit in gone if hit.placed.id not in known_new]
    fresh = [hit for hit in come if hit.placed.id not in known_old]
    rewritten = _rewritten(lost, fresh, _compared(old, new))
    changes = [_kept(before, after) for before, after in [*same, *rewritten]]
    for hit in _without(come, [after for _, after in rewritten]):
        if hit.placed.id in known_old:
            changes.append(EvidenceChange(Evidence.APPEARED, _cause(_found(hit, old), hit), None, hit))
        else:
            pairs = _rewritten(_unknown(old, known_new), [hit], _compared(old, new))
            changes.append(EvidenceChange(Evidence.APPEARED, Reason.TEXT, pairs[0][0] if pairs else None, hit))
    for hit in _without(gone, [before for before, _ in rewritten]):
        if hit.placed.id in known_new:
            changes.append(EvidenceChange(Evidence.VANISHED, _cause(hit, _found(hit, new)), hit, None))
        else:
            pairs = _rewritten([hit], _unknown(new, known_old), _compared(old, new))
            changes.append(EvidenceChange(Evidence.VANISHED, Reason.TEXT, hit, pairs[0][1] if pairs else None))
    return AnswerComparison(question, old, new, _says(old) != _says(new), tuple(sorted(changes, key=_place)))


def touches(old: Trace, new: Trace, doc_key: str) -> bool:
    """Tell whether the two sides show different passages of a document.

    Where they do not, what else differs comes from other documents: from passages that tie, from the statistics of an
    index that changes meanwhile, from a store that answers once and fails once.
    """
    return bool(_differing(old, new, doc_key))


def decides(old: Trace, new: Trace, doc_key: str, right: Collection[str]) -> bool:
    """Tell whether what a document shows otherwise decides what becomes of a question.

    Its passages do where one that came or went is cited or is of the documents that are ``right``, and where there are
    more of them, which leave less room for others.
    """
    differing = _differing(old, new, doc_key)
    cited = {citation.chunk_id for trace in (old, new) for citation in trace.answer.citations}
    has_more = len(_shown_of(new, doc_key)) > len(_shown_of(old, doc_key))
    return bool(differing) and (doc_key in right or has_more or bool(differing & cited))


def _differing(old: Trace, new: Trace, doc_key: str) -> set[int]:
    return _shown_of(old, doc_key) ^ _shown_of(new, doc_key)


def _shown_of(trace: Trace, doc_key: str) -> set[int]:
    return {hit.placed.id for hit in trace.hits if hit.placed.doc_key == doc_key}


def unchanged(before: Trace, after: Trace, question: str) -> AnswerComparison:
    """Return the comparison of a question that another version does not touch: its answer stays what it is."""
    return compare_traces(question, before, replace(before, query=after.query))


def _says(trace: Trace) -> str:
    """Return what an answer says, without the marks of its citations and without white space."""
    if trace.answer.type is AnswerType.INSUFFICIENT:
        return ""
    return _SPACE.sub("", _MARK.sub("", trace.answer.text))


def _same(old: Sequence[Hit], new: Sequence[Hit]) -> list[Pair]:
    pairs: list[Pair] = []
    for after in new:
        left = _without(old, [before for before, _ in pairs])
        pairs += [(before, after) for before in left if _ids([before]) & _ids([after])][:1]
    return pairs


def _ids(hits: Sequence[Hit]) -> set[int]:
    return {chunk_id for hit in hits for chunk_id in (hit.placed.id, *hit.merged)}


def _without(hits: Sequence[Hit], taken: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if not any(hit is other for other in taken)]


def _found(hit: Hit, trace: Trace) -> Hit | None:
    return next((other for other in trace.candidates if hit.placed.id in _ids([other])), None)


def _unknown(trace: Trace, known: Collection[int]) -> list[Hit]:
    """Return the candidates beyond the first hits whose text the other side does not have."""
    return [hit for hit in trace.candidates if hit.placed.id not in known and hit not in trace.hits]


def _kept(before: Hit, after: Hit) -> EvidenceChange:
    evidence = Evidence.STAYED if before.rank == after.rank else Evidence.MOVED
    if _indexed(before) != _indexed(after):
        return EvidenceChange(evidence, Reason.TEXT, before, after)
    reason = Reason.NONE if evidence is Evidence.STAYED else _cause(before, after)
    return EvidenceChange(evidence, reason, before, after)


def _cause(before: Hit | None, after: Hit | None) -> Reason:
    """Tell why the same text stands elsewhere: its own BM25 score is another one, or others passed it."""
    if before is None or after is None or before.keyword is None or after.keyword is None:
        return Reason.OTHERS
    return Reason.STATISTICS if abs(before.keyword.score - after.keyword.score) > _SAME_SCORE else Reason.OTHERS


def _indexed(hit: Hit) -> str:
    return hit.placed.chunk.indexed_text(hit.placed.title)


def _compared(old: Trace, new: Trace) -> tuple[str, str] | None:
    """Return the keys of the two documents that are compared, where they are two."""
    first, second = old.query.as_of, new.query.as_of
    return (first.doc_key, second.doc_key) if isinstance(first, VersionRef) and isinstance(second, VersionRef) else None


def _rewritten(gone: Sequence[Hit], come: Sequence[Hit], compared: tuple[str, str] | None) -> list[Pair]:
    """Pair texts that are alike, the most alike first; of one document, or of the two that are compared."""
    alike = [
        (_likeness(before, after), -place, before, after)
        for place, (before, after) in enumerate((before, after) for before in gone for after in come)
        if before.placed.doc_key == after.placed.doc_key or (before.placed.doc_key, after.placed.doc_key) == compared
    ]
    pairs: list[Pair] = []
    for likeness, _, before, after in sorted(alike, key=lambda pair: pair[:2], reverse=True):
        if likeness >= REWRITTEN and not any(before is first or after is second for first, second in pairs):
            pairs.append((before, after))
    return pairs


def _likeness(before: Hit, after: Hit) -> float:
    first, second = (" ".join(hit.placed.chunk.text.split()) for hit in (before, after))
    return 1.0 if first == second else Indel.normalized_similarity(_terms(first), _terms(second))


@lru_cache(maxsize=512)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(analyse(text))


def _place(change: EvidenceChange) -> tuple[bool, int]:
    if change.evidence is Evidence.VANISHED:
        return True, change.old.rank if change.old else 0
    return False, change.new.rank if change.new else 0
