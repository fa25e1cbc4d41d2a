"""What each stretch of a document stands under besides headings: the term, option, list item or question above it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import LABEL_JOINT, Block, BlockKind
from core.text.questions_and_answers import ASKS, answer_mark, is_marked_question, is_question
from core.text.sentences import columns_of

LONGEST_LABEL = 200
_LONGEST_TERM = 100
"""A line of running text over an indented one is a term up to this length; an item of a list always is its label."""
_DEEPER = 2
_BLOCKS_OF_AN_ANSWER = 3
_NARROWEST_PAGE = 60
"""A line shorter than this did not end because its page did."""
_MARKER = re.compile(r"(?:[•·*+–-]|\d{1,3}[.)])\s+")
_BULLETS = frozenset("•·*+–-o")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_DRAWN = re.compile(r"([^\w\s])\1{2,}")
_HANGING = re.compile(r"(?P<term>\S+(?: \S+)*?)\s{2,}(?P<said>\S)")
_ENDED = re.compile(r"[.。．!！?？:：;；,、，][」』）)\"'”’]*\Z|[」』]\Z")


class Labels:
    """Follows a document block by block.

    A parser says what a definition, or a hanging paragraph of a page, stands under. What lines tell by their
    indentation (options of a manual page as text, items of a list with more below them), and the question of an entry
    of an FAQ (a paragraph, a line or an item of its own), are found here.
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._hanging: dict[int, int] = {}
        self._question = ""
        self._answered = 0

    def of(self, block: Block) -> Sequence[tuple[int, str]]:
        """Return where in the block's text a label begins to hold, with the label, in order; the first at 0."""
        if block.kind is BlockKind.HEADING:
            self._open, self._hanging, self._question = [], {}, ""
            return [(0, "")]
        if block.kind in (BlockKind.TABLE, BlockKind.CODE):
            return [(0, block.header or (self._asked() if block.kind is BlockKind.CODE else ""))]
        lines = _lines(block.text)
        asked = [block.header[:LONGEST_LABEL]] * len(lines) if block.header else self._asked_above(block.kind, lines)
        found: list[tuple[int, str]] = []
        for above, (at, label) in zip(asked, self._by_indent(block.kind, lines), strict=True):
            whole = LABEL_JOINT.join(dict.fromkeys(each for each in (above, label) if each))[:LONGEST_LABEL]
            if not found or found[-1][1] != whole:
                found.append((at if found else 0, whole))
        return found or [(0, block.header[:LONGEST_LABEL])]

    def _asked_above(self, kind: BlockKind, lines: Sequence[_Line]) -> list[str]:
        """Return the question that each line of a block answers, empty for one that asks or answers none."""
        is_list = kind is BlockKind.LIST
        asking = _asking(lines, is_list)
        if not any(asking):
            return [self._asked()] * len(lines)
        found: list[str] = []
        for number, (line, asks) in enumerate(zip(lines, asking, strict=True)):
            text = _item_text(line) if is_list else line.text
            if (
                asks
                and number
                and asking[number - 1]
                and not self._question.endswith(ASKS)
                and not is_marked_question(text)
            ):
                self._question = f"{self._question} {text}"
            elif asks:
                self._question, self._answered = text, 0
            elif is_list and (_MARKER.match(line.text) or number == 0) and not answer_mark(text):
                self._question = ""
            found.append("" if asks else self._question[:LONGEST_LABEL])
        if not asking[-1] and (is_list or not is_marked_question(self._question)):
            self._question = ""
        return found

    def _asked(self) -> str:
        if not self._question:
            return ""
        self._answered += 1
        if self._answered > _BLOCKS_OF_AN_ANSWER and not is_marked_question(self._question):
            self._question = ""
        return self._question[:LONGEST_LABEL]

    def _by_indent(self, kind: BlockKind, lines: Sequence[_Line]) -> list[tuple[int, str]]:
        """Return the labels that indentation gives; those that a paragraph leaves open hold for the next one."""
        is_list = kind is BlockKind.LIST
        if is_list:
            self._open = []
        widest = max((line.end for line in lines), default=0)
        found: list[tuple[int, str]] = []
        for number, line in enumerate(lines):
            self._open = [each for each in self._open if each[0] + _DEEPER <= line.indent]
            following = lines[number + 1] if number + 1 < len(lines) else None
            before = lines[number - 1] if number else None
            if not is_list and self._open and (before is None or before.indent == self._open[-1][0]):
                self._hanging[self._open[-1][0]] = line.indent
            hung = "" if is_list else self._hung(line, following)
            if hung:
                # What is explained on the term's own line stands under it, too.
                self._open.append((line.indent, hung))
            found.append((line.at, LABEL_JOINT.join(label for _, label in self._open)))
            if is_list:
                self._open.append((line.indent, _item_text(line)[:LONGEST_LABEL]))
            elif not hung and is_term(line.text) and not _wraps(line, following, widest, number):
                self._open.append((line.indent, _term(before, line)))
        if is_list:
            self._open = []
        return found

    def _hung(self, line: _Line, following: _Line | None) -> str:
        """Return the term that a line begins with where its explanation follows on it, nothing where none does.

        The explanation is set in the column in which the lines below it, or those of the terms before, begin.
        """
        match = _HANGING.match(line.text)
        known = self._hanging.get(line.indent)
        if match is not None and is_term(match["term"]) and match["term"] not in _BULLETS:
            column = line.indent + columns_of(line.text[: match.start("said")])
            if column == known or column in _columns_below(line, following):
                self._hanging[line.indent] = column
                return match["term"]
        # A term that fills the room before the column is parted by one blank.
        word = line.text.split(" ", 1)[0]
        is_full = known is not None and line.indent + len(word) + 1 == known and len(word) < len(line.text)
        is_alone = following is None or following.indent == known
        return word if is_full and is_alone and not word[0].isupper() and is_term(word) else ""


