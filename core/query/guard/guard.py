"""Holds a written answer against its passages: what they do not support is not given as if they did.

Comes after a generator. Every sentence is aligned to a passage and cited; what is left over is dropped or marked; an
answer of which too little is left is replaced by the extracted one, or by "not enough information".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import ModelUnavailable
from core.model import Answer, AnswerType, Citation, Sentence
from core.query.answer.citation_marks import read_sentences, without_marks
from core.query.answer.context import ContextSource
from core.query.answer.escape import without_hidden
from core.query.answer.extract import insufficient
from core.query.answer.orders import asks_about_orders, is_order
from core.query.guard.attribution import LEAST_OVERLAP, Embed, Support, SupportPassage, WrittenSentence, align
from core.query.guard.entailment import FOREIGN_WORDS
from core.query.guard.frames import without_frame
from core.query.guard.numbers import foreign_figures, held_figures, stated_figures
from core.query.guard.on_question import CitedSpan, Read, on_question
from core.query.guard.unsupported_content import plain, unsupported_content
from core.query.guard.verification import Verify, verified
from core.text.analysis import content_words
from core.text.language import detect_language

MIN_OVERLAP = 0.25
SAID_INSUFFICIENT, UNSUPPORTED, FOREIGN_FIGURE = "said_insufficient", "unsupported", "foreign_figure"
CONTRADICTED, OFF_QUESTION = "contradicted", "off_question"
_HELD_BACK = (UNSUPPORTED, FOREIGN_FIGURE, CONTRADICTED, OFF_QUESTION)
LOW_OVERLAP = "low_overlap"
MOST_ASKED = 4
"""Passages of which it is asked whether they have to do with the question: two readings and a vector each."""
MOST_SENTENCES = 100
"""Sentences of an answer that are held against its passages; what follows is not shown."""
_NAME_WORDS = 8

_LACKS = "contain|hold|provide|mention|say|state|specify|include|answer|tell|give|have|offer|describe|indicate"
_REFUSAL = re.compile(
    r"\binsufficient (?:information|context|data)\b"
    r"|\b(?:information|context|data|details?)\b[^.]{0,40}\b(?:is|are|was|were)\s+(?:in|not )sufficient"
    r"|\bnot (?:enough|sufficient) (?:information|context|data|details?)\b"
    rf"|\b(?:documents?|sources?|passages?|context|text|information)\b[^.]{{0,30}}\b(?:do(?:es)?|did)(?: not|n['’]t)"
    rf"\s+(?:\w+\s+){{0,2}}(?:{_LACKS})\b"
    r"|\b(?:can ?not|can['’]t|unable to|could not) (?:be )?(?:answer|determine)"
    r"|\bI (?:do not|don['’]t) (?:know|have)\b"
    r"|情報[がはも]?[^。]{0,12}(?:不足|不十分|足り(?:ない|ません)|ありません|見つかりません|ない)"
    r"|十分な情報|(?:記載|記述|言及|答え|回答)[がはも][^。]{0,8}(?:ありません|ない|見当たりません|見つかりません)"
    r"|(?:記載|言及|記述)されて(?:いません|いない)|(?:分か|わか)りません|回答できません|答えられません",
    re.IGNORECASE,
)

_ABOUT_DOCUMENTS = re.compile(
    r"^\W*(?:the|this|these|both|all|your|my)\s+(?:\w+\s+)?(documents?|passages?|texts?|sources?|context|answers?|question)\b"
    r"|^\W*(?:この|これらの|上記の|提供された|与えられた)?(文書|資料|文脈|出典|回答|質問)(?:[0-9０-９]+)?[はにでが]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GuardResult:
    """``overlap`` is the share of the answer's content words that the context holds; ``reason`` is empty when kept."""

    overlap: float
    kept: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """How much of an answer has to be held by its passages, and whether unsupported sentences are shown, marked."""

    min_overlap: float = MIN_OVERLAP
    marks: bool = False


@dataclass(frozen=True, slots=True)
class SupportEvidence:
    """What an answer is held against; ``extracted`` is what is given instead of one that does not hold."""

    question: str
    language: str
    sources: Sequence[ContextSource]
    extracted: Answer


@dataclass(frozen=True, slots=True)
class Guarded:
    """An answer that may be shown, and the account of what the guard did; ``kept`` counts the sentences shown."""

    answer: Answer
    account: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compare:
    """What beside words tells whether a passage says a sentence; what there is not is None."""

    embed: Embed | None = None
    read: Read | None = None
    verify: Verify | None = None


_BY_WORDS = Compare()


@dataclass(frozen=True, slots=True)
class Held:
    """What the passages say: their terms, and their language."""

    terms: frozenset[str]
    language: str


