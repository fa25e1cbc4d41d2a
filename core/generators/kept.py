"""Generators of the settings, and the servers that administrators have set up beside them.

Servers are kept in the catalogue, so that every process has them; what the environment says wins. A key goes in and
comes out of here only to the server that it is for.
"""

from __future__ import annotations

import builtins
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.access import current, needs
from core.errors import Conflict, GenerationTimedOut, InvalidInput, NotFound, NothingWritten
from core.generators import NONE, Generators, Opener
from core.model import (
    GeneratorAccess,
    GeneratorServer,
    GeneratorTrial,
    Prompt,
    Role,
    Sampling,
    Task,
    is_inside,
    is_key,
    is_server_address,
)
from core.ports import Generator
from core.text.language import is_storable

if TYPE_CHECKING:
    from core.catalog.generator_servers import GeneratorServerTable, KeptServer

log = logging.getLogger(__name__)

OPENAI = "openai"
TRIED_WITH = "What is two plus two?"
TRY_S = 20.0
_TRY_TOKENS = 48
_SHOWN_CHARS = 500
_URL_CHARS = 1_000
_MODEL_CHARS = 256
_KEY_CHARS = 4_096
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLES = {"generator": "EVORAG_GENERATOR", "openai_url": "EVORAG_OPENAI_URL"}


@dataclass(frozen=True, slots=True)
class ServerShelf:
    """Where servers are kept, and what makes a generator of one."""

    table: GeneratorServerTable
    open: Callable[[GeneratorAccess], Generator]
    given: frozenset[str]
    """The settings that the environment gives."""


class KeptGenerators(Generators):
    """Chooses among both kinds; administrators change the servers."""

    def __init__(
        self,
        openers: Mapping[str, Opener],
        tasks: Mapping[Task, str],
        by_task: Mapping[tuple[str, Task], Opener],
        shelf: ServerShelf,
    ) -> None:
        super().__init__(openers, tasks, by_task)
        self._builtin = frozenset(openers)
        self._shelf = shelf
        self._following = threading.Lock()
        self._kept: dict[str, KeptServer] = {}
        self.follow()

    # ---- choosing

    def names(self) -> tuple[str, ...]:
        """Return ``none`` and every generator that a question may choose; servers of the catalogue come last."""
        return tuple(dict.fromkeys((*super().names(), *self._kept)))

    def usual(self, task: Task) -> str:
        """Return the generator of a task that nothing else is chosen for: the environment's, else the default."""
        if task is Task.ANSWER and "generator" not in self._shelf.given:
            return next((name for name, each in self._kept.items() if each.is_default), super().usual(task))
        return super().usual(task)

    def place(self, name: str) -> str:
        """Return the address that a server of the catalogue is reached at, empty for any other generator."""
        kept = self._kept.get(name)
        return kept.access.url if kept is not None and not self._is_overridden(name) else ""

    def _opener(self, name: str) -> Opener | None:
        kept = self._kept.get(name)
        if kept is None or self._is_overridden(name):
            return super()._opener(name)
        return lambda: self._shelf.open(kept.access)

    def _is_overridden(self, name: str) -> bool:
        return name == OPENAI and "openai_url" in self._shelf.given

    # ---- following what is kept

    def follow(self) -> None:
        """Take over what this or another process has changed."""
        with self._following:
            before, self._kept = self._kept, {each.access.name: each for each in self._shelf.table.all()}
            for name in before.keys() | self._kept.keys():
                if _access(before.get(name)) != _access(self._kept.get(name)):
                    self.reopen(name)

    # ---- administrators

    @property
    def overriding(self) -> str:
        """The variable of the environment that names the usual generator, empty where it names none."""
        return _VARIABLES["generator"] if "generator" in self._shelf.given else ""

    @needs(Role.ADMIN)
    def list(self) -> builtins.list[GeneratorServer]:
        """Return the servers that were set up, by name, without their keys."""
        self.follow()
        return [self._told(each) for each in self._kept.values()]

    @needs(Role.ADMIN)
    def set(
        self, name: str, url: str, *, model: str = "", key: str | None = None, allow_inside: bool = False
    ) -> GeneratorServer:
        """Add a server with OpenAI's interface, or change the one of this name.

        Without a ``key`` it keeps the one that it has; an empty one is taken away. A key belongs to its server: with
        another host it is given anew. An address inside the network needs ``allow_inside``.
        Raises: ``InvalidInput``.
        """
        self.follow()
        checked = _checked(name, self._builtin - {OPENAI}, url, model, key)
        known = self._kept.get(name)
        kept_key = known.access.key if key is None and known is not None else ""
        if known is not None and kept_key and _server_of(known.access.url) != _server_of(checked.url):
            raise InvalidInput(
                f"The key of “{name}” was given for another server.",
                remedy="Give the key of the new one, or an empty one where it needs none.",
            )
        access = replace(checked, key=kept_key or checked.key, allows_inside=bool(allow_inside))
        host = urlsplit(access.url).hostname or ""
        if not allow_inside and is_inside(host):
            raise InvalidInput(
                f"“{host[:64]}” is an address inside the network.",
                remedy="Allow addresses inside the network for this server if it is meant to be there.",
            )
        self._shelf.table.put(access, current().name)
        log.info("a server that writes answers was set up")
        self.follow()
        return self._told(self._kept[name])

    @needs(Role.ADMIN)
    def remove(self, name: str) -> None:
        """Forget a server with its key. Raises: ``NotFound``."""
        self._shelf.table.remove(name if is_storable(name) else "")
        log.info("a server that writes answers was removed")
        self.follow()

    @needs(Role.ADMIN)
    def make_default(self, name: str) -> None:
        """Have a server write where a question names no generator; with ``none`` what the settings say.

        Raises: ``NotFound``; ``Conflict`` where the environment names another one.
        """
        self.follow()
        if name != NONE and name not in self._kept:
            raise NotFound(f"There is no such server “{name[:64]}”.", remedy="`list` names those that were set up.")
        if name != NONE and self.overriding:
            raise Conflict(
                f"{self.overriding} names the generator of this server, and wins.",
                remedy=f"Take {self.overriding} out of the environment first.",
            )
        self._shelf.table.make_default("" if name == NONE else name, current().name)
        log.info("the generator of questions that name none was chosen")
        self.follow()

    @needs(Role.ADMIN)
    def try_out(self, name: str) -> GeneratorTrial:
        """Ask a generator one short question, and return what it answers.

        Raises: ``InvalidInput`` for one not known; ``ModelUnavailable``, ``GenerationFailed``, ``GenerationTimedOut``.
        """
        self.follow()
        generator = self.get(name)
        if generator is None:
            raise InvalidInput("Nothing writes where no generator is chosen.", remedy="Name a generator.")
        started = time.monotonic()
        prompt = Prompt("You answer in one short sentence.", TRIED_WITH, "en")
        with closing(generator.write(prompt, Sampling(max_tokens=_TRY_TOKENS), TRY_S)) as pieces:
            text = _joined(pieces, started)
        if not text:
            raise NothingWritten(f"The generator “{name}” ended and wrote nothing.")
        return GeneratorTrial(name, generator.model, TRIED_WITH, text, round(time.monotonic() - started, 3))

    def _told(self, kept: KeptServer) -> GeneratorServer:
        access = kept.access
        overriding = {_VARIABLES["openai_url"]} if self._is_overridden(access.name) else set()
        if kept.is_default and self.overriding:
            overriding.add(self.overriding)
        return GeneratorServer(
            access.name,
            access.url,
            access.model,
            has_key=bool(access.key),
            is_default=kept.is_default,
            allows_inside=access.allows_inside,
            changed_by=kept.changed_by,
            changed_at=kept.changed_at,
            overridden_by=tuple(sorted(overriding)),
        )


