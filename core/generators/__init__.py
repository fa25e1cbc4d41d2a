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

    def usual(self, task: Task) -> str:
        """Return the name of the generator of a task that nothing else is chosen for."""
        return self._tasks.get(task, "") or NONE

    def place(self, name: str) -> str:
        """Return where a generator is, where that may change while this runs; empty for those of the settings."""
        return ""

    def chosen(self, task: Task, name: str = "") -> str:
        """Return the name of the generator of a task. Raises: ``InvalidInput`` for one that is not known."""
        chosen = name or self.usual(task)
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
        own = self._by_task.get((name, task))
        key = name if own is None else (name, task)
        with self._lock:
            if key not in self._opened:
                opener = own or self._opener(name)
                if opener is None:
                    among = f"One of {', '.join(self.names())}."
                    raise InvalidInput(f"There is no generator “{name[:64]}”.", remedy=among)
                self._opened[key] = opener()
            return self._opened[key]

    def _opener(self, name: str) -> Opener | None:
        return self._openers.get(name)

    def reopen(self, name: str) -> None:
        """Close a generator, where it is open; the next question that names it opens it anew."""
        with self._lock:
            keys = [key for key in self._opened if name in (key, key[0] if isinstance(key, tuple) else key)]
            closing = [self._opened.pop(key) for key in keys]
        for generator in closing:
            generator.close()

    def health(self) -> list[GeneratorHealth]:
        """Return a line about each generator, without waiting for any model."""
        return [generator.health() for name in self.names() if (generator := self._known(name)) is not None]

    def _known(self, name: str) -> Generator | None:
        """Return a generator, None for ``none`` and for one that was removed a moment ago."""
        try:
            return self.get(name)
        except InvalidInput:
            return None

    def close(self) -> None:
        with self._lock:
            for generator in self._opened.values():
                generator.close()
            self._opened.clear()
