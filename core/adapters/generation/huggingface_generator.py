"""Any causal language model, by name or folder, run by transformers on this machine.

One answer is written at a time; the model is loaded with the first, in the thread that writes.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from core.adapters.generation.background_writing import TICK_S, Put, ReaderGone, read_pieces
from core.adapters.generation.causal_folder import ModelSource
from core.adapters.graphics import chosen_device, is_out_of_memory, moved_to_processor, within_memory
from core.errors import GenerationFailed, ModelUnavailable
from core.model import GeneratorHealth, GeneratorState, Prompt, Sampling
from core.ports import Writing

log = logging.getLogger(__name__)

LEAST_ROOM = 16
"""Tokens that a model must be able to write behind the prompt."""
CLOSE_S = 5.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a model runs: ``auto``, ``cpu`` or ``cuda``; ``none``, ``int8`` or ``int4``; threads of the processor."""

    device: str = "auto"
    quantisation: str = "none"
    threads: int = 1


class HuggingFaceGenerator:
    """Writes with one model, in its own chat template where it has one."""

    def __init__(self, source: ModelSource, placement: Placement, *, max_bytes: int, name: str = "huggingface") -> None:
        self.name = name
        self.model = source.label
        self._source = source
        self._placement = placement
        self._max_bytes = max_bytes
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._is_loading = False
        self._failure: ModelUnavailable | None = None
        self._loaded: tuple[Any, Any] | None = None

    def health(self) -> GeneratorHealth:
        if self._loaded is not None:
            return self._line(GeneratorState.READY)
        if self._is_loading:
            return self._line(GeneratorState.LOADING)
        try:
            if self._failure is not None:
                raise self._failure
            self._look()
        except ModelUnavailable as error:
            return GeneratorHealth.unavailable(self.name, self.model, error)
        return self._line(GeneratorState.IDLE)

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        """Yield the answer in pieces of whole characters; closing the iterator stops after the present token.

        Raises: ``ModelUnavailable``, ``GenerationTimedOut``; ``GenerationFailed`` where the model cannot read a prompt
        of that length.
        """
        yield from self._answer(prompt, sampling, timeout_s, _nobody)

    def close(self) -> None:
        """Stop what is being written and forget the model."""
        self._closed.set()
        if self._turn.acquire(timeout=CLOSE_S):
            self._loaded = None
            self._turn.release()

    def _answer(
        self, prompt: Prompt, sampling: Sampling, timeout_s: float, listening: Listening
    ) -> Generator[str, None, None]:
        write = partial(self._write, prompt, sampling, listening)
        with closing(read_pieces(write, timeout_s=timeout_s, max_bytes=self._max_bytes)) as pieces:
            yield from pieces

    def _line(self, state: GeneratorState) -> GeneratorHealth:
        return GeneratorHealth(self.name, self.model, state)

    def _write(
        self, prompt: Prompt, sampling: Sampling, listening: Listening, put: Put, stopped: threading.Event
    ) -> None:
        def check() -> None:
            if stopped.is_set():
                raise ReaderGone
            if self._closed.is_set():
                raise GenerationFailed("The model was closed while it wrote.")

        with self._own_turn(check):
            model, tokenizer = self._loaded or self._load()
            check()

            def generate(_: int) -> None:
                pieces = Pieces(tokenizer, put, check)
                try:
                    with listening(model, pieces):
                        _generate(model, tokenizer, prompt, sampling, self._placement.threads, pieces)
                except RuntimeError as error:
                    if not is_out_of_memory(error) or not pieces.has_begun:
                        raise
                    # What has been read cannot be taken back; the next answer is written on the processor.
                    moved_to_processor(model)
                    raise GenerationFailed(
                        "The memory of the graphics processor ran out in the middle of the answer.",
                        remedy="Ask again: the model runs on the processor now; EVORAG_LLM_DEVICE=cpu keeps it there.",
                    ) from error

            within_memory(generate, 1, partial(moved_to_processor, model))

    @contextmanager
    def _own_turn(self, check: Callable[[], None]) -> Iterator[None]:
        while not self._turn.acquire(timeout=TICK_S):
            check()
        try:
            check()
            yield
        finally:
            self._turn.release()

    def _look(self) -> None:
        """Raises: ``ModelUnavailable`` for what can be seen without loading anything."""
        if find_spec("transformers") is None or find_spec("torch") is None:
            raise ModelUnavailable(
                "PyTorch or transformers is not installed.", remedy="Install EvoRAG anew.", reason="llm_not_installed"
            )
        if self._placement.quantisation not in ("none", "int8", "int4"):
            raise ModelUnavailable(
                "The setting of the quantisation is not understood.",
                remedy="Set EVORAG_LLM_QUANTISATION to none, int8 or int4.",
                reason="llm_quantisation",
            )
        if self._placement.quantisation != "none" and find_spec("bitsandbytes") is None:
            raise ModelUnavailable(
                "Quantised loading needs the package bitsandbytes, which is not installed.",
                remedy="Install it with `pip install --no-deps bitsandbytes`, or set EVORAG_LLM_QUANTISATION=none.",
                reason="llm_bitsandbytes",
            )
        self._source.look()

    def _open(self) -> tuple[Any, Any]:
        """Return the model and its tokenizer. Raises: ``ModelUnavailable``, and whatever the library raises."""
        return _load(self._source, self._placement)

    def _load(self) -> tuple[Any, Any]:
        self._is_loading, self._failure = True, None
        try:
            self._look()
            self._loaded = self._open()
            return self._loaded
        except ModelUnavailable as error:
            self._failure = error
            raise
        except Exception as error:
            self._failure = ModelUnavailable(
                f"The language model {self.model} could not be loaded ({type(error).__name__}).",
                remedy="Check that its folder is complete, that transformers can load it, and that it fits in memory.",
                reason="llm_not_loaded",
                model=self.model,
                kind=type(error).__name__,
            )
            raise self._failure from error
        finally:
            self._is_loading = False


