"""What the commands share: the open knowledge base, what names and times mean, and how a piece of work ends."""

from __future__ import annotations

import getpass
import logging
import shlex
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from core.cli import output, remote
from core.errors import EvoRAGError, InvalidInput, NotFound, Unauthorized
from core.model import AsOf, Filters, Job, JobFilter, JobKind, JobState, Query, Receipt, Upload, parse_as_of

if TYPE_CHECKING:
    from core.api import AnswersApi, KnowledgeBaseApi
    from core.knowledge_base import KnowledgeBase
    from core.settings import Settings

_ALL = 1_000_000
_ALPHA = 0.4
WRITERS = ("--generator", "--no-llm", "--llm-cmd")


def settings(data_dir: Path | None, **given: Any) -> Settings:
    """Return the settings of the environment, with what the command line says instead."""
    from core import Settings

    if data_dir is not None:
        given["data_dir"] = data_dir
    return Settings(**given)


@contextmanager
def opened(data_dir: Path | None, **given: Any) -> Iterator[KnowledgeBaseApi]:
    """Give the knowledge base, or the client of a server, and close it afterwards; ``given`` are settings of the first.

    Raises: ``DataFolderInUse``, ``WrongIndex``; ``InvalidInput`` for what works on data folders alone.
    """
    if (server := remote.chosen(data_dir)) is not None:
        with server:
            if given:
                raise InvalidInput(
                    "A server works with its own settings; it runs no program for whoever asks.",
                    remedy="Leave out --llm-cmd, or ask a data folder.",
                )
            yield server
        return
    with opened_here(data_dir, **given) as kb:
        yield kb


