"""What a generator is given and what it tells of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.errors import ModelUnavailable


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator is asked to write: the rules, and the fenced documents with the question."""

    system: str
    user: str
    language: str

    def as_text(self) -> str:
        """Return the prompt for a generator that knows no roles."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen; a temperature of 0 takes the likeliest one always."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    repetition_penalty: float = 1.05
    seed: int = 0


class Task(StrEnum):
    """What a generator is asked for; each can be given to another one."""

    ANSWER = "answer"
    STANDALONE = "standalone"


class GeneratorState(StrEnum):
    READY = "ready"
    LOADING = "loading"
    IDLE = "idle"
    """It can be used and is loaded when it first is."""
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class GeneratorHealth:
    """One line about a generator; ``remedy`` says what makes an unavailable one available.

    ``detail`` and ``remedy`` are sentences; ``reason`` names the page's texts that say the same, ``values`` fill them.
    """

    name: str
    model: str
    state: GeneratorState
    detail: str = ""
    remedy: str = ""
    reason: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def unavailable(cls, name: str, model: str, error: ModelUnavailable) -> GeneratorHealth:
        """Return the line of a generator that cannot be used because of ``error``."""
        return cls(
            name, model, GeneratorState.UNAVAILABLE, error.message, error.remedy, error.reason, dict(error.values)
        )


@dataclass(frozen=True, slots=True)
class GeneratorServer:
    """A server that an administrator has set up to write answers, as lists show it: its key is told to nobody."""

    name: str
    url: str
    model: str
    """Empty for the first that the server lists."""
    has_key: bool
    is_default: bool
    """Whether it writes where a question names no generator."""
    allows_inside: bool
    """Whether it may be at an address inside the network."""
    changed_by: str
    changed_at: datetime
    overridden_by: tuple[str, ...] = ()
    """Variables of the environment that say something else, and win."""


@dataclass(frozen=True, slots=True)
class GeneratorAccess:
    """How a server is reached that an administrator has set up; only what opens it is given one."""

    name: str
    url: str
    model: str
    key: str = field(repr=False)
    allows_inside: bool


@dataclass(frozen=True, slots=True)
class GeneratorTrial:
    """What a generator answered when it was tried, and how long that took."""

    name: str
    model: str
    question: str
    text: str
    seconds: float