class Pieces:
    """What transformers tells each new token: puts the text of tokens as soon as their characters are whole.

    ``seen`` are all tokens so far, of which the first ``prompt`` are the prompt's.
    """

    def __init__(self, tokenizer: Any, put: Put, check: Callable[[], None]) -> None:
        self.tokenizer = tokenizer
        self.seen: list[int] = []
        self.prompt = 0
        self._put = put
        self._check = check
        self._is_prompt = True
        self._tokens: list[int] = []
        self._read = 0

    @property
    def has_begun(self) -> bool:
        """Tell whether a token of the answer has been written."""
        return len(self.seen) > self.prompt

    def put(self, tokens: Any) -> None:
        self._check()
        new = tokens.reshape(-1).tolist()
        self.seen += new
        if self._is_prompt:
            self._is_prompt, self.prompt = False, len(new)
            return
        self._tokens += new
        self._tell(is_last=False)

    def end(self) -> None:
        self._tell(is_last=True)

    def _tell(self, *, is_last: bool) -> None:
        # The tokens before say whether a new one begins with a space.
        before = self._text(self._tokens[: self._read])
        text = self._text(self._tokens)
        if text.endswith("\ufffd") and not is_last:
            return
        if len(text) > len(before):
            self._put(text[len(before) :])
        self._tokens, self._read = self._tokens[self._read :], len(self._tokens) - self._read

    def _text(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))


Listening = Callable[[Any, Pieces], AbstractContextManager[object]]
"""Makes, of the loaded model and of what it will say, the context in which it writes."""


def _nobody(model: Any, pieces: Pieces) -> AbstractContextManager[object]:
    return contextlib.nullcontext()


