"""Any server with OpenAI's interface for chats, by its address and key: Ollama, vLLM, llama.cpp or a hosted one.

Nothing that the server sends is trusted: redirects are not followed, compressed bodies are not unpacked, and every
line and the whole stream have their limits. Whoever stops reading hangs up at once. The key stands in the request's
header and nowhere else. A server that may not be inside the network is connected to by the address that was checked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import httpx

from core.adapters.generation.background_writing import Put, read_pieces
from core.adapters.generation.chat_events import pieces_of, read_limited
from core.adapters.generation.cut_line import CutLine
from core.adapters.generation.outside import OutsideTransport
from core.adapters.generation.redaction import shortened
from core.adapters.generation.server_problems import ServerProblems
from core.errors import EvoRAGError, GenerationFailed, GenerationTimedOut, ModelUnavailable
from core.model import GeneratorHealth, GeneratorState, Prompt, Sampling
from core.ports import Writing

CONNECT_S = 10.0
LOOK_S = 3.0
LOOK_AGAIN_S = 10.0
MODELS_BYTES = 4 * 1024 * 1024
ERROR_BYTES = 16 * 1024


class OpenAIGenerator:
    """Streams ``/chat/completions``; an empty ``model`` takes the first that the server lists.

    One with ``outside`` was set up in Settings: its failures say to look there; unless ``outside`` is false it is
    refused at an address inside the network.
    """

    def __init__(
        self, url: str, key: str, model: str, *, max_bytes: int, name: str = "openai", outside: bool | None = None
    ) -> None:
        self.name = name
        self._url = url.strip().rstrip("/")
        self._key = key
        self._max_bytes = max_bytes
        self._is_outside = bool(outside)
        self._problems = ServerProblems(name, self._url, is_kept=outside is not None)
        self._problem = self._problems.of_settings(self._url, key)
        self._client: httpx.Client | None = None
        self._making = threading.Lock()
        self._looking = threading.Lock()
        self._looked_at = -LOOK_AGAIN_S
        self._configured = model
        self.model = model
        self._seen = GeneratorHealth(self.name, model, GeneratorState.IDLE)

    def health(self) -> GeneratorHealth:
        """Return what the server said when it was last looked at, and look again in the background."""
        if self._problem is not None:
            return self._unavailable(self._problem)
        if time.monotonic() - self._looked_at >= LOOK_AGAIN_S and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, name="evorag-openai-look", daemon=True).start()
        return self._seen

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        """Yield the pieces that the server sends. The penalty of ``sampling`` has no name there and is not sent.

        Raises: ``ModelUnavailable``, ``GenerationTimedOut``, ``GenerationFailed``.
        """
        if self._problem is not None:
            raise self._problem
        line = CutLine(timeout_s)
        write = partial(self._write, prompt, sampling, timeout_s, line)
        try:
            with closing(read_pieces(write, timeout_s=timeout_s, max_bytes=self._max_bytes)) as pieces:
                yield from pieces
        finally:
            line.cut()

    def close(self) -> None:
        with self._making:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __repr__(self) -> str:
        return f"OpenAIGenerator({self._url!r})"

    def _write(
        self, prompt: Prompt, sampling: Sampling, timeout_s: float, line: CutLine, put: Put, _: threading.Event
    ) -> None:
        asked = {
            "model": self._model(timeout_s, line),
            "messages": [
                {"role": "system", "content": _writable(prompt.system)},
                {"role": "user", "content": _writable(prompt.user)},
            ],
            "stream": True,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }
        with self._answer("POST", "/chat/completions", timeout_s, line, json=asked) as response:
            for piece in pieces_of(line.chunks(response.iter_raw()), self._failed):
                put(piece)
        self._seen = GeneratorHealth(self.name, self.model, GeneratorState.READY)

    def _model(self, timeout_s: float, line: CutLine) -> str:
        if self._configured:
            return self._configured
        with self._answer("GET", "/models", timeout_s, line) as response:
            listed = read_limited(line.chunks(response.iter_raw()), MODELS_BYTES)
        rows = listed.get("data") if isinstance(listed, dict) else None
        names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        if not names or not isinstance(names[0], str):
            raise self._problems.no_model()
        self.model = names[0]
        return self.model

    def _look(self) -> None:
        try:
            line = CutLine(LOOK_S)
            with self._answer("GET", "/models", LOOK_S, line) as response:
                read_limited(line.chunks(response.iter_raw()), MODELS_BYTES)
            if not self._configured:
                self._model(LOOK_S, line)
            self._seen = GeneratorHealth(self.name, self.model, GeneratorState.READY)
        except EvoRAGError as error:
            self._seen = self._unavailable(error)
        finally:
            self._looked_at = time.monotonic()
            self._looking.release()

    @contextmanager
    def _answer(
        self, method: str, path: str, timeout_s: float, line: CutLine, **request: Any
    ) -> Iterator[httpx.Response]:
        """Give an answer with the status 200, whose body is to be read raw. Raises: our errors."""
        timeout = httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
        client = self._opened()
        try:
            listening = {"trace": line.trace}
            with client.stream(method, self._url + path, timeout=timeout, extensions=listening, **request) as response:
                self._check(response, line)
                yield response
        except (httpx.ConnectError, httpx.ConnectTimeout, OSError) as error:
            raise self._problems.silent(by_certificate="CERTIFICATE_VERIFY_FAILED" in str(error)) from error
        except httpx.TimeoutException as error:
            raise GenerationTimedOut(f"The server at {self._problems.place} was silent for too long.") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise GenerationFailed(f"The answer of the server broke off ({type(error).__name__}).") from error
        except RuntimeError as error:
            if not client.is_closed:
                raise
            # httpx has no class of its own for this.
            raise GenerationFailed("The generator was closed meanwhile.") from error

    def _check(self, response: httpx.Response, line: CutLine) -> None:
        status = response.status_code
        if 300 <= status < 400:
            raise self._problems.elsewhere()
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise GenerationFailed("The server compressed its answer, although it was asked not to.")
        if status == 200:
            return
        said = self._said(response, line)
        if status in (401, 403):
            raise self._problems.key_refused(said)
        if status == 404:
            raise self._problems.not_known(said)
        raise GenerationFailed(f"The server answered with the status {status}{said}")

    def _said(self, response: httpx.Response, line: CutLine) -> str:
        try:
            said = read_limited(line.chunks(response.iter_raw()), ERROR_BYTES)
        except GenerationFailed:
            return "."
        error = said.get("error", said.get("detail")) if isinstance(said, dict) else None
        text = error.get("message") if isinstance(error, dict) else error
        return f": {shortened(text, (self._key,))}" if isinstance(text, str) and text else "."

    def _failed(self, message: str) -> GenerationFailed:
        said = shortened(message, (self._key,))
        return GenerationFailed("The server broke off its answer" + (f": {said}" if said else "."))

    def _opened(self) -> httpx.Client:
        with self._making:
            if self._client is None:
                headers = {"Accept-Encoding": "identity", "User-Agent": "evorag"}
                if self._key:
                    headers["Authorization"] = f"Bearer {self._key}"
                limits = httpx.Limits(max_keepalive_connections=0)
                # One of its own also keeps a proxy of the environment from being asked to go inside.
                own = OutsideTransport(limits, self._problems.inside) if self._is_outside else None
                self._client = httpx.Client(headers=headers, follow_redirects=False, limits=limits, transport=own)
            return self._client

    def _unavailable(self, error: EvoRAGError) -> GeneratorHealth:
        if isinstance(error, ModelUnavailable):
            return GeneratorHealth.unavailable(self.name, self.model, error)
        return GeneratorHealth(self.name, self.model, GeneratorState.UNAVAILABLE, error.message, error.remedy)


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