def check(answer_text: str, held: Held, question: str, language: str, min_overlap: float = MIN_OVERLAP) -> GuardResult:
    """Tell whether the passages support the answer as a whole.

    Reasons: ``empty``, ``low_overlap``, ``repeats_question``, and ``wrong_language`` (more than a name in neither the
    question's language nor the context's).
    """
    answer = without_marks(answer_text)
    words = content_words(answer)
    supported = words & held.terms
    overlap = len(supported) / len(words) if words else 0.0
    reason = ""
    if not words:
        reason = "empty"
    elif overlap < min_overlap:
        reason = LOW_OVERLAP
    elif len(words) > 1 and words <= content_words(question) and not supported:
        reason = "repeats_question"
    elif len(words) > _NAME_WORDS and detect_language(answer) != language == held.language:
        reason = "wrong_language"
    return GuardResult(overlap, not reason, reason)


def guard(
    written: str,
    evidence: SupportEvidence,
    policy: Policy,
    by: str = "",
    compare: Compare = _BY_WORDS,
) -> Guarded:
    """Return what of a written answer may be shown; ``by`` names what wrote it.

    A sentence with a link, an image, HTML or advertising that no passage holds is never shown. One that no passage
    supports is dropped, or shown as unsupported where the policy marks, and one that gives orders to whoever answers is
    supported by none; figures that its passage does not hold are flagged, and one that no passage and not the question
    hold drops the sentence likewise. An answer that begins with saying that it cannot tell is ``insufficient``.
    """
    passages = [SupportPassage.read(source) for source in evidence.sources]
    context = "\n".join(passage.plain for passage in passages)
    takes_orders = asks_about_orders(evidence.question)
    sentences = read_sentences(without_hidden(written), MOST_SENTENCES, context)
    supports = [
        replace(
            support,
            is_supported=support.is_supported
            and not _speaks_of_documents(without_frame(one.text), context)
            and (takes_orders or not is_order(one.text)),
        )
        for one, support in zip(sentences, _aligned(sentences, passages, compare), strict=True)
    ]
    held = Held(frozenset().union(*(passage.terms for passage in passages)), detect_language(context))
    whole = check(written, held, evidence.question, evidence.language, policy.min_overlap)
    if whole.reason == LOW_OVERLAP:
        # Its words tell nothing of a sentence that was found to be said in others.
        accepted = [
            frozenset(content_words(one.text))
            for one, support in zip(sentences, supports, strict=True)
            if support.is_supported and (support.is_across or support.entailed is not None)
        ]
        wider = replace(held, terms=held.terms.union(*accepted))
        again = check(written, wider, evidence.question, evidence.language, policy.min_overlap)
        whole = replace(again, overlap=whole.overlap)
    known = held_figures(evidence.question).union(*(passage.figures for passage in passages))
    judged = [
        _judge(sentence.text, support, context, evidence.question, known, policy)
        for sentence, support in zip(sentences, supports, strict=True)
    ]
    counted = Counter(reason for reason in judged if reason)
    reason = whole.reason or (counted.most_common(1)[0][0] if all(judged) else "")
    strays = _stray(evidence, passages, supports, compare) if not all(judged) else frozenset[int]()
    judged = [why or (OFF_QUESTION if number in strays else "") for number, why in enumerate(judged)]
    counted.update(OFF_QUESTION for why in judged if why == OFF_QUESTION)
    if not reason and all(judged):
        reason = counted.most_common(1)[0][0]
    says_so = next(iter(judged), "") == SAID_INSUFFICIENT or (SAID_INSUFFICIENT in counted and all(judged))
    account = {
        "overlap": round(whole.overlap, 4),
        "kept": 0 if reason or says_so else judged.count(""),
        "reason": SAID_INSUFFICIENT if says_so else reason,
        "sentences": len(sentences),
        "supported": sum(support.is_supported for support in supports),
        "compared_by_vectors": sum(support.similarity is not None for support in supports),
        "verified": sum(support.entailed is not None for support in supports),
        "dropped": counted.total(),
        **{f"dropped_{why}": count for why, count in counted.items()},
    }
    if says_so:
        answer = insufficient(evidence.language, SAID_INSUFFICIENT, whole.overlap)
        return Guarded(replace(answer, generator=by), account)
    held_back = zip(sentences, judged, strict=True)
    dropped = tuple(one.text for one, why in held_back if why in _HELD_BACK)
    result = replace(whole, kept=not reason, reason=reason)
    if reason:
        return Guarded(replace(finalize("", result, (), evidence.extracted), dropped=dropped), account)
    kept = [(one, support) for one, support, why in zip(sentences, supports, judged, strict=True) if not why]
    text, shown, citations = _compose(kept)
    answer = finalize(text, result, citations, evidence.extracted)
    return Guarded(replace(answer, sentences=shown, dropped=dropped, generator=by), account)