def _columns_below(line: _Line, following: _Line | None) -> tuple[int, ...]:
    """Return the columns that the next line has: its indentation, and that of what it explains beside a term."""
    if following is None:
        return ()
    match = _HANGING.match(following.text) if following.indent == line.indent else None
    if match is None:
        return (following.indent,)
    return following.indent, line.indent + columns_of(following.text[: match.start("said")])


def _term(before: _Line | None, line: _Line) -> str:
    """Return the term of a line, with the line before that ends with a comma: a list of names may take two."""
    if before is None or before.indent != line.indent or not before.text.endswith(","):
        return line.text
    whole = f"{before.text} {line.text}"
    return whole if len(whole) <= LONGEST_LABEL and len(before.text) <= _LONGEST_TERM else line.text


def label_at(labels: Sequence[tuple[int, str]], offset: int) -> str:
    """Return the label that holds at a character."""
    return labels[bisect_right(labels, offset, key=lambda each: each[0]) - 1][1] if labels else ""


@dataclass(frozen=True, slots=True)
class _Line:
    at: int
    indent: int
    text: str

    @property
    def end(self) -> int:
        return self.indent + columns_of(self.text)


def _lines(text: str) -> list[_Line]:
    """Return the lines that are not blank; a tab reaches to the next eighth column."""
    found = []
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            plain = line.expandtabs(8)
            found.append(_Line(at, len(plain) - len(plain.lstrip()), stripped))
        at += len(line) + 1
    return found


def _item_text(line: _Line) -> str:
    return _MARKER.sub("", line.text, count=1)


def _asking(lines: Sequence[_Line], is_list: bool) -> list[bool]:
    """Tell which lines of a block ask.

    In a paragraph those that are marked as questions, and, where it begins with one, all that are nothing else; a full
    line of running text that happens to end with a question mark is none.
    """
    if is_list:
        return [is_question(_item_text(line)) for line in lines]
    marked = [is_marked_question(line.text) for line in lines]
    widest = max((line.end for line in lines), default=0)
    followed = zip(lines, [*lines[1:], None][: len(lines)], strict=True)
    plain = [
        is_question(line.text) and (len(line.text) < _NARROWEST_PAGE or not _wraps(line, following, widest, 0))
        for line, following in followed
    ]
    return plain if plain[:1] == [True] else marked


def _wraps(line: _Line, following: _Line | None, widest: int, number: int) -> bool:
    """Whether a line ends because its paragraph was as wide as that, not because something new begins below it."""
    if following is None:
        return number > 0
    first = following.text.split(None, 1)[0]
    # Japanese may be broken anywhere.
    return line.end + 1 + (len(first) if columns_of(first[0]) == 1 else 2) > widest


def is_term(text: str) -> bool:
    """Whether a line that stands over an indented one may be what that explains: it is short and ends no sentence."""
    is_short = 0 < len(text) <= _LONGEST_TERM
    return is_short and not _ENDED.search(text) and not _DRAWN.fullmatch(text) and not _is_lone_bracket(text)


def _is_lone_bracket(text: str) -> bool:
    """Tell whether signs open or close a block of a program, and are no name as ``*`` and ``&&`` are of operators."""
    is_open = any(text.count(opening) != text.count(closing) for opening, closing in _BRACKETS)
    return is_open and not any(map(str.isalnum, text))
