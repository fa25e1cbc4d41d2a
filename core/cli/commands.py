"""The commands: ``evorag serve | sample | add | list | show | ask | search | jobs``, and those of other modules.

``core.cli.versions`` adds ``versions | publish | rollback | unpublish | delete | restore | purge | annotate | audit``,
``core.cli.changes`` adds ``diff | questions | impact``, ``core.cli.explain`` adds ``why-not | analyse | vocabulary …``,
``core.cli.evaluations`` adds ``eval …``, ``core.cli.training`` adds ``train`` and ``models …``,
``core.cli.access`` adds ``user …`` and ``key …``, ``core.cli.backup`` adds ``export | import | migrate | backup``,
``core.cli.generations`` adds ``generations …``, ``core.cli.generators`` ``generators …``,
``core.cli.worker`` adds ``worker``, ``core.cli.stores`` adds ``check | repair | reindex``, ``core.cli.recover`` adds
``recover``, ``core.cli.downgrade`` ``downgrade``.

Data goes to stdout (``--json``: one JSON document and nothing else), progress and warnings to stderr. The exit status
is 0 when all went well, 1 for an error that EvoRAG explains, 2 for a wrong command. An answer that was extracted
because its generator failed is an answer, with a warning: the status is 0, and 1 with ``--strict``.

Commands that work on a data folder work on a server as well: ``--url`` and ``--key``, or ``EVORAG_URL`` and
``EVORAG_KEY``, where no ``--data-dir`` is given.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from core.cli import (
    access,
    backup,
    changes,
    downgrade,
    evaluations,
    explain,
    generations,
    generators,
    output,
    quarantine,
    readings,
    recordings,
    recover,
    remote,
    stores,
    training,
    versions,
    worker,
)
from core.cli.options import (
    AllVersions,
    Alpha,
    AsJson,
    AsOf,
    DataDir,
    Fresh,
    Generator,
    Hybrid,
    InConversation,
    InDoc,
    InTag,
    InType,
    Keyword,
    LlmCommand,
    Name,
    NoLlm,
    Question,
    Record,
    Semantic,
    Strict,
    TopK,
    Wait,
)
from core.cli.session import (
    actor,
    asking,
    conversation_id,
    filters_of,
    finish_uploads,
    moment,
    opened,
    query_of,
    ranking_of,
    settings,
    version_of,
    writer_of,
)
from core.errors import EvoRAGError, InvalidInput, Unauthorized
from core.indexes.readiness import wait_until_ready

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A knowledge base with versions inside retrieval and a full account of every rank.",
)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port to listen on.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Serve the pages until Ctrl+C."""
    import importlib

    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    # By name, because core knows nothing of the pages: they are another package that stands on it.
    server = importlib.import_module("app.server")
    raise typer.Exit(server.serve(settings(data_dir, **given), as_json=as_json))


