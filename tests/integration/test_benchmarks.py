"""The benchmarks run, each at its smallest size; those of servers do so in tests/servers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import documents, startup
from benchmarks.runner import parse
from tests import programs
from tests.smallest import (
    ALONE,
    ON_SERVERS,
    ROOT,
    missing_numbers,
    question_set,
    report_of,
    result_of,
    unpacked_packages,
)
from tests.unit.snn.small import small


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("benchmarks")
    model, packages = tiny_model(folder / "model"), unpacked_packages(folder)
    texts = folder / "texts"
    texts.mkdir()
    (texts / "harbour.txt").write_text("The ferry leaves at seven. It carries forty cars and a post van.")
    return {"set": str(question_set(folder)), "model": str(model), "packages": str(packages), "texts": str(texts)}


def tiny_model(folder: Path) -> Path:
    """Save an untrained model with a token for each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=letters, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    whole = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    whole.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    whole.save_pretrained(folder)
    small(vocab_size=len(letters), max_position_embeddings=8_192).save_pretrained(folder)
    return folder


def test_list_names_every_module_that_none_imports() -> None:
    modules = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("[!_]*.py")}
    parts = {
        name
        for name in modules
        for text in [(ROOT / "benchmarks" / "__main__.py").read_text("utf-8"), *modules.values()]
        if re.search(rf"^from benchmarks(\.{name} import|\simport (.*, )?{name}\b)", text, re.MULTILINE)
    }
    listed = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    named = {line.split()[0] for line in listed}
    assert all(len(line.split()) > 3 for line in listed)
    # It takes pictures and measures nothing.
    assert modules.keys() - parts - {"pictures"} <= named
    assert named == {name.split()[0] for name in (*ALONE, *ON_SERVERS)}


@pytest.mark.parametrize("against", ["libraries", str(ROOT)], ids=["library", "checkout"])
def test_reference_is_measured_beside(against: str, tmp_path: Path) -> None:
    result = result_of("vectors", ["--against", against, "--chunks", "100"], tmp_path)
    assert result["options"]["chunks"] == 100
    other = result["against"]
    assert other["name"] == against
    for name in ("hot/p50_ms", "hot/recall_10", "store/p50_ms"):
        assert name in result["figures"].keys() & other["figures"].keys()
    assert other["ratio"]["hot/recall_10"] > 0


def test_writing_stands_beside_the_libraries(tmp_path: Path) -> None:
    result = result_of("writing", ["--against", "direct", "--chunks", "100"], tmp_path)
    other = result["against"]
    for name in ("chunks_a_second", "chunks_a_processor_second", "edit/seconds", "edit/processor_s"):
        assert result["figures"][name]["value"] > 0 < other["figures"][name]["value"]
    assert other["ratio"]["chunks_a_processor_second"] < 1


def test_figures_of_rounds_are_medians(tmp_path: Path) -> None:
    result = result_of("consistency", ["--rounds", "2", "--chunks", "100"], tmp_path)
    figure = result["figures"]["seconds"]
    assert result["rounds"] == 2
    assert figure["value"] == pytest.approx((figure["min"] + figure["max"]) / 2)


@pytest.mark.parametrize(
    "options", [["--against", "nothing"], ["--size", "large"], ["--seed", "1"], ["--rounds", "0"], ["--json", "."]]
)
def test_command_that_cannot_be_run_is_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(startup.BENCHMARK, options)
    assert options[0] in capsys.readouterr().err


@pytest.mark.shard
@pytest.mark.parametrize("module", ALONE)
def test_benchmark_measures_what_it_is_for(module: str, places: dict[str, str], tmp_path: Path) -> None:
    smallest = ALONE[module]
    for name in smallest.needs:
        if reason := programs.missing(name):
            pytest.skip(reason)
    assert missing_numbers(report_of(module, smallest, places, tmp_path), smallest.numbers) == []


def test_cells_with_figures_are_held_against_what_libreoffice_shows() -> None:
    outcome = documents.Outcome("a.xlsx", "xlsx")
    shown = ["part", "1 1/2", "(1,235)", "7 | 8", "7/5/2002", "12.5%", "12.5%"]
    documents.compare_cells(outcome, "part | 1 1/2\n(1,235) | 7 / 8 | 2002-07-05 | 12.5%", shown)
    assert (outcome.numbers, outcome.alike) == (6, 5)
    assert documents.summary([outcome])["displayed"] == pytest.approx(5 / 6)


def test_marked_phrases_of_web_pages_are_counted(tmp_path: Path) -> None:
    frame = "<nav><a href='/a'>All offers</a> <a href='/b'>Contact</a></nav>"
    text = "".join(
        f"<p>The ferry leaves the harbour at {hour} and carries forty cars, "
        "<a href='https://example.org/van'>a post van</a> and a band.</p>"
        for hour in range(7, 14)
    )
    (tmp_path / "ferry.html").write_text(
        f"<html><body>{frame}<main>{text}</main><footer>Imprint</footer></body></html>"
    )
    (tmp_path / "locked.html").write_bytes(b"")
    entry = {
        "file": "ferry.html",
        "with": ["at 9 and carries  forty cars, a post van and", "at 14"],
        "without": ["All offers", "forty cars"],
    }
    lost = {"file": "locked.html", "with": ["anything"], "without": ["nothing"]}
    (tmp_path / "phrases.json").write_text(json.dumps({"1": entry, "2": lost}))
    figures = result_of("documents", [str(tmp_path)], tmp_path)["figures"]
    found = {name: figures[f"html/{name}"]["value"] for name in ("marked", "wanted", "furniture")}
    assert found == {"marked": 2, "wanted": pytest.approx(1 / 3), "furniture": pytest.approx(1 / 3)}
