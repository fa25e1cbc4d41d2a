"""What becomes of the files of a folder: which are read, which are refused and why, and how much of their text arrives.

Every file of an accepted kind under ``FOLDER`` is checked and parsed as an upload is, in the sandboxed child. The words
of PDFs are held against those that ``pdftotext`` finds, or PDFium where that is not installed, and those of so many
documents of a word processor (``--converted``) against LibreOffice's. ``recall`` is the share of the reference's words
that are in the blocks (``mean_recall_once``: where lines that run through the pages count once), ``multiple`` how many
words stand there for one of the reference. Japanese and Chinese characters count as words each. Of as many
workbooks ``displayed`` is the share of the cells with a figure that read as LibreOffice shows them. Where phrases of
web pages are marked (``phrases.json``, ``evaldata.json``), ``wanted`` is the share of those of the text that are read,
``furniture`` that of those around it. A version that says itself what is missing is ``noticed``. Pages that are
pictures are recognised, as far as ``--pictures`` allows.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.phrases import Phrases, count, marked
from core.adapters.ocr import ocr_engine
from core.blobs.block_file import read_blocks
from core.errors import EvoRAGError
from core.ingest.parsers.tables import CELL_JOINT
from core.ingest.recognition.kept_pictures import Recognition
from core.ingest.sandbox import ParserSandbox
from core.ingest.validate import check_type
from core.model.file_types import EXTENSIONS

HEAD_BYTES = 8192
FEW_WORDS = 20
"""Documents with fewer words say nothing of shares."""
LOW_RECALL, HIGH_MULTIPLE = 0.9, 1.1
WORST = 20
REFERENCE_S = 120
_BY_WRITER = frozenset({"doc", "docx", "odt", "rtf"})
_BY_CALC = frozenset({"xls", "xlsx", "ods"})
_AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
"""All sheets, cells as they are shown."""
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_WIDE}]|[^\\W_{_WIDE}]+")
_AMERICAN_DAY = re.compile(r"\A(\d{1,2})/(\d{1,2})/(\d{4})(?=\Z|\d{1,2}:)")
_DIGITS = re.compile(r"\d+")
PAGE_END = "\f"
OUTERMOST, SEVERAL = 2, 3
"""Lines at the top and at the bottom of a page that may run through the document, and on how many pages they do."""
_HYPHENATED = re.compile(r"(?<=[a-z])[-\u00ad\u2010]\n\s*(?=[a-z])")


@dataclass(slots=True)
class Outcome:
    """What became of one file."""

    name: str
    kind: str
    code: str = ""
    """Of the refusal, empty where the file was read."""
    seconds: float = 0.0
    peak_mb: float = 0.0
    replaced: float = 0.0
    """Share of characters that are U+FFFD or of private use."""
    recall: float | None = None
    once: float | None = None
    """The same where lines that pages repeat at their top or bottom count once."""
    multiple: float | None = None
    numbers: int = 0
    """Cells of a workbook that LibreOffice shows with a figure."""
    alike: int = 0
    """Those of them that are read as it shows them."""
    phrases: Phrases | None = None
    """Those that somebody marked on a web page; ``wanted`` and ``furniture`` are how many of them are read."""
    wanted: int = 0
    furniture: int = 0
    is_noticed: bool = False
    is_recognised: bool = False
    """Some of its text was in pictures, of which the reference engines know nothing."""
    metadata: dict[str, Any] = field(default_factory=dict)


def words_of(text: str) -> Counter[str]:
    """Return the words of a text, however its lines are broken and its letters are shaped."""
    plain = unicodedata.normalize("NFKC", _HYPHENATED.sub("", text)).casefold()
    return Counter(_WORD.findall(plain))


def found_files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix[1:].lower() in EXTENSIONS:
                yield path


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads documents as the pipeline does: the parser, and recognition of so many pictures of each."""

    parser: ParserSandbox
    recognition: Recognition
    pictures: int

    def parse(self, path: Path, kind: str, target: Path) -> dict[str, Any]:
        """Raises: ``UnreadableDocument`` and its kinds."""
        if not (self.recognition.is_on and self.pictures):
            return dict(self.parser.parse(path, kind, target))
        within = self.recognition.folder_of(path.name)
        details = dict(self.parser.parse(path, kind, target, None, "", within))
        names = details.get("pictures", [])
        if len(names) > self.pictures:
            return dict(self.parser.parse(path, kind, target))
        if names:
            try:
                for name in names:
                    self.recognition.recognise(path.name, path, kind, name)
                lines = self.recognition.lines_file(path.name)
                details = dict(self.parser.parse(path, kind, target, None, lines, within))
            finally:
                self.recognition.forget(path.name)
        return details

    def close(self) -> None:
        self.parser.close()
        self.recognition.close()


