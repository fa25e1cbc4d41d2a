"""Cuts text into sentences, Japanese and English, with exact spans."""

from __future__ import annotations

import re

from core.text.language import detect_language

_CLOSERS = "」』）)】］\\]〉》〕｝}”’\"'"
_END = re.compile(rf"(?P<mark>[.!?。！？．｡…]+)[{_CLOSERS}]*|(?P<line>[\n\r\f\u2028\u2029]\s*)")
_SPACE = re.compile(r"\s+")
_BRACKET = re.compile("[「『（【〈《〔」』）】〉》〕]")
_PAIRS = dict(zip("」』）】〉》〕", "「『（【〈《〔", strict=True))
_BRACKET_REACH = 200
_LINE_REACH = 300
_INITIALS = re.compile(r"[a-z](?:\.[a-z])*")

_JAPANESE_STOP = "。！？．｡"
_CONTINUES_QUOTE = re.compile("(?:と|って|という|の|が|は|を|に|で|も|や|など|、|，)")
_WORD_BEFORE = re.compile(r"[\w.&'-]+$")
_NEXT_WORD = re.compile(r"[\w']+")
_BULLET = re.compile(r"[-*•‣・●○■□◆◇▪–—]|\(?[0-9０-９]{1,3}[.)、．]|\(?[a-zA-Z][.)] |[①-⑳]|#")
_CELLS = " | "
_CJK = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f]")
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+")
_WRAPPED = re.compile(f"(?<={_CJK.pattern})[ \t]*\n[ \t]*(?={_CJK.pattern})")
_OPTION = re.compile(r"--?[A-Za-z]")
_GOES_ON = re.compile(r"(?:^|\s)(?:and|or|the|than|of|if|nor)$")
"""A line so ended was wrapped, whatever follows."""
_OPENERS = "\"'“‘(「『（[【*_"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words(
    "mr mrs ms dr prof st mt gen col capt lt sgt cmdr rev hon gov sen rep pres fr sr messrs mme mlle fig figs eq eqs "
    "vol vols ed eds pp ch chap art cf vs viz approx ca al e.g i.e eg ie dept univ"
)
_NUMBERED = _words("no nos p pp fig ch art vol eq ext tel ver para ref incl excl cat temp")
"""Abbreviations before a figure; elsewhere they are words that may end a sentence."""
_LIMITED = _words("max min sec secs")
"""The same, but behind a figure, where they are its unit: "10 min. 2 lamps light up."."""
_LETTERED = _words(
    "plan option button key switch step type class group model mode page level version grade size position point pin "
    "port slot drive room gate zone table figure column row section part appendix category line letter item unit case"
)
"""What a letter names, which ends a sentence then: "Select plan A. Click Next." It is an initial elsewhere."""
_INSTRUCTIONS = _words(
    "press click tap select choose turn push pull hold open close set check wait switch start stop release remove "
    "insert then repeat enter type move slide rotate adjust connect disconnect plug continue go save confirm"
)
_MAY_END = _words(
    "inc ltd co corp jr sr etc u.s u.k u.n e.u d.c a.m p.m b.c a.d ph.d m.d b.a m.a jan feb mar apr jun jul aug sep "
    "sept oct nov dec mon tue wed thu fri sat sun ave blvd rd"
)
_STARTERS = _words(
    "the a an it he she they we i you this that these those there in on at for from with by to and but so or if when "
    "while as after before since although however its his her their our what who why how where which all some"
)

_OTHER_END = re.compile("[।॥؟۔။។]+\\s*|(?<=[\u0e01-\u0e4e\u0e81-\u0ece])\\s+(?=[\u0e01-\u0e4e\u0e81-\u0ece])")
"""Ends of scripts with marks of their own, and the blank that is all that Thai and Lao set between statements."""
_SHORTEST_STATEMENT = 30
_SHORTEST_WRAPPED = 40

Span = tuple[int, int]


def split_sentences(text: str) -> list[Span]:
    """Return the spans ``(start, end)`` of the sentences, in order; only white space lies outside of them.

    A line that is a list item or a table row is a sentence of its own; a line that was merely wrapped is joined.
    """
    spans: list[Span] = []
    start = 0
    quotations = _Quotations(text)
    wrap_width = _wrap_width(text)
    for match in _END.finditer(text):
        if match.lastgroup == "line":
            if not _breaks_line(text, match.start(), match.end(), wrap_width):
                continue
        elif not _ends_sentence(text, match.start("mark"), match.end("mark"), match.end(), quotations):
            continue
        _append(text, start, match.end(), spans)
        start = match.end()
    _append(text, start, len(text), spans)
    return spans


def split_statements(text: str) -> list[Span]:
    """Return the spans of the sentences, cut further where a script ends statements in another way."""
    spans: list[Span] = []
    for start, end in split_sentences(text):
        if not text.isascii():
            for match in _OTHER_END.finditer(text, start, end):
                if match.group().strip() or match.start() - start >= _SHORTEST_STATEMENT:
                    _append(text, start, match.end(), spans)
                    start = match.end()
        _append(text, start, end, spans)
    return spans


def on_one_line(text: str) -> str:
    """Return a text on one line: its line ends become blanks, but for those within Japanese, which has none."""
    return " ".join((text if text.isascii() else _WRAPPED.sub("", text)).split())


def _append(text: str, start: int, end: int, spans: list[Span]) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(stripped)))


