"""The process that parses: it answers, keeps its limits, dies alone, and is replaced."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.blobs.block_file import line_of
from core.errors import ConverterMissing, EmptyDocument, ParserFailed, ParserLimit, Undecodable, UnsupportedType
from core.ingest.sandbox import ParserLimits, ParserSandbox, read_blocks, write_blocks
from core.model import Block, BlockKind, Locator
from tests.unit.ingest import documents

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ParserSandbox]:
    made = ParserSandbox(ParserLimits(timeout_s=60))
    yield made
    made.close()


def children() -> set[int]:
    """The processes that this one started and that live."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def write(folder: Path, name: str, content: bytes = b"Some words.\n") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_blocks_and_metadata_come_back(sandbox: ParserSandbox, tmp_path: Path) -> None:
    source = write(tmp_path, "a.md", "# 見出し\n\n本文。\n".encode())
    target = tmp_path / "blocks.jsonl"
    metadata = sandbox.parse(source, "md", target)
    assert (metadata["parser"], metadata["blocks"], metadata["characters"]) == ("markdown", 2, 6)
    assert list(read_blocks(target)) == [
        Block("見出し", BlockKind.HEADING, level=1),
        Block("本文。", locator=Locator(heading_path=("見出し",))),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "blocks.jsonl"]


def test_many_files_share_one_process(tmp_path: Path) -> None:
    before = children()
    made = ParserSandbox(files_per_child=25)
    source = write(tmp_path, "a.txt")
    seen = []
    for _ in range(60):
        made.parse(source, "txt", tmp_path / "out")
        seen.append(frozenset(children() - before))
    made.close()
    assert len({process for each in seen for process in each}) == 3
    assert max(map(len, seen)) == 1
    assert children() == before


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", bytes(range(128, 256)) * 20, Undecodable),
        ("a.txt", b"\xe3\x80\x80\n\xe3\x80\x80", EmptyDocument),
        ("a.md", b"<!-- nothing -->", EmptyDocument),
        ("a.docx", b"no archive at all", ParserFailed),
        ("a.exe", b"x", UnsupportedType),
    ],
)
def test_errors_arrive_as_what_they_are_and_leave_nothing(
    sandbox: ParserSandbox, tmp_path: Path, name: str, content: bytes, kind: type[Exception]
) -> None:
    source = write(tmp_path, name, content)
    with pytest.raises(kind) as caught:
        sandbox.parse(source, source.suffix[1:], tmp_path / "out")
    assert type(caught.value) is kind
    assert list(tmp_path.iterdir()) == [source]


def big_sheet(folder: Path, rows: int = 150_000) -> Path:
    cells = "".join(
        f"<row><c><v>{number * 7919}</v></c><c><v>{number * 104729}</v></c></row>" for number in range(rows)
    )
    return documents.xlsx(folder / "big.xlsx", f"<sheetData>{cells}</sheetData>")


@pytest.mark.long
def test_time_is_limited_and_the_next_file_is_read(tmp_path: Path) -> None:
    source = big_sheet(tmp_path, 400_000)
    others = children()
    limits = ParserLimits(timeout_s=60)
    made = ParserSandbox(limits)
    made.parse(write(tmp_path, "a.txt"), "txt", tmp_path / "warm")
    made._limits = replace(limits, timeout_s=1.5)
    with pytest.raises(ParserLimit, match=r"1\.5 seconds"):
        made.parse(source, "xlsx", tmp_path / "out")
    made._limits = limits
    assert children() == others
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.part").exists()
    assert made.parse(tmp_path / "a.txt", "txt", tmp_path / "out")["blocks"] == 1
    made.close()


def test_memory_is_limited_and_the_next_file_is_read(tmp_path: Path) -> None:
    page = write(tmp_path, "a.html", b"<p>" + b"text " * 20_000_000 + b"</p>")
    made = ParserSandbox(ParserLimits(timeout_s=30, memory_bytes=130 * MEBIBYTE))
    with pytest.raises(ParserLimit):
        made.parse(page, "html", tmp_path / "out")
    assert made.parse(write(tmp_path, "b.txt"), "txt", tmp_path / "out")["blocks"] == 1
    made.close()


def test_output_is_limited(tmp_path: Path) -> None:
    made = ParserSandbox(ParserLimits(output_bytes=100_000))
    with pytest.raises(ParserLimit, match="100,000"):
        made.parse(write(tmp_path, "a.txt", b"word " * 100_000), "txt", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    made.close()


def test_a_crash_of_the_process_fails_one_file_only(tmp_path: Path) -> None:
    source = big_sheet(tmp_path, 60_000)
    made = ParserSandbox()
    before = children()
    made.parse(write(tmp_path, "a.txt"), "txt", tmp_path / "out")
    (process,) = children() - before
    threading.Timer(0.2, os.kill, (process, signal.SIGSEGV)).start()
    with pytest.raises(ParserFailed, match="crash"):
        made.parse(source, "xlsx", tmp_path / "sheet")
    assert made.parse(write(tmp_path, "b.txt"), "txt", tmp_path / "out")["blocks"] == 1
    made.close()
    assert children() == before


def test_a_process_that_died_idle_is_replaced_unseen(tmp_path: Path) -> None:
    made = ParserSandbox()
    before = children()
    source = write(tmp_path, "a.txt")
    made.parse(source, "txt", tmp_path / "out")
    (process,) = children() - before
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert made.parse(source, "txt", tmp_path / "out")["blocks"] == 1
    made.close()


def test_threads_parse_at_the_same_time(tmp_path: Path) -> None:
    made = ParserSandbox()
    sources = [write(tmp_path, f"{number}.txt", f"Text number {number}.\n".encode()) for number in range(40)]

    def parse(source: Path) -> str:
        target = source.with_suffix(".jsonl")
        made.parse(source, "txt", target)
        return next(read_blocks(target)).text

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parse, sources)) == [f"Text number {number}." for number in range(40)]
    made.close()


