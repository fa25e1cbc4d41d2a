"""The command ``recover``: a damaged catalogue, or one that lacks what was acknowledged, is brought back."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Annotated, Any

import typer

from core.bootstrap import originals_of
from core.catalog.recovery import Recovery, RecoveryPlan
from core.cli import output, remote
from core.cli.options import AsJson, DataDir
from core.cli.session import settings
from core.errors import Conflict
from core.platform.data_folder import DataFolder

Yes = Annotated[bool, typer.Option("--yes", help="Do it; without it, what would be done is shown.")]
AsItIs = Annotated[
    bool, typer.Option("--as-is", help="Keep a sound catalogue as it is, and forget what it lacks: it is an older one.")
]


def recover(yes: Yes = False, as_is: AsItIs = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Bring back a damaged catalogue, or one that has lost what was acknowledged; no process may have the folder open.

    It is made of the newest sound snapshot, or of itself where it has only lost its log, and of the journal: documents
    that came since are indexed again from their originals and show in the end what they showed, those that were deleted
    are deleted again, and keys that were revoked are revoked again. Everything else is as it was then, passwords and
    roles among it. The damaged catalogue is kept in the folder “damaged”.
    """
    remote.chosen(data_dir)
    chosen = settings(data_dir)
    if chosen.catalog_url.get_secret_value():
        raise Conflict(
            "The catalogue is a server's.", remedy="Restore it with PostgreSQL's own tools, or import a backup."
        )
    with closing(DataFolder(chosen.data_dir)) as folder:
        blobs = originals_of(chosen, folder)
        recovery = Recovery(folder, lambda sha256: blobs.size(sha256) is not None)
        if as_is:
            recovery.keep_as_is()
            output.note("The catalogue is kept as it is.")
            return
        plan = recovery.plan()
        told = _told(plan)
        if not yes and as_json:
            output.print_json(told)
            return
        if not yes:
            _show(plan, told)
            # A program that runs it says --yes.
            if plan.base is None or not sys.stdin.isatty() or not typer.confirm("Do it?"):
                return
        _carry_out(recovery, plan, told, as_json)


def _told(plan: RecoveryPlan) -> dict[str, Any]:
    since = plan.since
    return {
        "catalog_is_sound": plan.is_sound,
        "lacks_what_was_acknowledged": plan.is_behind,
        "snapshot": None if plan.moment is None else plan.moment.isoformat(timespec="seconds"),
        "versions_since": len(since.added()),
        "without_original": plan.missing,
        "hidden_since": len(since.hidden()),
        "keys_since": len(since.keys),
        "users_since": len(since.users),
        "damaged_lines": since.damaged,
        "journal_begins_later": since.has_gap,
    }


def _show(plan: RecoveryPlan, told: dict[str, Any]) -> None:
    if not plan.is_sound:
        output.print_text("The catalogue is damaged or missing.")
    elif plan.is_behind:
        output.print_text("The catalogue is sound, and lacks versions or publications that were acknowledged.")
    else:
        output.print_text("The catalogue is sound.")
    if plan.base is None:
        output.print_text("There is no sound snapshot of it.")
        return
    output.print_text(
        f"What it would be made of is of {told['snapshot']}. Passwords and roles that were changed since would be as"
        f" they were then (users changed: {told['users_since']}), and everybody would be signed out."
    )
    output.print_text(
        f"The journal brings back the versions that were added since ({told['versions_since']}, without their original"
        f" {told['without_original']}), hides again the documents that were deleted or hidden ({told['hidden_since']}),"
        f" and revokes keys again ({told['keys_since']})."
    )
    if plan.since.has_gap or plan.since.damaged:
        output.print_text(
            "The journal is not whole: other versions that were added since would be unknown, and documents and keys"
            " that were deleted or revoked since would be back."
        )
    output.print_text("`evorag recover --yes` does it.")


def _carry_out(recovery: Recovery, plan: RecoveryPlan, told: dict[str, Any], as_json: bool) -> None:
    done, aside = recovery.carry_out(plan)
    if as_json:
        came = {"versions": done.versions, "lost": done.lost, "hidden": done.hidden, "keys": done.keys}
        kept = None if aside is None else str(aside)
        output.print_json({"snapshot": told["snapshot"], "damaged": kept, **came, "users": done.users})
        return
    output.print_text(
        f"The catalogue is that of {told['snapshot']}, with {done.versions} versions that came since;"
        f" {done.hidden} documents were hidden again, {done.keys} keys revoked again."
    )
    for name in done.lost:
        output.print_text(f"Its original is gone, or its place is taken: {name}")
    for name in done.users:
        output.print_text(f"As before it was changed: the user {name}")
    if aside is not None:
        output.note(f"What was there is in “{aside}”; remove it once it is not needed: it holds everything.")
    output.note("Start EvoRAG, which indexes what came since; then run `evorag check` and `evorag repair --apply`.")
