"""The generators of this installation by name; each is opened when it is first used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from core.errors import InvalidInput
from core.model import GeneratorHealth, Query, Task
from core.ports import Generator

NONE = "none"
SPIKING = "snn"
"""What writes an answer that is recorded and names no generator."""
Opener = Callable[[], Generator]


class Generators:
    """Chooses generators by name; ``none`` means extraction.

    ``tasks`` names the generator of each task; a query's own choice comes first for answers. ``by_task`` are those
    that work otherwise for one task than for the others.
    """

    def __init__(
        self,
        openers: Mapping[str, Opener],
        tasks: Mapping[Task, str],
        by_task: Mapping[tuple[str, Task], Opener] | None = None,
    ) -> None:
        self._openers = dict(openers)
        self._tasks = dict(tasks)
        self._by_task = dict(by_task or {})
        self._opened: dict[str | tuple[str, Task], Generator] = {}
        self._lock = threading.Lock()

    def names(self) -> tuple[str, ...]:
        """Return ``none`` and every generator that a question may choose."""
        return (NONE, *self._openers)

    def chosen(self, task: Task, name: str = "") -> str:
        """Return the name of the generator of a task. Raises: ``InvalidInput`` for one that is not known."""
        chosen = name or self._tasks.get(task, "") or NONE
        if chosen not in self.names():
            raise InvalidInput(f"There is no generator “{chosen[:64]}”.", remedy=f"One of {', '.join(self.names())}.")
        return chosen

    def writer_of(self, query: Query) -> str:
        """Return the name of the generator that a question is answered by. Raises: ``InvalidInput``."""
        return self.chosen(Task.ANSWER, query.generator or (SPIKING if query.record else ""))

    def get(self, name: str, task: Task = Task.ANSWER) -> Generator | None:
        """Return the opened generator, None for ``none``. Raises: ``InvalidInput``, ``ModelUnavailable``."""
        if name == NONE:
            return None
        if name not in self._openers:
            raise InvalidInput(f"There is no generator “{name[:64]}”.", remedy=f"One of {', '.join(self.names())}.")
        own = self._by_task.get((name, task))
        key = name if own is None else (name, task)
        with self._lock:
            if key not in self._opened:
                self._opened[key] = (own or self._openers[name])()
            return self._opened[key]

    def reopen(self, name: str) -> None:
        """Close a generator, where it is open; the next question that names it opens it anew."""
        with self._lock:
            keys = [key for key in self._opened if name in (key, key[0] if isinstance(key, tuple) else key)]
            closing = [self._opened.pop(key) for key in keys]
        for generator in closing:
            generator.close()

    def health(self) -> list[GeneratorHealth]:
        """Return a line about each generator, without waiting for any model."""
        return [generator.health() for name in self._openers if (generator := self.get(name)) is not None]

    def close(self) -> None:
        with self._lock:
            for generator in self._opened.values():
                generator.close()
            self._opened.clear()
