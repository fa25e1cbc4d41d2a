"""What a question asks for, as numbers: its terms with their weights, its letter pairs, the kind of its answer."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import chain

from core.model import Hit, TermScore
from core.query.answer.answer_types import NAME_ASKED, Expectation, expected_answer
from core.query.answer.named_labels import is_name, question_words
from core.text.analysis import analyse, analyse_query, is_spoken, keywords
from core.text.languages import language_asked
from core.text.translations import Alternatives, translations

_SPACE = re.compile(r"\s+")
_UNSPACED = ("ja", "zh", "ko", "th", "lo", "my", "km")
"""Languages whose words letters tell better than blanks."""
_PAIRED = tuple(language for language in _UNSPACED if language != "ja")
_READ = 10
_UNSEEN_PAIR = 0.3
"""Weight of a pair of signs that no passage holds, to those that one does: most are the ends of two words."""
TRANSLATED = 0.7
"""Of the weight of a term, where a text holds it in translation: a word has several, and some mean something else."""
_FILLERS = (
    "tell know explain describe please give list say mention according show find want need question "
    "answer information inform many much long old often far 教え 説明 質問 知り 答え ください"
)
_ASKING_NOUNS = "name document kind type sort year time date number amount person term word 文書 資料 名前"
"""Words that only ask in a phrase that asks, such as "what year", and are the subject elsewhere: "set the date"."""
_ASKED_NOUNS = "(?:name|kind|type|sort|year|time|date|number|amount|person|term|word)s?"
_ASKING = re.compile(
    rf"\b(?:what|which)(?: (?!(?:is|are|was|were|do|does|did|the|if)\b)\w+)? {_ASKED_NOUNS}\b"
    rf"|\b(?:what(?:['’]s)?|which)(?: is| was| are| were)?(?: the)?(?: \w+)? {_ASKED_NOUNS}"
    r"(?=\W*$| (?:of|for|that|is|was|are|were|to|in|on|at|when|by)\b)"
    rf"|\b(?:tell (?:me|us)|give(?: me| us)?) the {_ASKED_NOUNS}\b|\b(?:number|amount|kind|sort)s? of\b|^name\b"
    r"|\b(?:according to|in|from|among) (?:[\w'’]+ ){0,2}documents?\b"
    r"|\bwhich documents? (?:says?|mentions?|describes?|explains?|contains?|tells?|covers?)\b"
    rf"|(?:文書|資料)(?:による|によれ|では|の中|内で)|{NAME_ASKED}",
    re.IGNORECASE,
)
_LONGEST_SMALL_TALK = 80
_SMALL_TALK = re.compile(
    r"(?:\b(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|how are you(?: doing| today)?|thanks?|thank you"
    r"(?: very much| so much)?|who are you|what(?:'s| is) your name|tell me a joke|bye|goodbye|see you(?: later)?"
    r"|nice to meet you|ok|okay|yes|no|please|there)\b"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます|ございました)?|さようなら|お?元気(?:ですか)?"
    r"|はじめまして|よろしく(?:お願い(?:します|いたします))?|あなたは誰(?:ですか)?|あなたの名前は(?:何ですか)?|冗談を言って"
    r"|はい|いいえ|[\s,.!?、。！？~〜])+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QuestionProfile:
    """A question as the extractor reads it; ``weights`` are the idf of its terms in the corpus.

    ``across`` is what some of them may be in the other language of English and Japanese.
    """

    text: str
    language: str
    weights: Mapping[str, float]
    pairs: frozenset[str]
    expectation: Expectation
    across: Mapping[str, Alternatives] = field(default_factory=dict)

    def coverage(self, terms: Set[str]) -> float:
        """Return the share of the question's weight that ``terms`` hold, 0 to 1, be it in the other language."""
        if not self._total:
            return 0.0
        held = sum([weight for term, weight in self._asked if term in terms])
        return (held + TRANSLATED * self._translated(terms)) / self._total

    # A question has thousands of sentences.
    @cached_property
    def _asked(self) -> Sequence[tuple[str, float]]:
        return tuple(self.weights.items())

    @cached_property
    def _total(self) -> float:
        return sum(self.weights.values())

    def _translated(self, terms: Set[str]) -> float:
        """Return the weight of what ``terms`` hold in translation alone."""
        if self._translations.isdisjoint(terms):
            return 0.0
        return sum(
            self.weights[term]
            for term, alternatives in self.across.items()
            if term in self.weights and term not in terms and any(each <= terms for each in alternatives)
        )

    @cached_property
    def _translations(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(chain.from_iterable(self.across.values())))

    def pair_share(self, text: str) -> float:
        """Return the share of the question's letter pairs that ``text`` holds, 0 to 1."""
        if not self.pairs:
            return 0.0
        plain = _plain(text)
        return len([pair for pair in self.pairs if pair in plain]) / len(self.pairs)


