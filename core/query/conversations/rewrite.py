"""Follow-up questions made standalone by a generator, held against the conversation; the rules stand where it fails."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing

from core.errors import EvoRAGError
from core.generators import NONE, Generators
from core.model import Prompt, Sampling, Task, WritingStep
from core.query.answer.escape import escape_inline
from core.query.conversations.follow_up import Earlier, may_follow, readings
from core.query.understand.understanding import StandaloneQuestion
from core.settings import AnswerSettings
from core.text.analysis import content_words
from core.text.language import detect_language

_LAST = 3
_TIMEOUT_S = 30.0
_MOST_TOKENS = 128
_RULES = {
    "en": "You rewrite the last question of a conversation so that it can be understood without the others. "
    "Answer with that one question on one line and nothing else. Keep its words, its language and its meaning. "
    "If it can be understood by itself, repeat it.",
    "ja": "会話の最後の質問を、前の質問がなくても分かるように書き直してください。"
    "書き直した質問だけを一行で答えてください。言葉と意味は変えないでください。"
    "そのままで分かる質問は、そのまま繰り返してください。",
}
_LABELS = {
    "en": ("Earlier question", "Last question", "Rewritten question"),
    "ja": ("前の質問", "最後の質問", "書き直した質問"),
}
_MARKS = "\"'“”„«»「」『』`*"


class StandaloneRewriter:
    """Makes follow-up questions standalone: by rules, and by a generator where ``by`` names one."""

    def __init__(self, generators: Generators, settings: AnswerSettings, max_chars: int, by: str) -> None:
        self._generators = generators
        self._settings = settings
        self._max_chars = max_chars
        self._by = by or NONE

    def standalone(
        self, question: str, earlier: Sequence[Earlier]
    ) -> Generator[WritingStep, None, StandaloneQuestion | None]:
        """Return a question as it stands without the earlier ones, oldest first; None where it does already.

        Yields an empty ``WritingStep`` whenever a generator has nothing to read for a while; closing it stops the
        generator.
        """
        if not earlier:
            return None
        most, name = self._max_chars, self._by
        read = readings(question, earlier, most)
        by_rules = read.text
        if name != NONE and (by_rules != question or may_follow(question)):
            written = yield from self._written(name, question, earlier[-_LAST:])
            if written is not None and is_faithful(written, question, earlier, most):
                return StandaloneQuestion(written, name) if written != question else None
        if by_rules == question and not read.other:
            return None
        return StandaloneQuestion(by_rules, "rules", read.other)

    def _written(
        self, name: str, question: str, earlier: Sequence[Earlier]
    ) -> Generator[WritingStep, None, str | None]:
        """Return the first line that the generator writes, None where it fails."""
        written = ""
        most_bytes = 8 * self._max_chars
        sampling = Sampling(max_tokens=_MOST_TOKENS, seed=self._settings.generation_seed)
        timeout_s = min(_TIMEOUT_S, self._settings.generation_timeout_s)
        try:
            generator = self._generators.get(self._generators.chosen(Task.STANDALONE, name), Task.STANDALONE)
            if generator is None:
                return None
            # Closing it stops the writing; what follows the first line is not waited for.
            with closing(generator.write(prompt_of(question, earlier), sampling, timeout_s)) as pieces:
                for piece in pieces:
                    if not piece:
                        yield WritingStep(piece)
                    written += piece
                    if "\n" in written.strip() or len(written) > most_bytes:
                        break
        except EvoRAGError:
            return None
        return _line(written)


def prompt_of(question: str, earlier: Sequence[Earlier]) -> Prompt:
    """Return what asks for a standalone question; what was asked is escaped, since titles of documents can be in it."""
    language = detect_language(question)
    before, last, wanted = _LABELS[language]
    lines = [f"{before}: {_data(turn.standalone or turn.question)}" for turn in earlier]
    return Prompt(_RULES[language], "\n".join([*lines, f"{last}: {_data(question)}", f"{wanted}:"]), language)


def is_faithful(written: str, question: str, earlier: Sequence[Earlier], most_chars: int) -> bool:
    """Tell whether what a generator wrote is the question: all of its words, and others mostly of the conversation."""
    if not written or len(written) > most_chars or detect_language(written) != detect_language(question):
        return False
    own, said = content_words(question), content_words(written)
    known: set[str] = set()
    for turn in earlier:
        known |= content_words(" ".join((turn.question, turn.standalone, *turn.titles)))
    foreign = said - own - known
    return own <= said and 2 * len(foreign) <= len(said - own)


def _line(written: str) -> str:
    first = next((line for line in written.strip().splitlines() if line.strip()), "")
    labels = "|".join(re.escape(label) for labels in _LABELS.values() for label in labels)
    return re.sub(rf"^(?:{labels})\s*[:：]\s*", "", _flat(first)).strip(_MARKS + " ")


def _data(text: str) -> str:
    return escape_inline(_flat(text))


def _flat(text: str) -> str:
    return " ".join(text.split())
