"""The commands ``generations …``: what the indexes were built by, and building them anew beside what serves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli import output, remote
from core.cli.options import AsJson, DataDir
from core.cli.session import opened
from core.errors import Cancelled, EvoRAGError
from core.model import Generation, GenerationState

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi

_POLL_S = 0.3

commands = typer.Typer(no_args_is_help=True, help="Indexes built by one embedder and one analyser; one serves.")
Number = Annotated[int, typer.Argument(metavar="N", min=1, help="A generation by its number.")]


@commands.command("list")
def list_generations(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the generations: what each was built by, how far it is, and which one serves."""
    with opened(data_dir) as kb:
        found = kb.generations.list()
    (output.print_json if as_json else _print)(found)


@commands.command()
def build(
    embedder: Annotated[str, typer.Option(help="As EVORAG_EMBEDDER names it; empty for the configured one.")] = "",
    switch: Annotated[bool, typer.Option("--switch", help="Let it serve as soon as it is ready.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Embed and analyse everything anew beside what serves; it goes on where it was interrupted."""
    with opened(data_dir) as kb:
        ended = _followed(kb, kb.generations.build(embedder, switch=switch))
    output.print_json(ended) if as_json else _print([ended])


@commands.command()
def resume(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Stay until the generation that is being built is ready."""
    with opened(data_dir) as kb:
        for each in kb.generations.list():
            if each.state is GenerationState.BUILDING:
                _followed(kb, each)
        found = kb.generations.list()
    (output.print_json if as_json else _print)(found)


@commands.command()
def switch(number: Number, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Let a generation that is ready serve, in one commit; the former one is kept up, to be gone back to."""
    with opened(data_dir) as kb:
        if remote.is_here(kb):
            # What another process had left.
            kb.generations.work_off()
        found = kb.generations.switch(number)
    output.print_json(found) if as_json else _print([found])


@commands.command()
def remove(number: Number, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove a generation that does not serve, with its stores and its vectors."""
    with opened(data_dir) as kb:
        kb.generations.remove(number)
        found = kb.generations.list()
    (output.print_json if as_json else _print)(found)


def _followed(kb: KnowledgeBaseApi, begun: Generation) -> Generation:
    """Return a generation once it is ready. Raises: what keeps it from going on."""
    with output.bar(f"Generation {begun.number}") as show_bar:
        while True:
            if remote.is_here(kb) and not kb.settings.indexing.job_workers:
                kb.generations.work_off()
            known = next((each for each in kb.generations.list() if each.number == begun.number), None)
            if known is None or known.state is GenerationState.REMOVING:
                raise Cancelled(
                    f"Generation {begun.number} was removed.", remedy="Build it anew if that was a mistake."
                )
            if known.error is not None:
                told = {name: str(known.error[name]) for name in ("remedy", "code")}
                raise EvoRAGError(str(known.error["message"]), **told)
            show_bar(known.done, known.total, "")
            if known.state is GenerationState.BUILDING or (known.switches and known.state is GenerationState.READY):
                time.sleep(_POLL_S)
            else:
                return known


def _print(found: list[Generation]) -> None:
    output.print_rows(
        ("number", "state", "embedder", "dimension", "analyser", "chunks"),
        (
            [each.number, each.state, each.embedder, each.dimension, each.analyser, f"{each.done} of {each.total}"]
            for each in found
        ),
    )
