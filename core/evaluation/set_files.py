r"""Reads question sets from CSV and JSONL, and writes them; errors name the line, and nothing is taken of a wrong file.

CSV has a header with ``question`` and, as wished, ``id``, ``doc``, ``answers`` and ``answerable``; several documents or
answers in a cell are separated by ``|`` (one of the text itself is written ``\|``). JSONL has the same fields in an
object a line, lists as lists, and takes the fields of ``core.evaluation.question_folder`` as well.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from core.errors import InvalidInput, TooLarge, Undecodable
from core.ingest.intake import TEXT_EXTENSIONS
from core.ingest.parsers.encoding import detect
from core.ingest.validate import doc_key
from core.model import JudgedQuestion
from core.text.language import is_storable

MOST_BYTES = 16 * 1024 * 1024
MOST_QUESTIONS = 10_000
MOST_VALUES = 100
ID_CHARS = 128
ANSWER_CHARS = 4_000
KEY_CHARS = 1_024
FORMS = ("csv", "jsonl")
COLUMNS = ("id", "question", "doc", "answers", "answerable")
SAID = ("passage", "note")
"""What somebody who marked an answer as wrong has pointed at, and said."""

_NAMES = {
    "id": ("id", "number", "no", "番号"),
    "question": ("question", "questions", "q", "query", "text", "質問", "問い", "設問"),
    "doc": (
        "doc",
        "docs",
        "document",
        "documents",
        "doc_key",
        "doc_keys",
        "source",
        "file",
        "文書",
        "資料",
        "ファイル",
    ),
    "passage": ("passage_id", "passage_ids"),
    "answers": ("answer", "answers", "accepted", "expected", "gold", "answer(s)", "回答", "答え", "正解"),
    "answerable": ("answerable", "is_answerable", "has_answer", "回答可能", "答えられる"),
}
_FIELD_OF = {name: field for field, names in _NAMES.items() for name in names}
_SEVERAL = ("doc", "passage", "answers")
_YES = {"", "1", "true", "yes", "y", "t", "はい", "○", "可"}
_NO = {"0", "false", "no", "n", "f", "いいえ", "×", "不可"}
_SEPARATORS = ",;\t"
_BETWEEN = re.compile(r"(?<!\\)\|")
_SIGNS = r"(?=[\s\"]*[=+\-@＝＋－＠'])"
_FORMULA = re.compile(r"(^|[;\t\r\n])" + _SIGNS)
"""Where a formula may begin, also in a spreadsheet that cuts cells at semicolons."""
_GUARDED = re.compile(r"(^|[;\t\r\n])'" + _SIGNS)


@dataclass(frozen=True, slots=True)
class SetRow:
    """A question as a file says it, with the line that it begins on."""

    line: int
    fields: Mapping[str, Any]


def read_questions(data: bytes, form: str, longest_chars: int) -> list[JudgedQuestion]:
    """Return the questions of a file; ``longest_chars`` is the longest question that can be asked.

    Raises: ``InvalidInput``, which names the line, and ``TooLarge``.
    """
    if form not in FORMS:
        raise InvalidInput(f"A question set is {' or '.join(FORMS)}.")
    if len(data) > MOST_BYTES:
        raise TooLarge(
            f"A question set has at most {MOST_BYTES // 1024**2} MiB.", remedy="Divide it into several sets."
        )
    text = _decoded(data)
    found: dict[str, JudgedQuestion] = {}
    lines: dict[str, int] = {}
    for row in _csv_rows(text) if form == "csv" else _json_rows(text):
        if len(found) == MOST_QUESTIONS:
            raise TooLarge(
                f"Line {row.line}: a question set has at most {MOST_QUESTIONS:,} questions.",
                remedy="Divide it into several sets.",
            )
        question = _question(row, str(len(found) + 1), longest_chars)
        if question.id in found:
            raise InvalidInput(f"Line {row.line}: the id “{question.id}” is that of line {lines[question.id]}.")
        found[question.id] = question
        lines[question.id] = row.line
    if not found:
        raise InvalidInput("The file holds no question.", remedy="Give it a header and a line for each question.")
    return list(found.values())


def written(questions: Sequence[JudgedQuestion], form: str) -> str:
    """Return the questions as a file that ``read_questions`` reads; CSV begins with the mark that Excel wants."""
    if form == "jsonl":
        return "".join(json.dumps(_as_object(question), ensure_ascii=False) + "\n" for question in questions)
    if form != "csv":
        raise InvalidInput(f"A question set is {' or '.join(FORMS)}.")
    file = io.StringIO()
    writer = csv.writer(file)
    # What people said about wrong answers is read by people: an import passes over it.
    said = [name for name in SAID if any(getattr(question, name) for question in questions)]
    writer.writerow((*COLUMNS, *said))
    for question in questions:
        answerable = "true" if question.answerable else "false"
        cells = (question.id, question.text, _joined(question.doc_keys), _joined(question.answers), answerable)
        cells += tuple(getattr(question, name) for name in said)
        writer.writerow(_FORMULA.sub(r"\1'", cell) for cell in cells)
    return "\ufeff" + file.getvalue()


def checked_name(name: str) -> str:
    """Return the name of a set as it is kept. Raises: ``InvalidInput``."""
    plain = " ".join(unicodedata.normalize("NFC", name).split()) if isinstance(name, str) else ""
    if not plain or len(plain) > 200 or not is_storable(plain) or not plain.isprintable():
        raise InvalidInput("A question set needs a name of 1 to 200 characters.")
    return plain


def _decoded(data: bytes) -> str:
    try:
        return data.decode(detect(data)).removeprefix("\ufeff")
    except (Undecodable, UnicodeDecodeError) as error:
        raise InvalidInput(
            "The file is no text in a known encoding.", remedy="Save it as UTF-8 (in Excel: “CSV UTF-8”)."
        ) from error


# ---- rows


def _csv_rows(text: str) -> Iterator[SetRow]:
    first, skipped = _first_line(text)
    separator = text[4] if skipped else _separator(first)
    # With its line ends as they are: those within quotes belong to the cell.
    reader = csv.reader(io.StringIO(text[skipped:], newline=""), delimiter=separator, strict=True)
    before = 1 if skipped else 0
    header: list[str] | None = None
    while True:
        line = reader.line_num + before + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(f"Line {line}: {error}.", remedy="Close the quotes, or save the file anew.") from error
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = _header(cells, line)
            continue
        if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            raise InvalidInput(f"Line {line}: it has {len(cells)} cells, the header {len(header)}.")
        yield SetRow(line, {name: _read_cell(name, cell) for name, cell in zip(header, cells, strict=False) if name})


def _first_line(text: str) -> tuple[str, int]:
    """Return the first line, and the length of Excel's line “sep=;” before it, 0 where there is none."""
    told = re.match(r"sep=[,;\t]\r?\n", text, re.IGNORECASE)
    skipped = told.end() if told else 0
    return text[skipped:].split("\n", 1)[0], skipped


