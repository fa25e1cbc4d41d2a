"""The commands ``recordings …``: what spiking neurons did while they wrote answers, kept as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson, DataDir
from core.cli.session import opened
from core.errors import InvalidInput
from core.model import Recording, RecordingPart

ENDINGS = {"pt": ".pt", "csv": ".csv", "neo": ".mat", "nwb": ".nwb"}

Id = Annotated[str, typer.Argument(metavar="ID", help="A recording by its id.")]

commands = typer.Typer(no_args_is_help=True, help="Recordings of spiking neurons; “ask --record” makes them.")


@commands.command("list")
def list_recordings(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the recordings, newest first."""
    with opened(data_dir) as kb:
        found = kb.recordings.list()
    if as_json:
        return output.print_json(found)
    print_recordings(found)


@commands.command()
def show(recording: Id, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what is known of a recording, and how often its populations fire."""
    with opened(data_dir) as kb:
        found = kb.recordings.get(recording)
        summary = kb.recordings.summary(recording)
    if as_json:
        return output.print_json({"recording": found, "summary": summary})
    print_recordings([found])
    header = ("population", "neurons", "spikes", "spikes a neuron and step", "silent")
    output.print_rows(
        header,
        (
            [row["name"], row["neurons"], row["spikes"], f"{row['rate']:.4f}", f"{row['silent']:.3f}"]
            for row in summary["table"]
        ),
    )


@commands.command()
def rename(
    recording: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called from now on.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Give a recording another name."""
    with opened(data_dir) as kb:
        found = kb.recordings.rename(recording, name)
    if as_json:
        return output.print_json(found)
    print_recordings([found])


@commands.command()
def delete(
    recordings: Annotated[list[str], typer.Argument(metavar="ID...", help="Recordings by their ids.")],
    data_dir: DataDir = None,
) -> None:
    """Remove recordings with their files; the answers stay in the history."""
    with opened(data_dir) as kb:
        for recording in recordings:
            kb.recordings.delete(recording)


@commands.command("import")
def import_recording(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .pt file of spikes.")],
    name: Annotated[str, typer.Option(help="What it is called; by default as the file.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Keep a file of spikes, once it was read and found to hold nothing else."""
    if not file.is_file():
        raise typer.BadParameter(f"there is no file “{file}”", param_hint="FILE")
    with opened(data_dir) as kb:
        found = kb.recordings.import_file(name or file.name, file)
    if as_json:
        return output.print_json(found)
    print_recordings([found])


@commands.command()
def export(
    recording: Id,
    form: Annotated[str, typer.Option(help="pt (the file itself), csv (a line a spike), neo or nwb.")] = "pt",
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to; by default here, named by the id.")] = None,
    layer: Annotated[int | None, typer.Option(min=-1, help="Only populations of this layer; not for pt.")] = None,
    kind: Annotated[str, typer.Option(help="Only populations of this kind, such as query; not for pt.")] = "",
    data_dir: DataDir = None,
) -> None:
    """Write a recording to a file."""
    if form not in ENDINGS:
        raise typer.BadParameter(f"one of {', '.join(ENDINGS)}", param_hint="--form")
    target = to or Path(f"{recording}{ENDINGS[form]}")
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise InvalidInput("The recording cannot be written there.", remedy="Name a file in a folder that exists.")
    with opened(data_dir) as kb:
        kb.recordings.get(recording)
        kb.recordings.write(recording, target, form, RecordingPart(layer, kind))
    output.print_text(str(target))


def print_recordings(recordings: Iterable[Recording]) -> None:
    header = ("recording", "name", "made", "bytes", "model", "code", "steps", "tokens", "neurons", "left out")
    output.print_rows(
        header,
        (
            [
                each.id,
                each.name,
                each.created_at.isoformat(timespec="seconds"),
                each.size_bytes,
                each.model,
                each.code,
                each.steps,
                each.tokens,
                each.neurons,
                each.truncated or "-",
            ]
            for each in recordings
        ),
    )
