"""Commands on a server instead of a data folder: ``--url`` and ``--key`` for every command that has ``--data-dir``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeGuard, get_type_hints

import typer

from core.cli.output import Bar
from core.errors import InvalidInput, Unauthorized
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.api import ComparisonApi, KnowledgeBaseApi
    from core.client import RagClient
    from core.client.reading import RemoteComparison
    from core.knowledge_base import KnowledgeBase
    from core.versions.diff.layout import ScreenLine

Url = Annotated[str | None, typer.Option("--url", help="Server to work on, instead of EVORAG_URL.")]
Key = Annotated[
    str | None, typer.Option("--key", help="Key for that server; better in EVORAG_KEY, where none sees it.")
]

LOCAL = frozenset({"serve"})
_AT_ONCE = 500


_wanted: ContextVar[tuple[str | None, str | None] | None] = ContextVar("evorag_server", default=None)
"""What the present command says of a server; None in a command that works on data folders alone."""


def offer(app: typer.Typer) -> None:
    """Give every command that works on a data folder the options ``--url`` and ``--key``."""
    for command in app.registered_commands:
        callback = command.callback
        if callback is None or (command.name or callback.__name__) in LOCAL:
            continue
        if "data_dir" in inspect.signature(callback).parameters:
            command.callback = _with_server(callback)


def _with_server(callback: Callable[..., Any]) -> Callable[..., Any]:
    hints = get_type_hints(callback, include_extras=True)
    signature = inspect.signature(callback)
    known = [each.replace(annotation=hints[each.name]) for each in signature.parameters.values()]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in (("url", Url), ("key", Key))
    ]

    @functools.wraps(callback)
    def run(*args: Any, url: str | None = None, key: str | None = None, **kwargs: Any) -> Any:
        if url is not None and kwargs.get("data_dir") is not None:
            raise typer.BadParameter("one of --url and --data-dir")
        token = _wanted.set((url, key))
        try:
            return callback(*args, **kwargs)
        except Unauthorized as error:
            raise _about_the_key(key) from error
        finally:
            _wanted.reset(token)

    run.__signature__ = signature.replace(parameters=[*known, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "url": Url, "key": Key}
    del run.__wrapped__
    return run


def _about_the_key(given: str | None) -> Unauthorized:
    """Return a refusal in the words of who typed the command: there is no key, or it opens nothing."""
    from core import Settings

    if given or Settings().key.get_secret_value():
        where = "--key" if given else "EVORAG_KEY"
        return Unauthorized(
            f"The server does not take the key of {where}: it is wrong, revoked or expired.",
            remedy="Give a valid one with --key or in EVORAG_KEY; the server's page “Access” makes keys.",
        )
    return Unauthorized(
        "The server wants a key, and none was given.",
        remedy="Give one with --key or in EVORAG_KEY; the server's page “Access” makes keys.",
    )


def chosen(data_dir: Path | None) -> RagClient | None:
    """Return the client of the server that the command or the environment names, None for a data folder.

    Raises: ``InvalidInput`` where a server is named and the command works on data folders alone.
    """
    from core import RagClient, Settings

    settings = Settings()
    wanted = _wanted.get()
    url = (wanted[0] if wanted else None) or ("" if data_dir is not None else settings.url)
    if not url:
        return None
    if wanted is None:
        raise InvalidInput("This command works on a data folder, not on a server.", remedy="Give --data-dir.")
    return RagClient(url, wanted[1] or settings.key.get_secret_value() or None)


def is_server(kb: KnowledgeBaseApi) -> TypeGuard[RagClient]:
    """Tell whether a command works on a server."""
    from core import RagClient

    return isinstance(kb, RagClient)


def is_here(kb: KnowledgeBaseApi) -> TypeGuard[KnowledgeBase]:
    """Tell whether a command works on a data folder; the core is not loaded for a server."""
    return not is_server(kb)


def watched(kb: KnowledgeBaseApi, show: Bar, number: int, count: int, path: Path) -> dict[str, Any]:
    """Return what makes a client show how much of a file has been sent; nothing for a data folder."""
    if not is_server(kb):
        return {}
    return {"sent": lambda done, total: show(number - 1, count, f"{path.name} {done * 100 // max(total, 1)} %")}


class ScreenView(Protocol):
    """A comparison as screen lines of a given width."""

    @property
    def total(self) -> int: ...

    def lines(self, start: int, end: int) -> Sequence[ScreenLine]: ...


ViewOf = Callable[..., ScreenView]
"""Lays a comparison out by the options of ``ComparisonResult.view``."""


def view_of(kb: KnowledgeBaseApi, comparison: ComparisonApi) -> ViewOf:
    """Return what lays a comparison out for a terminal: the server, where it was made there."""
    from core.client.reading import RemoteComparison

    if is_server(kb) and isinstance(comparison, RemoteComparison):
        return functools.partial(_laid_out, kb, comparison)
    from core.versions.result import ComparisonResult

    assert isinstance(comparison, ComparisonResult)
    return comparison.view


def _laid_out(
    client: RagClient, comparison: RemoteComparison, *, mode: str, width: int, folded: bool = True, context: int = 3
) -> ScreenView:
    return RemoteView(client, {**comparison.which, "mode": mode, "width": width, "folded": str(int(folded))})


class RemoteView:
    """Screen lines, read from the server when they are asked for."""

    def __init__(self, client: RagClient, options: dict[str, Any]) -> None:
        self._client = client
        self._options = options
        self.total: int = client.screen_lines(options, 0, 0)["total"]

    def lines(self, start: int, end: int) -> Sequence[ScreenLine]:
        """Return the screen lines from ``start`` up to, not including, ``end``."""
        from core.versions.diff.layout import ScreenLine

        rows = self._client.screen_lines(self._options, start, min(end, self.total))["lines"]
        return [from_dict(ScreenLine, row) for row in rows]
