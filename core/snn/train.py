"""Trains a small language model on texts, with or without spikes, in a process of its own.

It demonstrates the path from a knowledge base to a model of one's own: a corpus this small cannot answer well.

``python -m core.snn.train --artifact-name NAME --texts FILE…`` trains on text files; ``--job FILE`` carries out what
the knowledge base has prepared. A training has a work folder ``training/NAME`` below the folder of models: the job,
the texts until they are cut into tokens, the tokens, the last and the best checkpoint, and ``progress.jsonl``.
What comes of it is the folder ``trained/NAME``; the work folder goes then.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from core.errors import Conflict, EvoRAGError
from core.model.training import PRECISIONS, PRIVACY_LEVELS, QUANTISATIONS, TrainingCourse, TrainingLabels
from core.snn.artifacts import Artifacts
from core.snn.jobs import JOB, PROGRESS, TEXTS, TrainingJob, begin_job, read_job, read_texts, told_of, working_on

STOPPED = 3
GRACE_S = 30.0
"""How long the step may last that is under way when whoever started this is gone; a checkpoint is whole or old."""
NICENESS = 10
"""Pages come before training."""
WHOLE = ("steps", "layers", "width", "window", "batch", "vocabulary", "seed", "code_steps", "threads")


def carry_out(
    job: TrainingJob, *, stopped: threading.Event, at_work: threading.Event | None = None, echo: bool = False
) -> str:
    """Do a job, on from where it was left; return ``done`` or ``cancelled``.

    ``at_work`` is set once there is something to lose; ``echo`` prints each line of progress.

    Raises: ``EvoRAGError`` that says what is wrong; it stands in the progress too. ``Conflict`` where another process
    is at this job.
    """
    with working_on(job.work):
        return _carried_out(job, stopped, at_work, echo)


def _carried_out(job: TrainingJob, stopped: threading.Event, at_work: threading.Event | None, echo: bool) -> str:
    def put(**told: Any) -> None:
        line = json.dumps({name: value for name, value in told.items() if value is not None})
        with (job.work / PROGRESS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        if echo:
            print(line, flush=True)

    if stopped.is_set():
        put(state="cancelled")
        return "cancelled"
    try:
        # They load PyTorch, which takes seconds.
        from core.snn.corpus import prepare
        from core.snn.learning import train
        from core.snn.saving import save_artifact

        if not (job.work / "corpus.safetensors").is_file():
            texts = [json.loads(line) for line in (job.work / TEXTS).read_text(encoding="utf-8").splitlines()]
            prepare(texts, job.course.vocabulary, job.work)
        # What was cut into tokens is not kept as text besides.
        (job.work / TEXTS).unlink(missing_ok=True)
        if at_work is not None:
            at_work.set()
        outcome = train(job.course, job.work, lambda progress: put(**asdict(progress)), stopped.is_set)
        if outcome is None:
            put(state="cancelled")
            return "cancelled"
        put(
            state="done",
            step=outcome.step,
            steps=job.course.steps,
            best_step=outcome.best_step,
            held_out_loss=outcome.held_out_loss,
        )
        save_artifact(outcome, job)
    except Exception as error:
        # Without its folder it was discarded or purged.
        with suppress(FileNotFoundError):
            put(**told_of(error))
        raise
    shutil.rmtree(job.work, ignore_errors=True)
    return "done"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and return the exit status: 0 done, 1 an error that is explained, 3 stopped and to be resumed."""
    given = _parser().parse_args(arguments)
    stopped, at_work = threading.Event(), threading.Event()
    try:
        if given.job is not None:
            os.nice(NICENESS)
            _goes_first()
            job = read_job(given.job)
            _stop_without_input(stopped, at_work)
        else:
            job = _job_of(given)
            for sign in (signal.SIGINT, signal.SIGTERM):
                signal.signal(sign, lambda *_: stopped.set())
        is_done = carry_out(job, stopped=stopped, at_work=at_work, echo=given.job is None) == "done"
        return 0 if is_done else STOPPED
    except EvoRAGError as error:
        print(f"{error.message} {error.remedy}", file=sys.stderr)
        return 1


def _goes_first() -> None:
    """Have the system end this process before any other where memory runs out; a checkpoint is left."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _stop_without_input(stopped: threading.Event, at_work: threading.Event) -> None:
    """Stop when standard input ends: whoever started this closes it, or is gone."""

    def follow() -> None:
        # A buffered reader that still waits when Python ends would abort the process.
        while os.read(0, 1):
            pass
        stopped.set()
        if not at_work.is_set():
            # Nothing is lost yet, and loading PyTorch may take long on a busy machine.
            os._exit(STOPPED)
        time.sleep(GRACE_S)
        os._exit(STOPPED)

    threading.Thread(target=follow, name="evorag-follow", daemon=True).start()


def _job_of(given: argparse.Namespace) -> TrainingJob:
    work = given.models / "training" / given.artifact_name
    if given.resume:
        return read_job(work / JOB)
    labels = TrainingLabels(given.artifact_name, given.privacy_level, given.node_type, given.license)
    course = TrainingCourse(
        **{name: getattr(given, name) for name in WHOLE},
        learning_rate=given.learning_rate,
        spiking=given.spiking,
        precision=given.precision,
        quantize=given.quantize,
    )
    if Artifacts(given.models).has(given.artifact_name):
        raise Conflict("A trained model has this name already.", remedy="Choose another --artifact-name.")
    return begin_job(given.models, labels, course, read_texts(given.texts), given.tag)


def _parser() -> argparse.ArgumentParser:
    usual = {field.name: field.default for field in fields(TrainingCourse)}
    parser = argparse.ArgumentParser(prog="python -m core.snn.train", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--job", type=Path, help="job file that a knowledge base prepared; all else is ignored")
    parser.add_argument("--artifact-name", default="", help="what the model is called")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="text files in UTF-8")
    parser.add_argument("--models", type=Path, default=Path("data/models"), help="folder of models")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32", help="of the stored weights")
    parser.add_argument("--quantize", choices=QUANTISATIONS, default="none", help="int8: 255 levels a row of a matrix")
    parser.add_argument("--privacy-level", choices=PRIVACY_LEVELS, default="internal")
    parser.add_argument("--node-type", default="language", help="what the model is for, in a short word")
    parser.add_argument("--license", default="unspecified", help="of the model; it follows from that of its texts")
    parser.add_argument("--tag", action="append", default=[], help="a tag of the texts; may be repeated")
    parser.add_argument("--spiking", action="store_true", help="train through spikes")
    parser.add_argument("--learning-rate", type=float, default=usual["learning_rate"])
    for name in WHOLE:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=usual[name])
    return parser


if __name__ == "__main__":
    sys.exit(main())