class _Quotations:
    """The outermost Japanese brackets that close again soon; asked with rising positions."""

    def __init__(self, text: str) -> None:
        self._spans: list[Span] = []
        self._next = 0
        open_at: list[tuple[str, int]] = []
        for match in _BRACKET.finditer(text):
            sign = match.group()
            if sign not in _PAIRS:
                open_at.append((sign, match.start()))
            elif open_at and open_at[-1][0] == _PAIRS[sign]:
                self._add(open_at.pop()[1], match.end())
            else:
                open_at.clear()

    def _add(self, start: int, end: int) -> None:
        if end - start > _BRACKET_REACH:
            return
        while self._spans and self._spans[-1][0] >= start:
            self._spans.pop()
        self._spans.append((start, end))

    def end_around(self, position: int) -> int:
        """Return where the quotation around ``position`` ends, or -1."""
        while self._next < len(self._spans) and self._spans[self._next][1] <= position:
            self._next += 1
        if self._next < len(self._spans) and self._spans[self._next][0] < position:
            return self._spans[self._next][1]
        return -1


def _ends_sentence(text: str, mark_start: int, mark_end: int, end: int, quotations: _Quotations) -> bool:
    mark = text[mark_start:mark_end]
    before = text[mark_start - 1 : mark_start]
    if end > mark_end and _CONTINUES_QUOTE.match(text, end):
        return False
    if any(sign in mark for sign in _JAPANESE_STOP):
        if mark in "．｡" and not _CJK.match(before):
            return False
        return quotations.end_around(mark_start) <= end
    if _CJK.match(before) and mark[0] in "!?.":
        return quotations.end_around(mark_start) <= end and not text[end : end + 1].isdigit()
    following = _SPACE.match(text, end)
    if following is None:
        return bool(mark[-1] in "!?" and _CJK.match(text, end))
    return _ends_english(text, mark, mark_start, following.end())


def _follows_figure(text: str, start: int) -> bool:
    return text[max(0, start - 2) : start].rstrip()[-1:].isdigit()


def _ends_english(text: str, mark: str, mark_start: int, next_start: int) -> bool:
    while text[next_start : next_start + 1] and text[next_start] in _OPENERS:
        next_start += 1
    first = text[next_start : next_start + 1]
    if first.islower():
        return False
    if mark != ".":
        return True
    found = _WORD_BEFORE.search(text, max(0, mark_start - 30), mark_start)
    if found is None:
        return True
    word = found.group().lower().rstrip("'").lstrip("-'&.")
    is_before_figure = first.isdigit() or first == "+"
    if is_before_figure and (word in _NUMBERED or (word in _LIMITED and not _follows_figure(text, found.start()))):
        return False
    if word in _TITLES:
        return False
    if word.isdigit() and text[max(0, found.start() - 1) : found.start()] in ("", "\n"):
        return False
    if word in _MAY_END or _INITIALS.fullmatch(word):
        following = _NEXT_WORD.match(text, next_start)
        next_word = following.group().lower() if following else ""
        return next_word in _STARTERS or (len(word) == 1 and _names_a_letter(text, found.start(), next_word))
    return True


def _names_a_letter(text: str, start: int, next_word: str) -> bool:
    """Tell whether a letter with a stop is no initial: of a plan or a key, or of what is set "to B"."""
    before = text[max(0, start - 30) : start].split()
    if not before:
        return False
    return bool(next_word) and (before[-1] in _LETTERED or (before[-1] == "to" and next_word in _INSTRUCTIONS))


def _wrap_width(text: str) -> int:
    """Return the columns to which lines seem to be wrapped, or 0."""
    lines = text.split("\n")
    is_wrapped = len(lines) > 2 and 25 <= max(map(len, lines)) <= 120
    return max(map(columns_of, lines)) if is_wrapped else 0


def columns_of(line: str) -> int:
    """Return how wide a terminal shows a line: ideographs and kana take two columns."""
    return len(line) if line.isascii() else len(line) + sum(map(len, _WIDE.findall(line)))


def _breaks_line(text: str, end: int, next_start: int, wrap_width: int) -> bool:
    if text.count("\n", end, next_start) > 1 or next_start == len(text):
        return True
    previous = text[text.rfind("\n", max(0, end - _LINE_REACH), end) + 1 : end][-_LINE_REACH:].rstrip()
    following = text[next_start : next_start + _LINE_REACH].split("\n", 1)[0]
    if not previous or _CELLS in previous or _CELLS in following:
        return True
    if len(previous) >= _SHORTEST_WRAPPED and _GOES_ON.search(previous):
        return _BULLET.match(following) is not None and not _OPTION.match(following)
    if _BULLET.match(following):
        return True
    if previous.rstrip(_CLOSERS)[-1:] in tuple(".!?。！？．｡…:：;；"):
        return True
    if following[:1].islower() or previous[-1] in ",、，":
        return len(previous) < 20
    if _CJK.match(previous[-1]):
        return not (_CJK.match(following) and len(previous) >= 25 and columns_of(previous) >= wrap_width - 4 > 0)
    wrapped = 50 <= wrap_width <= 100 and len(previous) >= 0.8 * wrap_width
    # Behind a sign a line of code may end as well, which another sign follows, and those of a list: all with the same.
    is_cut = previous[-1] in "=)" and following.rstrip()[-1:] != previous[-1]
    is_text = previous[-1].isalnum() or (is_cut and (following[0].isalnum() or following[0] == "("))
    return not (wrapped and is_text)


def joined(before: str, question: str) -> str:
    """Return two questions as one text, each with its mark."""
    ended = (
        before if re.search(r"[.!?。！？]$", before) else f"{before}{'？' if detect_language(before) == 'ja' else '?'}"
    )
    return f"{ended} {question}"
