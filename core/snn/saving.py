"""Writes a trained model as a folder that any loader of Llama models opens, with its manifest."""

from __future__ import annotations

import errno
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from core.errors import Conflict
from core.platform.sealing import seal
from core.snn import calibration
from core.snn.artifacts import CONFIGURATION, LOG, MANIFEST, SOURCES, manifest, publish, write_json
from core.snn.jobs import PROGRESS, TrainingJob

if TYPE_CHECKING:
    from core.snn.learning import TrainingOutcome

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
LEVELS = 127
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


def save_artifact(outcome: TrainingOutcome, job: TrainingJob) -> Path:
    """Write the folder of a trained model and return it; it is there whole or not at all.

    Raises: ``Conflict`` where a model of this name is there already.
    """
    trained = job.models / "trained"
    trained.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(prefix=".begun-", dir=trained))
    try:
        model = outcome.model
        import_module("transformers").utils.logging.disable_progress_bar()
        if job.course.quantize == "int8":
            round_rows(model)
        model.to(DTYPES[job.course.precision]).save_pretrained(begun)
        for name in TOKENIZER:
            if (job.work / name).is_file():
                shutil.copyfile(job.work / name, begun / name)
        write_json(begun / CONFIGURATION, outcome.config)
        write_json(begun / SOURCES, {"documents": job.documents})
        write_json(begun / MANIFEST, manifest(job.labels, outcome.config, job.tags, job.left_out))
        if outcome.maxima:
            calibration.keep(begun, outcome.maxima)
        place = trained / job.labels.artifact_name
        # The last one: a training that was discarded or purged meanwhile has no log any more, and makes no model.
        shutil.copyfile(job.work / PROGRESS, begun / LOG)
        seal(begun)
        try:
            publish(begun, place)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise Conflict("A trained model has this name already.", remedy="Delete it, then resume.") from error
        return place
    finally:
        shutil.rmtree(begun, ignore_errors=True)


def round_rows(model: nn.Module) -> None:
    """Round each row of each linear layer to ``scale · q``, ``q`` a whole number from −127 to 127, in place.

    The file keeps its precision, so that any loader opens it: it tells what eight bits a weight cost, and saves none.
    """
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, nn.Linear):
                scale = (layer.weight.abs().amax(1, keepdim=True) / LEVELS).clamp_min(torch.finfo(torch.float32).tiny)
                layer.weight.copy_((layer.weight / scale).round() * scale)
