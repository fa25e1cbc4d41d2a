"""English follow-up questions: what makes them so, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from core.text.analysis import content_words
from core.text.sentences import joined

_LONGEST_ELLIPSIS = 6
_LONGEST_NAME = 6
_MOST_PRONOUNS = 8
"""What further ones mean is not looked for."""

_ABOUT = re.compile(
    r"^(?:and |but |so |ok |okay |then |also )*(?:what|how)(?:'s|’s)? about (?P<what>.+?)[?.!\s]*$", re.IGNORECASE
)
_AND = re.compile(r"^(?:and|but|or|also|then|so|plus)\b[,\s]+(?P<what>.+?)[?.!\s]*$", re.IGNORECASE)
_PREPOSITION = (
    r"(?:in|on|at|for|from|to|by|with|without|during|since|until|before|after|under|over|within|of|per|near|outside)"
)
_PHRASE = re.compile(rf"^{_PREPOSITION}\s+\S", re.IGNORECASE)
_WH = re.compile(
    r"^(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|shall|may"
    r"|must|has|have|had|tell|show|list|give|name|explain|describe)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:(?P<possessive>its|their|theirs|his)|(?P<person>he|she|him|her)|(?P<thing>it|they|them|that|this|those|these))\b"
    r"(?!['’](?:s|re|ll|d)\s+(?:said|true))",
    re.IGNORECASE,
)
_DUMMY = re.compile(
    r"\b(?:is|was|would|will|does)\s+it\s+(?:be\s+)?(?:possible|necessary|allowed|required|true|important|worth|ok|okay"
    r"|permitted|forbidden|mandatory|raining|snowing|matter|take|cost)\b[^?.!]{0,80}\b(?:to|that|if|for)\b"
    r"|\bwhat (?:time|day|date) is it\b|\bit\s+(?:is|was)\s+\w+\s+(?:to|that)\b",
    re.IGNORECASE,
)
_DETERMINED = re.compile(r"\b(?:that|this|those|these)\s+(?P<noun>[A-Za-z][\w-]*)", re.IGNORECASE)
_NOUN_PHRASE = re.compile(
    r"\b(?P<det>the|a|an|our|my|your|each|every)\s+(?P<words>[A-Za-z0-9][\w'’-]*(?:\s+[A-Za-z0-9][\w'’-]*)*)",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:[A-Z][\w'’.&-]*|(?<![A-Z0-9])[A-Z0-9]+-[A-Z0-9-]+)(?:\s+(?:(?:of|the|and|for|de|van|von)\s+)*(?:[A-Z][\w'’.&-]*|\d+))*"
)
_FIGURE = re.compile(r"\b\d[\d.,:/-]*\b")
_ASKED = re.compile(
    r"^(?:(?:which|what|whose|how)\b[\w\s'’-]*?\b(?=(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)\b)"
    r"|(?:who|what|which(?:\s+\w+)?)\s+(?:\w+ed|\w+s|\w+)\s)",
    re.IGNORECASE,
)
"""What stands first in a question and is asked for, so that no pronoun behind it means it."""
_VERB_LAST = frozenset(
    ("do", "does", "did", "can", "could", "will", "would", "should", "shall", "may", "must", "might")
)
_NOUN_LAST = frozenset(("is", "are", "was", "were"))
_AUXILIARIES = _VERB_LAST | _NOUN_LAST | {"has", "have", "had", "be", "been"}


def resolve(question: str, before: str, titles: Sequence[str]) -> str | None:
    """Return what a question means after another one, None where it stands by itself."""
    about = _ABOUT.match(question)
    if about and not _PRONOUN.search(about["what"]):
        return _in_place(about["what"], before) or joined(before, question)
    told = question
    following = _AND.match(question)
    if following:
        told = _capitalised(following["what"]) + ("?" if question.rstrip().endswith("?") else "")
        if not _WH.match(told):
            return _in_place(following["what"], before) or joined(before, question)
    is_short = len(told.split()) <= _LONGEST_ELLIPSIS
    bare = told.rstrip("?!. ")
    if _asks_for_more(bare):
        return joined(before, question)
    if (
        is_short
        and (_PHRASE.match(bare) or _FIGURE.fullmatch(bare))
        and not content_words(bare) <= content_words(before)
    ):
        return _in_place(bare, before) or joined(before, question)
    meant = _pronoun_resolved(told, before, titles)
    if meant is not None:
        return meant or joined(before, question)
    if not content_words(told):
        return joined(before, question)
    return told if following and told != question and _is_whole(told) else None


def _asks_for_more(bare: str) -> bool:
    return bool(
        re.fullmatch(
            r"(?:what|who|where|anything|anyone|any|something)\s+(?:else|others?|more|further)"
            r"|(?:can you )?(?:tell|give|show) me (?:more|details|an example|examples)"
            r"|(?:more|further|any) (?:details|information|examples)|for example|any (?:exceptions?|limits)"
            r"|go on|continue|why(?: not| so| is that)?|how so|since when|until when|how (?:come|much|many|long|often)",
            bare,
            re.IGNORECASE,
        )
    )


def _is_whole(text: str) -> bool:
    return bool(_WH.match(text)) and len(content_words(text)) > 1


# ---- "what about …"


def _in_place(what: str, before: str) -> str:
    """Return the question before with ``what`` in the place of its like; empty where that is not certain."""
    what = what.strip(" ,?.!")
    base = before.rstrip("?!. ")
    if _PHRASE.match(what):
        preposition = what.split()[0]
        like = list(re.finditer(rf"\b{preposition}\s+(?:(?:the|a|an|our)\s+)?(?:[A-Z0-9][\w.,-]*|\w+)(?=$|\s)", base))
        if len(like) > 1:
            return ""
        if like and like[0].end() == len(base) and bool(_FIGURE.search(like[0].group())) == bool(_FIGURE.search(what)):
            return f"{base[: like[0].start()]}{what}?"
        return "" if like else f"{base} {what}?"
    figures = _FIGURE.findall(base)
    if _FIGURE.fullmatch(what):
        return re.sub(_FIGURE, lambda _: what, base) + "?" if len(figures) == 1 else ""
    names = _names(base)
    if _NAME.fullmatch(what):
        return f"{base.replace(names[0], what)}?" if len(names) == 1 else ""
    return _phrase_replaced(what, base)


def _phrase_replaced(what: str, base: str) -> str:
    if not re.match(r"(?:the|a|an|our|my|your|each|every)\s", what, re.IGNORECASE) or _names(base):
        return ""
    phrase = _only_phrase(base)
    return f"{base.replace(phrase, what, 1)}?" if phrase else ""


def _only_phrase(base: str) -> str:
    """Return the noun phrase of a question that has one, empty where its end cannot be told."""
    found = list(_NOUN_PHRASE.finditer(base))
    if len(found) != 1:
        return ""
    words = found[0]["words"].split()
    run = []
    for word in words:
        if not content_words(word) or word.lower() in _AUXILIARIES:
            break
        run.append(word)
    opening = base[: found[0].start()].lower().split()
    auxiliary = next((word for word in reversed(opening) if word in _AUXILIARIES), "")
    asks = opening[0] if opening else ""
    if not run or not auxiliary:
        return ""
    if auxiliary in _VERB_LAST:
        # "When does [the museum] open": the verb ends the run; behind other words there is no telling.
        run = run[:-1] if opening and opening[-1] == auxiliary else run
    elif not ((auxiliary in _NOUN_LAST and asks in ("what", "who", "where", "which")) or len(run) == 1):
        return ""
    return " ".join([found[0]["det"], *run]) if run else ""


# ---- pronouns


def _pronoun_resolved(question: str, before: str, titles: Sequence[str]) -> str | None:
    """Return the question with its pronoun named; empty where it is not certain what that is, None without one."""
    if _DUMMY.search(question):
        return None
    for determined in _DETERMINED.finditer(question):
        noun = determined["noun"]
        if content_words(noun) and not _is_verb_after(question, determined.start()):
            phrase = _only_phrase(before.rstrip("?!. "))
            fits = phrase.lower().endswith(f" {noun.lower()}") and len(phrase.split()) > 2
            return question.replace(determined.group(), phrase, 1) if fits else None
    pronouns = islice(_PRONOUN.finditer(question), _MOST_PRONOUNS)
    found = next((each for each in pronouns if _has_nothing_before(question, each.start())), None)
    if found is None:
        return None
    if found.lastgroup == "thing" and found.group().lower() in ("that", "this", "these", "those"):
        rest = question[found.end() :].strip(" ?!.").split()
        if rest and content_words(rest[0]) and found.start() == 0:
            return None
    meant = _antecedent(before, titles, is_person=found.group().lower() in ("he", "she", "him", "her", "his"))
    if not meant:
        return ""
    is_of_her = found.group().lower() == "her" and content_words(question[found.end() :])
    if found.lastgroup == "possessive" or is_of_her:
        meant = f"{meant}’" if meant.endswith("s") else f"{meant}’s"
    return _capitalised(f"{question[: found.start()]}{meant}{question[found.end() :]}")


def _is_verb_after(question: str, start: int) -> bool:
    """Tell whether "that" at ``start`` is followed by the verb of a question such as "why does that happen"."""
    opening = question[:start].lower().split()
    return bool(opening) and opening[-1] in _VERB_LAST and len(question[start:].split()) == 2


def _has_nothing_before(question: str, start: int) -> bool:
    """Tell whether nothing stands before ``start`` that a pronoun there could mean."""
    return not content_words(_ASKED.sub("", question[:start]))


def _antecedent(before: str, titles: Sequence[str], *, is_person: bool) -> str:
    base = before.rstrip("?!. ")
    names = _names(base)
    if len(names) == 1:
        return names[0]
    if names or is_person:
        return ""
    phrase = _only_phrase(base)
    if phrase:
        return phrase
    return f"“{titles[0]}”" if len(set(titles)) == 1 and not _NOUN_PHRASE.search(base) else ""


def _names(base: str) -> list[str]:
    """Return the distinct capitalised names and codes of a question, without the word that begins it."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(base):
        words = match.group().split()
        if match.start() == 0 and (_WH.match(words[0]) or not content_words(words[0]) or len(words) == 1):
            words = words[1:]
        name = re.sub(r"['’]s?$", "", " ".join(words))
        if name and name != "I" and content_words(name) and len(words) <= _LONGEST_NAME:
            found[name] = None
    return list(found)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
