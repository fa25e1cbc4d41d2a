"""Lists of definitions: which terms the present explanation belongs to, in HTML and in Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.ingest.parsers.outline import Outline
from core.ingest.parsers.wording import one_line
from core.model import LABEL_JOINT

DEFINITION_TAGS = frozenset({"dl", "dt", "dd"})


@dataclass(slots=True)
class _OpenList:
    above: str
    terms: list[str] = field(default_factory=list)
    in_term: bool = False
    is_explained: bool = True


@dataclass(slots=True)
class Definitions:
    """Sets the label of an outline while a document goes through ``dl``, ``dt`` and ``dd``, which may be nested.

    Several terms in a row share the explanation that follows them.
    """

    outline: Outline
    _open: list[_OpenList] = field(default_factory=list)

    def enter(self, tag: str) -> None:
        if tag == "dl":
            self._open.append(_OpenList(self.outline.label))
        elif self._open:
            own = self._open[-1]
            if tag == "dt" and not own.in_term:
                own.terms = [] if own.is_explained else own.terms
                own.in_term, own.is_explained = True, False
                self.outline.label = own.above
            elif tag == "dd":
                own.in_term, own.is_explained = False, True
                self.outline.label = LABEL_JOINT.join(filter(None, (own.above, ", ".join(own.terms))))

    def leave(self, tag: str) -> None:
        if tag == "dt" and self._open:
            self._open[-1].in_term = False
        elif tag == "dl" and self._open:
            self.outline.label = self._open.pop().above

    def read(self, text: str) -> None:
        """Take text in its order; within ``dt`` it names the term."""
        if self._open and self._open[-1].in_term:
            self._open[-1].terms.append(one_line(text))