def _joined(pieces: Iterable[str], started: float) -> str:
    """Return the beginning of what is written. Raises: ``GenerationTimedOut``."""
    text = ""
    for piece in pieces:
        text += piece
        if len(text) >= _SHOWN_CHARS:
            break
        if time.monotonic() - started > TRY_S:
            raise GenerationTimedOut(f"The answer was not written within {TRY_S:g} seconds.")
    return text.strip()[:_SHOWN_CHARS]


def _access(kept: KeptServer | None) -> GeneratorAccess | None:
    return None if kept is None else kept.access


def _server_of(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _checked(name: str, taken: Collection[str], url: str, model: str, key: str | None) -> GeneratorAccess:
    """Return what was given as it is kept. Raises: ``InvalidInput``, which never holds the key."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            "A generator's name has 1 to 64 small letters a–z, digits or ._- and begins with a letter or digit.",
            remedy="Choose such a name, such as house-model.",
        )
    if name in taken or name == NONE:
        raise InvalidInput(f"“{name}” is the name of another generator.", remedy="Choose another name.")
    address = url.strip().rstrip("/") if _is_text(url, _URL_CHARS) else ""
    if not is_server_address(address) or not address.isprintable() or " " in address:
        raise InvalidInput(
            "The address is not understood.",
            remedy="Write it like https://api.example.com/v1, and the key into its own field.",
        )
    if not _is_text(model, _MODEL_CHARS):
        raise InvalidInput(f"The name of a model has at most {_MODEL_CHARS} characters.")
    secret = (key or "").strip() if _is_text(key or "", _KEY_CHARS) else "\0"
    if not is_key(secret):
        raise InvalidInput("The key holds signs that no key has.", remedy="Copy it anew.")
    return GeneratorAccess(name, address, model.strip(), secret, allows_inside=False)


def _is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most and is_storable(value) and "\0" not in value
