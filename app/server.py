"""Serves the application: one process with threads, in which the knowledge base lives.

The port is taken before the knowledge base is built, and listened at afterwards, so that two servers do not build the
same one and nobody waits at a server that does not answer yet.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import signal
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from core import EvoRAGError, Settings, build
from core.errors import Conflict
from core.settings import begin_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from core import KnowledgeBase

log = logging.getLogger(__name__)

CANNOT_START = 1
BACKLOG = 2048
LONGEST_LOADING_S = 120

NO_USERS = """no_users: EvoRAG does not listen on {host} while nobody can sign in.
Make the first user with “evorag user add NAME --role admin”, then start again;
or set EVORAG_ACCESS=open if whoever reaches this address may read and change everything.
"""
FIRST_USER = """Nobody can sign in yet. Stop the server, run “evorag user add NAME --role admin”, and start it again.
"""

OUR_LOGGERS = ("core", "app")
"""What EVORAG_LOG_LEVEL applies to; of the libraries only warnings are shown."""


def serve(settings: Settings, *, as_json: bool = False) -> int:
    """Serve until a signal ends it and return the exit status. Raises: ``Conflict`` when the port is taken."""
    from app.serving.serve import Server

    with contextlib.closing(bound(settings.host, settings.port)) as listener:
        kb: KnowledgeBase | None = None
        try:
            with on_signals(signal.default_int_handler):
                kb, application = start(settings)
                server = Server(application, settings.server)
                listener.listen(BACKLOG)
            # Before it handles signals itself; and it raises the one that has ended it once more.
            with on_signals(lambda *_: server.stop()):
                announce(settings, as_json)
                server.run(listener)
        except KeyboardInterrupt:
            return 0
        except SystemExit as ending:
            return 0 if ending.code in (0, None) else 1
        finally:
            stop(kb)
    return 0


@contextlib.contextmanager
def on_signals(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Have both signals by which a server is ended handled by ``handler`` within the block."""
    before = {name: signal.signal(name, handler) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for name, earlier in before.items():
            signal.signal(name, earlier)


def start(settings: Settings) -> tuple[KnowledgeBase, Callable[..., Any]]:
    """Build the knowledge base and the application; ends the process with a readable message when that fails."""
    begin_log(settings.log_format)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(settings.log_level)
    from app.main import create_app

    try:
        kb = build(settings)
    except EvoRAGError as error:
        sys.stderr.write(f"{error.code}: {error.message}\n{error.remedy}\n")
        raise SystemExit(CANNOT_START) from error
    refuse_strangers(kb)
    application = create_app(kb).server
    threading.Thread(target=freeze_memory, args=(kb,), name="evorag-freeze", daemon=True).start()
    return kb, application


def refuse_strangers(kb: KnowledgeBase) -> None:
    """End the process where strangers could reach everything, and say how the first user comes to be."""
    from app.security import is_loopback

    settings = kb.settings
    if settings.access == "open" or kb.accounts.has_users():
        return
    if not is_loopback(settings.host):
        kb.close()
        sys.stderr.write(NO_USERS.format(host=settings.host))
        raise SystemExit(CANNOT_START)
    if settings.access == "keys":
        sys.stderr.write(FIRST_USER)


def freeze_memory(kb: KnowledgeBase) -> None:
    """Take what is loaded out of the garbage collector's sight: to look through it all stops a question for 0.1 s."""
    deadline = time.monotonic() + LONGEST_LOADING_S
    while not kb.health().models_ready and time.monotonic() < deadline:
        time.sleep(0.5)
    gc.collect()
    gc.freeze()


def stop(kb: KnowledgeBase | None) -> None:
    """Close the knowledge base, if it was ever built."""
    if kb is not None:
        kb.close()


def announce(settings: Settings, as_json: bool) -> None:
    """Say where the pages are: a line for people on stderr, one of the log where that is JSON, or JSON on stdout."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{settings.port}"
    if as_json:
        sys.stdout.write(json.dumps({"url": url, "data_dir": str(settings.data_dir)}) + "\n")
        sys.stdout.flush()
    elif settings.log_format == "json":
        log.info("EvoRAG listens at port %d", settings.port)
    else:
        sys.stderr.write(f"EvoRAG is at {url} (data in “{settings.data_dir}”). Press Ctrl+C to stop.\n")


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that has the address, and does not listen yet.

    Raises: ``Conflict`` when another program listens there, or the address is not this machine's.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Conflict(
            f"Cannot listen on {host}, port {port}: {error.strerror}.",
            code="address_in_use",
            remedy="Stop the other program, or choose another port with --port or EVORAG_PORT.",
        ) from error
    return listener
