"""Turns questions that were asked into judged ones: what was answered then counts as right."""

from __future__ import annotations

from core.catalog.questions.question_sets import Named, NewQuestion
from core.evaluation.metrics import MAX_ANSWER_CHARS, without_marks
from core.model import AnswerType, Intent, JudgedQuestion, Trace


def judged(trace: Trace, number: int) -> NewQuestion | None:
    """Return a question with the documents that its answer cites; None where others must not or cannot share it.

    That is what rests on a private document; a question about the knowledge base, whose answer tells what one person
    sees of it and cites nothing; and a follow-up question, into which titles that were cited before may be written.
    A question that was not answered counts as one that nothing answers. Answers that are too long to be found again
    in another one are left out: to cite a right document is enough then.
    """
    answer = trace.answer
    text = trace.query.text.strip()
    if trace.analysis.intent is not Intent.DOCUMENTS or trace.analysis.standalone:
        return None
    if answer.type is AnswerType.INSUFFICIENT:
        return NewQuestion(JudgedQuestion(str(number), text, answerable=False))
    quoted = quoted_by(trace)
    if any(is_private(key) for key, _ in quoted):
        return None
    words = without_marks(answer.text).strip()
    return NewQuestion(
        JudgedQuestion(
            id=str(number),
            text=text,
            doc_keys=tuple(dict.fromkeys(citation.doc_key for citation in answer.citations)),
            answers=(words,) if words and len(answer.text) <= MAX_ANSWER_CHARS else (),
        ),
        tuple(sorted(quoted)),
    )


def quoted_by(trace: Trace) -> frozenset[Named]:
    """Return the versions that an answer may quote: an extracted one what it cites, another one all its passages."""
    quoted = {(citation.doc_key, citation.version) for citation in trace.answer.citations}
    if trace.answer.type is not AnswerType.EXTRACTIVE:
        quoted |= {(hit.placed.doc_key, hit.placed.version) for hit in trace.hits}
    return frozenset(quoted)


def is_private(doc_key: str) -> bool:
    """Tell whether a key names a private document, which is written ``~user/name``."""
    return doc_key.startswith("~") and "/" in doc_key
