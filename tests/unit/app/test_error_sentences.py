"""What the core says when something fails is said in Japanese, each sentence by the one that was meant for it."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import product
from pathlib import Path

from dash import Dash

import app
import core
from app import i18n
from app.components.shared.error_sentences import in_language, patterns
from app.components.shared.states import USUAL_REMEDIES
from core import errors

CORE = Path(core.__file__).parent
APP = Path(app.__file__).parent
KINDS = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
HOLE = "\0"
"""Stands for a value that a sentence names."""

OFF_THE_PAGES = (
    "adapters/blobs/urls.py",
    "backup",
    "bootstrap.py",
    "catalog/folder_identity.py",
    "catalog/migrating.py",
    "catalog/opening.py",
    "catalog/recovery.py",
    "catalog/snapshots.py",
    "catalog/taking_back.py",
    "cli",
    "client",
    "evaluation/fill_folder.py",
    "evaluation/question_folder.py",
    "ingest/uploads/checksums.py",
    "platform",
    "settings",
    "snn/train.py",
)
"""What only the command line, other programs or whoever starts a server is told."""


def sentences(node: ast.expr | None, named: dict[str, list[ast.expr]]) -> list[str]:
    """Return what an expression can say, with a hole for each value; nothing where only the run can tell."""
    match node:
        case ast.Constant(value=str(said)):
            return [said]
        case ast.JoinedStr(values=parts):
            return ["".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in parts)]
        case ast.IfExp(body=one, orelse=other):
            return sentences(one, named) + sentences(other, named)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return ["".join(pair) for pair in product(sentences(left, named), sentences(right, named))]
        case ast.BoolOp(values=values):
            return [said for value in values for said in sentences(value, named)]
        case ast.Name(id=name):
            others = {other: values for other, values in named.items() if other != name}
            return [said for value in named.get(name, []) for said in sentences(value, others)]
        case ast.Call(func=ast.Attribute(value=template, attr="format")):
            return [re.sub(r"\{\w+\}", HOLE, said) for said in sentences(template, named)]
    return []


def said_in(path: Path) -> set[str]:
    """Return the sentences and remedies of the errors that a module makes."""
    tree = ast.parse(path.read_text("utf-8"))
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.setdefault(node.targets[0].id, []).append(node.value)
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in KINDS:
            given = node.args[:1] + [word.value for word in node.keywords if word.arg == "remedy"]
            found.update(said for value in given for said in sentences(value, named))
    return found


def test_every_error_that_a_page_can_show_has_japanese() -> None:
    skipped = tuple(CORE / place for place in OFF_THE_PAGES)
    missing = []
    for path in sorted(CORE.rglob("*.py")):
        if not any(path.is_relative_to(place) for place in skipped):
            missing += [
                f"{path.relative_to(CORE)}: {said.replace(HOLE, '{…}')}"
                for said in sorted(said_in(path) - set(USUAL_REMEDIES.values()))
                if not any(pattern.fullmatch(said) for pattern in patterns().values())
            ]
    assert not missing, "\n".join(missing)


def test_places_that_no_page_reaches_are_there() -> None:
    assert [place for place in OFF_THE_PAGES if not (CORE / place).exists()] == []


def test_translated_sentences_of_errors_are_those_that_are_said() -> None:
    said = {one for root in (CORE, APP) for path in root.rglob("*.py") for one in said_in(path)}
    worded = [re.escape(one) for one in said if re.search("[a-z]{2}", one)]
    said_by = [re.compile(one.replace(re.escape(HOLE), ".+"), re.DOTALL) for one in worded]
    unsaid = [key for key in patterns() if not any(one.fullmatch(str(i18n.messages("en")[key])) for one in said_by)]
    assert unsaid == []


def test_sentence_is_not_taken_for_another(window: Dash) -> None:
    taken = []
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        for key in patterns():
            fields = re.findall(r"\{(\w+)\}", str(i18n.messages("en")[key]))
            values = {name: str(place) for place, name in enumerate(fields, 11)}
            if in_language(i18n.t(key, "en", **values)) != i18n.t(key, "ja", **values):
                taken.append(key)
    assert taken == []


def test_rare_error_is_said_in_japanese(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert in_language("There is a user “佐藤” already.") == "ユーザー「佐藤」はすでにいます。"
        assert in_language("Line 3: it has 4 cells, the header 2.") == "3行目：セルが4個ありますが、見出しは2個です。"
        assert in_language("Line 3: unexpected end of data.") == "3行目を読み取れません。"
        assert in_language("Version 2 of “規程.pdf” is failed and cannot be shown.") == (
            "「規程.pdf」の第2版は公開できる状態ではありません。"
        )


def test_reason_is_said_where_it_is_known(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert in_language("The language model x was refused: its weights are pickled.") == (
            "言語モデル x は重みが pickle 形式のため使えません。"
        )
        assert in_language("The server answered with the status 503.") == "サーバーがエラーを返しました：状態 503。"
        assert in_language("The bytes of this file in the data folder are unreadable.") == (
            "データフォルダーにあるこのファイルの内容を読み取れません。"
        )
        assert in_language("This needs the role editor; “佐藤” has the role reader.") == (
            "この操作には editor のロールが必要です。「佐藤」のロールは reader です。"
        )
