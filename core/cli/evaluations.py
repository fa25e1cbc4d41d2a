"""The commands ``eval …``: a folder's question set in a temporary knowledge base, and kept sets with their runs.

``evorag eval FOLDER`` measures a folder; the other commands work on a data folder or on a server.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from core.cli import output
from core.cli.evaluation_output import (
    note_left_out,
    note_unjudged,
    print_comparison,
    print_outcomes,
    print_run,
    print_runs,
    print_sets,
    warn_of,
    warn_of_generator,
)
from core.cli.options import AsJson, AsOf, DataDir, Name, Number, Private, TopK
from core.cli.session import as_of_option, opened, settings, version_of
from core.errors import Conflict, EvoRAGError, InvalidInput, NotFound
from core.indexes.readiness import wait_until_ready
from core.model import EvaluationRun, Query, QuestionSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.api import KnowledgeBaseApi

_POLL_S = 0.2

Set = Annotated[str, typer.Argument(metavar="SET", help="A question set by name or id.")]
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run by its id.")]


class FolderFirst(TyperGroup):
    """A group that takes what is none of its commands for the folder that the command ``folder`` measures."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["folder", *args]
        return super().parse_args(ctx, args)


commands = typer.Typer(
    cls=FolderFirst,
    no_args_is_help=True,
    help="Measure retrieval and answers: “eval FOLDER” in a temporary knowledge base, or kept question sets.",
)


