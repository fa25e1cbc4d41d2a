"""The commands ``readings …``: what an earlier EvoRAG has read is read anew, compared, used, and taken back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli import output, remote
from core.cli.options import AsJson, DataDir
from core.cli.session import doc_key, opened
from core.model import Reading, ReadingReport

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi

_POLL_S = 0.5
_SHOWN = 50

commands = typer.Typer(no_args_is_help=True, help="Documents that an earlier EvoRAG has read, read anew.")
Docs = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="These documents; all without any.")]


@commands.command()
def status(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Say how many documents an earlier EvoRAG has read, and what has been done about it."""
    with opened(data_dir) as kb:
        _end(kb, as_json=as_json)


@commands.command("list")
def list_readings(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the readings that are not in use, with the words that each gains and loses."""
    with opened(data_dir) as kb:
        found = kb.readings.list(limit=_SHOWN)
    (output.print_json if as_json else _print)(found)


@commands.command()
def begin(docs: Docs = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Read documents anew beside what they show, and stay until that is done; nothing is used yet."""
    with opened(data_dir) as kb:
        begun = kb.readings.begin(_keys(docs))
        with output.bar("Read anew") as show_bar:
            while left := kb.readings.report().reading:
                show_bar(max(begun - left, 0), max(begun, left), "")
                if remote.is_here(kb) and not kb.settings.indexing.job_workers:
                    kb.work_off()
                else:
                    time.sleep(_POLL_S)
        _end(kb, as_json=as_json)


@commands.command()
def show(docs: Docs = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Use the readings that wait; questions as of the past and old citations still find what there was."""
    with opened(data_dir) as kb:
        _all(kb.readings.show, docs, lambda: kb.readings.report().usable)
        _end(kb, as_json=as_json)


@commands.command()
def undo(docs: Docs = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Go back to the readings that were in use before."""
    with opened(data_dir) as kb:
        _all(kb.readings.undo, docs, lambda: kb.readings.report().replaced)
        _end(kb, as_json=as_json)


@commands.command()
def drop(docs: Docs = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove the readings that were never in use."""
    with opened(data_dir) as kb:
        kb.readings.drop(_keys(docs))
        _end(kb, as_json=as_json)


def _keys(docs: list[str] | None) -> list[str] | None:
    return [doc_key(name) for name in docs] if docs else None


def _all(act: Callable[[list[str] | None], int], docs: list[str] | None, left: Callable[[], int]) -> None:
    """Do something with a few documents at a time until none is left."""
    keys, done = _keys(docs), 0
    with output.bar("Documents") as show_bar:
        while count := act(keys):
            done += count
            show_bar(done, done + left(), "")


def _end(kb: KnowledgeBaseApi, *, as_json: bool) -> None:
    """Print how the documents stand now."""
    found = kb.readings.report()
    output.print_json(found) if as_json else _print_report(found)


def _print_report(found: ReadingReport) -> None:
    counted = ("outdated", "reading", "failed", "waiting", "withdrawn", "replaced")
    output.print_rows(("reader", *counted), [[found.reader, *(getattr(found, name) for name in counted)]])


def _print(found: list[Reading]) -> None:
    output.print_rows(
        ("document", "version", "reading", "state", "chunks", "words gained", "words lost"),
        (
            [
                *(each.doc_key, each.version, each.number, each.state),
                f"{each.present_chunk_count} → {each.chunk_count}",
                *((each.differences.gained, each.differences.lost) if each.differences else ("", "")),
            ]
            for each in found
        ),
    )
