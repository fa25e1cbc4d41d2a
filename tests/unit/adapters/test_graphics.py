"""The device of models, and what is done when its memory runs out. Nothing here needs a graphics processor."""

from __future__ import annotations

import pytest
import torch

from core.adapters.graphics import MOST_TEXTS, chosen_device, fitting, moved_to_processor, texts_together, within_memory
from core.errors import ModelUnavailable


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics processor")
def test_without_a_graphics_processor_auto_is_the_processor_and_cuda_an_error_with_a_remedy() -> None:
    assert chosen_device("auto") == chosen_device("cpu") == "cpu"
    with pytest.raises(ModelUnavailable, match="no graphics processor") as raised:
        chosen_device("cuda:1")
    assert "EVORAG_DEVICE=cpu" in raised.value.remedy


def test_batch_on_the_processor_is_the_one_that_was_chosen() -> None:
    assert texts_together("cpu", 16, 512, 384) == 16


@pytest.mark.parametrize(("free_bytes", "expected"), [(0, 1), (1 << 30, 28), (8 << 30, 227), (80 << 30, MOST_TEXTS)])
def test_batch_on_a_graphics_processor_follows_its_free_memory(free_bytes: int, expected: int) -> None:
    assert fitting(free_bytes, tokens=512, hidden=384) == expected


def test_batches_are_halved_while_memory_runs_out() -> None:
    tried: list[int] = []

    def run(together: int) -> str:
        tried.append(together)
        if together > 3:
            raise torch.OutOfMemoryError
        return "done"

    assert within_memory(run, 16, lambda: pytest.fail("there was room")) == "done"
    assert tried == [16, 8, 4, 2]


def test_work_ends_on_the_processor_where_not_even_one_text_has_room(caplog: pytest.LogCaptureFixture) -> None:
    model = torch.nn.Linear(2, 2).half()

    def run(together: int) -> torch.Tensor:
        if model.weight.dtype is torch.float16:
            raise torch.OutOfMemoryError
        return model(torch.ones(together, 2))

    assert within_memory(run, 2, lambda: moved_to_processor(model)).shape == (2, 2)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_other_errors_are_not_taken_for_a_lack_of_memory() -> None:
    def run(_: int) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        within_memory(run, 8, lambda: pytest.fail("that is no help"))
