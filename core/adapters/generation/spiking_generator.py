"""A causal language model whose linear layers are driven by spikes alone, and whose neurons can be recorded.

It is the model of ``huggingface``, converted without training: every value that enters a linear layer is encoded by a
neuron as spikes of −1, 0 or 1 over K steps, and the layer sees no more than these. Few-spike coding (Stöckl and Maass,
"Optimized spiking neurons can classify images with high accuracy through temporal coding with two spikes", Nature
Machine Intelligence 2021) or rate coding; the equations are in ``core.snn.neurons``.

What this is not: softmax, RMSNorm, SiLU, the residual stream and the thresholds stay analogue; layers fire one after
the other, and the membrane is reset at each token. A step has no milliseconds, and on a processor nothing is saved,
neither energy nor time. The recording is what the neurons did while these very words were written.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.adapters.generation.causal_folder import ModelSource
from core.adapters.generation.huggingface_generator import HuggingFaceGenerator, Pieces, Placement
from core.errors import ModelUnavailable
from core.model import Prompt, Sampling
from core.ports import Writing

if TYPE_CHECKING:
    from core.snn.monitor import DataMonitorHook
    from core.snn.recording import Tokens

log = logging.getLogger(__name__)

LONGEST_CHARACTER = 16
"""Tokens after which a character that does not end is taken as it is."""


@dataclass(frozen=True, slots=True)
class SpikingOptions:
    """How a model spikes and what of it is recorded; ``calibrations`` keeps what does not fit beside a model."""

    calibrations: Path
    code: str = "few-spike"
    steps: int = 8
    recording_bytes: int = 64 * 1024**2
    prompt_tokens: int = 32
    traces: int = 4


class SpikingGenerator(HuggingFaceGenerator):
    """Writes with a converted model; loading measures the channels of a model that was never converted before."""

    def __init__(
        self, source: ModelSource, placement: Placement, spiking: SpikingOptions, *, max_bytes: int, name: str = "snn"
    ) -> None:
        super().__init__(source, placement, max_bytes=max_bytes, name=name)
        steps = "T" if spiking.code == "rate" else "K"
        self.model = f"{source.label} · {spiking.code} {steps}={spiking.steps}"
        self._spiking = spiking
        self._weights = ""

    def write_recorded(
        self,
        prompt: Prompt,
        sampling: Sampling,
        timeout_s: float,
        into: Path,
        failed: Callable[[Exception], object] = lambda _: None,
    ) -> Writing:
        """Do what ``write`` does, the very same way, and leave the recording in the file ``into``.

        There is no file where nothing was written, or where the disk took none: then ``failed`` is told why, and the
        answer does not suffer from it. Raises: what ``write`` raises.
        """
        keeping = _Keeping(into, failed)
        listening = partial(self._recorded, sampling, keeping)
        try:
            with closing(self._answer(prompt, sampling, timeout_s, listening)) as pieces:
                for piece in pieces:
                    keeping.is_read = keeping.is_read or bool(piece)
                    yield piece
        finally:
            keeping.end()

    def _open(self) -> tuple[Any, Any]:
        from core.snn.calibration import of_folder, weights_digest
        from core.snn.convert import convert, is_convertible
        from core.snn.neurons import Code

        spiking = self._spiking
        try:
            code = Code(spiking.code, spiking.steps)  # type: ignore[arg-type]
        except ValueError as error:
            raise ModelUnavailable(
                f"The code of the neurons is not understood: {error}.",
                remedy="Set EVORAG_SNN_CODE to few-spike or rate, and EVORAG_SNN_STEPS to a number that it has.",
                reason="snn_code",
            ) from error
        model, tokenizer = super()._open()
        if reason := is_convertible(model.config):
            raise ModelUnavailable(
                f"The language model {self._source.label} cannot be made to spike: {reason}.",
                remedy="Set EVORAG_SNN_MODEL to the folder of a Llama- or Qwen-type model, or to smollm2.",
                reason="snn_model",
                model=self._source.label,
            )
        folder = self._source.folder()
        convert(model, of_folder(folder, spiking.calibrations, model, tokenizer), code)
        self._weights = weights_digest(folder)
        return model, tokenizer

    @contextmanager
    def _recorded(self, sampling: Sampling, keeping: _Keeping, model: Any, pieces: Pieces) -> Iterator[None]:
        from core.snn.convert import populations
        from core.snn.monitor import DataMonitorHook, RecordingLimit

        spiking = self._spiking
        limit = RecordingLimit(spiking.recording_bytes, spiking.prompt_tokens, spiking.traces)
        with DataMonitorHook(populations(model), limit) as monitor, keeping.working():
            try:
                yield
            finally:
                if len(pieces.seen) > pieces.prompt:
                    keeping.keep(monitor, _tokens(pieces, monitor.part), self._meta(sampling))

    def _meta(self, sampling: Sampling) -> dict[str, Any]:
        import torch

        return {
            "model": self._source.label,
            "weights_sha256": self._weights,
            "seed": sampling.seed,
            "temperature": sampling.temperature,
            "torch": str(torch.__version__),
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }


class _Keeping:
    """Between the thread that writes, which keeps the recording, and its reader, who leaves a whole file or none.

    ``is_read`` says that the reader got words of the answer; ``failed`` is told why there is no file.
    """

    def __init__(self, into: Path, failed: Callable[[Exception], object]) -> None:
        self.is_read = False
        self._into = into
        self._failed = failed
        self._turn = threading.Lock()
        self._has_ended = False
        self._idle = threading.Event()
        self._idle.set()

    @contextmanager
    def working(self) -> Iterator[None]:
        self._idle.clear()
        try:
            yield
        finally:
            self._idle.set()

    def keep(self, monitor: DataMonitorHook, tokens: Tokens, meta: dict[str, Any]) -> None:
        from core.snn.recording import save

        with self._turn:
            if self._has_ended or not len(tokens):
                return
            try:
                save(monitor.recording(tokens, meta), self._into)
            except (OSError, RuntimeError) as error:
                log.error("the recording of an answer could not be kept (%s)", type(error).__name__)
                self._failed(error)

    def end(self) -> None:
        """Wait until what was read is kept; what nobody read is not."""
        if self.is_read:
            self._idle.wait()
            return
        with self._turn:
            self._has_ended = True
            self._into.unlink(missing_ok=True)


def _tokens(pieces: Pieces, part: slice) -> Tokens:
    import numpy as np

    from core.snn.recording import Tokens

    # A part may begin within a character, which only the tokens before it complete.
    ids, texts = pieces.seen[part], texts_of(pieces.tokenizer, pieces.seen)[part]
    roles = ["prompt" if place < pieces.prompt else "answer" for place in range(len(pieces.seen))][part]
    return Tokens(np.asarray(ids, dtype=np.int32), tuple(texts), tuple(roles))


def texts_of(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Return the text of each token, signs of the template too; a character of several tokens stands with the last."""

    def text_of(part: Sequence[int]) -> str:
        return str(tokenizer.decode(part, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    texts: list[str] = []
    first = read = 0
    for end in range(1, len(ids) + 1):
        # The tokens before say whether a new one begins with a space.
        before, text = text_of(ids[first:read]), text_of(ids[first:end])
        if text.endswith("\ufffd") and end < len(ids) and end - read < LONGEST_CHARACTER:
            texts.append("")
            continue
        texts.append(text[len(before) :])
        first, read = read, end
    return texts