def _load(source: ModelSource, placement: Placement) -> tuple[Any, Any]:
    import torch

    library: Any = import_module("transformers")
    device = chosen_device(placement.device, "EVORAG_LLM_DEVICE")
    torch.set_num_threads(max(1, placement.threads))
    library.utils.logging.disable_progress_bar()
    folder = str(source.folder())
    safely = {"local_files_only": True, "trust_remote_code": False}
    how: dict[str, Any] = {"dtype": torch.float32 if device == "cpu" else "auto"}
    if placement.quantisation != "none":
        # It tells every product of matrices that it rounds.
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        is_int8 = placement.quantisation == "int8"
        how["quantization_config"] = library.BitsAndBytesConfig(
            load_in_8bit=is_int8, load_in_4bit=not is_int8, bnb_4bit_quant_type="nf4"
        )
        how["device_map"] = device
    tokenizer = library.AutoTokenizer.from_pretrained(folder, **safely)
    model = library.AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True, **safely, **how).eval()
    if placement.quantisation == "none":
        try:
            model.to(device)
        except torch.OutOfMemoryError:
            log.warning("the language model does not fit in the memory of the graphics processor; it runs without")
            moved_to_processor(model)
    return model, tokenizer


def _generate(model: Any, tokenizer: Any, prompt: Prompt, sampling: Sampling, threads: int, streamer: Pieces) -> None:
    import torch

    # The number is that of the calling thread.
    torch.set_num_threads(max(1, threads))
    given = _tokens(tokenizer, prompt)
    count = given["input_ids"].shape[1]
    room = int(getattr(model.config.get_text_config(), "max_position_embeddings", 0) or 1 << 31) - count
    if room < min(LEAST_ROOM, sampling.max_tokens):
        raise GenerationFailed(
            f"The prompt has {count:,} tokens, more than the model can read.",
            remedy="Set EVORAG_PROMPT_MAX_BYTES lower, or choose a model that reads more.",
        )
    is_drawn = sampling.temperature > 0
    own = model.generation_config
    ends = own.eos_token_id if own.eos_token_id is not None else tokenizer.eos_token_id
    padding = tokenizer.pad_token_id
    if padding is None:
        padding = ends[0] if isinstance(ends, list) else ends
    config = import_module("transformers").GenerationConfig(
        max_new_tokens=min(sampling.max_tokens, room),
        do_sample=is_drawn,
        temperature=sampling.temperature if is_drawn else 1.0,
        top_p=sampling.top_p if is_drawn else 1.0,
        top_k=0 if is_drawn else 50,
        repetition_penalty=sampling.repetition_penalty,
        bos_token_id=own.bos_token_id,
        eos_token_id=ends,
        pad_token_id=padding,
    )
    devices = [model.device] if model.device.type == "cuda" else []
    seeded = torch.random.fork_rng(devices) if is_drawn else contextlib.nullcontext()
    with torch.inference_mode(), seeded:
        if is_drawn:
            torch.manual_seed(sampling.seed)
        model.generate(**given.to(model.device), generation_config=config, streamer=streamer)


def _tokens(tokenizer: Any, prompt: Prompt) -> Any:
    """Return the tokens of the prompt, in which no text can pose as a sign of the template."""
    signs = sorted(
        {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special and len(str(token)) > 2},
        key=len,
        reverse=True,
    )
    system, user = (_plain(text, signs) for text in (prompt.system, prompt.user))
    if tokenizer.chat_template:
        how = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
        roles = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            return tokenizer.apply_chat_template(roles, **how)
        except Exception:
            # Some templates have no place for rules.
            return tokenizer.apply_chat_template([{"role": "user", "content": f"{system}\n\n{user}"}], **how)
    return tokenizer(f"{system}\n\n{user}", return_tensors="pt")


def _plain(text: str, signs: list[str]) -> str:
    for sign in signs:
        text = text.replace(sign, f"{sign[0]} {sign[1:]}")
    return text.encode("utf-8", "replace").decode("utf-8")
