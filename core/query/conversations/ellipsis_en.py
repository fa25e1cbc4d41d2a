"""English questions that leave out what the one before has said: "and in Japan?", "the board room?", "-n?"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.query.conversations.english_question import PREPOSITIONS, Phrase, antecedent, phrases
from core.query.conversations.readings import Readings
from core.text.analysis import content_words

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_CODE = re.compile(r"(?=[\w.-]*[A-Z])(?:[\w.-]*\d[\w.-]*|[A-Z]+[a-z]+[A-Z][\w.-]*|[A-Z]+[-_][A-Z][\w.-]*)")
_FIGURE = re.compile(r"\d[\d.,:/-]*")
_NUMBER_WORDS_LINES = """
    one two three four five six seven eight nine ten twelve twenty thirty hundred thousand
"""
_NUMBER_WORDS = frozenset(_NUMBER_WORDS_LINES.split())
_TIMES = frozenset(("during", "before", "after", "since", "until", "within"))
_TIME = re.compile(
    r"(?:19|20)\d\d|(?:FY|Q[1-4]|H[12])[\d/-]*|(?:Jan(?:uary)?|Feb(?:ruary)?|March|Mar|April|Apr|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|spring|summer|autumn|winter"
)
_OPPOSITES = (
    ("minimum", "maximum"),
    ("min", "max"),
    ("lowest", "highest"),
    ("smallest", "largest"),
    ("lower", "upper"),
    ("first", "last"),
    ("old", "new"),
    ("oldest", "newest"),
    ("shortest", "longest"),
    ("cheapest", "dearest"),
    ("monthly", "yearly"),
    ("weekly", "daily"),
    ("internal", "external"),
    ("public", "private"),
    ("start", "end"),
    ("input", "output"),
    ("incoming", "outgoing"),
    ("earliest", "latest"),
    ("left", "right"),
)
_SURE, _LEAST, _MARGIN = 2.0, 0.5, 1.5


def in_place(what: str, before: str, front: str) -> Readings:
    """Return the question before with ``what`` in the place of its like; ``front`` where none is like it."""
    what = what.strip(" ,?.!")
    base = before.rstrip("?!. ")
    options = _OPTION.findall(base)
    if _OPTION.fullmatch(what):
        return Readings(f"{base.replace(options[0], what)}?") if len(set(options)) == 1 else Readings(front)
    words = what.split()
    if words[0].lower() in PREPOSITIONS and len(words) > 1:
        return _with_preposition(words[0].lower(), what, base, front)
    opposite = _opposite(words, base)
    if opposite:
        return Readings(opposite)
    if words[0].lower() in ("its", "their", "his", "her"):
        return _of_the_same(" ".join(words[1:]), base, front)
    given = _phrase(what)
    scored = sorted(((_likeness(given, each), -each.start, each) for each in phrases(base)), reverse=True)
    if not scored or scored[0][0] < _LEAST:
        return Readings(front)
    best, second = scored[0], scored[1][0] if len(scored) > 1 else -9.0
    made = f"{base[: best[2].start]}{_filled(given, best[2])}{base[best[2].end :]}?"
    is_sure = best[0] >= _SURE and best[0] - second >= _MARGIN
    return Readings(made) if is_sure else Readings(made, front)


def _with_preposition(preposition: str, what: str, base: str, front: str) -> Readings:
    inner = _phrase(what.split(maxsplit=1)[1])
    found = [each for each in phrases(base) if each.preposition]
    if inner.text.lower() in ("it", "that", "this", "them", "these", "those"):
        like = [each for each in found if each.preposition in _TIMES]
        if len(like) == 1 and preposition in _TIMES:
            return Readings(f"{base[: _start(like[0], base)]}{preposition} {like[0].text}{base[like[0].end :]}?")
        return Readings(front)
    like = [each for each in found if each.preposition == preposition]
    if not like and preposition in _TIMES:
        like = [each for each in found if each.preposition in _TIMES]
    if preposition not in _TIMES:
        same = [each for each in like if _is_time(each) == _is_time(inner)]
        if like and not same:
            return Readings(f"{base} {what}?")
        like = same
    if len(like) > 1:
        scored = sorted(((_likeness(inner, each), each.start, each) for each in like), reverse=True)
        each = scored[0][2]
        made = f"{base[: each.start]}{_filled(inner, each)}{base[each.end :]}?"
        return Readings(made) if scored[0][0] - scored[1][0] >= _MARGIN else Readings(made, front)
    if like:
        if _has_figure(inner) != _has_figure(like[0]):
            return Readings(front)
        return Readings(f"{base[: _start(like[0], base)]}{preposition} {_filled(inner, like[0])}{base[like[0].end :]}?")
    return Readings(f"{base} {what}?") if preposition != "of" else Readings(front)


def _of_the_same(noun: str, base: str, front: str) -> Readings:
    """Return what asks for another property of the same: "and its weight?" behind "what is the size of the pump?"."""
    found = phrases(base)
    owners = [each for each in found if each.preposition == "of"]
    subject = next((each for each in found if each.role == "subject"), None)
    if not noun or not owners or subject is None or subject.end > owners[0].start:
        return Readings(front)
    return Readings(f"{base[: subject.start]}the {noun}{base[subject.end :]}?")


def _opposite(words: Sequence[str], base: str) -> str:
    """Return the question with one word turned round: "the minimum?" behind one that asks for the maximum."""
    named = [word.lower() for word in words if word.lower() not in ("the", "a", "one", "ones")]
    if len(named) != 1:
        return ""
    for pair in _OPPOSITES:
        if named[0] in pair:
            other = pair[1 - pair.index(named[0])]
            made, count = re.subn(rf"\b{other}\b", named[0], base, flags=re.IGNORECASE)
            return f"{made}?" if count == 1 else ""
    return ""


def _phrase(text: str) -> Phrase:
    words = text.split()
    determiner = words[0] if words[0].lower() in ("the", "a", "an", "our", "my", "your", "each", "every") else ""
    rest = tuple(words[1:] if determiner and len(words) > 1 else words)
    return Phrase(text, 0, len(text), rest, determiner.lower())


def _likeness(given: Phrase, other: Phrase) -> float:
    """Tell how well a phrase could stand in the place of another one."""
    score = 0.5 if other.role == "subject" else 1.0 if other.preposition == "of" else 0.0
    score -= other.role == "asked"
    kinds = (
        (_has_figure(given), _is_code(given), _is_name(given)),
        (_has_figure(other), _is_code(other), _is_name(other)),
    )
    for is_given, is_other, worth in zip(*kinds, (4.0, 5.0, 3.0), strict=True):
        score += worth if is_given and is_other else -3.0 if is_given != is_other else 0.0
    if content_words(given.head) & content_words(other.head):
        score += 4.0
    if not any(kinds[0]):
        score += 1.0 if bool(given.determiner) == bool(other.determiner) else -1.0
        score += 1.0 if is_plural(given) == is_plural(other) else -1.0
    return score


def _filled(given: Phrase, place: Phrase) -> str:
    """Return a phrase as it stands in the place of another: "the old one" names what it is one of."""
    text = given.text
    if given.head in ("one", "ones") and len(given.words) > 1:
        text = re.sub(r"ones?$", place.words[-1], text)
    if place.determiner == "the" and not given.determiner and _is_code(given):
        text = f"the {text}"
    return text


def _start(phrase: Phrase, base: str) -> int:
    """Return where the preposition of a phrase begins."""
    return base.lower().rindex(phrase.preposition, 0, phrase.start)


def _has_figure(phrase: Phrase) -> bool:
    return any(_FIGURE.fullmatch(word) or word.lower() in _NUMBER_WORDS for word in phrase.words[:2]) and (
        phrase.head not in ("one", "ones")
    )


def _is_time(phrase: Phrase) -> bool:
    return any(_TIME.fullmatch(word) for word in phrase.words)


def _is_code(phrase: Phrase) -> bool:
    return any(_CODE.fullmatch(word) for word in phrase.words)


def _is_name(phrase: Phrase) -> bool:
    return not _is_code(phrase) and any(word[:1].isupper() for word in phrase.words)


def is_plural(phrase: Phrase) -> bool:
    head = phrase.head
    return (head.endswith("s") and not head.endswith(("ss", "us", "sis"))) or head in ("people", "children", "data")


def with_property(question: str, before: str, front: str) -> Readings | None:
    """Return "how long does it take?" with what takes so long; None for another question."""
    takes = re.match(r"(?P<asks>.*\bdo(?:es)? (?-i:it) (?:take|cost))\b[\s?.!]*$", question, re.IGNORECASE)
    if takes is None:
        return None
    did = re.match(r"how (?:do|can|could|should|would) (?:I|you|we|one) (?P<act>.+?)[\s?.!]*$", before, re.IGNORECASE)
    if did is None:
        did = re.match(r"how to (?P<act>.+?)[\s?.!]*$", before, re.IGNORECASE)
    if did is not None:
        return Readings(f"{takes['asks']} to {did['act']}?")
    meant = antecedent(before)
    return Readings(front, question.replace(" it ", f" {meant.text} ", 1)) if meant is not None else Readings(front)
