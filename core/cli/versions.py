"""The commands of versions: what there is, what is shown, what was shown, and what is removed for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli import output, version_output
from core.cli.evaluations import warn_before
from core.cli.options import AsJson, DataDir, Name, Names, Note, Number
from core.cli.session import actor, doc_key, moment, opened, publish_each, version_of
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi

commands = typer.Typer()

_NEVER = "never"


@commands.command()
def versions(doc: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the versions of a document, newest first."""
    with opened(data_dir) as kb:
        found = kb.versions(doc_key(doc))
    (output.print_json if as_json else version_output.print_versions)(found)


@commands.command()
def publish(
    doc: Name,
    version: Number,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Not now but at this time (ISO 8601); “never” takes a time back."),
    ] = None,
    note: Note = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show a version from now on, or from a time on."""
    if at is None:
        with opened(data_dir) as kb:
            key = version_of(kb, doc, version)
            warn_before(kb, key, version)
            done = kb.publish(key, version, actor(), note)
        return version_output.end_publication(done, as_json=as_json)
    if note:
        raise typer.BadParameter("goes with publishing at once; annotate the version instead", param_hint="--note")
    due = None if at == _NEVER else moment(at, "--at")
    with opened(data_dir) as kb:
        scheduled = kb.schedule(version_of(kb, doc, version), version, due, actor())
    version_output.end_version(scheduled, as_json=as_json)
    if due is not None:
        output.note("It is shown from then on if EvoRAG is running, and else as soon as it runs again.")


@commands.command()
def rollback(
    doc: Name,
    to: Annotated[int | None, typer.Option(min=1, help="This version, not the one shown before.")] = None,
    note: Note = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show an older version again: the one shown before the present one, or another."""
    with opened(data_dir) as kb:
        done = kb.rollback(version_of(kb, doc, to), to, actor(), note)
    version_output.end_publication(done, as_json=as_json)


@commands.command()
def unpublish(doc: Name, note: Note = "", data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show nothing of a document, which stays in the list; restore and publish show it again."""
    with opened(data_dir) as kb:
        done = kb.unpublish(doc_key(doc), actor(), note)
    version_output.end_publication(done, as_json=as_json)


@commands.command()
def delete(docs: Names, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Delete documents; restore brings them back."""
    publish_each("delete", docs, data_dir, as_json=as_json)


@commands.command()
def restore(docs: Names, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show deleted and unpublished documents again."""
    publish_each("restore", docs, data_dir, as_json=as_json)


@commands.command()
def purge(
    doc: Name,
    version: Annotated[int | None, typer.Option(min=1, help="Only this version, not the whole document.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    note: Note = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove text, vectors and bytes for good; a tombstone says when and by whom."""
    with opened(data_dir) as kb:
        key = version_of(kb, doc, version)
        if not yes:
            _confirm_purge(kb, key, version)
        done = kb.purge(key, version, actor(), note)
    version_output.end_publication(done, as_json=as_json)


def _confirm_purge(kb: KnowledgeBaseApi, key: str, version: int | None) -> None:
    """Name what would be lost and ask. Raises: ``InvalidInput`` where nobody can answer, ``Abort``."""
    lost = [found for found in kb.versions(key) if version in (None, found.number) and found.state != "purged"]
    output.note(f"What is lost of “{kb.document(key).name}”:")
    for found in lost:
        output.note(f"  {version_output.in_words(found)}")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput(
            "A purge cannot be undone, and nobody can be asked here.", remedy="Add --yes to purge without a question."
        )
    typer.confirm("This cannot be undone. Purge?", abort=True, err=True)


@commands.command()
def annotate(
    doc: Name,
    version: Number,
    note: Annotated[str | None, typer.Option(help="The note; empty removes it.")] = None,
    label: Annotated[str | None, typer.Option(help="The label, such as 2.1; empty removes it.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Give a version a note or a label."""
    if note is None and label is None:
        raise typer.BadParameter("nothing to change; give --note or --label")
    with opened(data_dir) as kb:
        changed = kb.annotate(version_of(kb, doc, version), version, note=note, label=label)
    version_output.end_version(changed, as_json=as_json)


@commands.command()
def audit(
    doc: Annotated[str | None, typer.Option(help="Only this document.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Only publish, rollback, unpublish, delete, restore or purge.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most lines.")] = 200,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List what was shown, hidden and removed, newest first: when, by whom, and why."""
    with opened(data_dir) as kb:
        found = kb.audit(limit=limit, key=None if doc is None else doc_key(doc), action=action)
    (output.print_json if as_json else version_output.print_publications)(found)