def _separator(line: str) -> str:
    def known(separator: str) -> int:
        return sum(_field_named(cell.strip().strip('"')) is not None for cell in line.split(separator))

    return max(_SEPARATORS, key=known)


def _field_named(name: str) -> str | None:
    plain = unicodedata.normalize("NFKC", name).strip().casefold().replace(" ", "_").replace("-", "_")
    return _FIELD_OF.get(plain)


def _header(cells: Sequence[str], line: int) -> list[str]:
    """Return what each column is, an empty name for one that nobody asked for."""
    names = [_field_named(cell) or "" for cell in cells]
    if "question" not in names:
        raise InvalidInput(
            f"Line {line}: no column is named “question”.",
            remedy=f"Name the columns in the first line: {', '.join(COLUMNS)}.",
        )
    twice = [name for name in _NAMES if names.count(name) > 1]
    if twice:
        raise InvalidInput(f"Line {line}: two columns hold the {twice[0]}.")
    return names


def _read_cell(field: str, cell: str) -> str | list[str]:
    """Return a cell without the marks that keep a spreadsheet from calculating it; one of several values as a list."""
    plain = _GUARDED.sub(r"\1", cell)
    return [part.replace("\\|", "|") for part in _BETWEEN.split(plain)] if field in _SEVERAL else plain


def _json_rows(text: str) -> Iterator[SetRow]:
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            given = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"Line {line}: not JSON.") from error
        if not isinstance(given, dict):
            raise InvalidInput(f"Line {line}: it is no object with the fields of a question.")
        fields: dict[str, Any] = {}
        for name, value in given.items():
            field = _field_named(name)
            if field is None or value is None:
                continue
            if field in fields:
                raise InvalidInput(f"Line {line}: two fields hold the {field}.")
            fields[field] = value
        yield SetRow(line, fields)


# ---- a row as a question


def _question(row: SetRow, number: str, longest_chars: int) -> JudgedQuestion:
    text = _text(row, "question", row.fields.get("question", ""), longest_chars)
    if not text:
        raise InvalidInput(f"Line {row.line}: there is no question.")
    given = row.fields.get("id", "")
    name = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
    documents = [*_texts(row, "doc", KEY_CHARS), *map(_entry, _texts(row, "passage", KEY_CHARS))]
    return JudgedQuestion(
        id=_text(row, "id", name, ID_CHARS) or number,
        text=text,
        doc_keys=tuple(dict.fromkeys(doc_key(document) for document in documents)),
        answers=tuple(dict.fromkeys(_texts(row, "answers", ANSWER_CHARS))),
        answerable=_truth(row),
    )


def _entry(passage_id: str) -> str:
    """Return the name of the text entry that a passage of ``core.evaluation.question_folder`` is added as."""
    return passage_id if PurePath(passage_id).suffix[1:].lower() in TEXT_EXTENSIONS else f"{passage_id}.txt"


def _text(row: SetRow, field: str, value: object, most: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"Line {row.line}: the {field} is no text.")
    plain = value.strip()
    if len(plain) > most:
        raise InvalidInput(f"Line {row.line}: the {field} has more than {most:,} characters.")
    if "\0" in plain or not is_storable(plain):
        raise InvalidInput(f"Line {row.line}: the {field} holds signs that are no text.")
    return plain


def _texts(row: SetRow, field: str, most: int) -> list[str]:
    value = row.fields.get(field, ())
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)):
        raise InvalidInput(f"Line {row.line}: the {field} is neither a text nor a list of texts.")
    if len(values) > MOST_VALUES:
        raise InvalidInput(f"Line {row.line}: the {field} has more than {MOST_VALUES} values.")
    return [plain for each in values if (plain := _text(row, field, each, most))]


def _truth(row: SetRow) -> bool:
    given = row.fields.get("answerable", True)
    if isinstance(given, bool):
        return given
    word = unicodedata.normalize("NFKC", str(given)).strip().casefold()
    if word not in _YES | _NO:
        raise InvalidInput(f"Line {row.line}: answerable is true or false.")
    return word in _YES


# ---- a question as a row


def _joined(values: Sequence[str]) -> str:
    return " | ".join(value.replace("|", "\\|") for value in values)


def _as_object(question: JudgedQuestion) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "doc_keys": question.doc_keys,
        "answers": question.answers,
        "answerable": question.answerable,
        **{name: said for name in SAID if (said := getattr(question, name))},
    }
