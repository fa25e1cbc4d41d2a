"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Data folder, instead of EVORAG_DATA_DIR.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Stay until all is indexed.")]
Private = Annotated[bool, typer.Option("--private", help="Only oneself and administrators see it.")]
Names = Annotated[list[str], typer.Argument(metavar="DOC...", help="Documents by name.")]
Name = Annotated[str, typer.Argument(metavar="DOC", help="A document by name.")]
Number = Annotated[int, typer.Argument(metavar="N", min=1, help="A version by its number.")]
Note = Annotated[str, typer.Option("--note", help="A note kept with what is done.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads it from standard input.")]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, max=50, help="Passages shown.")]
InDoc = Annotated[list[str] | None, typer.Option("--doc", help="Only this document; may be repeated.")]
InTag = Annotated[list[str] | None, typer.Option("--tag", help="Only documents with this tag; may be repeated.")]
InType = Annotated[list[str] | None, typer.Option("--type", help="Only this file type; may be repeated.")]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", help="An ISO 8601 time, a sequence number, or a version such as handbook.pdf#v2."),
]
AllVersions = Annotated[
    bool, typer.Option("--all-versions", help="Search everything that was ever shown, not only what is shown now.")
]
Semantic = Annotated[bool, typer.Option("--semantic", help="Rank by meaning alone: the vector search.")]
Keyword = Annotated[bool, typer.Option("--keyword", help="Rank by words alone: the keyword search.")]
Hybrid = Annotated[bool, typer.Option("--hybrid", help="Rank by a mix of both scores, shared out by --alpha.")]
Alpha = Annotated[
    float | None, typer.Option("--alpha", min=0.0, max=1.0, help="Share of the meaning in --hybrid, 0.4 by default.")
]
Generator = Annotated[
    str | None, typer.Option("--generator", metavar="NAME", help="What writes the answer, instead of EVORAG_GENERATOR.")
]
NoLlm = Annotated[bool, typer.Option("--no-llm", help="Extract the answer; nothing writes one.")]
LlmCommand = Annotated[
    str | None,
    typer.Option("--llm-cmd", metavar="COMMAND", help="Program that reads the prompt and writes the answer."),
]
InConversation = Annotated[
    str | None, typer.Option("--conversation", metavar="ID", help="Go on with this conversation; “new” begins one.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with 1 where the generator or a search failed; the answer is printed.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Answer anew, even where a kept answer holds.")]
Record = Annotated[
    bool, typer.Option("--record", help="Have spiking neurons (snn) write the answer, and keep what they did.")
]
