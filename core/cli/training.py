"""The commands ``train`` and ``models …``: small language models that learn from the documents or from text files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli import output
from core.cli.options import AsJson, DataDir
from core.cli.session import opened_here
from core.model import Artifact, Training, TrainingCourse, TrainingLabels, TrainingState

if TYPE_CHECKING:
    from core.knowledge_base import KnowledgeBase

USUAL = TrainingCourse()
_POLL_S = 0.3

commands = typer.Typer(no_args_is_help=True, help="Language models that were trained here.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="A trained model by its name.")]


def train(
    artifact_name: Annotated[str, typer.Option("--artifact-name", help="What the model is called.")],
    texts: Annotated[
        list[Path] | None, typer.Option("--texts", metavar="FILE", help="A text file; without any, the documents.")
    ] = None,
    steps: Annotated[int, typer.Option(help="Batches that it learns from.")] = USUAL.steps,
    layers: Annotated[int, typer.Option(help="Layers of the model.")] = USUAL.layers,
    width: Annotated[int, typer.Option(help="Channels of the model, a multiple of 32.")] = USUAL.width,
    window: Annotated[int, typer.Option(help="Tokens of one training sequence.")] = USUAL.window,
    batch: Annotated[int, typer.Option(help="Sequences of one step.")] = USUAL.batch,
    vocabulary: Annotated[int, typer.Option(help="Most pieces that text is cut into.")] = USUAL.vocabulary,
    learning_rate: Annotated[float, typer.Option(help="How far a step goes.")] = USUAL.learning_rate,
    seed: Annotated[int, typer.Option(help="Seed of the first weights and of the order of the texts.")] = USUAL.seed,
    spiking: Annotated[bool, typer.Option("--spiking", help="Train through spikes.")] = False,
    precision: Annotated[str, typer.Option(help="Of the stored weights: fp32, fp16 or bf16.")] = USUAL.precision,
    quantize: Annotated[
        str, typer.Option(help="none, or int8: 255 levels a row of a matrix, in a file of the same size.")
    ] = USUAL.quantize,
    privacy_level: Annotated[str, typer.Option(help="public, internal or confidential.")] = "internal",
    node_type: Annotated[str, typer.Option(help="What the model is for, in a short word.")] = "language",
    license: Annotated[str, typer.Option(help="Of the model; it follows from that of its texts.")] = "unspecified",
    threads: Annotated[int, typer.Option(help="Threads; the result depends on their number.")] = USUAL.threads,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint of this name.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train a small language model: a demonstration, because a corpus this small cannot answer well."""
    labels = TrainingLabels(artifact_name, privacy_level, node_type, license)
    course = TrainingCourse(
        steps=steps,
        layers=layers,
        width=width,
        window=window,
        batch=batch,
        vocabulary=vocabulary,
        learning_rate=learning_rate,
        seed=seed,
        spiking=spiking,
        precision=precision,
        quantize=quantize,
        threads=threads,
    )
    with opened_here(data_dir) as kb:
        begun = kb.training.resume(artifact_name) if resume else kb.training.start(labels, course, texts)
        ended = _followed(kb, begun)
    output.print_json(ended) if as_json else _print_trainings([ended])
    if ended.state is not TrainingState.DONE:
        raise typer.Exit(1)


@commands.command("list")
def list_models(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the trained models, newest first, and the trainings that are not finished."""
    with opened_here(data_dir) as kb:
        models, trainings = kb.training.artifacts(), kb.training.trainings()
    unfinished = [each for each in trainings if each.state is not TrainingState.DONE]
    if as_json:
        return output.print_json({"models": models, "unfinished": unfinished})
    _print_models(models)
    if unfinished:
        _print_trainings(unfinished)


@commands.command()
def choose(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Have the generator “standard” write with a model."""
    with opened_here(data_dir) as kb:
        chosen = kb.training.choose(name)
    output.print_json(chosen) if as_json else _print_models([chosen])


@commands.command()
def delete(name: Name, data_dir: DataDir = None) -> None:
    """Delete a trained model for good."""
    with opened_here(data_dir) as kb:
        kb.training.delete(name)


@commands.command()
def discard(name: Name, data_dir: DataDir = None) -> None:
    """Remove a training that is not finished, with its checkpoint."""
    with opened_here(data_dir) as kb:
        kb.training.discard(name)


def _followed(kb: KnowledgeBase, training: Training) -> Training:
    """Show a training until it ends; Ctrl+C stops it at its next step."""
    with output.bar("Training") as show:
        try:
            while training.state is TrainingState.RUNNING:
                loss = f"loss {training.loss:.3f}" if training.loss is not None else "begins"
                show(training.step, training.steps, loss)
                time.sleep(_POLL_S)
                training = kb.training.status(training.name)
        except KeyboardInterrupt:
            training = kb.training.cancel(training.name)
            output.note(f"Go on with: evorag train --artifact-name {training.name} --resume")
    return training


def _print_models(models: list[Artifact]) -> None:
    output.print_rows(
        ("model", "standard", "spikes", "bytes", "created"),
        (
            [m.name, "chosen" if m.is_chosen else "-", "yes" if m.is_spiking else "no", m.size_bytes, m.created_at]
            for m in models
        ),
    )


def _print_trainings(trainings: list[Training]) -> None:
    output.print_rows(
        ("training", "state", "step", "loss", "held-out loss", "error"),
        ([t.name, t.state, f"{t.step}/{t.steps}", _loss(t.loss), _loss(t.held_out_loss), t.error] for t in trainings),
    )


def _loss(nats: float | None) -> str:
    return "-" if nats is None else f"{nats:.3f}"
