"""The phrases of an English question, told by its little words, common verbs and endings alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PERSONS = frozenset(("i", "you", "we", "one", "anyone", "someone", "people"))
_PREPOSITION_LINES = """
    in on at for from to by with without during since until before after under over within of per near outside
    about between against into through across behind above below inside
"""
PREPOSITIONS = frozenset(_PREPOSITION_LINES.split())
_DETERMINERS_LINES = """
    the a an our my your each every any this that these those some no his her its their all both another
"""
_DETERMINERS = frozenset(_DETERMINERS_LINES.split())
_DO_LINES = """
    do does did can could will would should shall may might must don't doesn't didn't can't cannot won't
"""
_DO = frozenset(_DO_LINES.split())
_BE_LINES = """
    is are was were be been being isn't aren't wasn't
"""
_BE = frozenset(_BE_LINES.split())
_HAVE = frozenset(("has", "have", "had"))
_PRONOUNS = PERSONS | frozenset(("he", "she", "it", "they", "me", "us", "him", "them", "there", "who", "that", "those"))
_NAMES = frozenset(("US", "IT", "WHO"))
"""Are no pronouns in these letters."""
_QUESTION_WORDS_LINES = """
    what who whom whose which when where why how
"""
_QUESTION_WORDS = frozenset(_QUESTION_WORDS_LINES.split())
_OTHERS_LINES = """
    and or but if while because also again still ever only often always usually not than as so too just much
    many long already yet then really exactly else
"""
_OTHERS = frozenset(_OTHERS_LINES.split())
_VERBS_LINES = """
    accept access act add adjust allow answer appear apply approve arrive ask assign attend back become begin
    belong block book boot bring build buy calculate call cancel carry change charge check choose clean clear
    close come compare compile configure connect consist contain continue control convert copy cost count cover
    create cut decide define delete deliver depend deploy describe detect develop differ disable discard do
    download drop earn edit enable encrypt end enter exist expire explain export extend fail fall file fill
    filter find finish fit fix follow format get give go grow handle happen have help hold ignore import improve
    include increase inform install join keep know last learn leave let limit list listen live load lock log
    look lose make manage match mean measure meet merge mount mount move name need notify offer open order
    override own pass pay perform permit pick place play prevent print process produce produce protect provide
    publish pull purchase push put quit raise reach read receive recommend record recover redirect reduce refer
    refuse reject release remove rename renew rent repair replace report request require reset restart restore
    return revert rewrite rise run save say scan schedule search see select sell send serve set share show shut
    sign sit skip sleep sort speak spend split stand start stay step stop store submit support suspend switch
    take talk tell terminate test train transfer travel treat turn uninstall unlock update upgrade upload use
    verify visit wait want wear weigh work write
"""
_VERBS = frozenset(_VERBS_LINES.split())
_PARTICIPLES_LINES = """
    kept sent paid written made done built sold held found given taken bought brought chosen drawn driven hidden
    known left lent lost met put read run said set shown shut told worn begun broken cut free full open closed
    possible necessary mandatory available valid due
"""
_PARTICIPLES = frozenset(_PARTICIPLES_LINES.split())
_PREDICATE = re.compile(r"[a-z]{3,}(?:ed|able|ible|ory)$")
_NO_PREDICATE = frozenset(
    ("speed", "feed", "seed", "need", "shed", "bed", "territory", "directory", "inventory", "table")
)
_TOKEN = re.compile(r"(?:[^\s?!,;:“”\"()]|(?<=\d)[,:](?=\d))+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase with its place in the question; ``determiner`` and ``preposition`` stand before its ``words``."""

    text: str
    start: int
    end: int
    words: tuple[str, ...]
    determiner: str = ""
    preposition: str = ""
    role: str = ""
    """``subject``, ``object``, ``asked`` (behind which or what), else empty."""

    @property
    def head(self) -> str:
        return self.words[-1].lower()


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text if self.text in _NAMES else self.text.lower()


def phrases(question: str) -> list[Phrase]:
    """Return the noun phrases of a question, in order."""
    return list(_Parsing(question).phrases())


def antecedent(question: str) -> Phrase | None:
    """Return what a question is about: its subject, else its object, with what belongs to it by “of”."""
    found = phrases(question)
    for role in ("subject", "object"):
        for at, phrase in enumerate(found):
            if phrase.role == role:
                return _whole(question, found, at)
    asked = next((at for at, phrase in enumerate(found) if phrase.role == "asked"), None)
    return _whole(question, found, asked) if asked is not None else None


def _whole(question: str, found: Sequence[Phrase], at: int) -> Phrase:
    """Return a phrase with those that follow it behind “of”."""
    end = at
    while end + 1 < len(found) and found[end + 1].preposition == "of" and not found[end + 1].role:
        end += 1
    first, last = found[at], found[end]
    text = question[first.start : last.end]
    return Phrase(text, first.start, last.end, first.words, first.determiner, first.preposition, first.role)