def test_the_process_sees_no_secret_and_no_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVORAG_SECRET_KEY", "hush")
    before = children()
    made = ParserSandbox()
    made.parse(write(tmp_path, "a.txt"), "txt", tmp_path / "out")
    (process,) = children() - before
    assert b"hush" not in Path(f"/proc/{process}/environ").read_bytes()
    assert os.getpgid(process) == process
    limits = Path(f"/proc/{process}/limits").read_text()
    made.close()
    for name in ("Max address space", "Max file size", "Max cpu time"):
        assert next(line for line in limits.splitlines() if line.startswith(name)).split(name)[1].split()[0].isdigit()
    assert next(line for line in limits.splitlines() if line.startswith("Max core")).split()[4] == "0"


def test_the_process_imports_nothing_heavy() -> None:
    code = "import sys, core.ingest.parse_worker; print(sorted({name.split('.')[0] for name in sys.modules}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("torch", "numpy", "sqlalchemy", "dash", "pymupdf", "lxml", "pydantic"):
        assert f"'{heavy}'" not in out


def test_the_process_cannot_reach_the_network() -> None:
    code = (
        "import socket, core.platform.sandboxed_child as worker\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "worker.isolate()\n"
        "try:\n    socket.create_connection(server.getsockname(), 2)\n"
        "except Exception as error:\n    print(type(error).__name__)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "ParserFailed"


def test_the_process_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from core.ingest.sandbox import ParserSandbox\n"
        "made = ParserSandbox(); folder = Path(sys.argv[1])\n"
        "made.parse(folder / 'a.txt', 'txt', folder / 'out')\n"
        "print(made._children._idle[0]._process.pid, flush=True); time.sleep(60)\n"
    )
    write(tmp_path, "a.txt")
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    process = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 30
    while Path(f"/proc/{process}/cmdline").exists() and Path(f"/proc/{process}/cmdline").read_bytes():
        assert time.monotonic() < end
        time.sleep(0.05)


def fake_converter(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "bin" / "soffice"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000)


def test_a_converter_that_never_ends_is_killed_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_converter(tmp_path, f"sleep 77 & echo $! > {tmp_path}/grandchild; wait\n", monkeypatch)
    made = ParserSandbox(ParserLimits(timeout_s=60))
    made.parse(write(tmp_path, "a.txt"), "txt", tmp_path / "warm")
    made._limits = ParserLimits(timeout_s=3)
    with pytest.raises(ParserLimit):
        made.parse(write(tmp_path, "a.doc", OLD), "doc", tmp_path / "out")
    made.close()
    grandchild = Path(f"/proc/{(tmp_path / 'grandchild').read_text().strip()}/cmdline")
    end = time.monotonic() + 30
    while grandchild.exists() and grandchild.read_bytes():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_no_name_of_a_file_reaches_a_shell_or_the_converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_converter(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/arguments\n', monkeypatch)
    made = ParserSandbox(ParserLimits(timeout_s=60))
    with pytest.raises(ParserFailed):
        made.parse(write(tmp_path, "$(touch pwned) --x.doc", OLD), "doc", tmp_path / "out")
    made.close()
    assert "pwned" not in (tmp_path / "arguments").read_text()
    assert not list(tmp_path.rglob("pwned"))


def test_a_missing_converter_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    made = ParserSandbox()
    with pytest.raises(ConverterMissing):
        made.parse(write(tmp_path, "a.ppt", OLD), "ppt", tmp_path / "out")
    made.close()


TEXTS = st.text(max_size=30)
BLOCKS = st.builds(
    Block,
    text=TEXTS,
    kind=st.sampled_from(BlockKind),
    locator=st.builds(
        Locator,
        page=st.none() | st.integers(1, 999),
        sheet=st.none() | TEXTS,
        cells=st.none() | st.just("A1:B2"),
        heading_path=st.lists(TEXTS, max_size=3).map(tuple),
    ),
    level=st.integers(0, 6),
    header=TEXTS,
)


@given(st.lists(BLOCKS, max_size=5), st.booleans())
def test_blocks_survive_their_file(tmp_path_factory: pytest.TempPathFactory, blocks: list[Block], packed: bool) -> None:
    path = tmp_path_factory.mktemp("blocks") / "blocks.jsonl"
    with path.open("wb") as file:
        write_blocks(blocks, file, 10**9)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_blocks(path)) == blocks


def test_a_lone_surrogate_cannot_break_the_file(tmp_path: Path) -> None:
    assert b"?" in line_of(Block("a\ud800b"))