def read(path: Path, reader: Reader, target: Path) -> tuple[Outcome, str]:
    """Take a file as an upload is taken, and return what became of it with the text that was read."""
    kind = path.suffix[1:].lower()
    outcome, began = Outcome(path.name, kind), time.perf_counter()
    try:
        with path.open("rb") as file:
            kind = check_type(path.name, file.read(HEAD_BYTES), path)
        metadata = reader.parse(path, kind, target)
    except EvoRAGError as error:
        outcome.code = error.code
        return outcome, ""
    finally:
        outcome.seconds = time.perf_counter() - began
    blocks = list(read_blocks(target))
    text = "\n".join(block.text for block in blocks)
    outcome.is_recognised = any(block.locator.confidence is not None for block in blocks)
    outcome.peak_mb = metadata.get("peak_bytes", 0) / 2**20
    outcome.is_noticed = bool(metadata.get("warnings") or metadata.get("losses"))
    strange = sum(letter == "\ufffd" or "\ue000" <= letter <= "\uf8ff" for letter in text)
    outcome.replaced = strange / len(text) if text else 0.0
    outcome.metadata = metadata
    return outcome, text


def of_pdf(path: Path) -> str | None:
    """Return the plain text of a PDF by another engine; None where that reads nothing either."""
    if program := shutil.which("pdftotext"):
        order = [program, "-q", "-enc", "UTF-8", str(path), "-"]
        try:
            return subprocess.run(order, capture_output=True, timeout=REFERENCE_S, check=True).stdout.decode()
        except (subprocess.SubprocessError, UnicodeDecodeError):
            return None
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as document:
            return PAGE_END.join(page.get_textpage().get_text_range() for page in document)
    except pypdfium2.PdfiumError:
        return None


def converted_by_office(path: Path, wanted: str, folder: str) -> bool:
    """Have LibreOffice write a file anew into a folder; tell whether it is installed and could."""
    program = shutil.which("soffice")
    if program is None:
        return False
    profile = f"-env:UserInstallation=file://{folder}/profile"
    order = [program, profile, "--headless", "--convert-to", wanted, "--outdir", folder, str(path)]
    try:
        subprocess.run(order, capture_output=True, timeout=REFERENCE_S, check=True)
    except (subprocess.SubprocessError, OSError):
        return False
    return True


def of_writer(path: Path) -> str | None:
    """Return the plain text of a document by LibreOffice; None where it is not installed or reads nothing either."""
    with tempfile.TemporaryDirectory(prefix="evorag-reference-") as folder:
        if not converted_by_office(path, "txt:Text (encoded):UTF8", folder):
            return None
        try:
            return (Path(folder) / f"{path.stem}.txt").read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None


def of_calc(path: Path) -> list[str] | None:
    """Return the cells of a workbook as LibreOffice shows them; None as ``of_writer``."""
    with tempfile.TemporaryDirectory(prefix="evorag-reference-") as folder:
        if not converted_by_office(path, _AS_SHOWN, folder):
            return None
        cells: list[str] = []
        for sheet in sorted(Path(folder).glob("*.csv")):
            with sheet.open(encoding="utf-8", errors="replace", newline="") as rows:
                cells += (cell for row in csv.reader(rows) for cell in row)
        return cells


def compare_cells(outcome: Outcome, text: str, reference: Sequence[str] | None) -> None:
    """Count the cells with a figure, and those that are read as they are shown, however they are broken and padded."""
    found = Counter(_bare(cell) for line in text.split("\n") for cell in line.split(CELL_JOINT))
    expected = Counter(_bare(cell) for cell in reference or () if any(map(str.isdigit, cell)))
    outcome.numbers, outcome.alike = expected.total(), (expected & found).total()


def _bare(cell: str) -> str:
    """Return a cell without blanks, a day that the country of who looks at it orders as ISO 8601 does."""
    bare = "".join(cell.split()).replace("|", "/")
    return _AMERICAN_DAY.sub(lambda day: f"{day[3]}-{int(day[1]):02}-{int(day[2]):02}", bare)


def said_once(reference: str) -> str:
    """Return a text of pages with the lines that several of them begin or end with at their first page alone."""
    pages = [[line for line in page.split("\n") if line.strip()] for page in reference.split(PAGE_END)]
    outer = [{*range(min(OUTERMOST, len(page))), *range(max(len(page) - OUTERMOST, 0), len(page))} for page in pages]
    keys = [{_alike(page[at]) for at in places} for page, places in zip(pages, outer, strict=True)]
    running = {key for key, count in Counter(key for page in keys for key in page).items() if count >= SEVERAL}
    said: set[str] = set()
    kept: list[str] = []
    for page, places in zip(pages, outer, strict=True):
        for at, line in enumerate(page):
            key = _alike(line)
            if at not in places or key not in running or key not in said:
                kept.append(line)
            if at in places:
                said.add(key)
    return "\n".join(kept)


def _alike(line: str) -> str:
    return _DIGITS.sub("#", " ".join(line.casefold().split()))


def compare(outcome: Outcome, text: str, reference: str | None) -> None:
    expected = words_of(reference) if reference else Counter()
    total = sum(expected.values())
    if total >= FEW_WORDS:
        found = words_of(text)
        outcome.recall = sum((expected & found).values()) / total
        once = words_of(said_once(reference or ""))
        outcome.once = sum((once & found).values()) / max(sum(once.values()), 1)
        outcome.multiple = None if outcome.is_recognised else sum(found.values()) / total


