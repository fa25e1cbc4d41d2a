"""The same operations on a knowledge base here and on a server give the same results, and the same errors.

One list of steps runs twice: on a ``KnowledgeBase``, and through a ``RagClient`` on the server of another one that
began as empty. What a step returns is compared field by field, of an error its class, code and status. The only
differences that are allowed are those of ``plain``: times, durations, ids that are drawn by chance (they are known by
the order in which they appear), and lists for tuples, since JSON has one kind of sequence.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import core
from core import EvoRAG, KnowledgeBase, RagClient
from core.api import AnswersApi, KnowledgeBaseApi
from core.errors import EvoRAGError
from tests.builders import knowledge_base
from tests.contracts.congruence_steps import STEPS, Side
from tests.live import served

DRAWN = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
DURATIONS = re.compile(r"(.*_)?(ms|s|seconds)|timings_ms|resources")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00| UTC)")
CHANGES = "change"
"""Counts every change of any job, as often as its worker finds time to tell its progress."""


def plain(value: Any, drawn: dict[str, str]) -> Any:
    """Return a result as plain values, without what no two knowledge bases have in common."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime):
        return f"a moment with {'a' if value.tzinfo else 'no'} zone"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"": type(value).__name__} | plain(
            {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}, drawn
        )
    if isinstance(value, Mapping):
        return {
            key: duration(each) if DURATIONS.fullmatch(str(key)) else 0 if key == CHANGES else plain(each, drawn)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(each, drawn) for each in value]
    if isinstance(value, str):
        named = DRAWN.sub(lambda found: drawn.setdefault(found[0], f"id {len(drawn)}"), value)
        return MOMENT.sub("a moment", named)
    return value


def duration(value: Any) -> Any:
    """Return how a duration is told: alone, or by the names of what took it."""
    return sorted(value) if isinstance(value, Mapping) else type(value).__name__


def results(side: Side) -> dict[str, Any]:
    """Run every step and return what each gave: a result, or an error."""
    found: dict[str, Any] = {}
    drawn: dict[str, str] = {}
    for step in STEPS:
        try:
            found[step.name] = plain(step.run(side), drawn)
        except EvoRAGError as error:
            found[step.name] = plain(
                {"raises": type(error).__name__, "code": error.code, "status": error.status}, drawn
            )
        except Exception as error:
            found[step.name] = f"{type(error).__name__}: {error}"
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    with knowledge_base(here, job_workers=1) as kb:
        local = results(Side(kb, EvoRAG(kb=kb), here))
    with knowledge_base(there, job_workers=1) as kb, served(kb) as url, RagClient(url, part_bytes=16 * 1024) as client:
        remote = results(Side(client, client, there))
    yield local, remote


@pytest.mark.long
@pytest.mark.parametrize("name", [step.name for step in STEPS])
def test_both_give_the_same(both: tuple[dict[str, Any], dict[str, Any]], name: str) -> None:
    local, remote = both
    assert remote[name] == local[name]
    assert ("raises" in local[name] if isinstance(local[name], dict) else False) == (": " in name), local[name]


def operations() -> dict[str, Any]:
    """Return the operations of the contract by their full names, as functions."""
    found: dict[str, Any] = {f"answers.{name}": value for name, value in public(AnswersApi)}
    for name, value in public(KnowledgeBaseApi):
        if isinstance(value, property):
            part = get_type_hints(value.fget)["return"]
            found |= {f"{name}.{inner}": function for inner, function in public(part)}
        else:
            found[name] = value
    return found


def public(kind: type) -> list[tuple[str, Any]]:
    return [(name, getattr(kind, name)) for name in dir(kind) if not name.startswith("_")]


def test_every_operation_is_compared() -> None:
    assert {step.operation for step in STEPS} == set(operations())
    assert len({step.name for step in STEPS}) == len(STEPS)


def test_both_take_what_the_contract_says(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb, RagClient("http://127.0.0.1:9") as client:
        for name, function in operations().items():
            for target in (kb, client):
                found = implementation(target, name)
                assert accepted(found, function) == [], f"{type(target).__name__}.{name}"


def implementation(target: KnowledgeBase | RagClient, name: str) -> Any:
    part, _, inner = name.rpartition(".")
    if part == "answers":
        return getattr(EvoRAG(kb=target) if isinstance(target, core.KnowledgeBase) else target, inner)
    return getattr(getattr(target, part) if part else target, inner)


def accepted(found: Any, contract: Any) -> list[str]:
    """Return the parameters of a contract that an implementation does not take alike, and those that it demands."""
    taken = inspect.signature(found).parameters
    wanted = {name: each for name, each in inspect.signature(contract).parameters.items() if name != "self"}
    unlike = [
        name
        for name, each in wanted.items()
        if name not in taken
        or taken[name].kind is not each.kind
        or (each.default is not each.empty and taken[name].default != each.default)
    ]
    return unlike + [
        name
        for name, each in taken.items()
        if name not in wanted and each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
