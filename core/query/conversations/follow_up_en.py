"""English follow-up questions: what makes them so, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from core.query.conversations.ellipsis_en import in_place, is_plural, with_property
from core.query.conversations.english_question import PREPOSITIONS, Phrase, antecedent, phrases
from core.query.conversations.readings import Readings
from core.text.analysis import content_words
from core.text.sentences import joined

_LONGEST_ELLIPSIS = 6
_LONGEST_NAME = 6
_LONGEST_MEANT = 9
_LONGEST_READ = 600
"""Of longer questions nobody left anything out; the rules look at each word several times."""
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
    r"\b(?:(?P<possessive>its|their|theirs|his)|(?P<person>he|she|him|her)|(?P<one>ones?)"
    r"|(?P<place>(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )there)|(?P<thing>it|they|them|that|this|those|these))\b"
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
_NAME = re.compile(
    r"(?:[A-Z][\w'’.&-]*|(?<![A-Z0-9])[A-Z0-9]+-[A-Z0-9-]+)(?:\s+(?:(?:of|the|and|for|de|van|von)\s+)*(?:[A-Z][\w'’.&-]*|\d+))*"
)
_FIGURE = re.compile(r"\b\d[\d.,:/-]*\b")
_DID_THAT = re.compile(
    r"\b(?:do|does|did|done|doing|prevent|avoid|change|know|mean)\s+(?:that|this|so)\b", re.IGNORECASE
)
_ASKS_WHO_DID = re.compile(r"who\s+(?!(?:is|was|are|were|do|does|did|can|could|will|would|should)\b)", re.IGNORECASE)
"""He or she is then who was asked for, and not what was done by them."""
_SAYS_LITTLE = frozenset(("way", "chance", "possibility", "reason", "need", "difference", "limit", "time"))
_VERB_LAST = frozenset(
    ("do", "does", "did", "can", "could", "will", "would", "should", "shall", "may", "must", "might")
)


def resolve(question: str, before: str, titles: Sequence[str]) -> Readings | None:
    """Return what a question means after another one, None where it stands by itself."""
    if max(len(question), len(before)) > _LONGEST_READ:
        return None
    front = joined(before, question)
    about = _ABOUT.match(question)
    if about and _has_like(about["what"], question):
        return in_place(about["what"], before, front)
    told = question
    following = _AND.match(question)
    if following:
        told = _capitalised(following["what"]) + ("?" if question.rstrip().endswith("?") else "")
        if not _WH.match(told):
            return in_place(following["what"], before, front)
    bare = told.rstrip("?!. ")
    if _asks_for_more(bare):
        return Readings(front)
    if len(told.split()) <= _LONGEST_ELLIPSIS and not content_words(bare) <= content_words(before):
        if _PHRASE.match(bare) or _FIGURE.fullmatch(bare):
            return in_place(bare, before, front)
        if told.endswith("?") and not _WH.match(bare) and not _pronouns(bare, question):
            return _fragment(bare, before, question, front)
    meant = with_property(told, before, front) or _pronoun_resolved(told, before, titles, front)
    if meant is not None:
        return meant
    if not content_words(told):
        return Readings(front)
    return Readings(told) if following and told != question and _is_whole(told) else None


def _fragment(bare: str, before: str, question: str, front: str) -> Readings | None:
    """Return what a few words with a question mark mean, which may be all that is asked."""
    found = in_place(bare, before, "")
    if found.text and not found.other and found.text != front:
        return found
    if not found.text:
        return Readings(question, front) if len(bare.split()) <= 2 else None
    return Readings(found.text, question)


def _has_like(what: str, question: str) -> bool:
    """Tell whether something can stand in the place of its like: it is named, or is "the blue one" or "after that"."""
    words = what.lower().split()
    pointing = {each.group().lower() for each in _pronouns(what, question)}
    if not pointing or words[0] in ("its", "their"):
        return True
    if pointing <= {"one", "ones"}:
        return words[-1] in pointing and len(words) > 1 and words[-2] not in ("the", "which", "number")
    return len(words) == 2 and words[0] in PREPOSITIONS and words[1] in pointing


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


# ---- pronouns


def _pronoun_resolved(question: str, before: str, titles: Sequence[str], front: str) -> Readings | None:
    """Return the question with its pronoun named, ``front`` where nobody can tell what it is; None without one."""
    if _DUMMY.search(question):
        return None
    for determined in _DETERMINED.finditer(question):
        noun = determined["noun"]
        if content_words(noun) and not _is_verb_after(question, determined.start()):
            like = [each for each in phrases(before) if each.head == noun.lower() and len(each.words) > 1]
            return Readings(question.replace(determined.group(), like[0].text, 1)) if len(like) == 1 else None
    pronouns = _pronouns(question, question)
    found = next((each for each in pronouns if _has_nothing_before(question, each)), None)
    if found is None:
        return None
    word = found.group().lower()
    if word in ("that", "this", "these", "those"):
        rest = question[found.end() :].strip(" ?!.").split()
        if rest and content_words(rest[0]) and found.start() == 0:
            return None
        if _DID_THAT.search(question):
            return Readings(front)
    meant, is_sure = _meant(found, question, before, titles)
    if not meant:
        return Readings(front)
    made = _capitalised(f"{question[: found.start()]}{meant}{question[found.end() :]}")
    return Readings(made) if is_sure else Readings(made, front)


def _pronouns(text: str, question: str) -> list[re.Match[str]]:
    """Return the pronouns in a text of a question; IT is one only where all of the question is in capitals."""
    found = (each for each in _PRONOUN.finditer(text) if each.group() != "IT" or question.isupper())
    return list(islice(found, _MOST_PRONOUNS))


def _is_verb_after(question: str, start: int) -> bool:
    """Tell whether "that" at ``start`` is followed by the verb of a question such as "why does that happen"."""
    opening = question[:start].lower().split()
    return bool(opening) and opening[-1] in _VERB_LAST and len(question[start:].split()) == 2


def _has_nothing_before(question: str, found: re.Match[str]) -> bool:
    """Tell whether nothing stands before a pronoun that it could mean there."""
    if found.lastgroup == "one" and not re.match(r"[\s?.!]*$|\s+(?:in|on|for|from|at|with)\b", question[found.end() :]):
        return False
    before = [each for each in phrases(question) if each.end <= found.start()]
    return all(each.role == "asked" or each.head in _SAYS_LITTLE for each in before)


def _meant(found: re.Match[str], question: str, before: str, titles: Sequence[str]) -> tuple[str, bool]:
    """Return what stands in the place of a pronoun, and whether that is certain; empty where it is not known."""
    kind, word = str(found.lastgroup), found.group().lower()
    base = before.rstrip("?!. ")
    is_of_her = word == "her" and bool(content_words(question[found.end() :]))
    if kind == "person" or word == "his":
        names = _names(base) if not _ASKS_WHO_DID.match(base) else []
        person = names[0] if len(names) == 1 else ""
        return (_of(person) if kind == "possessive" or is_of_her else person) if person else "", True
    if kind == "place":
        return _place(base), True
    if kind == "one":
        like = [each for each in phrases(base) if each.role == "object"]
        return (like[0].text, True) if len(like) == 1 else ("", True)
    everything = phrases(base)
    wanted = word in ("they", "them", "their", "theirs", "those", "these")
    fitting = [each for each in everything if each.role and (_is_named(each) or is_plural(each) == wanted)]
    if not fitting:
        fitting = [each for each in everything if _is_named(each) or is_plural(each) == wanted]
    first = antecedent(base)
    if not fitting:
        only = f"“{titles[0]}”" if len(set(titles)) == 1 and first is None else ""
        return only, True
    roles = ("subject", "object", "asked", "")
    chosen = min(fitting, key=lambda each: roles.index(each.role))
    if kind == "possessive":
        owned = [each for each in everything if each.preposition == "of" and each.start > chosen.start]
        return _of(owned[0].text if owned and first is not None else chosen.text), len(fitting) < 2
    whole = first if first is not None and first.start == chosen.start else chosen
    text = whole.text if len(whole.text.split()) <= _LONGEST_MEANT else chosen.text
    if chosen.role == "asked" or chosen.determiner in ("a", "an"):
        text = "the " + (text if chosen.determiner not in ("a", "an") else text.split(maxsplit=1)[1])
    return text, sum(bool(each.role) for each in fitting) < 2


def _of(owner: str) -> str:
    """Return the possessive form of a name; a code stands in it without its article."""
    owner = re.sub(r"^the (?=[A-Z0-9]+-\d)", "", owner)
    return f"{owner}’" if owner.endswith("s") else f"{owner}’s"


def _place(base: str) -> str:
    """Return where a question before was about; empty where it names no place."""
    found = phrases(base)
    places = [each for each in found if each.preposition in ("in", "at")]
    if len(places) == 1:
        return f"{places[0].preposition} {places[0].text}"
    subject = next((each for each in found if each.role in ("subject", "object")), None)
    return f"in {subject.text}" if subject is not None and not places else ""


def _is_named(phrase: Phrase) -> bool:
    return any(word[:1].isupper() for word in phrase.words)


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
