"""How well the keyword leg finds passages in each language, in a base of that language and in one of all languages.

Without a folder, over the short texts in `benchmarks/language_texts`: a passage a line with a question that says its
words in other forms. A folder holds files of the same form, `CODE.jsonl` with `text`, `question` and perhaps `title`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.model import Part
from core.ports import KeywordIndex, KeywordRow

TEXTS = Path(__file__).parent / "language_texts"
_DEEP = 5

Passage = dict[str, str]


def measure(context: Context) -> dict[str, Any]:
    given = context.options
    sets = {path.stem: _read(path)[: given.passages] for path in sorted(given.folder.glob("*.jsonl"))}
    if not sets:
        raise SystemExit("There are no .jsonl files in the folder.")
    first_ids, count = {}, 0
    for language, passages in sets.items():
        first_ids[language] = count
        count += len(passages)
    everything = _index(context.workspace / "all", [each for passages in sets.values() for each in passages])
    found = {}
    for number, (language, passages) in enumerate(sets.items()):
        own = _index(context.workspace / str(number), passages)
        found[language] = {
            "questions": len(passages),
            **_recall(own, passages, 0, "alone"),
            **_recall(everything, passages, first_ids[language], "among_all"),
        }
        own.close()
    everything.close()
    return {"languages": found}


def _read(path: Path) -> list[Passage]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _index(folder: Path, passages: Sequence[Passage]) -> KeywordIndex:
    index = TantivyKeywordIndex(folder)
    texts = ["\n".join(filter(None, (each.get("title"), each["text"]))) for each in passages]
    index.upsert([KeywordRow(n, n, Part.HEAD, text, f"{n}.txt#v1", 0) for n, text in enumerate(texts)])
    return index


def _recall(index: KeywordIndex, passages: Sequence[Passage], first: int, name: str) -> dict[str, float]:
    found = [[hit.chunk_id for hit in index.search(each["question"], _DEEP, [Part.HEAD])] for each in passages]
    at_1 = sum(ids[:1] == [first + number] for number, ids in enumerate(found))
    at_5 = sum(first + number in ids for number, ids in enumerate(found))
    return {
        f"{name}_recall_1": round(at_1 / len(passages), 4),
        f"{name}_recall_{_DEEP}": round(at_5 / len(passages), 4),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=TEXTS, help="files CODE.jsonl (those beside this)")
    parser.add_argument("--passages", type=int, default=1_000, help="of each language at most (%(default)s)")


BENCHMARK = Benchmark(
    "languages",
    measure,
    add_options,
    smallest={"passages": 2},
    small={"passages": 4},
    scale="passages",
    units={"recall_": ("share", "higher")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
