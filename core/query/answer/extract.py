"""Answers a question with the words of the passages: the sentence that answers, cut to what is needed, and its source.

Comes after fusion and needs no model within one language. A question that the passages do not seem to answer gets
``insufficient``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.model import Answer, AnswerType, Citation, Hit
from core.ports import Vector
from core.query.answer.answer_part import AnswerPart
from core.query.answer.candidates import Candidate, CandidateFinder
from core.query.answer.compose import Composer
from core.query.answer.confidence import confidence
from core.query.answer.cross_language import Embed, foreign_passages, gap_confidence, nearest_sentences
from core.query.answer.escape import without_hidden, without_live_marks
from core.query.answer.named_labels import is_known, unmistakable_names
from core.query.answer.orders import asks_about_orders, is_order, without_targets
from core.query.answer.question_profile import QuestionProfile, is_small_talk
from core.query.answer.read_confidence import CERTAIN_FROM, READ_THRESHOLD, ReadAnswer, read_confidence
from core.query.answer.reading import READ_LANGUAGES, ReadWindow, deciding, is_same, weighed
from core.query.search.cosines import cosines_of
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
    model: str = "",
    threshold: float | None = None,
    max_chars: int = 250,
    candidates: Sequence[Hit] = (),
    read: Read | None = None,
    finder: CandidateFinder | None = None,
) -> Answer:
    """Answer from the first passages with at most ``max_chars`` characters, marks included, or say "insufficient".

    The entry of a list, and an answer that is uncertain, may have 2.4 times as many. ``candidates`` are all hits of the
    question; they only add statistics; a ``finder`` has been given the passages and these. ``read`` has a reader read
    the sentences; without one ``embed`` and ``question_vector``, both of the embedder ``model``, serve questions in
    another language than the passages. Reasons of an insufficient answer: ``small_talk``, ``no_terms``, ``no_passages``
    and ``low_confidence``.
    """
    if is_small_talk(question):
        return insufficient(language_asked(question), "small_talk")
    finder = finder or CandidateFinder(question, [*passages, *candidates])
    profile = finder.profile
    if not profile.weights:
        return insufficient(profile.language, "no_terms")
    found = finder.find(passages[:_PASSAGES])
    if not found:
        return insufficient(profile.language, "no_passages")
    windows = read(question, found) if read is not None and profile.language in READ_LANGUAGES else []
    if windows:
        found = weighed(found, windows)
    best = _best(found)
    parts = _composed(profile, best, found, max_chars)
    if windows:
        said = " ".join(part.text for part in parts)
        sure = read_confidence(ReadAnswer(profile, best, passages, windows, found, said))
    else:
        sure = confidence(profile, best, passages)
    calibrated = READ_THRESHOLD if windows else DEFAULT_THRESHOLD
    least = calibrated if threshold is None else threshold
    if sure < least and not windows and embed is not None and question_vector is not None:
        foreign = foreign_passages(profile, passages[:_PASSAGES])
        cosines = cosines_of(model)
        across = gap_confidence(foreign, candidates or passages, cosines)
        if across >= least and (near := nearest_sentences(profile, foreign, embed, question_vector, cosines)):
            best, sure = _best(near), across
            parts = _composed(profile, best, near, max_chars)
    if sure < least or _names_nothing_known(question, [*passages, *candidates]):
        return insufficient(profile.language, "low_confidence", min(sure, least))
    quoted = [_quoted(part.text) for part in parts]
    text = " ".join(f"{said} [{number}]" for number, said in enumerate(quoted, 1))
    return Answer(
        text=text,
        type=AnswerType.EXTRACTIVE,
        citations=tuple(_cite(number, part) for number, part in enumerate(parts, 1)),
        confidence=sure,
        marked=_marked(quoted, parts, profile, best, windows),
        is_tentative=bool(windows) and round(sure, 2) < CERTAIN_FROM,
    )


def _marked(
    quoted: Sequence[str],
    parts: Sequence[AnswerPart],
    profile: QuestionProfile,
    best: Candidate,
    windows: Sequence[ReadWindow],
) -> tuple[tuple[int, int], ...]:
    """Return where in the answer the words stand that decide: in the part that the best sentence gives."""
    start = 0
    for number, (said, part) in enumerate(zip(quoted, parts, strict=True), 1):
        if is_same(part.source, best) and (place := deciding(said, profile, best, windows)):
            return ((start + place[0], start + place[1]),)
        start += len(f"{said} [{number}] ")
    return ()


def insufficient(language: str, reason: str, sure: float = 0.0) -> Answer:
    """Return the answer that says that the documents do not answer."""
    return Answer(INSUFFICIENT_TEXT.get(language, INSUFFICIENT_TEXT["en"]), AnswerType.INSUFFICIENT, (), sure, reason)


def _names_nothing_known(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a question is about something by its very name that no passage mentions."""
    names = unmistakable_names(question)
    if not names:
        return False
    texts = [hit.placed.chunk.indexed_text(hit.placed.title) for hit in hits]
    return not any(is_known(name, text) for text in texts for name in names)


def _quoted(text: str) -> str:
    # Marks that the document writes itself would be taken for ours, and signs that nobody sees read otherwise.
    return without_live_marks(without_targets(without_hidden(text)))


def _without_orders(part: AnswerPart, question: str) -> AnswerPart:
    """Return the part, or its one sentence where what stands around that gives orders to whoever answers."""
    if not is_order(part.text) or asks_about_orders(question):
        return part
    source = part.source
    return replace(part, start=source.start, end=source.end, text=source.text)


def _best(found: Sequence[Candidate]) -> Candidate:
    return max(found, key=lambda candidate: candidate.chance)


def _composed(
    profile: QuestionProfile, best: Candidate, found: Sequence[Candidate], max_chars: int
) -> list[AnswerPart]:
    composed = Composer(profile, best, max_chars).compose(found)
    return [_without_orders(part, profile.text) for part in composed]


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
