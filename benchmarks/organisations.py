"""Answers from the documents of invented organisations, in English and Japanese, judged by what has to be said.

Handbooks, tariffs, minutes, manuals, statutes and the like, written for EvoRAG, two organisations in each folder of
``organisation_set``: its ``docs`` fill a knowledge base of their own, ``questions.jsonl`` asks as people would. What
the reader and the confidence learnt from is told by ``LEARNT`` and ``FITTED``; the others judge, and are asked where
no ``--set`` names some. Shares have 95 % intervals (bootstrap over questions). ``--each`` prints every question on
stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import manuals, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import note
from benchmarks.manuals_judge import UNANSWERABLE, Question, plain
from core import EvoRAG, Settings, build
from core.knowledge_base import KnowledgeBase
from core.model import Hit
from core.text.language import detect_language

SET = Path(__file__).parent / "organisation_set"
LEARNT = ("a", "b", "c", "e", "i", "j", "k", "l", "m")
FITTED = ("d", "n", "o")
"""Organisations that the confidence was fitted on, and not the reader."""
_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class OrganisationQuestion:
    """A question over the documents of an organisation.

    ``evidence`` and ``answer`` are words of its document; ``must`` holds alternatives of each thing that is to be said.
    """

    id: str
    organisation: str
    language: str
    question: str
    kind: str
    document: str
    evidence: str
    answer: str
    must: Sequence[Sequence[str]]

    @property
    def is_answerable(self) -> bool:
        return self.kind != UNANSWERABLE

    @cached_property
    def is_across(self) -> bool:
        """Whether the document is in another language than the question."""
        return self.is_answerable and detect_language(self.evidence) != self.language

    def judged(self) -> Question:
        """Return it in the form in which answers are judged."""
        must = tuple(tuple(re.escape(plain(form)) for form in forms) for forms in self.must)
        evidence = (_TAG.sub(" ", self.evidence),) if self.is_answerable else ()
        return Question(
            id=self.id,
            language=self.language,
            kind=self.kind,
            half="",
            question=self.question,
            document=self.document,
            evidence=evidence,
            must=must,
            across=self.is_across,
        )

    def place_in(self, hit: Hit) -> tuple[int, int] | None:
        """Return the characters of a passage that answer, None where it does not hold them."""
        if not self.is_answerable or hit.placed.name != self.document:
            return None
        text = hit.placed.chunk.text
        around = within(text, _TAG.sub(" ", self.evidence))
        if around is None:
            return None
        inside = within(text[slice(*around)], self.answer)
        return around if inside is None else (around[0] + inside[0], around[0] + inside[1])

    def may_be_in(self, hit: Hit) -> bool:
        """Tell whether a passage holds the evidence, or all that has to be said, in the document that answers."""
        if not self.is_answerable or hit.placed.name != self.document:
            return False
        text = hit.placed.chunk.text.casefold()
        return bool(self.place_in(hit)) or all(any(form.casefold() in text for form in forms) for forms in self.must)


def within(text: str, wanted: str) -> tuple[int, int] | None:
    """Return where some words stand in a text, whatever signs and blanks are between them."""
    letters = [(at, letter) for at, sign in enumerate(text) for letter in sign.casefold() if sign.isalnum()]
    bare = "".join(letter for _, letter in letters)
    sought = "".join(letter for sign in wanted for letter in sign.casefold() if sign.isalnum())
    first = bare.find(sought)
    if not sought or first < 0:
        return None
    return letters[first][0], letters[first + len(sought) - 1][0] + 1


def organisations(folder: Path = SET) -> list[str]:
    """Return the names of the organisations."""
    return sorted(path.parent.name for path in folder.glob("*/questions.jsonl"))


def questions_of(organisation: str, folder: Path = SET) -> list[OrganisationQuestion]:
    """Return the questions over an organisation's documents."""
    rows = map(json.loads, (folder / organisation / "questions.jsonl").read_text("utf-8").splitlines())
    return [OrganisationQuestion(organisation=organisation, **row) for row in rows]


def filled(organisation: str, kept: Path, **settings: Any) -> KnowledgeBase:
    """Open the knowledge base of an organisation's documents, below ``kept``, and fill it where it is new."""
    folder = kept / organisation
    is_new = not (folder / "catalog.db").exists()
    kb = build(Settings(data_dir=folder, **settings))
    for path in sorted((SET / organisation / "docs").iterdir()) if is_new else ():
        kb.add_path(path)
    for job in kb.wait([job.id for job in kb.jobs(active=True)]):
        if job.state != "done":
            note(f"{organisation}: {(job.error or {}).get('message', job.state)}")
    return kb


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    settings = {} if options.threshold is None else {"answer_threshold": options.threshold}
    named = options.set or [each for each in organisations() if each not in (*LEARNT, *FITTED)]
    outcomes = []
    for organisation in named:
        with filled(organisation, options.kept or context.workspace / "kept", **settings) as kb:
            rag = EvoRAG(kb=kb)
            asked = manuals.spread([one.judged() for one in questions_of(organisation)], options.sample)
            outcomes += [manuals.outcome(rag, question) for question in asked]
    if options.each:
        note("\n".join(manuals.line(one) for one in outcomes))
    return manuals.report(outcomes, np.random.default_rng(context.seed))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", nargs="*", choices=organisations(), help="organisations, instead of those that judge")
    parser.add_argument("--kept", type=Path, help="keep the knowledge bases here, and use those that are here already")
    parser.add_argument("--threshold", type=float, help="minimum confidence, instead of the calibrated one")
    parser.add_argument("--sample", type=int, help="about how many questions of each to take")
    parser.add_argument("--each", action="store_true", help="print every question with its answer on stderr")


BENCHMARK = Benchmark(
    "organisations",
    figures,
    add_options,
    smallest={"sample": 8, "set": ["g"]},
    small={"sample": 40},
    scale="sample",
    seed=0,
    units=manuals.UNITS,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
