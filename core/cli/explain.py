"""The commands of insight: ``why-not``, ``analyse``, and ``vocabulary show | import | reindex``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AllVersions, AsJson, AsOf, DataDir, InTag, InType, Question, TopK, Wait
from core.cli.session import doc_key, filters_of, opened, query_of
from core.errors import InvalidInput
from core.indexes.readiness import wait_until_ready
from core.model import Advice, JobState, LegPlace, Vocabulary, WhyNot

commands = typer.Typer()
vocabulary = typer.Typer(help="Words of the knowledge base's own, and words that mean the same.", no_args_is_help=True)

_ADVICE = {
    "raise_top_k": "show {top_k} passages",
    "raise_depth": "search {depth} hits deep",
    "raise_per_document": "allow {per_document} passages of one document",
    "remove_filter": "ask without the filter “{filter}”",
    "dismiss_filter": "ask without what was read from “{words}”",
    "ask_plainly": "ask without phrases, excluded words and fields",
    "publish": "publish version {version} of {doc}",
    "restore": "restore {doc}",
    "ask_as_of": "ask as of {as_of}",
    "ask_now": "ask of what is shown now",
    "ask_with_term": "ask with the word “{term}”",
    "add_synonym": "say in the vocabulary that “{asked}” means “{held}”",
}
Text = Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it from standard input.")]


@commands.command("why-not")
def why_not(
    question: Question,
    doc: Annotated[str, typer.Option("--doc", metavar="DOC", help="The document that should have been found.")],
    passage: Annotated[int | None, typer.Option(min=1, help="Its passage; else the one that stands best.")] = None,
    version: Annotated[
        int | None, typer.Option(min=1, help="Its version; else the one that the question sees.")
    ] = None,
    top_k: TopK = None,
    tag: InTag = None,
    file_type: InType = None,
    as_of: AsOf = None,
    all_versions: AllVersions = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Tell why a passage was not found, or not higher, and what would bring it up."""
    with opened(data_dir) as kb:
        query = query_of(kb, question, top_k, filters_of(None, tag, file_type), as_of, all_versions)
        wait_until_ready(kb)
        found = kb.insight.why_not(query, doc_key(doc), None if passage is None else passage - 1, version)
    if as_json:
        return output.print_json(found)
    _print(found)


def _print(found: WhyNot) -> None:
    obstacle = found.obstacle.replace("_", " ")
    detail = f": {found.obstacle_detail}" if found.obstacle_detail else ""
    output.print_text(f"{found.doc_key}, version {found.version}, passage {found.position + 1}\n{obstacle}{detail}")
    output.print_rows(
        ("search", "rank", "of", "score", "depth needed"),
        [
            _leg("meaning", found.vector),
            _leg("words", found.keyword),
            ["final", found.final_rank or "-", "-", "-", "-"],
        ],
    )
    for name, terms in (("holds", found.present_terms), ("lacks", found.missing_terms)):
        if terms:
            output.print_text(f"{name}: {', '.join(terms)}")
    for advice in found.advice:
        output.print_text(f"to bring it up: {_said(advice)}")


def _leg(name: str, place: LegPlace) -> list[object]:
    score = "-" if place.score is None else f"{place.score:.4f}"
    return [name, place.rank or "-", place.of, score, place.depth_needed or "-"]


def _said(advice: Advice) -> str:
    said = _ADVICE[advice.code].format(**advice.values)
    return f"{said} (rank {advice.values['rank']})" if "rank" in advice.values else said


@commands.command()
def analyse(text: Text, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show the words of a text, and the terms that it is indexed by and asked with."""
    given = sys.stdin.read() if text == "-" else text
    with opened(data_dir) as kb:
        found = kb.insight.analyse(given)
    if as_json:
        return output.print_json(found)
    output.print_rows(
        ("word", "terms", "reading", "part of speech", "stopped", "synonyms"),
        [
            [
                token.surface,
                " ".join(token.terms),
                token.reading,
                token.part_of_speech,
                token.stopped,
                " ".join(token.synonyms),
            ]
            for token in found.tokens
        ],
    )
    output.print_text(f"indexed: {' '.join(found.indexed)}\nasked: {' '.join(found.asked)}")


@vocabulary.command()
def show(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the words and synonyms, as “import” reads them."""
    with opened(data_dir) as kb:
        found = kb.insight.vocabulary()
    if as_json:
        return output.print_json(found)
    for word, reading in found.words:
        output.print_text(f"{word}, {reading}" if reading else word)
    for group in found.synonyms:
        output.print_text(" = ".join(group))
    if found.number != found.indexed_number:
        output.note("The vocabulary takes effect with `evorag vocabulary reindex`.")


@vocabulary.command("import")
def import_words(
    file: Annotated[Path, typer.Argument(help="“word” or “word, reading” a line, or “one = other”; or JSON.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Replace the vocabulary by what a file holds."""
    words, synonyms = _read(file)
    with opened(data_dir) as kb:
        found = kb.insight.set_vocabulary(words, synonyms)
    if as_json:
        return output.print_json(found)
    _told(found)


@vocabulary.command()
def reindex(wait: Wait = True, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Have the vocabulary take effect: build the keyword index anew, while the present one serves."""
    with opened(data_dir) as kb:
        job_id = kb.insight.reindex_words()
        job = output.follow(kb, [job_id])[0] if wait else kb.job(job_id)
        found = kb.insight.vocabulary()
    if as_json:
        output.print_json({"job": job, "vocabulary": found})
    elif wait and job.state is JobState.DONE:
        _told(found)
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        output.note_job(job)
        raise typer.Exit(1)


def _told(found: Vocabulary) -> None:
    effect = "in effect" if found.number == found.indexed_number else "to be indexed with `evorag vocabulary reindex`"
    output.print_text(f"{len(found.words)} words, {len(found.synonyms)} groups of synonyms, {effect}")


def _read(file: Path) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Return what a file says. Raises: ``InvalidInput``."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"“{file.name}” cannot be read as UTF-8 text.") from error
    if text.lstrip().startswith("{"):
        try:
            given = json.loads(text)
            return list(given.get("words", ())), list(given.get("synonyms", ()))
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"“{file.name}” is no JSON that “show --json” wrote.") from error
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    words = [[part.strip() for part in line.split(",", 1)] for line in kept if "=" not in line]
    synonyms = [[part.strip() for part in line.split("=")] for line in kept if "=" in line]
    return [*words], [*synonyms]
