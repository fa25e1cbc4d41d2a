"""What every verifier does, whatever the model; subclass it and give a ``verifier`` fixture."""

from __future__ import annotations

import threading

from core.model import ClaimEvidence
from core.ports import Verifier

PLANT = "The Hakone plant was opened in 1987 by Keiko Mori. It employs 3,776 people and makes pumps for ships."
食堂 = "食堂では米と汁物を出す。昼食は650円である。11時に開く。"
ODD = ("", " ", "\n", "\0", "\ud800", "ﷺ" * 40, "👩‍👩‍👧" * 9, "x" * 900, "word " * 600)


class VerifierContract:
    """Tests of the port."""

    def test_nothing_to_verify_gives_no_chances(self, verifier: Verifier) -> None:
        assert verifier.verify([]) == []

    def test_what_is_verified_beside_it_changes_no_chance(self, verifier: Verifier) -> None:
        pairs = [
            ClaimEvidence("Keiko Mori opened the plant.", PLANT, "Plants"),
            ClaimEvidence("Lunch costs 650 yen.", 食堂),
            ClaimEvidence("The plant makes lorries.", PLANT),
        ]
        together = verifier.verify(pairs)
        assert together == [verifier.verify([one])[0] for one in pairs]
        assert together == verifier.verify(pairs[::-1])[::-1]
        assert all(0 <= chance <= 1 for chance in together)

    def test_threads_verify_beside_each_other(self, verifier: Verifier) -> None:
        pairs = [ClaimEvidence("The plant makes pumps.", PLANT), ClaimEvidence("昼食は650円です。", 食堂)]
        expected = verifier.verify(pairs)
        seen: list[list[float]] = []
        threads = [threading.Thread(target=lambda: seen.append(verifier.verify(pairs))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [expected] * 4

    def test_any_text_can_be_verified(self, verifier: Verifier) -> None:
        pairs = [ClaimEvidence(claim, text, text) for claim in ODD for text in ODD]
        assert all(0 <= chance <= 1 for chance in verifier.verify(pairs))
