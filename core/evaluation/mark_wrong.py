"""Turns an answer that somebody calls wrong into a judged question: what would have been right, and what they say."""

from __future__ import annotations

from core.catalog.questions.question_sets import NewQuestion
from core.errors import InvalidInput, NotFound
from core.evaluation.from_history import is_private
from core.model import WRONG_NOTE_CHARS, WRONG_TEXT_CHARS, Hit, Intent, JudgedQuestion, Right, Trace
from core.text.language import is_storable

WRONG_NAME = "Answers marked wrong"
PASSAGE_CHARS = 4_000


def judged_wrong(trace: Trace, right: Right, note: str = "", text: str = "") -> NewQuestion:
    """Return the question with what is known to be right; its id is that of the trace.

    Everybody sees the set: what rests on a private document is refused, and so is a follow-up whose words were made
    from what was said before, unless somebody has read them (``text``). Raises: ``InvalidInput``, ``NotFound``.
    """
    if trace.analysis.intent is not Intent.DOCUMENTS:
        raise InvalidInput("This question is not about the documents.", remedy="Ask something that documents hold.")
    if trace.analysis.standalone and not text.strip():
        raise InvalidInput(
            "A follow-up question is kept in words that stand by themselves.", remedy="Write them, then mark it."
        )
    words = _checked("question", text.strip() or trace.query.text.strip(), WRONG_TEXT_CHARS)
    said = _checked("note", " ".join(note.split()), WRONG_NOTE_CHARS)
    hit = _passage(trace, right.chunk_id) if right.chunk_id is not None else None
    doc_key = hit.placed.doc_key if hit is not None else right.doc_key
    if doc_key and is_private(doc_key):
        raise InvalidInput(
            "A private document is nothing for a question set, which everybody sees.",
            remedy="Mark the answer without naming what was right.",
        )
    question = JudgedQuestion(
        id=trace.id,
        text=words,
        doc_keys=(doc_key,) if doc_key and not right.is_nowhere else (),
        answerable=not right.is_nowhere,
        passage=hit.placed.chunk.text[:PASSAGE_CHARS] if hit is not None and not right.is_nowhere else "",
        note=said,
    )
    return NewQuestion(question, ((doc_key, hit.placed.version),) if hit is not None and question.passage else ())


def _passage(trace: Trace, chunk_id: int) -> Hit:
    found = (hit for hit in (*trace.hits, *trace.candidates) if hit.placed.id == chunk_id)
    hit = next(found, None)
    if hit is None:
        raise NotFound("This passage is not among those that were found.", remedy="Choose one of the list.")
    return hit


def _checked(what: str, text: str, most: int) -> str:
    if len(text) > most or not is_storable(text):
        raise InvalidInput(f"The {what} is a text of at most {most:,} characters.")
    return text
