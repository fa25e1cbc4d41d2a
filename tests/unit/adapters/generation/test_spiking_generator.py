"""The packaged SmolLM2 with spiking neurons: recorded or not it says the same, and what it leaves is a whole file."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.adapters.generation.causal_folder import NamedModel
from core.adapters.generation.huggingface_generator import Pieces, Placement
from core.adapters.generation.packaged_smollm2 import PackagedSmolLM2
from core.adapters.generation.spiking_generator import SpikingGenerator, SpikingOptions, _tokens, texts_of
from core.errors import GenerationFailed, GenerationTimedOut, ModelUnavailable
from core.model import GeneratorState, Prompt, Sampling
from core.ports import RecordingGenerator
from core.snn.recording import load
from tests.smollm2 import missing, models

RULES = "Answer the question from the document."
PROMPTS = [
    Prompt(RULES, f"<document>{document}</document>\nQuestion: {question}", "en")
    for document, question in (
        ("The office opens at nine.", "When does the office open?"),
        ("The pump moves 40 litres.", "How much does the pump move?"),
        ("Ms Sato keeps the keys.", "Who keeps the keys?"),
    )
]
STORY = Prompt("", "Write a long story about the sea.", "en")
LIMIT = 1 << 27

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")]


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpikingGenerator]:
    how = SpikingOptions(tmp_path_factory.mktemp("calibrations"), prompt_tokens=8)
    source = PackagedSmolLM2(models())
    with closing(SpikingGenerator(source, Placement("cpu"), how, max_bytes=65_536)) as made:
        assert made.health().state is GeneratorState.IDLE and isinstance(made, RecordingGenerator)
        assert "".join(made.write(PROMPTS[0], Sampling(max_tokens=1), 300.0))
        assert made.health().state is GeneratorState.READY
        yield made


def like(generator: SpikingGenerator, **more: Any) -> SpikingGenerator:
    """Another generator with the same loaded model."""
    made = SpikingGenerator(
        generator._source, Placement("cpu"), SpikingOptions(Path("unused"), **more), max_bytes=65_536
    )
    made._loaded = generator._loaded
    return made


def test_same_words_are_written_with_and_without_recording(generator: SpikingGenerator, tmp_path: Path) -> None:
    sampling, spent, answers = Sampling(max_tokens=8), [0.0, 0.0], []
    for place, prompt in enumerate(PROMPTS):
        begun = time.process_time()
        alone = list(filter(None, generator.write(prompt, sampling, 120.0)))
        between = time.process_time()
        recorded = list(filter(None, generator.write_recorded(prompt, sampling, 120.0, tmp_path / f"{place}.pt")))
        if place:
            spent = [spent[0] + between - begun, spent[1] + time.process_time() - between]
        assert recorded == alone and alone
        answers.append("".join(alone))
    print(f"recorded, with its file, at {spent[0] / spent[1]:.0%} of the speed of not recording")
    assert "nine" in answers[0]
    assert generator.health().model == "SmolLM2-135M-Instruct · few-spike K=8"
    for place, answer in enumerate(answers):
        recording = load(tmp_path / f"{place}.pt", LIMIT)
        said = [
            text for text, role in zip(recording.tokens.texts, recording.tokens.roles, strict=True) if role == "answer"
        ]
        assert answer.startswith("".join(said)) and len(recording.tokens) == 8 + len(said)
        assert recording.neurons == 127_296 and len(recording.populations) == 211
        assert recording.meta["code"] == "few-spike" and len(recording.meta["weights_sha256"]) == 64


def test_answer_that_nobody_reads_to_its_end_leaves_a_whole_file(generator: SpikingGenerator, tmp_path: Path) -> None:
    pieces = generator.write_recorded(STORY, Sampling(max_tokens=4_000), 120.0, tmp_path / "left.pt")
    read = 0
    for piece in pieces:
        read += bool(piece)
        if read == 3:
            break
    pieces.close()
    recording = load(tmp_path / "left.pt", LIMIT)
    assert "answer" in recording.tokens.roles and [path.name for path in tmp_path.iterdir()] == ["left.pt"]


def test_answer_whose_time_is_over_leaves_a_whole_file(generator: SpikingGenerator, tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(GenerationTimedOut):
        said.extend(generator.write_recorded(STORY, Sampling(max_tokens=4_000), 4.0, tmp_path / "late.pt"))
    # On a busy machine not even a first word may come in that time.
    assert (tmp_path / "late.pt").exists() == any(said)
    if any(said):
        assert "answer" in load(tmp_path / "late.pt", LIMIT).tokens.roles


def test_nothing_written_is_no_file(generator: SpikingGenerator, tmp_path: Path) -> None:
    unread = generator.write_recorded(Prompt("", "word " * 9_000, "en"), Sampling(), 60.0, tmp_path / "none.pt")
    with pytest.raises(GenerationFailed, match="more than the model can read"):
        list(unread)
    assert list(tmp_path.iterdir()) == []


def test_answer_is_given_where_the_disk_takes_no_recording(
    generator: SpikingGenerator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere, told = tmp_path / "absent" / "a.pt", list[Exception]()
    pieces = generator.write_recorded(PROMPTS[0], Sampling(max_tokens=8), 60.0, nowhere, told.append)
    assert "nine" in "".join(pieces)
    assert (
        isinstance(told[0], FileNotFoundError)
        and not nowhere.exists()
        and "could not be kept (FileNotFoundError)" in caplog.text
    )


def test_recording_stays_within_its_limit(generator: SpikingGenerator, tmp_path: Path) -> None:
    limit = 3 * 1024**2
    small = like(generator, recording_bytes=limit, prompt_tokens=8)
    assert "".join(small.write_recorded(PROMPTS[0], Sampling(max_tokens=8), 60.0, tmp_path / "a.pt"))
    recording = load(tmp_path / "a.pt", limit)
    assert "One in " in recording.meta["truncated"] and recording.neurons < 127_296


def test_characters_of_several_tokens_stand_with_the_last(generator: SpikingGenerator) -> None:
    assert generator._loaded is not None
    tokenizer = generator._loaded[1]
    text = "Repeat: 鰻の蒲焼 🐟 done\ufffd"
    texts = texts_of(tokenizer, tokenizer(text)["input_ids"])
    assert "".join(texts) == text and "" in texts and texts[0] == "Repeat"


def test_a_part_that_begins_within_a_character_begins_with_the_whole_one(generator: SpikingGenerator) -> None:
    assert generator._loaded is not None
    pieces = Pieces(generator._loaded[1], lambda *_: None, lambda: None)
    pieces.seen = pieces.tokenizer("鰻の蒲焼を食べる")["input_ids"]
    whole = texts_of(pieces.tokenizer, pieces.seen)
    within = whole.index("") + 1
    tokens = _tokens(pieces, slice(within, None))
    assert tokens.texts == tuple(whole[within:]) and "\ufffd" not in "".join(tokens.texts)


@pytest.mark.parametrize(
    ("how", "said"), [({"code": "morse"}, "morse"), ({"steps": 99}, "1 to 16 steps")], ids=["code", "steps"]
)
def test_code_that_is_not_known_is_unavailable_with_a_remedy(how: dict[str, Any], said: str, tmp_path: Path) -> None:
    wrong = SpikingGenerator(PackagedSmolLM2(models()), Placement("cpu"), SpikingOptions(tmp_path, **how), max_bytes=99)
    with pytest.raises(ModelUnavailable, match=said):
        list(wrong.write(PROMPTS[0], Sampling(), 60.0))
    assert wrong.health().state is GeneratorState.UNAVAILABLE and "EVORAG_SNN_CODE" in wrong.health().remedy


def test_model_of_another_type_is_refused_in_words(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path / "gpt"
    GPT2LMHeadModel(GPT2Config(vocab_size=49_152, n_embd=8, n_layer=1, n_head=1)).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(PackagedSmolLM2(models()).folder() / name, folder)
    assert json.loads((folder / "config.json").read_text())["model_type"] == "gpt2"
    with closing(
        SpikingGenerator(NamedModel(str(folder)), Placement("cpu"), SpikingOptions(tmp_path), max_bytes=99)
    ) as made:
        with pytest.raises(ModelUnavailable, match="cannot be made to spike: its type is gpt2"):
            list(made.write(PROMPTS[0], Sampling(), 60.0))
        assert "EVORAG_SNN_MODEL" in made.health().remedy
