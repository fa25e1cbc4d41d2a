"""On whose behalf the present thread works: set by the web for every request, asked by the facade and the catalogue.

Without one it is the process itself, such as a worker or the command line on its own data folder, which may do
everything. A context variable carries it, because every operation has one and none of them is about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import wraps
from typing import ParamSpec, TypeVar

from core.errors import Forbidden
from core.model import Principal, Role

P = ParamSpec("P")
R = TypeVar("R")

PROCESS = Principal()

_principal: ContextVar[Principal] = ContextVar("evorag_principal", default=PROCESS)


def current() -> Principal:
    """Return on whose behalf the present thread works."""
    return _principal.get()


def begin(principal: Principal) -> Token[Principal]:
    """Work on behalf of ``principal`` until ``end`` is called with what this returns."""
    return _principal.set(principal)


def end(token: Token[Principal]) -> None:
    _principal.reset(token)


@contextmanager
def acting(principal: Principal) -> Iterator[None]:
    """Work on behalf of ``principal`` within the block."""
    token = begin(principal)
    try:
        yield
    finally:
        end(token)


def require(role: Role) -> Principal:
    """Return the present principal. Raises: ``Forbidden`` where its role is less than ``role``."""
    principal = current()
    if not principal.role.includes(role):
        raise Forbidden(f"This needs the role {role}; “{principal.name}” has the role {principal.role}.")
    return principal


def needs(role: Role) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse calls of a function on behalf of somebody whose role is less than ``role``.

    The function tells it as ``needed_role``. Of a generator the call is refused, not its first step.
    """

    def guarded(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            require(role)
            return function(*args, **kwargs)

        call.__dict__["needed_role"] = role
        return call

    return guarded


def actor(given: str = "") -> str:
    """Return who did something: the name of who acts; the process may say on whose behalf."""
    return current().name or given


def sees_all(principal: Principal) -> bool:
    """Tell whether somebody sees other people's private documents, as administrators do."""
    return principal.role is Role.ADMIN
