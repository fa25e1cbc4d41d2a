"""Answers a question with the words of the passages: the sentence that answers, cut to what is needed, and its source.

Comes after fusion and needs no model within one language. A question that the passages do not seem to answer gets
``insufficient``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.model import Answer, AnswerType, Citation, Hit
from core.ports import Vector
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.compose import AnswerPart, Composer
from core.query.answer.confidence import confidence
from core.query.answer.cross_language import Embed, foreign_passages, gap_confidence, nearest_sentences
from core.query.answer.escape import without_live_marks
from core.query.answer.named_labels import unmistakable_names
from core.query.answer.question_profile import is_small_talk, read_question
from core.query.answer.reading import READ_LANGUAGES, READ_THRESHOLD, ReadWindow, read_confidence, weighed
from core.text.languages import language_asked

DEFAULT_THRESHOLD = 0.2
"""Least confidence of an answer; chosen on half of the data as `benchmarks/answers.py` says."""

INSUFFICIENT_TEXT = {
    "en": "There is not enough information in the documents to answer this.",
    "ja": "この質問に答えるための十分な情報が文書の中に見つかりませんでした。",
}

_PASSAGES = 5
Read = Callable[[str, Sequence[Candidate]], list[ReadWindow]]


def extract_answer(
    question: str,
    passages: Sequence[Hit],
    embed: Embed | None = None,
    *,
    question_vector: Vector | None = None,
    threshold: float | None = None,
    max_chars: int = 250,
    candidates: Sequence[Hit] = (),
    read: Read | None = None,
) -> Answer:
    """Answer from the first passages with at most ``max_chars`` characters, marks included, or say "insufficient".

    ``candidates`` are all hits of the question; they only add statistics. ``embed`` and ``question_vector`` serve
    questions in another language than the passages; ``read`` has a reader read the sentences. Reasons of an
    insufficient answer: ``small_talk``, ``no_terms``, ``no_passages`` and ``low_confidence``.
    """
    if is_small_talk(question):
        return insufficient(language_asked(question), "small_talk")
    profile = read_question(question, [*passages, *candidates])
    if not profile.weights:
        return insufficient(profile.language, "no_terms")
    found = find_candidates(profile, passages[:_PASSAGES])
    if not found:
        return insufficient(profile.language, "no_passages")
    windows = read(question, found) if read is not None and profile.language in READ_LANGUAGES else []
    if windows:
        found = weighed(found, windows)
        sure = read_confidence(profile, _best(found), passages, windows)
    else:
        sure = confidence(profile, _best(found), passages)
    calibrated = READ_THRESHOLD if windows else DEFAULT_THRESHOLD
    least = calibrated if threshold is None else threshold
    if sure < least and embed is not None and question_vector is not None:
        foreign = foreign_passages(profile, passages[:_PASSAGES])
        across = gap_confidence(foreign, candidates or passages)
        if across >= least and windows:
            # The reader has read both languages; what was in doubt is only whether anything answers.
            sure = across
        elif across >= least and (near := nearest_sentences(profile, foreign, embed, question_vector)):
            found, sure = near, across
    if sure < least or _names_nothing_known(question, [*passages, *candidates]):
        return insufficient(profile.language, "low_confidence", min(sure, least))
    parts = Composer(profile, _best(found), max_chars).compose(found)
    return Answer(
        # Marks that the document writes itself would be taken for ours.
        text=" ".join(f"{without_live_marks(part.text)} [{number}]" for number, part in enumerate(parts, 1)),
        type=AnswerType.EXTRACTIVE,
        citations=tuple(_cite(number, part) for number, part in enumerate(parts, 1)),
        confidence=sure,
    )


def insufficient(language: str, reason: str, sure: float = 0.0) -> Answer:
    """Return the answer that says that the documents do not answer."""
    return Answer(INSUFFICIENT_TEXT.get(language, INSUFFICIENT_TEXT["en"]), AnswerType.INSUFFICIENT, (), sure, reason)


def _names_nothing_known(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a question is about something by its very name that no passage mentions."""
    names = unmistakable_names(question)
    texts = (hit.placed.chunk.indexed_text(hit.placed.title).casefold() for hit in hits)
    return bool(names) and not any(name in text for text in texts for name in names)


def _best(found: Sequence[Candidate]) -> Candidate:
    return max(found, key=lambda candidate: candidate.chance)


def _cite(number: int, part: AnswerPart) -> Citation:
    placed = part.source.hit.placed
    chunk = placed.chunk
    return Citation(
        number=number,
        doc_key=placed.doc_key,
        version=placed.version,
        chunk_id=placed.id,
        position=chunk.position,
        name=placed.name,
        text=chunk.text[part.start : part.end],
        start=chunk.start + part.start,
        end=chunk.start + part.end,
        locator=chunk.locator,
        reading=placed.reading,
    )
