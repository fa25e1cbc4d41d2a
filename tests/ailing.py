"""A store that is down, hangs or flaps, around one that is well."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from core.errors import StoreUnavailable


class Ailing:
    """Decorates an index: the methods in ``fails`` refuse, those in ``hangs`` wait until ``recover`` is called.

    With ``every`` n, each nth of all calls is refused besides. ``asked`` counts the calls.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.fails: set[str] = set()
        self.hangs: set[str] = set()
        self.every = 0
        self.asked: Counter[str] = Counter()
        self._recovered = threading.Event()

    def recover(self) -> None:
        self.fails, self.hangs, self.every = set(), set(), 0
        self._recovered.set()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._suffering(name, found) if callable(found) else found

    def _suffering(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def suffering(*given: Any) -> Any:
            self.asked[name] += 1
            if name in self.hangs:
                self._recovered.wait(60)
            if name in self.fails or (self.every and not self.asked.total() % self.every):
                raise StoreUnavailable("The store is ailing.")
            return act(*given)

        return suffering