@app.command()
def sample(wait: Wait = True, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Load the sample knowledge base."""
    with opened(data_dir) as kb:
        uploads = kb.load_sample()
        output.note_left_out(kb.sample_left_out())
        finish_uploads(kb, uploads, wait=wait, as_json=as_json)


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, and folders with all below them.")],
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag for each document; may be repeated.")] = None,
    note: Annotated[str, typer.Option(help="A note kept with the versions.")] = "",
    label: Annotated[str, typer.Option(help="A label of the versions, such as 2.1.")] = "",
    draft: Annotated[bool, typer.Option("--draft", help="Index the versions without showing them.")] = False,
    publish_at: Annotated[
        str | None, typer.Option("--publish-at", metavar="TIME", help="Show the versions from this time on (ISO 8601).")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Only the key's owner and administrators see them (with --url).")
    ] = False,
    early: Annotated[
        bool | None,
        typer.Option(
            "--early/--no-early",
            help="Show them as soon as their words can be found, or only with their vectors.",
            show_default="early for documents that show nothing yet",
        ),
    ] = None,
    priority: Annotated[int, typer.Option(min=-10, max=10, help="Higher ones are indexed first, from -10 to 10.")] = 0,
    wait: Wait = True,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add files, each as a new document or as the next version of the one with its name."""
    from core.cli.files import found_files, send

    at = moment(publish_at, "--publish-at")
    files = found_files(paths)
    filing = {
        **{"tags": tag or (), "note": note, "label": label, "draft": draft, "publish_at": at, "actor": actor()},
        **{"private": private, "early": early, "priority": priority},
    }
    uploads, failures = [], []
    with opened(data_dir) as kb:
        if private and not remote.is_server(kb):
            raise InvalidInput(
                "A private document needs an owner, and a data folder knows nobody.",
                remedy="Add it to a server: --url, and --key of its owner.",
            )
        with output.bar("Adding") as show_bar:
            for number, file in enumerate(files, start=1):
                watched = remote.watched(kb, show_bar, number, len(files), file.path)
                try:
                    uploads.append(send(kb, file, **filing, **watched))
                except Unauthorized:
                    raise
                except EvoRAGError as error:
                    failures.append((file.name, error))
                show_bar(number, len(files), file.name)
        kept_as = "scheduled" if at is not None else "draft" if draft else ""
        finish_uploads(kb, uploads, failures, wait=wait, as_json=as_json, kept_as=kept_as)


@app.command("list")
def list_documents(
    search: Annotated[str, typer.Option(help="Only names and titles that hold this.")] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted documents too.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the documents."""
    with opened(data_dir) as kb:
        documents = kb.documents(search, include_deleted=deleted)
    (output.print_json if as_json else output.print_documents)(documents)


@app.command()
def show(
    doc: Name,
    text: Annotated[bool, typer.Option("--text", help="Print the parsed text only.")] = False,
    version: Annotated[int | None, typer.Option(min=1, help="The version whose text is printed.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show a document: its versions, its metadata, or its text."""
    with opened(data_dir) as kb:
        key = version_of(kb, doc, version)
        if text:
            held = kb.text_of(key, version)
            return output.print_json({"doc_key": key, "text": held}) if as_json else output.print_exactly(held)
        document, versions, publications = kb.document(key), kb.versions(key), kb.publications(key)
    if as_json:
        return output.print_json({"document": document, "versions": versions, "publications": publications})
    output.print_document(document, versions)


@app.command()
def ask(
    question: Question,
    top_k: TopK = None,
    doc: InDoc = None,
    tag: InTag = None,
    file_type: InType = None,
    as_of: AsOf = None,
    all_versions: AllVersions = False,
    generator: Generator = None,
    no_llm: NoLlm = False,
    llm_command: LlmCommand = None,
    conversation: InConversation = None,
    fresh: Fresh = False,
    record: Record = False,
    strict: Strict = False,
    details: Annotated[bool, typer.Option("--details", help="Show why every passage was found.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with citations."""
    writer, given = writer_of(generator, no_llm, llm_command)
    with opened(data_dir, **given) as kb:
        query = query_of(kb, question, top_k, filters_of(doc, tag, file_type), as_of, all_versions, writer)
        wait_until_ready(kb)
        asked = replace(query, conversation_id=conversation_id(kb, conversation), fresh=fresh, record=record)
        trace = output.answered(asking(kb).ask_events(asked))
    if as_json:
        output.print_json(trace)
    else:
        output.print_trace(trace, details=details)
    if output.warn_of_failures(trace) and strict:
        raise typer.Exit(1)


@app.command()
def search(
    question: Question,
    top_k: TopK = None,
    doc: InDoc = None,
    tag: InTag = None,
    file_type: InType = None,
    as_of: AsOf = None,
    all_versions: AllVersions = False,
    semantic: Semantic = False,
    keyword: Keyword = False,
    hybrid: Hybrid = False,
    alpha: Alpha = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the passages that fit, best first, with their ranks and scores.

    Without --semantic, --keyword or --hybrid both searches are fused by their ranks, and reranked.
    """
    ranking = ranking_of(semantic=semantic, keyword=keyword, hybrid=hybrid, alpha=alpha)
    with opened(data_dir) as kb:
        query = query_of(kb, question, top_k, filters_of(doc, tag, file_type), as_of, all_versions)
        wait_until_ready(kb)
        trace = asking(kb).search(replace(query, **ranking))
    if as_json:
        return output.print_json(trace)
    output.print_hits(trace.hits)
    output.warn_degraded(trace)


@app.command()
def jobs(
    active: Annotated[bool, typer.Option("--active", help="Only jobs that are not over.")] = False,
    retry: Annotated[str | None, typer.Option(metavar="ID", help="Start a failed job again and wait for it.")] = None,
    cancel: Annotated[str | None, typer.Option(metavar="ID", help="Cancel a job.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Stay until no job is left.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most jobs listed.")] = 200,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the jobs, newest first."""
    with opened(data_dir) as kb:
        if cancel:
            kb.cancel(cancel)
        if retry:
            kb.retry(retry)
            output.follow(kb, [retry])
        if wait:
            output.follow(kb, [job.id for job in kb.jobs(active=True, limit=1_000_000)])
        found = kb.jobs(active=active, limit=limit)
    (output.print_json if as_json else output.print_jobs)(found)


for part in (versions.commands, changes.commands, explain.commands, stores.commands):
    app.registered_commands += part.registered_commands
app.add_typer(evaluations.commands, name="eval")
app.add_typer(explain.vocabulary, name="vocabulary")
app.add_typer(recordings.commands, name="recordings")
app.add_typer(generations.commands, name="generations")
app.add_typer(generators.commands, name="generators")
app.add_typer(readings.commands, name="readings")
app.add_typer(quarantine.commands, name="quarantine")
app.add_typer(access.users, name="user")
app.add_typer(access.keys, name="key")
app.command()(backup.backup)


remote.offer(app)
# These work on data folders alone: a server trains from its page Settings.
app.command()(training.train)
for name, moved in (("export", backup.export), ("import", backup.import_), ("migrate", backup.migrate)):
    app.command(name)(moved)
app.command()(worker.worker)
app.command()(recover.recover)
app.command()(downgrade.downgrade)
app.add_typer(training.commands, name="models")
remote.offer(evaluations.commands)
remote.offer(explain.vocabulary)
remote.offer(recordings.commands)
remote.offer(generations.commands)
remote.offer(generators.commands)
remote.offer(readings.commands)
remote.offer(quarantine.commands)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and end the process with its exit status."""
    try:
        app(args=arguments, prog_name="evorag")
    except EvoRAGError as error:
        output.report(error)
        sys.exit(1)
    finally:
        output.end()