def read_question(question: str, hits: Sequence[Hit]) -> QuestionProfile:
    """Weigh the terms of ``question`` by the statistics that the keyword leg gave with its hits.

    A term that no hit holds weighs as one that no document holds. Without a keyword leg all terms weigh the same.
    """
    language = language_asked(question)
    terms = analyse_query(question, language)
    terms = [*terms, *_further_names(question, terms)]
    fillers = _fillers(question)
    spoken = [term for term in terms if term not in fillers] or terms
    known = {score.term: score for hit in hits if hit.keyword for score in hit.keyword.terms}
    sizes = [_corpus_size(score.idf, score.document_frequency) for score in known.values() if score.idf > 0]
    unseen = math.log(1 + (max(sizes, default=0.0) + 0.5) / 0.5) if sizes else 1.0
    across = translations(question, language)

    def weight(term: str) -> float:
        # Of what no row holds, the rarest translation that one does tells how much it says.
        own = (term,) if term in known else chain.from_iterable(across.get(term, ()))
        return max((known[each].idf for each in own if each in known and known[each].idf > 0), default=unseen)

    idf = {term: weight(term) for term in spoken}
    if known and (language in _PAIRED or any(map(is_spoken, spoken))):
        idf |= _by_texts([term for term in spoken if term not in known], hits, known, unseen, language)
    return QuestionProfile(
        text=question,
        language=language,
        weights=idf,
        pairs=letter_pairs(question) if language in _UNSPACED else _pairs_of_words(question, spoken, language),
        expectation=expected_answer(question),
        across=across,
    )


def _further_names(question: str, terms: Collection[str]) -> list[str]:
    """Names such as ``-i`` and ``%D``, of which no term is left."""
    return sorted(word for word in question_words(question) if is_name(word) and set(analyse(word)).isdisjoint(terms))


def _by_texts(
    terms: Sequence[str], hits: Sequence[Hit], known: Mapping[str, TermScore], unseen: float, language: str
) -> dict[str, float]:
    """Weigh terms that the keyword leg does not tell of, since another form of the word counted for more."""
    mean = sum(score.idf for score in known.values()) / len(known) if known else unseen
    texts = {hit.placed.chunk.indexed_text(hit.placed.title) for hit in hits[:_READ]}
    held = frozenset[str]().union(*(analyse(text, language) for text in texts))
    missing = min(unseen, _UNSEEN_PAIR * mean) if language in _PAIRED else unseen
    return {term: mean if term in held else missing for term in terms}


def is_small_talk(question: str) -> bool:
    """Tell whether a question is nothing but greetings, thanks and the like."""
    text = question.strip()
    return len(text) <= _LONGEST_SMALL_TALK and _SMALL_TALK.fullmatch(text) is not None


def _fillers(question: str) -> Set[str]:
    """Return the terms that only ask, in this question."""
    everywhere, nouns = _terms_that_ask()
    return everywhere | nouns.difference(analyse(_ASKING.sub(" ", unicodedata.normalize("NFKC", question).strip())))


@cache
def _terms_that_ask() -> tuple[frozenset[str], frozenset[str]]:
    # Not while this is imported: a dictionary of Japanese is read for it.
    return frozenset(analyse(_FILLERS)), frozenset(analyse(_ASKING_NOUNS))


@lru_cache(maxsize=4_000)
def _plain(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=4_000)
def _pairs_of_word(word: str) -> frozenset[str]:
    return letter_pairs(word)


def letter_pairs(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring signs of the normalised text."""
    plain = _plain(text)
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1))


def _pairs_of_words(question: str, terms: Collection[str], language: str) -> frozenset[str]:
    """Return the letter pairs of the words that carry the question; an English one is full of words that do not."""
    asked = set(terms)
    said = [word for word in keywords(question, language) if not asked.isdisjoint(analyse(word, language))]
    return frozenset().union(*map(_pairs_of_word, said))


def similar(first: Set[str], second: Set[str]) -> bool:
    """Tell whether two sets of terms say nearly the same."""
    return len(first & second) > 0.8 * max(1, len(first | second))


def _corpus_size(idf: float, document_frequency: int) -> float:
    """Return the number of documents from ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))``."""
    return math.expm1(min(idf, 40.0)) * (document_frequency + 0.5) + document_frequency - 0.5
