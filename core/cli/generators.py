"""The commands ``generators …``: servers with the interface of OpenAI that write answers, and trying one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson, DataDir
from core.cli.session import opened
from core.errors import InvalidInput
from core.model import GeneratorServer

commands = typer.Typer(no_args_is_help=True, help="Servers that write answers; a key goes in and is never shown.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="A generator by its name.")]


@commands.command("list")
def list_servers(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the servers that were set up, and what the environment says instead."""
    with opened(data_dir) as kb:
        found = kb.generators.list()
    (output.print_json if as_json else _print)(found)


@commands.command("set")
def set_server(
    name: Name,
    address: Annotated[str, typer.Argument(metavar="URL", help="Its address, such as https://api.example.com/v1.")],
    model: Annotated[str, typer.Option(help="A model that it has; empty for the first that it lists.")] = "",
    key_file: Annotated[
        str | None,
        typer.Option("--key-file", metavar="FILE", help="Read its key from the first line; - for standard input."),
    ] = None,
    no_key: Annotated[bool, typer.Option("--no-key", help="Take away the key that it has.")] = False,
    allow_inside: Annotated[
        bool, typer.Option("--allow-inside", help="It may be at an address inside the network.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add a server, or change the one of this name; it keeps its key unless another one is given.

    Others can read a command's arguments: the key is read from a file.
    """
    if key_file is not None and no_key:
        raise typer.BadParameter("one of --key-file and --no-key")
    secret = "" if no_key else None if key_file is None else _first_line(key_file)
    with opened(data_dir) as kb:
        kept = kb.generators.set(name, address, model=model, key=secret, allow_inside=allow_inside)
    output.print_json(kept) if as_json else _print([kept])


@commands.command()
def remove(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Forget a server with its key."""
    with opened(data_dir) as kb:
        kb.generators.remove(name)
        found = kb.generators.list()
    (output.print_json if as_json else _print)(found)


@commands.command()
def default(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A server; none for what the settings say.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Have a server write where a question names no generator."""
    with opened(data_dir) as kb:
        kb.generators.make_default(name)
        found = kb.generators.list()
    (output.print_json if as_json else _print)(found)


@commands.command("try")
def try_out(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Ask a generator one short question, and print what it answers and how long that took."""
    with opened(data_dir) as kb:
        tried = kb.generators.try_out(name)
    if as_json:
        return output.print_json(tried)
    output.print_exactly(f"{tried.text}\n")
    output.note(f"{tried.name}: {tried.model}, {tried.seconds:.1f} s")


def _first_line(file: str) -> str:
    try:
        text = sys.stdin.readline() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The file “{Path(file).name}” cannot be read.") from error
    lines = text.splitlines()
    if not lines or not lines[0].strip():
        raise InvalidInput("There is no key in the first line.", remedy="--no-key takes the key away.")
    return lines[0].strip()


def _print(found: list[GeneratorServer]) -> None:
    output.print_rows(
        ("name", "address", "model", "key", "inside", "default", "environment"),
        (
            [
                each.name,
                each.url,
                each.model or "(its first)",
                "set" if each.has_key else "none",
                "allowed" if each.allows_inside else "refused",
                "yes" if each.is_default else "",
                ", ".join(each.overridden_by),
            ]
            for each in found
        ),
    )
