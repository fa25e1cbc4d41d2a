"""What the core says when something fails is said in Japanese, each sentence by the one that was meant for it."""

from __future__ import annotations

import ast
import csv
import errno
import inspect
import io
import os
import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from dash import Dash

import app
import core
from app import i18n
from app.components.document.overview import stores_card
from app.components.settings.file_check import files_section
from app.components.settings.store_checks import store_table
from app.components.shared.error_sentences import PARTS, SENTENCES, WORDED, in_language, patterns
from app.components.shared.generator_choice import generator_words
from app.components.shared.states import USUAL_REMEDIES
from core import errors
from core.catalog.questions.evaluations import INTERRUPTED
from core.errors import CatalogDamaged
from core.model import FilesCheck, GeneratorHealth, GeneratorState, Health, JobState, StoreCheck, StoreHealth
from core.query.record_answer import unrecorded
from core.snn.neurons import Code

CORE = Path(core.__file__).parent
APP = Path(app.__file__).parent
KINDS = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
HOLE = "\0"
"""Stands for a value that a sentence names."""

OFF_THE_PAGES = (
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


FOR_PROGRAMS = (
    "api/description",
    "api/documents/routes.py",
    "api/search/routes.py",
    "api/system/access.py",
    "api/system/unknown.py",
    "api/uploads",
    "api/versions",
    "security/callbacks.py",
    "server.py",
)
"""What only programs are told, whose requests no page makes."""

MADE_BY_OTHERS = frozenset(map(os.strerror, errno.errorcode))
"""Reasons that the system gives; the locales hold the likely ones."""

UNSAID_VALUES = {
    "said.bytes_damaged": {"fault"},  # the only one that is left there
    "said.index_other": {"name"},  # told by what is built and what is configured
    "said.left_alone": {"name"},
    "said.packaged_load": {"name"},  # the reader alone is loaded so
    "said.store_late": {"name"},
    "said.unexpected": {"work"},
}
"""Values that Japanese sentences do without."""


@dataclass(frozen=True)
class Module:
    tree: ast.Module
    named: dict[str, list[ast.expr]]
    """What a name can stand for: what is assigned to it, what a function returns, what it is called with."""


@cache
def modules() -> dict[Path, Module]:
    """Return all modules; a parameter of a function stands for what it is given wherever it is called."""
    trees = {path: ast.parse(path.read_text("utf-8")) for root in (CORE, APP) for path in sorted(root.rglob("*.py"))}
    found = {path: Module(tree, named_in(tree)) for path, tree in trees.items()}
    homes = {".".join(path.relative_to(CORE.parent).with_suffix("").parts): module for path, module in found.items()}
    for module in found.values():
        functions = {node.name: (module, node) for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and (home := homes.get(node.module or "")):
                names = {alias.name for alias in node.names}
                functions |= {
                    each.name: (home, each)
                    for each in home.tree.body
                    if isinstance(each, ast.FunctionDef) and each.name in names
                }
                module.named.update({name: home.named[name] for name in names & set(home.named)})
        for node in ast.walk(module.tree):
            name = name_of(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in functions:
                home, function = functions[name]
                parameters = [each.arg for each in function.args.args if each.arg not in ("self", "cls")]
                given = [*zip(parameters, node.args, strict=False), *((word.arg, word.value) for word in node.keywords)]
                for parameter, value in given:
                    if makes_error(function):
                        home.named.setdefault(parameter or "", []).append(value)
    return found


def named_in(tree: ast.Module) -> dict[str, list[ast.expr]]:
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Attribute):
            named.setdefault(name_of(node.targets[0]), []).append(node.value)
        elif isinstance(node, ast.NamedExpr):
            named.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            for row in node.iter.elts:
                values = row.elts if isinstance(row, ast.Tuple) and len(targets) > 1 else [row]
                for target, value in zip(targets, values, strict=False):
                    named.setdefault(name_of(target), []).append(value)
        elif isinstance(node, ast.FunctionDef):
            returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
            named.setdefault(node.name, []).extend(returned)
    return named


def name_of(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def makes_error(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) and name_of(each.func) in KINDS for each in ast.walk(node))


def sentences(node: ast.expr | None, named: dict[str, list[ast.expr]]) -> list[str]:
    """Return what an expression can say, with a hole for each value; nothing where only the run can tell."""
    match node:
        case ast.Constant(value=str(said)):
            return [said]
        case ast.JoinedStr(values=parts):
            return ["".join(pieces) for pieces in product(*(pieces_of(part, named) for part in parts))]
        case ast.IfExp(body=one, orelse=other):
            return sentences(one, named) + sentences(other, named)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return ["".join(pair) for pair in product(sentences(left, named), sentences(right, named))]
        case ast.BoolOp(values=values):
            return [said for value in values for said in sentences(value, named)]
        case ast.Dict(values=values):
            return [said for value in values for said in sentences(value, named)]
        case ast.Subscript(value=table):
            return sentences(table, named)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            others = {other: values for other, values in named.items() if other != name}
            return [said for value in named.get(name, []) for said in sentences(value, others)]
        case ast.Call(func=ast.Attribute(value=template, attr="format")):
            return [re.sub(r"\{\w+\}", HOLE, said) for said in sentences(template, named)]
        case ast.Call(func=ast.Name(id=name)) if name not in KINDS:
            return sentences(ast.Name(name), named)
    return []


def pieces_of(part: ast.expr, named: dict[str, list[ast.expr]]) -> list[str]:
    """Return what a part of a sentence can be: words where the code tells them, a hole for a value.

    An end of a sentence, such as a reason in brackets, can be left out.
    """
    if isinstance(part, ast.Constant):
        return [str(part.value)]
    known = sentences(part.value, named) if isinstance(part, ast.FormattedValue) else []
    is_end = any(said.startswith(" ") for said in known)
    return sorted({said if re.search("[a-z] ", said) or (is_end and not said) else HOLE for said in known} or {HOLE})


def said_in(path: Path) -> set[str]:
    """Return the sentences and remedies of the errors that a module makes."""
    module = modules()[path]
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and name_of(node.func) in KINDS:
            given = node.args[:1] + [word.value for word in node.keywords if word.arg == "remedy"]
            found.update(said for value in given for said in sentences(value, module.named))
    return found


def is_japanese(said: str) -> bool:
    """Tell whether there is Japanese for a sentence and for the reason in it."""
    found = next((found for pattern in patterns().values() if (found := pattern.fullmatch(said))), None)
    return found is not None and all(
        any(pattern.fullmatch(value) for prefix in (PARTS, SENTENCES) for pattern in patterns(prefix).values())
        for name, value in found.groupdict().items()
        if name in WORDED and re.search("[a-z]", value)
    )


def test_every_error_that_a_page_can_show_has_japanese() -> None:
    skipped = tuple(CORE / place for place in OFF_THE_PAGES)
    missing = []
    for path in sorted(CORE.rglob("*.py")):
        if not any(path.is_relative_to(place) for place in skipped):
            missing += [
                f"{path.relative_to(CORE)}: {said.replace(HOLE, '{…}')}"
                for said in sorted(said_in(path) - set(USUAL_REMEDIES.values()))
                if not is_japanese(said)
            ]
    assert not missing, "\n".join(missing)


def test_every_error_of_the_server_that_a_page_can_show_has_japanese() -> None:
    skipped = tuple(APP / place for place in FOR_PROGRAMS)
    missing = []
    for path in sorted(APP.rglob("*.py")):
        if not any(path.is_relative_to(place) for place in skipped):
            found = said_in(path) - set(USUAL_REMEDIES.values())
            missing += [f"{path.relative_to(APP)}: {said}" for said in sorted(found) if not is_japanese(said)]
    assert not missing, "\n".join(missing)


def said_elsewhere() -> list[str]:
    """Return what no module says as an error of its own.

    That is of a cross-encoder, in the words of an embedding model; of a run that was cut off; of the state of a store.
    """
    said = said_in(CORE / "adapters/generation/model_folder.py")
    renamed = [one.replace("embedding model", "cross-encoder") for one in said if "embedding model" in one]
    generations = modules()[CORE / "indexes/generations.py"].named
    states = sentences(ast.Name("remark"), generations)
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and name_of(node.func) == "StoreHealth":
                states += [said for value in node.args[4:] for said in sentences(value, module.named)]
    return [*renamed, INTERRUPTED.partition(": ")[2], CatalogDamaged.remedy, *filter(None, states)]


def test_what_is_said_by_other_means_has_japanese() -> None:
    assert len(said_elsewhere()) > 4
    assert [one for one in said_elsewhere() if not is_japanese(one)] == []


def test_japanese_sentences_say_every_value() -> None:
    unsaid = {}
    for key in (*patterns(), *patterns(PARTS)):
        english, japanese = (set(re.findall(r"\{(\w+)\}", str(i18n.messages(lang)[key]))) for lang in ("en", "ja"))
        if english - japanese:
            unsaid[key] = english - japanese
    assert unsaid == UNSAID_VALUES


def test_places_that_no_page_reaches_are_there() -> None:
    assert [place for place in OFF_THE_PAGES if not (CORE / place).exists()] == []
    assert [place for place in FOR_PROGRAMS if not (APP / place).exists()] == []


def test_translated_sentences_of_errors_are_those_that_are_said() -> None:
    said = {one for path in modules() for one in said_in(path)} | {*said_elsewhere()}
    worded = [re.escape(one) for one in said if re.search("[a-z]{2}", one)]
    said_by = [re.compile(one.replace(re.escape(HOLE), ".+"), re.DOTALL) for one in worded]
    unsaid = [
        key
        for key, pattern in patterns().items()
        if not any(map(pattern.fullmatch, said))
        and not any(one.fullmatch(str(i18n.messages("en")[key])) for one in said_by)
    ]
    assert unsaid == []


def test_translated_parts_of_sentences_are_those_that_are_said() -> None:
    pieces = [piece for path, module in modules().items() for node in ast.walk(module.tree) for piece in literal(node)]
    said_by = [re.compile(re.escape(one).replace(HOLE, ".+"), re.DOTALL) for one in {*pieces, *MADE_BY_OTHERS}]
    unsaid = [
        key for key in patterns(PARTS) if not any(one.fullmatch(str(i18n.messages("en")[key])) for one in said_by)
    ]
    assert unsaid == []


def literal(node: ast.AST) -> list[str]:
    """Return what stands in the code as it is, with a hole for each value."""
    return sentences(node, {}) if isinstance(node, ast.Constant | ast.JoinedStr) else []


@pytest.mark.parametrize("text", ['a,"b', '"a"b,c', f"a\n{'x' * (csv.field_size_limit() + 1)}"])
def test_reason_of_a_table_is_japanese(text: str) -> None:
    with pytest.raises(csv.Error) as failed:
        list(csv.reader(io.StringIO(text), strict=True))
    assert is_japanese(f"Line 3: {failed.value}.")


@pytest.mark.parametrize("reason", ["time", "processor", "memory", "crash"])
def test_reason_of_a_lost_process_is_japanese(reason: str) -> None:
    assert is_japanese(f"The two versions are too large to be compared ({reason}).")


@pytest.mark.parametrize("state", ["stored", "failed", "cancelled", "purged"])
def test_state_of_a_version_is_japanese(state: str) -> None:
    assert is_japanese(f"Version 2 is {state} and cannot be shown.")


@pytest.mark.parametrize("state", JobState)
def test_state_of_a_job_is_japanese(state: JobState) -> None:
    assert is_japanese(f"The job is {state}; only failed or cancelled jobs can be started again.")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOENT, errno.ENOSPC])
