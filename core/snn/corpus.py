"""What a small model is trained on: texts, the byte-level pieces that they are cut into, and windows of them.

Each piece (token) stands for some bytes, so that every text of every script can be written. The pieces are learnt
from the texts themselves. Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword
Units", ACL 2016.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from core.errors import InvalidInput
from core.snn.artifacts import written

END = "<|end of text|>"
HELD_OUT_EVERY = 20
MOST_HELD_OUT = 32
PROMPT_CHARS = 300
PIECE_CHARS = 100_000
TEMPLATE = (
    f"{{%- set text = messages[-1]['content'] -%}}{{{{ text[-{PROMPT_CHARS}:] if text|length > {PROMPT_CHARS}"
    " else text }}"
)
"""The model sees the end of a prompt: the question, as much as fits in what it was trained to look at."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Windows of tokens, ``(n, window + 1)``: int32 ``learnt`` to learn from, int64 ``held_out`` to check with.

    ``vocabulary`` counts the tokens that there are; ``end`` is the one that ends a text.
    """

    learnt: torch.Tensor
    held_out: torch.Tensor
    vocabulary: int
    end: int
    sha256: str

    def batch(self, seed: int, step: int, size: int) -> torch.Tensor:
        """Return int64 ``(size, window + 1)`` windows that depend on seed and step alone: nothing else is kept."""
        drawn = np.random.default_rng([seed, step]).integers(0, len(self.learnt), size)
        return self.learnt[torch.from_numpy(drawn)].long()


def learn_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """Return a byte-level tokenizer of at most ``vocabulary`` pieces, in the class that folders of models have."""
    library = import_module("tokenizers")
    tokenizer = library.Tokenizer(library.models.BPE())
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END],
        initial_alphabet=library.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    made = import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, pad_token=END, clean_up_tokenization_spaces=False
    )
    made.chat_template = TEMPLATE
    return made


def prepare(texts: Sequence[str], vocabulary: int, folder: Path) -> None:
    """Write the tokenizer and the tokens of ``texts`` to ``folder``, the tokens last: with them all is there."""
    tokenizer = learn_tokenizer(texts, vocabulary)
    tokenizer.save_pretrained(folder)
    end = tokenizer.convert_tokens_to_ids(END)
    tokens = array("i")
    for text in texts:
        # A list of numbers takes ten times the room, so that no more is encoded at once than a piece.
        for piece in _pieces(text):
            tokens.extend(tokenizer(piece, add_special_tokens=False)["input_ids"])
        tokens.append(end)
    digest = sha256()
    for text in texts:
        digest.update(sha256(text.encode()).digest())
    told = {"sha256": digest.hexdigest(), "vocabulary": str(len(tokenizer)), "end": str(end)}
    kept = {"tokens": torch.frombuffer(tokens, dtype=torch.int32)}
    written(folder / "corpus.safetensors", lambda file: save_file(kept, file, told))


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))


def prepared(folder: Path, window: int) -> Corpus:
    """Return the windows of what ``prepare`` wrote; every twentieth, and the last, is held out.

    Raises: ``InvalidInput`` where there is too little text.
    """
    file = folder / "corpus.safetensors"
    with safe_open(file, "pt") as opened:
        told, tokens = opened.metadata(), opened.get_tensor("tokens")
    count = (len(tokens) - 1) // window
    if count < 2:
        raise InvalidInput(
            f"The texts have {len(tokens):,} tokens, and at least {2 * window + 1:,} are needed.",
            remedy="Discard this training; then add documents, or train with a smaller window.",
        )
    windows = tokens.unfold(0, window + 1, window)
    is_held = torch.zeros(count, dtype=torch.bool)
    is_held[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY] = True
    is_held[-1] = True
    held_out = windows[is_held][-MOST_HELD_OUT:].long()
    return Corpus(windows[~is_held], held_out, int(told["vocabulary"]), int(told["end"]), told["sha256"])