@commands.command()
def folder(
    folder: Annotated[Path, typer.Argument(help="Folder with passages.jsonl and questions.jsonl.")],
    sample: Annotated[int | None, typer.Option(min=1, help="Ask only so many questions, drawn by chance.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure a folder's question set, in a temporary knowledge base; the word “folder” may be left out.

    A passage or question that cannot be read is left out and named with its line.
    """
    from core.cli.eval_folder import run as measured

    report = measured(folder, sample, seed)
    if as_json:
        output.print_json(report)
    else:
        output.print_rows(("measure", "value"), output.flat({**report, "left_out": len(report["left_out"])}))
    note_left_out(report["left_out"])
    note_unjudged(report["unjudged"])
    warn_of_generator(report["answers"], report["questions"])


@commands.command("import")
def import_set(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Questions as CSV or JSONL.")],
    name: Annotated[str, typer.Option(help="What the set is called; by default as the file.")] = "",
    gate: Annotated[bool, typer.Option("--gate", help="Ask it before a draft is published.")] = False,
    private: Private = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Keep a file of questions as a set; the columns are question, doc, answers and answerable."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"“{file}” cannot be read.", remedy="Name a file of questions.") from error
    form = "csv" if file.suffix.lower() in (".csv", ".tsv") else "jsonl"
    with opened(data_dir) as kb:
        kept = kb.evaluations.import_set(name or file.stem, data, form, shared=not private)
        if gate:
            kept = kb.evaluations.set_gate(kept.id, True)
    output.print_json(kept) if as_json else print_sets([kept])


@commands.command()
def history(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the set is called.")],
    last: Annotated[int, typer.Option(min=1, max=1_000, help="So many of the last questions.")] = 100,
    private: Private = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Keep the last questions that were asked as a set: what they were answered counts as right."""
    with opened(data_dir) as kb:
        asked = [summary.id for summary in kb.history(last)]
        kept = kb.evaluations.set_from_history(name, asked, shared=not private)
    output.print_json(kept) if as_json else print_sets([kept])


@commands.command()
def export(
    name: Set,
    form: Annotated[str, typer.Option(help="csv or jsonl.")] = "csv",
    data_dir: DataDir = None,
) -> None:
    """Print a question set as a file that can be imported."""
    with opened(data_dir) as kb:
        sys.stdout.write(kb.evaluations.export_set(_set(kb, name).id, form))


@commands.command()
def delete(name: Set, data_dir: DataDir = None) -> None:
    """Delete a question set with all its runs."""
    with opened(data_dir) as kb:
        kb.evaluations.delete_set(_set(kb, name).id)


@commands.command()
def share(
    name: Set,
    off: Annotated[bool, typer.Option("--off", help="Keep it private.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show one's question set to everybody, or with --off to oneself and administrators alone."""
    with opened(data_dir) as kb:
        changed = kb.evaluations.share_set(_set(kb, name).id, not off)
    output.print_json(changed) if as_json else print_sets([changed])


@commands.command()
def watch(
    name: Set,
    off: Annotated[bool, typer.Option("--off", help="No longer.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Have a question set asked before a draft is published."""
    with opened(data_dir) as kb:
        changed = kb.evaluations.set_gate(_set(kb, name).id, not off)
    output.print_json(changed) if as_json else print_sets([changed])


@commands.command("list")
def list_sets(
    name: Annotated[str | None, typer.Argument(metavar="SET", help="List the runs of this set.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the question sets, or the runs of one, newest first."""
    with opened(data_dir) as kb:
        if name is None:
            sets = kb.evaluations.sets()
            return output.print_json(sets) if as_json else print_sets(sets)
        runs = kb.evaluations.runs(_set(kb, name).id)
    output.print_json(runs) if as_json else print_runs(runs)


@commands.command()
def run(
    name: Set,
    label: Annotated[str, typer.Option(help="What the run is called.")] = "",
    top_k: TopK = None,
    rerank: Annotated[str, typer.Option(help="none, mix, features or cross, instead of the setting.")] = "",
    fusion: Annotated[str, typer.Option(help="rrf or mix.")] = "rrf",
    generator: Annotated[str, typer.Option(help="What writes the answers, instead of the setting.")] = "",
    as_of: AsOf = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Ask every question of a set and print the measures; no private document is seen."""
    moment = as_of_option(as_of)
    with opened(data_dir) as kb:
        known = settings(data_dir)
        query = Query(
            "",
            top_k=top_k or known.top_k,
            depth=known.search_depth,
            rerank=rerank,
            fusion=fusion,
            generator=generator,
            as_of=moment,
        )
        wait_until_ready(kb)
        ended = _followed(kb, kb.evaluations.run(_set(kb, name).id, query, label))
    output.print_json(ended) if as_json else print_run(ended)
    warn_of_generator(ended.measures.get("answers", {}), ended.total)
    if ended.state != "done":
        output.note(f"{ended.state}: {ended.error}".rstrip(": "))
        raise typer.Exit(1)


@commands.command()
def failures(
    run_id: Run,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Most questions.")] = 100,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List what the questions of a run got, failures first."""
    with opened(data_dir) as kb:
        found = kb.evaluations.outcomes(run_id, limit)
    output.print_json(found) if as_json else print_outcomes(found)


@commands.command()
def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A run by its id.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another run of the same set.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two runs, with the 95 % interval of each difference."""
    with opened(data_dir) as kb:
        found = kb.evaluations.compare(old, new)
    output.print_json(found) if as_json else print_comparison(found)


@commands.command()
def gate(doc: Name, version: Number, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Tell whether publishing a version would make results worse; the status is 1 if it would."""
    with opened(data_dir) as kb:
        wait_until_ready(kb)
        found = kb.evaluations.gate(version_of(kb, doc, version), version)
    if as_json:
        output.print_json(found)
    else:
        for verdict in found:
            print_comparison(verdict.comparison)
    warn_of(found)
    if any(verdict.warns for verdict in found):
        raise typer.Exit(1)


def warn_before(kb: KnowledgeBaseApi, key: str, version: int) -> None:
    """Warn of what publishing a version would make worse, where a question set gates; it forbids nothing."""
    try:
        if any(each.gates for each in kb.evaluations.sets()):
            wait_until_ready(kb)
            warn_of(kb.evaluations.gate(key, version))
    except EvoRAGError as error:
        output.note(f"warning: the question sets could not be asked: {error.message}")


def _set(kb: KnowledgeBaseApi, name: str) -> QuestionSet:
    """Return the set of an id or a name. Raises: ``NotFound``; ``Conflict`` where others have one of the name, too."""
    sets: Sequence[QuestionSet] = kb.evaluations.sets()
    found = [known for known in sets if known.id == name] or [known for known in sets if known.name == name]
    if len(found) > 1:
        told = ", ".join(f"{known.id} ({known.owner or '-'})" for known in found)
        raise Conflict(f"There are {len(found)} question sets “{name}”: {told}.", remedy="Name one by its id.")
    if found:
        return found[0]
    raise NotFound(f"There is no question set “{name}”.", remedy="`evorag eval list` lists them.")


def _followed(kb: KnowledgeBaseApi, run: EvaluationRun) -> EvaluationRun:
    """Return a run once it is over, with a bar until then; who interrupts the command cancels the run."""
    try:
        with output.bar("Asking") as show:
            while run.state == "running":
                show(run.done, run.total)
                run = kb.evaluations.wait(run.id, _POLL_S)
    except KeyboardInterrupt:
        return kb.evaluations.cancel(run.id)
    return run