@contextmanager
def opened_here(data_dir: Path | None, **given: Any) -> Iterator[KnowledgeBase]:
    """Give the knowledge base of a data folder, and close it afterwards.

    Raises: ``DataFolderInUse``, ``WrongIndex``; ``InvalidInput`` where the environment names a server.
    """
    from core import build

    remote.chosen(data_dir)
    # Of the libraries only what stops them: their remarks are no news to who typed a command.
    logging.basicConfig(level=logging.CRITICAL, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("core").setLevel(logging.WARNING)
    kb = build(settings(data_dir, **given))
    try:
        yield kb
    finally:
        kb.close()


def asking(kb: KnowledgeBaseApi) -> AnswersApi:
    """Return what answers the questions of a knowledge base, or of a server."""
    if remote.is_server(kb):
        return kb
    from core import EvoRAG

    assert remote.is_here(kb)
    return EvoRAG(kb=kb)


def conversation_id(kb: KnowledgeBaseApi, given: str | None) -> str:
    """Return the conversation that a question goes on with; a new one is told to whoever typed the command."""
    if given != "new":
        return given or ""
    begun = kb.conversations.create()
    output.note(f"conversation {begun.id}")
    return begun.id


def doc_key(name: str) -> str:
    """Return what a file name is kept under."""
    return unicodedata.normalize("NFC", name).lower()


def version_of(kb: KnowledgeBaseApi, name: str, number: int | None) -> str:
    """Return what a document is kept under that has the version ``number``. Raises: ``NotFound``."""
    key = doc_key(name)
    if number is not None and all(version.number != number for version in kb.versions(key)):
        raise NotFound(f"“{key}” has no version {number}.", remedy=f"`evorag versions {shlex.quote(key)}` lists them.")
    return key


def actor() -> str:
    """Return who is at work, for the audit: the name of the account, empty where there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def moment(text: str | None, option: str) -> datetime | None:
    """Return a time; one without a zone is of this machine's zone. Raises: ``BadParameter``, which names the option."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter("no ISO 8601 time, such as 2026-11-21T09:00", param_hint=option) from None


def as_of_option(text: str | None) -> AsOf | None:
    """Return what “as of” names. Raises: ``BadParameter``."""
    try:
        return None if text is None else parse_as_of(text)
    except InvalidInput as error:
        raise typer.BadParameter(error.message, param_hint="--as-of") from None


def writer_of(generator: str | None, no_llm: bool, command: str | None) -> tuple[str, dict[str, Any]]:
    """Return the generator that a command names, empty for that of the settings, and the settings that it needs.

    Raises: ``BadParameter`` for two of them.
    """
    named = [option for option, is_given in zip(WRITERS, (generator, no_llm, command), strict=True) if is_given]
    if len(named) > 1:
        raise typer.BadParameter(f"one of {' and '.join(named)}")
    if command:
        return "command", {"llm_command": command, "llm_command_ask": ""}
    return "none" if no_llm else generator or "", {}


def ranking_of(*, semantic: bool, keyword: bool, hybrid: bool, alpha: float | None) -> dict[str, Any]:
    """Return the fields of a query that rank by one search or by a mix of scores; none for the usual ranking.

    Raises: ``BadParameter`` for two ways, and for a share without a mix.
    """
    ways = {"--semantic": semantic, "--keyword": keyword, "--hybrid": hybrid}
    named = [option for option, is_given in ways.items() if is_given]
    if len(named) > 1:
        raise typer.BadParameter(f"one of {' and '.join(named)}")
    if alpha is not None and not hybrid:
        raise typer.BadParameter("belongs to --hybrid", param_hint="--alpha")
    if not named:
        return {}
    share = 1.0 if semantic else 0.0 if keyword else _ALPHA if alpha is None else alpha
    # The order is that of the scores, so that nothing reranks them.
    return {"fusion": "mix", "alpha": share, "rerank": "none"}


def query_of(
    kb: KnowledgeBaseApi,
    question: str,
    top_k: int | None,
    filters: Filters,
    as_of: str | None,
    all_versions: bool = False,
    generator: str = "",
) -> Query:
    """Return the query of a command; the question ``-`` is read from standard input."""
    text = sys.stdin.read().strip() if question == "-" else question
    known = kb.settings if remote.is_here(kb) else settings(None)
    return Query(
        text,
        top_k=top_k or known.top_k,
        depth=known.search_depth,
        filters=filters,
        as_of=as_of_option(as_of),
        versions="all" if all_versions else "shown",
        generator=generator,
    )


def filters_of(docs: Sequence[str] | None, tags: Sequence[str] | None, file_types: Sequence[str] | None) -> Filters:
    """Return the filters that a command was given."""
    return Filters(
        doc_keys=tuple(doc_key(name) for name in docs or ()),
        tags=tuple(tags or ()),
        extensions=tuple(kind.lower().lstrip(".") for kind in file_types or ()),
    )


def finish_uploads(
    kb: KnowledgeBaseApi,
    uploads: Sequence[Upload],
    failures: Sequence[tuple[str, EvoRAGError]] = (),
    *,
    wait: bool,
    as_json: bool,
    kept_as: str = "",
) -> None:
    """Wait for the indexing if so wished and print what became of each file; the status is 1 if any failed.

    ``kept_as`` is what a new version is that is not published at once: a draft, or scheduled.
    """
    job_ids = [upload.pending_job for upload in uploads if upload.pending_job]
    ended: list[Job] = output.follow(kb, job_ids) if wait else [kb.job(job_id) for job_id in job_ids]
    if wait:
        ended += output.follow(kb, _unpacked(kb, ended))
    if as_json:
        output.print_json(
            {"uploads": [Receipt.of(upload) for upload in uploads], "jobs": ended, "errors": _errors(failures)}
        )
    else:
        states, names = {job.id: job.state for job in ended}, {job.id: job.name for job in ended}
        output.print_rows(
            ("document", "version", "outcome", "indexing"),
            (
                [u.doc_key or names[u.pending_job], u.version or "-", kept_as or u.outcome, states[u.pending_job]]
                if u.pending_job
                else [u.doc_key, u.version, u.outcome, "-"]
                for u in uploads
            ),
        )
    failed = [job for job in ended if job.state in (JobState.FAILED, JobState.CANCELLED)]
    for job in failed:
        output.note_job(job)
    _end(failures, failed=bool(failed))


def _unpacked(kb: KnowledgeBaseApi, jobs: Sequence[Job]) -> list[str]:
    """Return the jobs of the documents that came out of archives."""
    archives = [job.id for job in jobs if job.kind == JobKind.UNPACK]
    return [job.id for parent in archives for job in kb.jobs(JobFilter(parent_id=parent), limit=_ALL)]


def publish_each(action: str, names: Sequence[str], data_dir: Path | None, *, as_json: bool) -> None:
    """Delete or restore documents one by one; an error of one does not stop the others."""
    done, failures = [], []
    with opened(data_dir) as kb:
        change = {"delete": kb.delete, "restore": kb.restore}[action]
        for name in names:
            try:
                done.append(change(doc_key(name), actor()))
            except Unauthorized:
                raise
            except EvoRAGError as error:
                failures.append((name, error))
    for each in done:
        if action == "restore" and each.version is None:
            output.note(f"“{each.doc_key}” had shown nothing yet: it is listed again, with version {each.subject}.")
    if as_json:
        output.print_json({"publications": done, "errors": _errors(failures)})
    else:
        output.print_rows(
            ("document", "shows version", "sequence"), ([p.doc_key, p.version or "-", p.seq] for p in done)
        )
    _end(failures)


def _errors(failures: Sequence[tuple[str, EvoRAGError]]) -> list[dict[str, Any]]:
    return [{"name": name, **failure.as_dict()} for name, failure in failures]


def _end(failures: Sequence[tuple[str, EvoRAGError]], *, failed: bool = False) -> None:
    for name, failure in failures:
        output.report(failure, name)
    if failures or failed:
        raise typer.Exit(1)
