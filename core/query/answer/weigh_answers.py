"""Extraction first: when a generator writes at all, and which of two answers that disagree is given.

An extracted answer is words of the passages; what speaks for it is its confidence. What speaks for a written one is
what the guard found: each of its sentences supported, and nothing of it held back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.model import Answer, AnswerType, Citation, Sentence
from core.query.guard.numbers import held_figures
from core.text.analysis import content_words

CHOSEN, FORM, UNSURE, DISAGREE = "chosen", "form", "unsure", "disagreement"
_LEAST_SHARED = 0.6
"""Share of a sentence's content words in the extracted answer, from which it says the same."""
_MARK = re.compile(r"\s?\[(\d+)\]")
_YES_OR_NO = re.compile(r"\W*(?:yes|no|not|はい|いいえ)\b", re.IGNORECASE)
_FORMS = re.compile(
    r"\b(?:compare|comparison|contrast|summari[sz](?:e|ing)|(?:summary|overview) of|paraphrase|rephrase|translate)\b"
    r"|\bdifferences? between\b|\bhow (?:do|does|did|is|are)\b.{1,200}\bdiffer\b|\bpros and cons\b"
    r"|\bin (?:your own|simple|plain|other|a few) words\b|\bin (?:one|a single|two|three) sentences?\b"
    r"|要約|まとめて|概要を|比較し|比べて|比較すると|(?:違い|相違|差異)[はをにが]|どう違|どのように違|何が違"
    r"|言い換え|翻訳し|訳して|簡単(?:な言葉)?に説明|わかりやすく|分かりやすく|メリットとデメリット",
    re.IGNORECASE | re.DOTALL,
)


def needs_writing(question: str) -> bool:
    """Tell whether a question asks for what no sentence of a document is: a comparison, a summary, other words."""
    return _FORMS.search(question) is not None


def why_written(question: str, extracted: Answer, *, is_chosen: bool, sure: float) -> str:
    """Return why a generator writes: ``chosen``, ``form`` or ``unsure``; nothing where the extracted answer stands."""
    if is_chosen:
        return CHOSEN
    if needs_writing(question):
        return FORM
    return "" if is_sure(extracted, sure) else UNSURE


def is_sure(extracted: Answer, sure: float) -> bool:
    return extracted.type is not AnswerType.INSUFFICIENT and extracted.confidence >= sure


def decided(question: str, extracted: Answer, guarded: Answer, *, why: str, sure: float) -> Answer:
    """Return the answer that the evidence supports, with the ``other`` one where both are there and disagree.

    An extracted answer that is sure wins, unless the question asks for a form that only writing has. An unsure one
    loses to a written answer of which every sentence is supported, and to a writer that finds no answer.
    """
    if extracted.type is AnswerType.INSUFFICIENT or guarded.type is AnswerType.HALLUCINATION_FALLBACK:
        return guarded
    is_written = guarded.type is AnswerType.GENERATIVE
    if is_written and not disagree(question, extracted, guarded):
        return guarded
    is_whole = all(sentence.is_supported for sentence in guarded.sentences) and not guarded.dropped
    if is_whole and (not is_sure(extracted, sure) or (is_written and why == FORM)):
        return replace(guarded, other=extracted)
    return replace(extracted, reason=DISAGREE, other=guarded)


def disagree(question: str, extracted: Answer, written: Answer) -> bool:
    """Tell whether no supported sentence of a written answer says what decides in the extracted one.

    The same is said where both rest on the same stretch of a document, or in nearly the same words; figures that differ
    are another answer in either case, and what only repeats the question is none.
    """
    evidence = _deciding(question, extracted)
    cited = {citation.number: citation for citation in written.citations}
    claims = [one for one in written.sentences if one.is_supported]
    return not any(_says_the_same(one, written.text, cited.get(one.number or 0), evidence) for one in claims)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What decides in an extracted answer: its words, the stretches that it cites, and the figures that are marked."""

    question: str
    words: frozenset[str]
    citations: Sequence[Citation]
    figures: frozenset[str]


def _deciding(question: str, extracted: Answer) -> _Evidence:
    """Return what was marked as deciding with the parts that hold it; all of the answer where nothing was."""
    parts: dict[int, tuple[int, int]] = {}
    start = 0
    for mark in _MARK.finditer(extracted.text):
        parts[int(mark[1])] = (start, mark.start())
        start = mark.end()
    marked = extracted.marked
    numbers = [
        number for number, (first, last) in parts.items() if any(first < end and begin < last for begin, end in marked)
    ]
    numbers = numbers or list(parts)
    text = " ".join(extracted.text[slice(*parts[number])] for number in numbers)
    figures = held_figures(" ".join(extracted.text[begin:end] for begin, end in marked))
    cited = [one for one in extracted.citations if one.number in numbers]
    return _Evidence(question, frozenset(content_words(text)), cited, figures)


def _says_the_same(sentence: Sentence, text: str, citation: Citation | None, evidence: _Evidence) -> bool:
    said = text[sentence.start : sentence.end]
    figures = held_figures(said) - held_figures(evidence.question)
    if evidence.figures and figures and evidence.figures.isdisjoint(figures):
        return False
    words = content_words(said)
    if not words - content_words(evidence.question) and not figures and _YES_OR_NO.match(said) is None:
        return False
    if words and len(words & evidence.words) >= _LEAST_SHARED * len(words):
        return True
    return citation is not None and any(_overlap(citation, other) for other in evidence.citations)


def _overlap(first: Citation, second: Citation) -> bool:
    is_same_place = (first.doc_key, first.version) == (second.doc_key, second.version)
    return is_same_place and first.start < second.end and second.start < first.end
