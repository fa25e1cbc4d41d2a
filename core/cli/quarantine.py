"""The commands ``quarantine …``: files that no row of the catalogue names are listed, taken back, or removed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson, DataDir
from core.cli.session import opened
from core.errors import InvalidInput

commands = typer.Typer(no_args_is_help=True, help="Files that the catalogue does not name.")


@commands.command("list")
def list_files(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the files that nothing names; they stay until you take them back or remove them."""
    with opened(data_dir) as kb:
        found = kb.quarantine.list()
    if as_json:
        return output.print_json(found)
    rows = [[each.name, each.kind, "" if each.size_bytes is None else each.size_bytes] for each in found]
    output.print_rows(("file that nothing names", "kind", "bytes"), rows)


@commands.command()
def restore(
    name: Annotated[str, typer.Argument(metavar="SHA256", help="The original, as it is listed.")],
    file_name: Annotated[str, typer.Argument(metavar="FILENAME", help="What the file is called, with its extension.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Take an original back as the next version of the document that FILENAME says."""
    with opened(data_dir) as kb:
        done = kb.quarantine.restore(name, file_name)
        output.follow(kb, [done.job_id] if done.job_id else [])
    if as_json:
        return output.print_json(done)
    output.note(f"“{done.doc_key}” has it as version {done.version}.")


@commands.command()
def empty(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="These files; all without any.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove files that nothing names for good."""
    with opened(data_dir) as kb:
        if not yes:
            output.note(f"Files that would be removed: {len(names or kb.quarantine.list())}.")
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise InvalidInput("This cannot be undone, and nobody can be asked here.", remedy="Add --yes.")
            typer.confirm("This cannot be undone. Remove them?", abort=True, err=True)
        count = kb.quarantine.empty(names or None)
    output.print_json({"count": count}) if as_json else output.note(f"Removed: {count}.")
