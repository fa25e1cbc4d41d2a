"""The benchmarks run, each at its smallest size; those of servers do so in tests/servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.smallest import ALONE, ON_SERVERS, ROOT, missing_numbers, question_set, report_of
from tests.unit.snn.small import small

LONGEST = {"answers", "ingest", "pages", "spiking", "startup", "switches", "switches fit", "upload", "versions"}
"""Those that take five seconds and more; one run in some takes each."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("benchmarks")
    return {"set": str(question_set(folder)), "model": str(tiny_model(folder / "model"))}


def tiny_model(folder: Path) -> Path:
    """Save an untrained model with a token for each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=letters, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    whole = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    whole.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    whole.save_pretrained(folder)
    small(vocab_size=len(letters), max_position_embeddings=8_192).save_pretrained(folder)
    return folder


def test_no_benchmark_is_missing() -> None:
    programs = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert programs == {name.split()[0] for name in (*ALONE, *ON_SERVERS)}


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=pytest.mark.shard) if name in LONGEST else name for name in ALONE]
)
def test_benchmark_measures_what_it_is_for(module: str, places: dict[str, str], tmp_path: Path) -> None:
    smallest = ALONE[module]
    assert missing_numbers(report_of(module, smallest, places, tmp_path), smallest.numbers) == []
