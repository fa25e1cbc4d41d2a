"""The real model, loaded once a process, and the maxima of its channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from core.adapters.generation.packaged_smollm2 import PackagedSmolLM2
from core.snn.calibration import calibrate
from core.snn.calibration_texts import CALIBRATION_TEXTS
from tests.smollm2 import missing, models


@dataclass(frozen=True)
class Real:
    """SmolLM2 as it was trained, its tokenizer, and its channel maxima measured on a few of the texts."""

    model: Any
    tokenizer: Any
    maxima: dict[str, Tensor]


@pytest.fixture(scope="session")
def smollm2() -> Real:
    if missing():
        pytest.skip(f"not installed: {missing()}")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = PackagedSmolLM2(models()).folder()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
    return Real(model, tokenizer, calibrate(model, tokenizer, CALIBRATION_TEXTS[:2]))
