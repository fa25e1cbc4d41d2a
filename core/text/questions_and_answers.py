"""How documents write questions with their answers: marks before them, a question mark, columns of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_QUESTION = 300
ASKS = ("?", "？")
_BELOW = r"(?:[\w@-]+\.){0,4}"
"""Names of a value in structured data, outermost first, such as ``items.3.question``."""
_NUMBER = r"\s*[\d０-９]{0,3}\s*"
_MARK = rf"{_BELOW}(?:%s){_NUMBER}[.:：．、)）]\s*|[【\[［](?:%s){_NUMBER}[】\]］]\s*"
_ASKED = "Q|Ｑ|Question|問|質問|ご質問"
_REPLIED = "A|Ａ|Answer|答|答え|回答|ご回答"
_QUESTION_MARK = re.compile(_MARK % (_ASKED, _ASKED), re.IGNORECASE)
_ANSWER_MARK = re.compile(_MARK % (_REPLIED, _REPLIED), re.IGNORECASE)
_QUESTION_COLUMNS = frozenset({
    "q", "question", "questions", "frequently asked question", "faq",
    "質問", "ご質問", "質問内容", "よくある質問", "よくあるご質問", "問", "問い", "お問い合わせ", "お問い合わせ内容",
})  # fmt: skip
_ANSWER_COLUMNS = frozenset({
    "a", "answer", "answers", "reply", "response", "回答", "ご回答", "回答内容", "答", "答え", "お答え",
})  # fmt: skip
_NUMBER_COLUMNS = frozenset({"", "#", "id", "no", "no.", "nr", "nr.", "number", "番号", "項番", "№"})


def is_marked_question(line: str) -> bool:
    """Tell whether a line begins as “Q: …”, “Q3. …”, 「問：…」 or 「【質問】…」."""
    mark = _QUESTION_MARK.match(line)
    return mark is not None and mark.end() < len(line)


def is_question(line: str) -> bool:
    """Tell whether a line is a question: marked as one, or short and with a question mark at its end."""
    return is_marked_question(line) or (len(line) <= LONGEST_QUESTION and line.endswith(ASKS))


def answer_mark(line: str) -> str:
    """Return what marks a line as an answer, such as “A: ” or 「答：」; empty where nothing does."""
    mark = _ANSWER_MARK.match(line)
    return mark[0] if mark is not None and mark.end() < len(line) else ""


def pair_columns(header: Sequence[str], row: Sequence[str]) -> tuple[int, int] | None:
    """Return which column of a table has the questions and which their answers.

    Their names tell, or, in two columns without names, that the first row and this one begin with a question.
    """
    names = [name.strip().casefold() for name in header]
    asked = [at for at, name in enumerate(names) if name in _QUESTION_COLUMNS]
    replied = [at for at, name in enumerate(names) if name in _ANSWER_COLUMNS]
    if len(asked) == len(replied) == 1:
        return asked[0], replied[0]
    if len(row) == 2 and is_question(row[0].strip()) and (not header or is_question(header[0].strip())):
        return 0, 1
    return None


def only_numbers_rows(name: str) -> bool:
    """Tell whether a column of this name says nothing but which row this is."""
    return name.strip().casefold() in _NUMBER_COLUMNS