def compare_phrases(outcome: Outcome, text: str, phrases: Phrases) -> None:
    outcome.phrases = phrases
    outcome.wanted, outcome.furniture = count(text, phrases.wanted), count(text, phrases.furniture)


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of the files of one kind."""
    accepted = [each for each in outcomes if not each.code]
    report: dict[str, Any] = {
        "files": len(outcomes),
        "read": len(accepted),
        "refused": dict(Counter(each.code for each in outcomes if each.code)),
    }
    if accepted:
        seconds = sorted(each.seconds for each in accepted)
        report |= {
            "seconds": {"median": median(seconds), "p95": seconds[int(0.95 * (len(seconds) - 1))], "most": seconds[-1]},
            "peak_mb": max(each.peak_mb for each in accepted),
            "strange_signs": sum(each.replaced > 0.01 for each in accepted),
            "noticed": sum(each.is_noticed for each in accepted),
        }
    held = [each for each in accepted if each.recall is not None]
    if held:
        low = [each for each in held if (each.recall or 0.0) < LOW_RECALL]
        report |= {
            "compared": len(held),
            "mean_recall": fmean(each.recall or 0.0 for each in held),
            "mean_recall_once": fmean(each.once or 0.0 for each in held),
            "low_recall": len(low),
            "low_recall_unnoticed": sum(not each.is_noticed for each in low),
            "multiplied": sum((each.multiple or 0.0) > HIGH_MULTIPLE for each in held),
            "most_multiple": max(each.multiple or 0.0 for each in held),
        }
    if numbers := sum(each.numbers for each in accepted):
        report |= {"numbers": numbers, "displayed": sum(each.alike for each in accepted) / numbers}
    if pages := [(each, each.phrases) for each in outcomes if each.phrases is not None]:
        wanted = sum(len(phrases.wanted) for _, phrases in pages)
        around = sum(len(phrases.furniture) for _, phrases in pages)
        report |= {
            "marked": len(pages),
            "wanted": sum(each.wanted for each, _ in pages) / max(wanted, 1),
            "furniture": sum(each.furniture for each, _ in pages) / max(around, 1),
        }
    return report


def worst(outcomes: Sequence[Outcome]) -> list[str]:
    """Name the files that lost or multiplied most, worst first."""
    held = [each for each in outcomes if each.recall is not None]
    held.sort(key=lambda each: min(each.recall or 0.0, 1 / max(each.multiple or 0.0, 1.0)))
    return [
        f"{each.name}: recall {each.recall:.3f}, multiple {each.multiple or 0:.2f}{', noticed' * each.is_noticed}"
        for each in held[:WORST]
    ]


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    outcomes: list[Outcome] = []
    converted = workbooks = options.converted
    phrases = marked(options.folders)
    recognition = Recognition(ocr_engine("auto"), context.workspace / "recognised", context.workspace)
    reader = Reader(ParserSandbox(scratch=context.workspace), recognition, options.pictures)
    try:
        for path in found_files(options.folders):
            outcome, text = read(path, reader, context.workspace / "blocks")
            if path.name in phrases:
                compare_phrases(outcome, text, phrases[path.name])
            elif not outcome.code and outcome.kind == "pdf":
                compare(outcome, text, of_pdf(path))
            elif not outcome.code and outcome.kind in _BY_WRITER and converted > 0:
                converted -= 1
                compare(outcome, text, of_writer(path))
            elif not outcome.code and outcome.kind in _BY_CALC and workbooks > 0:
                workbooks -= 1
                compare_cells(outcome, text, of_calc(path))
            outcomes.append(outcome)
            if len(outcomes) % 100 == 0:
                machine.note(f"{len(outcomes):,} files")
    finally:
        reader.close()
    kinds = sorted({each.kind for each in outcomes})
    report = {kind: summary([each for each in outcomes if each.kind == kind]) for kind in kinds}
    slowest = sorted(outcomes, key=lambda each: -each.seconds)[:WORST]
    return {
        **report,
        "worst": worst(outcomes),
        "slowest": [f"{each.name}: {each.seconds:.1f} s {each.code}".strip() for each in slowest],
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--converted", type=int, default=20, help="documents, and workbooks, that LibreOffice reads")
    parser.add_argument("--pictures", type=int, default=20, help="most pages of a scan that are recognised; 0 for none")


BENCHMARK = Benchmark(
    "documents",
    figures,
    add_options,
    smallest={"converted": 0},
    small={"converted": 5},
    scale="converted",
    takes_folders=True,
    units={
        ".*(mean_recall|mean_recall_once|displayed|wanted)": ("share", "higher"),
        ".*furniture": ("share", "lower"),
        ".*(files|numbers|read|compared|noticed|marked)": ("number", "neither"),
        ".*refused.*": ("number", "neither"),
        ".*(strange_signs|low_recall|low_recall_unnoticed|multiplied)": ("number", "lower"),
        ".*multiple": ("ratio", "lower"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
