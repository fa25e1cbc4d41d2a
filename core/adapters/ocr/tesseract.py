"""Recognition by the program Tesseract, where it is installed; its answer is its table of words (TSV)."""

from __future__ import annotations

import csv
import io
import subprocess

from PIL import Image

from core.adapters.ocr import tesseract
from core.errors import ParserFailed
from core.model.recognition import RecognisedLine
from core.ports import Pixels

_WANTED = ("jpn", "eng")
_TIMEOUT_S = 100
_WORD_LEVEL = "5"


class Tesseract:
    """The port ``Ocr`` over a program; Japanese and English where their data are installed."""

    id = "tesseract"

    def __init__(self, threads: int) -> None:
        program = tesseract()
        if program is None:
            raise ParserFailed("Tesseract is not installed.")
        self._program = program
        self._environment = {"OMP_THREAD_LIMIT": str(max(threads, 1))}
        listed = self._run(["--list-langs"], b"").split()[1:]
        self._languages = "+".join([name for name in _WANTED if name in listed] or ["eng"])

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        height, width = pixels.shape[:2]
        picture = io.BytesIO()
        Image.fromarray(pixels).save(picture, "PPM")
        table = self._run(["-", "-", "-l", self._languages, "--psm", "3", "tsv"], picture.getvalue())
        lines: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for word in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
            if word.get("level") == _WORD_LEVEL and (word.get("text") or "").strip():
                place = tuple(word[name] for name in ("page_num", "block_num", "par_num", "line_num"))
                lines.setdefault(place, []).append(word)
        return [_line(words, width, height) for words in lines.values()]

    def _run(self, arguments: list[str], given: bytes) -> str:
        ended = subprocess.run(
            [self._program, *arguments],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            timeout=_TIMEOUT_S,
            check=False,
        )
        return ended.stdout.decode("utf-8", "replace")


def _line(words: list[dict[str, str]], width: int, height: int) -> RecognisedLine:
    lefts, tops = ([int(word[name]) for word in words] for name in ("left", "top"))
    rights = [left + int(word["width"]) for left, word in zip(lefts, words, strict=True)]
    bottoms = [top + int(word["height"]) for top, word in zip(tops, words, strict=True)]
    sure = sum(float(word["conf"]) for word in words) / len(words) / 100
    box = (min(lefts) / width, min(tops) / height, max(rights) / width, max(bottoms) / height)
    return RecognisedLine(" ".join(word["text"] for word in words), box, round(max(min(sure, 1.0), 0.0), 3))
