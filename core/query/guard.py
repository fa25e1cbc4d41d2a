"""Holds a generated answer against its context: an answer without support in the documents is not given.

Comes after a generator; what it drops is replaced by the extracted answer, or by "not enough information".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.model import Answer, AnswerType, Citation
from core.text.analysis import content_words
from core.text.language import detect_language

MIN_OVERLAP = 0.25
_NAME_WORDS = 8

_CITATION_MARK = re.compile(r"\[\d+\]")
_LINK = re.compile(
    r"(?<![\w+.-])(?:[a-z][a-z0-9+.-]{0,30}://|www\.)[^\s<>\"'()\[\]「」（）。、]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|info|biz|io|ai|app|dev|shop|store|xyz|jp|uk|de|fr|cn|ru|eu)\b"
    r"(?:/[^\s<>\"'()]*)?",
    re.IGNORECASE | re.ASCII,
)
_IMAGE = re.compile(r"!\[[^\]]*\]\s*\(?|<\s*(?:img|iframe|script|video|audio|object|embed|link)\b", re.IGNORECASE)
_ADVERTISING = tuple(
    """
    buy now|order now|call now|click here|sign up now|subscribe now|subscribe to|follow us|limited offer|special offer
    |limited time offer|promo code|coupon code|discount code|money back|free trial|act now|visit our website
    |affiliate link|sponsored by|like and share|今すぐ購入|今すぐ登録|今すぐ申し込|ご購入はこちら|お申し込みはこちら
    |詳しくはこちら|クリックしてください|チャンネル登録|期間限定|キャンペーン中|クーポンコード|割引コード|無料体験
    |お問い合わせはこちら|フォローして
    """.replace("\n", "").split("|")
)
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class GuardResult:
    """``overlap`` is the share of the answer's content words that the context holds; ``reason`` is empty when kept."""

    overlap: float
    kept: bool
    reason: str = ""


def check(
    answer_text: str, context: str, question: str, language: str, min_overlap: float = MIN_OVERLAP
) -> GuardResult:
    """Tell whether the context supports the answer.

    Reasons: ``empty``, ``remote_image``, ``foreign_link``, ``advertising``, ``foreign_figure``, ``low_overlap``,
    ``repeats_question``, and ``wrong_language`` (more than a name in neither the question's language nor the
    context's). A link, a slogan or a figure that the context (for figures: or the question) holds is kept.
    """
    answer = _plain(_CITATION_MARK.sub(" ", answer_text))
    held = _plain(context)
    words = content_words(answer)
    supported = words & content_words(held)
    overlap = len(supported) / len(words) if words else 0.0
    reason = _foreign_matter(answer, held, _plain(question))
    if not answer.strip() or not words:
        reason = "empty"
    elif not reason and overlap < min_overlap:
        reason = "low_overlap"
    elif not reason and len(words) > 1 and words <= content_words(question) and not supported:
        reason = "repeats_question"
    elif not reason and len(words) > _NAME_WORDS and detect_language(answer) != language == detect_language(held):
        reason = "wrong_language"
    return GuardResult(overlap, not reason, reason)


def settle(generated: str, result: GuardResult, citations: Sequence[Citation], extracted: Answer) -> Answer:
    """Return the generated answer when it was kept, else the extracted one marked as the fallback that it is.

    An extracted answer that is itself insufficient stays so.
    """
    if result.kept:
        return Answer(generated, AnswerType.GENERATIVE, tuple(citations), result.overlap)
    if extracted.type is AnswerType.INSUFFICIENT:
        return extracted
    return replace(extracted, type=AnswerType.HALLUCINATION_FALLBACK, reason=result.reason)


def _foreign_matter(answer: str, context: str, question: str) -> str:
    if any(found not in context for found in _IMAGE.findall(answer)):
        return "remote_image"
    if any(link.rstrip(".,;:!?") not in context for link in _LINK.findall(answer)):
        return "foreign_link"
    if any(slogan.strip() in answer and slogan.strip() not in context for slogan in _ADVERTISING):
        return "advertising"
    known = _figures(context) | _figures(question)
    if any(len(figure) > 1 and figure not in known for figure in _figures(answer)):
        return "foreign_figure"
    return ""


def _figures(text: str) -> set[str]:
    return {figure.replace(",", "").rstrip(".") for figure in _FIGURE.findall(text)}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