def test_reason_of_the_system_is_japanese(number: int) -> None:
    assert is_japanese(unrecorded(OSError(number, os.strerror(number))).message)


@pytest.mark.parametrize(("name", "steps"), [("morse", 8), ("rate", 0)])
def test_reason_of_a_code_is_japanese(name: Any, steps: int) -> None:
    with pytest.raises(ValueError) as failed:
        Code(name, steps)
    assert is_japanese(f"The code of the neurons is not understood: {failed.value}.")


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
        assert in_language("Line 3: unexpected end of data.") == "3行目を読み取れません（引用符が閉じていません）。"
        assert in_language("Version 2 of “規程.pdf” is failed and cannot be shown.") == (
            "「規程.pdf」の第2版は公開できる状態ではありません（失敗）。"
        )


def test_reason_is_said_where_it_is_known(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert in_language("The language model x was refused: its weights are pickled.") == (
            "言語モデル x は重みが pickle 形式のため使えません。"
        )
        assert in_language("The recording was refused: the population fc1 is not whole.") == (
            "記録を読み込めません。集団 fc1 のデータがそろっていません。"
        )
        assert in_language("The two versions are too large to be compared (memory).") == (
            "2つの版は大きすぎて比較できません（メモリの上限を超過）。"
        )
        assert in_language(
            "The vector store failed and is left alone for a moment: The vector store failed: MilvusException."
        ) == (
            "ストアで障害が起きたため、しばらく接続を控えています：ベクトルストアでエラーが起きました（MilvusException）。"
        )
        assert in_language("The store of the originals does not answer (ConnectionError).") == (
            "原本の保管先が応答しません（ConnectionError）。"
        )
        assert in_language("The server answered with the status 503.") == "サーバーがエラーを返しました：状態 503。"
        assert in_language("The bytes of this file in the data folder are unreadable.") == (
            "データフォルダーにあるこのファイルの内容を読み取れません。"
        )
        assert in_language("This needs the role editor; “佐藤” has the role reader.") == (
            "この操作には editor のロールが必要です。「佐藤」のロールは reader です。"
        )


def test_failure_beside_a_store_is_said_in_japanese(window: Dash) -> None:
    late = "The vector store failed: MilvusException."
    health = GeneratorHealth("x", "y", GeneratorState.UNAVAILABLE, "The server at a:1 lists no model.")
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        shown = [
            store_table([StoreCheck("vector", "milvus", 3, error=late)]),
            files_section(FilesCheck(3, error="The store of the originals does not answer (OSError).")),
            generator_words(health),
            stores_card(Health((StoreHealth("vector", "milvus", "down", None, late),), 0, True)),
        ]
    vectors = "ベクトルストアでエラーが起きました（MilvusException）。"
    expected = (vectors, "原本の保管先が応答しません（OSError）。", "サーバー a:1 にモデルがありません。", vectors)
    assert [words for words, part in zip(expected, shown, strict=True) if words not in str(part)] == []