def _aligned(
    sentences: Sequence[WrittenSentence], passages: Sequence[SupportPassage], compare: Compare
) -> list[Support]:
    """Return the support of each sentence: by words and vectors, and as a verifier finds it where that can tell."""
    if compare.verify is not None:
        supports = align(sentences, passages, compare.embed, across_alone=True)
        try:
            return verified(sentences, supports, passages, compare.verify)
        except ModelUnavailable:
            pass
    return align(sentences, passages, compare.embed)


def finalize(generated: str, result: GuardResult, citations: Sequence[Citation], extracted: Answer) -> Answer:
    """Return the generated answer when it was kept, else the extracted one marked as the fallback that it is.

    An extracted answer that is itself insufficient stays so.
    """
    if result.kept:
        return Answer(generated, AnswerType.GENERATIVE, tuple(citations), result.overlap)
    if extracted.type is AnswerType.INSUFFICIENT:
        return extracted
    return replace(extracted, type=AnswerType.HALLUCINATION_FALLBACK, reason=result.reason)


def _judge(sentence: str, support: Support, context: str, question: str, known: frozenset[str], policy: Policy) -> str:
    """Return why a sentence is not shown, or nothing."""
    if reason := unsupported_content(sentence, context):
        return reason
    if (said := _REFUSAL.search(sentence)) and not support.is_supported and plain(said.group()) not in context:
        return SAID_INSUFFICIENT
    if support.is_supported or policy.marks:
        return ""
    if foreign_figures(stated_figures(sentence), known):
        return FOREIGN_FIGURE
    is_flagged = bool(support.foreign_figures or support.foreign_names)
    if support.contradiction not in ("", FOREIGN_WORDS) and not is_flagged:
        return CONTRADICTED
    asked = plain(question)
    names = all(plain(name) in asked for name in support.foreign_names)
    return "" if is_flagged and names and support.overlap >= LEAST_OVERLAP else UNSUPPORTED


def _stray(
    evidence: SupportEvidence,
    passages: Sequence[SupportPassage],
    supports: Sequence[Support],
    compare: Compare,
) -> frozenset[int]:
    """Return the supported sentences whose passage has nothing to do with the question, which is in its language."""
    by_source = {passage.source.number: passage for passage in passages}
    cited: dict[int, list[int]] = {}
    for number, support in enumerate(supports):
        if support.source is not None and support.is_supported and not support.is_across:
            cited.setdefault(support.source.number, []).append(number)
    chosen = [one for one in cited if by_source[one].language == evidence.language][:MOST_ASKED]
    embed, read = compare.embed, compare.read
    if embed is None or read is None or not chosen:
        return frozenset()
    spans = []
    for one in chosen:
        passage, support = by_source[one], supports[cited[one][0]]
        placed = passage.source.hit.placed
        spans.append(CitedSpan(placed.title, placed.chunk.text, support.start, support.end, passage.terms))
    answers = on_question(evidence.question, evidence.language, spans, embed, read)
    return frozenset(n for one, fits in zip(chosen, answers, strict=True) if not fits for n in cited[one])


def _speaks_of_documents(sentence: str, context: str) -> bool:
    """Tell whether a sentence is about what was sent, and not what that says: "The document contains details"."""
    about = _ABOUT_DOCUMENTS.match(sentence)
    return about is not None and plain(about[1] or about[2]) not in context


def _compose(kept: Sequence[tuple[WrittenSentence, Support]]) -> tuple[str, tuple[Sentence, ...], tuple[Citation, ...]]:
    """Return the text with our citation marks, its sentences, and the citations in the order of their numbers."""
    text = ""
    sentences: list[Sentence] = []
    citations: dict[tuple[int, int, int], Citation] = {}
    for written, support in kept:
        text += ("\n" if written.begins_line else " ") if text else ""
        start = len(text)
        text += written.text
        end = len(text)
        number = None
        if support.source is not None and (support.is_supported or support.overlap >= LEAST_OVERLAP):
            number = _number(citations, support)
            text += f" [{number}]"
        sentences.append(
            Sentence(
                start,
                end,
                support.is_supported,
                number,
                round(support.overlap, 4),
                support.similarity,
                support.foreign_figures,
            )
        )
    return text, tuple(sentences), tuple(citations.values())


def _number(citations: dict[tuple[int, int, int], Citation], support: Support) -> int:
    """Return the number of the span that supports a sentence; spans are numbered as they come."""
    assert support.source is not None
    placed = support.source.hit.placed
    chunk = placed.chunk
    key = (placed.id, support.start, support.end)
    if key not in citations:
        citations[key] = Citation(
            number=len(citations) + 1,
            doc_key=placed.doc_key,
            version=placed.version,
            chunk_id=placed.id,
            position=chunk.position,
            name=placed.name,
            text=chunk.text[support.start : support.end],
            start=chunk.start + support.start,
            end=chunk.start + support.end,
            locator=chunk.locator,
            reading=placed.reading,
        )
    return citations[key].number
