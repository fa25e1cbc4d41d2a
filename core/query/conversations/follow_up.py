"""Follow-up questions made standalone by rules, in English and Japanese.

A question is touched only where it says itself that it follows another: by a pronoun with nothing before it that it
could mean, by an opening such as "what about", or by having no content of its own. What it means is put in its place
where there is one candidate; otherwise the question before is put in front of it, which says too much but nothing
wrong. A question that stands by itself is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.query.conversations import follow_up_en, follow_up_ja
from core.query.conversations.readings import Readings
from core.text.analysis import content_words
from core.text.language import detect_language
from core.text.sentences import joined

_FEW_WORDS = 2


@dataclass(frozen=True, slots=True)
class Earlier:
    """A question that was asked before: as typed, as it stands by itself, and the titles that its answer cites."""

    question: str
    standalone: str = ""
    titles: tuple[str, ...] = ()


def made_standalone(question: str, earlier: Sequence[Earlier], most_chars: int) -> str:
    """Return a question as it stands without the earlier ones (oldest first); itself where it does already."""
    return readings(question, earlier, most_chars).text


def readings(question: str, earlier: Sequence[Earlier], most_chars: int) -> Readings:
    """Return what a question is read as behind the earlier ones, oldest first; unsure where it may mean another."""
    line = " ".join(question.split())
    before = _base(earlier)
    as_asked = Readings(question)
    if not line or not before:
        return as_asked
    rules = follow_up_ja if detect_language(line) == "ja" else follow_up_en
    made = rules.resolve(line, before, earlier[-1].titles if earlier else ())
    if made is None or len(made.text) > most_chars:
        return as_asked
    text = question if made.text == line else made.text
    other = question if made.other == line else made.other
    return Readings(text, other if other != text and len(other) <= most_chars else "")


def may_follow(question: str) -> bool:
    """Tell whether a question has so few words of its own that it may follow another although no rule finds it."""
    return len(content_words(question)) <= _FEW_WORDS and not re.search("[0-9]", question)


def _base(earlier: Sequence[Earlier]) -> str:
    """Return the last question that stands by itself, without what was joined to it."""
    base = ""
    for turn in earlier:
        asked = " ".join((turn.standalone or turn.question).split())
        base = base if base and asked.startswith(f"{base} ") and asked == joined(base, _line(turn.question)) else asked
    return base


def _line(text: str) -> str:
    return " ".join(text.split())
