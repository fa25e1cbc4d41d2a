"""The commands ``check | repair | reindex``: whether the stores hold what the catalogue says, and what to do then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.cli import output
from core.cli.options import AsJson, DataDir
from core.cli.session import opened
from core.errors import NotFound
from core.indexes.readiness import wait_until_ready
from core.model import FilesCheck, JobState, StoreCheck, StoreReport, to_dict

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi

Store = Annotated[str | None, typer.Option("--store", metavar="STORE", help="vector or keyword; both by default.")]
Deep = Annotated[
    bool,
    typer.Option("--deep", help="Read every original and parsed text to its end, which takes as long as it takes."),
]
Apply = Annotated[bool, typer.Option("--apply", help="Mend what is wrong; without it, it is only shown.")]
WaitForIt = Annotated[bool, typer.Option("--wait/--no-wait", help="Stay until it is done.")]

commands = typer.Typer()
_KINDS = {"original": "original", "parsed": "text read from it"}
_COLUMNS = ("expected", "stored", "missing", "orphaned", "stale", "misplaced", "waiting")


@commands.command()
def check(store: Store = None, deep: Deep = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Compare stores and files with the catalogue and change nothing.

    The exit status is 1 where a row is wrong, or an original is missing or damaged. Files that nothing names are
    listed; they stay.
    """
    with opened(data_dir) as kb:
        wait_until_ready(kb)
        if deep:
            job_id = kb.repair(store, deep=True)
            job = output.follow(kb, [job_id])[0]
            report = kb.store_report(job_id)
            if job.state is not JobState.DONE:
                output.note_job(job)
                raise typer.Exit(1)
            found, files = report.before, report.files
        else:
            with output.bar("Checking") as show:
                found = kb.check(store, progress=lambda done, total: show(done, total))
            files = _files(kb) if store is None else None
    if as_json:
        output.print_json([*found, *([] if files is None else [{"store": "files", **to_dict(files)}])])
    else:
        if files is not None:
            _print_files(files)
        _print(found)
    if not all(each.is_sound for each in found) or not (files is None or files.is_sound):
        raise typer.Exit(1)


@commands.command()
def repair(store: Store = None, apply: Apply = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what is wrong with the stores; with --apply write and delete those rows, and check again."""
    with opened(data_dir) as kb:
        wait_until_ready(kb)
        job_id = kb.repair(store, dry_run=not apply)
        job = output.follow(kb, [job_id])[0]
        report = kb.store_report(job_id)
    if as_json:
        output.print_json(report)
    else:
        _print(report.before)
        _told(report)
    if job.state is not JobState.DONE:
        output.note_job(job)
    if not all(each.is_sound for each in report.after or report.before) or job.state is not JobState.DONE:
        raise typer.Exit(1)


@commands.command()
def reindex(store: Store = None, wait: WaitForIt = True, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Write every row of a store, or of both, anew from the catalogue, while the present ones serve."""
    with opened(data_dir) as kb:
        wait_until_ready(kb)
        job_id = kb.reindex(store)
        job = output.follow(kb, [job_id])[0] if wait else kb.job(job_id)
        report = kb.store_report(job_id)
    if as_json:
        output.print_json(report)
    elif wait:
        _told(report)
    else:
        output.note(f"It goes on as job {job_id}.")
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        output.note_job(job)
        raise typer.Exit(1)


def _files(kb: KnowledgeBaseApi) -> FilesCheck | None:
    """Return how the files stand, None from a server of an earlier release."""
    try:
        return kb.check_files()
    except NotFound:
        return None


def _print_files(found: FilesCheck) -> None:
    if found.error:
        output.note(f"The originals could not be listed: {found.error}")
    if found.missing:
        output.print_rows(
            ("document", "version", "original that is missing"),
            [[each.doc_key, each.version, each.sha256] for each in found.missing_files],
        )
        output.print_text(
            f"Originals that are missing: {found.missing}. Upload them again, or put them back from a backup of the"
            " data folder."
        )
    if found.damaged:
        output.print_rows(
            ("document", "version", "what is damaged", "how", "bytes", "SHA-256"),
            [
                [each.doc_key, each.version, _KINDS[each.kind], each.fault.value, each.size_bytes or 0, each.name]
                for each in found.damaged_files
            ],
        )
        output.print_text(
            f"Damaged files: {found.damaged}. Upload the same original again, or put it back from a backup of the data"
            " folder; `evorag repair --apply` makes texts anew from their originals."
        )
    if found.verified:
        output.print_text(f"Files that were read to their end: {found.verified:,}.")
    if found.unnamed:
        output.print_rows(
            ("file that nothing names", "kind", "bytes"),
            [
                [each.name, each.kind, "" if each.size_bytes is None else each.size_bytes]
                for each in found.unnamed_files
            ],
        )
        output.print_text(
            f"Files that the catalogue does not name: {found.unnamed}. They stay until you take them back or remove"
            " them (`evorag quarantine`). If documents are missing, the catalogue may be an older copy, or another one."
        )


def _print(found: tuple[StoreCheck, ...]) -> None:
    output.print_rows(
        ("store", "engine", *_COLUMNS),
        [[each.store, each.engine, *(getattr(each, name) for name in _COLUMNS)] for each in found if not each.error],
    )
    for each in found:
        if each.error:
            output.note(f"The {each.store} store could not be read: {each.error}")
    wrong = [
        [each.store, one.doc_key, one.version, one.rows, one.missing, one.stale, one.misplaced]
        for each in found
        for one in each.versions
    ]
    if wrong:
        output.print_rows(("store", "document", "version", "rows", "missing", "stale", "misplaced"), wrong)
    faults = sum(each.faults for each in found)
    if faults:
        output.print_text(f"{faults} rows are wrong; `evorag repair --apply` mends them.")
    elif not any(each.error for each in found):
        output.print_text("Every row is as the catalogue says.")


def _told(report: StoreReport) -> None:
    if report.after:
        left = sum(each.faults for each in report.after)
        output.print_text(f"{report.mended} rows were written or removed; the second check finds {left} wrong.")
        if left:
            _print(report.after)