class _Parsing:
    """One pass over the words of a question."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._tokens = [
            _Token(match.group().rstrip("."), match.start(), match.start() + len(match.group().rstrip(".")))
            for match in _TOKEN.finditer(question)
            if match.group().rstrip(".")
        ]
        self._asks = self._tokens[0].low if self._tokens else ""
        self._awaits_verb = False
        self._has_auxiliary = any(token.low in _DO | _BE | _HAVE for token in self._tokens)

    def phrases(self) -> Iterator[Phrase]:
        tokens = self._tokens
        at, auxiliary, has_subject, behind = 0, "", False, ""
        while at < len(tokens):
            low = tokens[at].low
            if low in _HAVE and behind == "run" and not auxiliary:
                auxiliary, behind, has_subject = low, "run", True
            elif low in _DO | _BE | _HAVE:
                auxiliary, behind = low, "auxiliary"
                self._awaits_verb = low in _DO and not has_subject
            elif low in _PRONOUNS:
                has_subject, behind = has_subject or behind == "auxiliary", "pronoun"
            elif low in _QUESTION_WORDS:
                behind = "asked"
            elif low in PREPOSITIONS:
                behind = low
            elif low in _OTHERS and low not in ("one",):
                behind = "asked" if self._asks == "how" and low in ("many", "much") and at == 1 else behind
            else:
                end = self._end_of_run(at)
                for phrase in self._run(at, end, auxiliary, behind, has_subject):
                    has_subject = has_subject or phrase.role == "subject"
                    yield phrase
                has_subject = has_subject or behind == "auxiliary"
                at, behind = end, "run"
                continue
            at += 1

    def _end_of_run(self, at: int) -> int:
        end = at + 1
        while end < len(self._tokens):
            low = self._tokens[end].low
            is_apart = self._question[self._tokens[end - 1].end : self._tokens[end].start].strip() != ""
            little = PREPOSITIONS | _DETERMINERS | _DO | _BE | _HAVE | _PRONOUNS | _QUESTION_WORDS | _OTHERS
            if low in little or is_apart:
                break
            end += 1
        return end

    def _run(self, at: int, end: int, auxiliary: str, behind: str, has_subject: bool) -> Iterator[Phrase]:
        """Yield the phrases of words between little ones, without the verbs among them."""
        tokens = self._tokens[at:end]
        has_determiner = tokens[0].low in _DETERMINERS
        lows = [token.low for token in tokens]
        if behind in ("pronoun", "to") and not has_determiner and (behind == "pronoun" or lows[0] in _VERBS):
            self._awaits_verb = self._awaits_verb and behind != "pronoun"
            yield from self._phrase(tokens[1:], "", "object")
        elif behind == "asked":
            yield from self._asked(tokens)
        elif behind == "auxiliary" and not has_subject:
            follower = self._tokens[end].low if end < len(self._tokens) else ""
            is_whole = follower == "of" or follower in _BE | _HAVE
            verb = len(lows) if is_whole else self._verb_in(lows, auxiliary, int(has_determiner), not follower)
            self._awaits_verb = self._awaits_verb and not (verb < len(lows) and lows[verb] in _VERBS)
            yield from self._phrase(tokens[:verb], "", "subject")
            yield from self._phrase(tokens[verb + 1 :], "", "object")
        elif behind in PREPOSITIONS:
            verb = next((n for n, low in enumerate(lows) if n and _is_predicate(low)), len(lows))
            verb = verb if auxiliary else len(lows)
            if self._awaits_verb and len(lows) > 1 + has_determiner and lows[-1] in _VERBS:
                # "Does shipping to Canada cost …?"
                verb, self._awaits_verb = min(verb, len(lows) - 1), False
            yield from self._phrase(tokens[:verb], behind, "")
        elif not has_determiner and (_is_predicate(lows[0]) or lows[0] in _VERBS):
            yield from self._phrase(tokens[1:], "", "object")
        else:
            yield from self._phrase(tokens, "", "object" if has_determiner else "")

    def _asked(self, tokens: Sequence[_Token]) -> Iterator[Phrase]:
        """Yield what stands behind a question word: what is asked for, or a verb with its object."""
        lows = [token.low for token in tokens]
        if self._asks in ("who", "whom") or (self._asks == "what" and _is_verb(lows[0])):
            yield from self._phrase(tokens[1:], "", "object")
            return
        if self._asks == "how" and self._tokens[1].start == tokens[0].start:
            return
        starts = range(1, len(lows)) if not self._has_auxiliary else ()
        verb = next((n for n in starts if _is_verb(lows[n]) or _is_predicate(lows[n])), len(lows))
        role = "" if self._asks == "how" and len(lows) == 1 and self._has_auxiliary else "asked"
        yield from self._phrase(tokens[:verb], "", role)
        yield from self._phrase(tokens[verb + 1 :], "", "object")

    def _verb_in(self, lows: Sequence[str], auxiliary: str, first: int, is_last: bool) -> int:
        """Return the place of the verb behind a subject; the number of words where there is none."""
        places = range(first + 1, len(lows))
        if auxiliary in _BE or auxiliary in _HAVE:
            return next((n for n in places if _is_predicate(lows[n])), len(lows))
        verb = next((n for n in places if lows[n] in _VERBS), None)
        if verb is not None:
            return verb
        return len(lows) - 1 if len(lows) - first > 1 and (not is_last or len(lows) - first == 2) else len(lows)

    def _phrase(self, tokens: Sequence[_Token], preposition: str, role: str) -> Iterator[Phrase]:
        determiner = tokens[0].text if tokens and tokens[0].low in _DETERMINERS else ""
        words = tuple(token.text for token in tokens[1 if determiner else 0 :])
        if words:
            start, end = tokens[0].start, tokens[-1].end
            yield Phrase(self._question[start:end], start, end, words, determiner.lower(), preposition, role)


def _is_predicate(low: str) -> bool:
    return low in _PARTICIPLES or (bool(_PREDICATE.match(low)) and low not in _NO_PREDICATE)


def _is_verb(low: str) -> bool:
    """Tell whether a word is a common verb, as it stands behind he or she or in the past, too."""
    stems = (low, low.removesuffix("s"), low.removesuffix("es"), low.removesuffix("d"), low.removesuffix("ed"))
    return any(stem in _VERBS for stem in stems) or low in ("wrote", "made", "took", "held", "led", "won", "built")
