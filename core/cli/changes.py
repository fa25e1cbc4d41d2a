"""The commands that compare: ``diff`` of two versions, saved ``questions``, and the ``impact`` of a version on them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from core.cli import diff_output, output, remote, version_output
from core.cli.options import AsJson, DataDir, Name, Number, Private
from core.cli.session import asking, opened, version_of
from core.errors import InvalidInput
from core.indexes.readiness import wait_until_ready

commands = typer.Typer()


@commands.command()
def diff(
    doc: Name,
    old: Annotated[int, typer.Argument(metavar="A", min=1, help="The old version.")],
    new: Annotated[int, typer.Argument(metavar="B", min=1, help="The new version.")],
    other: Annotated[str | None, typer.Option(metavar="DOC2", help="The document that holds version B.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Unchanged lines too.")] = False,
    as_html: Annotated[bool, typer.Option("--html", help="Print a standalone HTML page.")] = False,
    as_patch: Annotated[bool, typer.Option("--patch", help="Print a unified patch of the text.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two versions: numbers and dates first, then line by line."""
    if as_html + as_patch + as_json > 1:
        raise typer.BadParameter("one of --json, --html and --patch")
    with opened(data_dir) as kb:
        key = version_of(kb, doc, old)
        second = version_of(kb, doc if other is None else other, new)
        comparison = kb.compare(key, old, new, other=None if other is None else second)
        if as_html or as_patch:
            for part in kb.export(comparison, "html" if as_html else "patch"):
                sys.stdout.write(part)
        elif as_json:
            diff_output.write_json(comparison, remote.view_of(kb, comparison), every=every)
        else:
            diff_output.print_comparison(comparison, remote.view_of(kb, comparison), every=every)


@commands.command()
def questions(
    save: Annotated[str | None, typer.Option(metavar="TEXT", help="Save a question.")] = None,
    private: Private = False,
    forget: Annotated[str | None, typer.Option(metavar="ID", help="Forget a saved question.")] = None,
    share: Annotated[str | None, typer.Option(metavar="ID", help="Show one's saved question to everybody.")] = None,
    hide: Annotated[str | None, typer.Option(metavar="ID", help="Show it to oneself and administrators.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the saved questions, whose answers “impact” watches."""
    with opened(data_dir) as kb:
        if forget is not None:
            kb.forget_question(forget)
        if save is not None:
            kb.save_question(save, shared=not private)
        for question_id, is_shared in ((share, True), (hide, False)):
            if question_id is not None:
                kb.share_question(question_id, is_shared)
        saved = kb.saved_questions()
    (output.print_json if as_json else version_output.print_questions)(saved)


@commands.command()
def impact(doc: Name, version: Number, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Tell which answers to the saved questions would change if a version were published."""
    with opened(data_dir) as kb:
        saved = kb.saved_questions()
        if not saved:
            raise InvalidInput(
                "No question is saved, so there is no answer to compare.", remedy="Save some: evorag questions --save."
            )
        wait_until_ready(kb)
        with output.bar("Asking") as progress:
            found = list(asking(kb).impact(version_of(kb, doc, version), version, saved, progress))
    (output.print_json if as_json else version_output.print_impacts)(found)
    output.warn_unwritten(side.answer for each in found for side in (each.comparison.old, each.comparison.new))
