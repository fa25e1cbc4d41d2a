"""Serves the application: one gunicorn process with threads, in which the knowledge base lives.

The knowledge base is built after the fork, because its threads and locks do not survive one, and closed when the
process that serves ends. Where gunicorn cannot be imported, Werkzeug's threaded server takes its place.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from core import EvoRAGError, Settings, build
from core.errors import Conflict
from core.settings import begin_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from core import KnowledgeBase

log = logging.getLogger(__name__)

CANNOT_START = 4
"""The exit status by which gunicorn's master knows that starting again would not help."""

GRACE_S = 15
HEADER_BYTES = 16 * 1024
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
    refuse_taken_port(settings.host, settings.port)
    try:
        from gunicorn.app.base import BaseApplication
    except ImportError:
        return serve_with_werkzeug(settings, as_json=as_json)

    class Server(BaseApplication):  # type: ignore[misc]
        """Gunicorn configured from our settings instead of a command line."""

        def load_config(self) -> None:
            for name, value in gunicorn_options(settings, as_json).items():
                self.cfg.set(name, value)

        def load(self) -> Callable[..., Any]:
            self.kb, application = start(settings)
            return application

    server = Server()
    server.cfg.set("worker_exit", lambda arbiter, worker: stop(getattr(server, "kb", None)))
    master = os.getpid()
    try:
        server.run()
    except SystemExit as ending:
        # The forked process ends through here as well, and the master reads its exit status.
        if os.getpid() != master:
            raise
        return 0 if ending.code in (0, None) else 1
    return 0


def gunicorn_options(settings: Settings, as_json: bool) -> dict[str, Any]:
    """Return gunicorn's settings; there is no request timeout, because a killed worker would take its jobs along."""
    from app.server_log import logger_of
    from app.worker import worker_of

    return {
        "bind": f"{settings.host}:{settings.port}",
        "worker_class": worker_of(settings.server),
        "workers": 1,
        "threads": settings.server_threads,
        "preload_app": False,
        "timeout": 0,
        "graceful_timeout": GRACE_S,
        "keepalive": 5,
        # What is said of an upload stands in one header.
        "limit_request_field_size": HEADER_BYTES,
        # Whom to believe about the client's address is decided in one place, app.security.proxies.
        "forwarded_allow_ips": "",
        "loglevel": "warning",
        "logger_class": logger_of(settings.log_format),
        "post_worker_init": lambda worker: announce(settings, as_json),
    }


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


def refuse_taken_port(host: str, port: int) -> None:
    """Raises: ``Conflict`` when another program listens there, or the address is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Conflict(
                f"Cannot listen on {host}, port {port}: {error.strerror}.",
                code="address_in_use",
                remedy="Stop the other program, or choose another port with --port or EVORAG_PORT.",
            ) from error


def serve_with_werkzeug(settings: Settings, *, as_json: bool = False) -> int:
    """Serve with Werkzeug's threads, one for each request."""
    import signal

    from werkzeug.serving import make_server

    kb, application = start(settings)
    server = make_server(settings.host, settings.port, application, threaded=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    announce(settings, as_json)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    finally:
        server.server_close()
        stop(kb)
    return 0
