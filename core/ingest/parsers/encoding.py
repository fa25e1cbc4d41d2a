"""Which encoding a text file is in, decided from its bytes; a doubtful file is refused rather than shown garbled."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from core.errors import Undecodable
from core.ingest.parsers.alphabets import latin_encoding

READ_BYTES = 256 * 1024
SAMPLE_BYTES = 1024 * 1024
JUDGED_CHARS = 100_000
MAX_REPLACED = 0.01
"""Largest share of characters that may be undecodable in a text that is accepted."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([BJI]|\$\(D)")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_JAPANESE = re.compile("[\u3000-\u3002\u300c-\u300f\u3041-\u3096\u30a1-\u30fc\u4e00-\u9fff\uff01-\uff5e]")
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")
_ODD = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x80-\x9f\ue000-\uf8ff\ufffd]")
_CONTROLS = bytes(sorted({*range(0x20), 0x7F} - {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1B}))
_OVERSTRIKE = re.compile(rb"(?<=[!-~\x80-\xff])\x08{1,4}(?=[!-~\x80-\xff])")
"""What makes letters of manual pages bold or underlined, as printers did."""
_NOT_PLAIN = re.compile(rb"[\x00\x1b\x80-\xff]")
_CYRILLIC, _HAN = "\u0400-\u045f\u0490\u0491", "\u4e00-\u9fff\u3000-\u3002\u300a-\u3011\uff01-\uff5e“”‘’…—·"
_SCRIPTS = {
    "cp1251": _CYRILLIC,
    "koi8_r": _CYRILLIC,
    "koi8_u": _CYRILLIC,
    "iso8859_5": _CYRILLIC,
    "cp866": _CYRILLIC,
    "cp1253": "\u0384-\u03ce",
    "cp1255": "\u05b0-\u05f4",
    "cp1256": "\u060c-\u06d2",
    "cp874": "\u0e01-\u0e5b",
    "gb18030": _HAN,
    "big5": _HAN,
    "cp949": "\uac00-\ud7a3",
}
"""Encodings beside those of Latin letters and Japanese, and the characters that a text in each consists of."""
_LEAST_COHERENCE, _LEAST_OWN, _CERTAIN = 0.2, 0.85, 0.95
_COMPARED_BYTES = 65_536
_MOSTLY = 5
"""So many characters of a text in UTF-8 are whole for each that is not: one in Latin-1 holds no whole ones."""
_FREQUENT = {"gb18030": (0xB0, 0xD7), "big5": (0xA4, 0xC6)}
"""First bytes of the Chinese characters that nearly all of a text consists of."""
_MOST_FREQUENT, _FEWEST_SIGNS = 0.85, 4
_WIDE = re.compile("[\u4e00-\u9fff\uac00-\ud7a3]")
_WITHIN = re.compile("(?<=[a-z])[\u4e00-\u9fff\uac00-\ud7a3]+(?=[a-z])|(?<= )[\u4e00-\u9fff\uac00-\ud7a3](?=[a-z])")
_WESTERN_WORD = re.compile("[A-Za-z\u00c0-\u00ff]+")


def sample(path: Path) -> bytes:
    """The bytes that decide: from the line of the first byte that is not plain ASCII, at most ``SAMPLE_BYTES``."""
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
        data = head
        while data and data.isascii() and b"\x1b" not in data and b"\0" not in data:
            data = file.read(SAMPLE_BYTES)
        if not data:
            return head
        start = file.tell() - len(data)
        if start == 0:
            return head
        found = _NOT_PLAIN.search(data)
        at = found.start() if found else 0
        line = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1
        file.seek(start + line)
        return file.read(SAMPLE_BYTES)


def detect(data: bytes) -> str:
    """The name of the encoding of a sample. Raises: ``Undecodable`` where none fits."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    wide = _unmarked_utf16(data)
    if wide:
        return wide
    data = _OVERSTRIKE.sub(b"", data)
    if _many_controls(data):
        raise Undecodable("The file holds binary data, not text.")
    if data.isascii():
        escaped = _ISO_2022_JP.search(data) and _decoded(data, "iso2022_jp_ext") is not None
        return "iso2022_jp_ext" if escaped else "utf-8"
    if _decoded(data, "utf-8") is not None:
        return "utf-8"
    likeness = {name: _likeness(_decoded(data, name), name) for name in ("cp932", "euc_jp")}
    japanese = max(likeness, key=lambda name: likeness[name])
    if likeness[japanese] >= 0.7 and (_KANA.search(_decoded(data, japanese) or "") or not latin_encoding(data)):
        return japanese
    lenient = data.decode("utf-8", "replace")
    is_nearly = replaced_share(lenient) <= MAX_REPLACED
    if is_nearly and sum(character > "\x7f" for character in lenient) > _MOSTLY * lenient.count("\ufffd"):
        return "utf-8"
    if found := latin_encoding(data) or _other_script(data):
        return found
    text = _decoded(data, "cp1252")
    if text is not None and _is_western(text):
        return "cp1252"
    if is_nearly:
        return "utf-8"
    raise Undecodable("The characters of the file could not be read with certainty.")


def is_certainly_utf8(data: bytes) -> bool:
    """Tell whether a sample is UTF-8 whatever it says of itself: no text in another encoding is that by chance."""
    return not data.isascii() and _decoded(data, "utf-8") is not None


def _other_script(data: bytes) -> str:
    """Return the encoding of a text in Cyrillic, Greek, Chinese, … letters; empty where it is not certain."""
    if _own_share(data, "cp949") >= _CERTAIN and not _is_within_words(_decoded(data, "cp949") or ""):
        return "cp949"
    frequent = {encoding: _frequent_share(data, encoding) for encoding in _FREQUENT}
    chinese = max(frequent, key=lambda encoding: frequent[encoding])
    if frequent[chinese] >= _MOST_FREQUENT and _own_share(data, chinese) >= _LEAST_OWN:
        return chinese
    # It knows how often letters follow one another in some forty languages.
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_COMPARED_BYTES], cp_isolation=list(_SCRIPTS)).best()
    if best is None or best.encoding not in _SCRIPTS:
        return ""
    is_known = best.coherence >= _LEAST_COHERENCE or best.encoding == "cp949"
    return best.encoding if is_known and _own_share(data, best.encoding) >= _LEAST_OWN else ""


def _own_share(data: bytes, encoding: str) -> float:
    """Return how much of what is beyond ASCII consists of the characters of an encoding's languages."""
    text = _decoded(data, encoding) or ""
    beyond = sum(character > "\x7f" for character in text)
    return len(re.findall(f"[{_SCRIPTS[encoding]}]", text)) / beyond if beyond else 0.0


def _frequent_share(data: bytes, encoding: str) -> float:
    """Return how many of the Chinese characters are frequent ones of an encoding of theirs."""
    first, last = _FREQUENT[encoding]
    text = _decoded(data, encoding) or ""
    signs = [sign for sign in text if "\u4e00" <= sign <= "\u9fff"]
    if _is_within_words(text):
        return 0.0
    frequent = sum(first <= sign.encode(encoding)[0] <= last for sign in signs)
    return frequent / len(signs) if len(signs) >= _FEWEST_SIGNS else 0.0


def _is_within_words(text: str) -> bool:
    """Tell whether wide characters stand in words of Latin letters: an accented one and the next were taken as one."""
    wide = len(_WIDE.findall(text))
    return len(_WITHIN.findall(text)) > 0.2 * wide


def is_binary(data: bytes) -> bool:
    """Whether the start of a file is no text in any encoding that is read."""
    is_marked = data.startswith(tuple(mark for mark, _ in _MARKS))
    return _many_controls(_OVERSTRIKE.sub(b"", data)) and not is_marked and not _unmarked_utf16(data)


def _many_controls(data: bytes) -> bool:
    return len(data.translate(None, _CONTROLS)) < 0.95 * len(data)


def replaced_share(text: str) -> float:
    """The share of replacement characters."""
    return text.count("\ufffd") / len(text) if text else 0.0


def decoded(path: Path, encoding: str) -> Iterator[str]:
    """Yield the text of a file piece by piece. Raises: ``Undecodable`` once too much of it does not decode."""
    texts = _pieces(path, encoding)
    return _composed(texts) if codecs.lookup(encoding).name == "cp1258" else texts


def _composed(texts: Iterator[str]) -> Iterator[str]:
    """Yield texts whose letters and the tones behind them are one sign each, as other encodings write Vietnamese."""
    held = ""
    for text in texts:
        text = held + text
        end = len(text) - 1
        while end > 0 and unicodedata.combining(text[end]):
            end -= 1
        held = text[max(end, 0) :]
        yield unicodedata.normalize("NFC", text[: max(end, 0)])
    yield unicodedata.normalize("NFC", held)


def _pieces(path: Path, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    characters = replaced = 0
    with path.open("rb") as file:
        while True:
            data = file.read(READ_BYTES)
            text = decoder.decode(data, final=not data)
            characters += len(text)
            replaced += text.count("\ufffd")
            if characters > READ_BYTES and replaced > MAX_REPLACED * characters:
                break
            yield text
            if not data:
                break
    if replaced > MAX_REPLACED * characters:
        raise Undecodable("More than one character in a hundred of the file does not decode.")


def _decoded(data: bytes, encoding: str) -> str | None:
    """The sample decoded strictly; a character cut at its end does not count."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(data, final=len(data) < SAMPLE_BYTES)
    except (UnicodeDecodeError, ValueError):
        return None


def _unmarked_utf16(data: bytes) -> str:
    """UTF-16 without a mark: one byte of each pair comes from few values, and the pairs decode to likely letters."""
    data = data[: len(data) // 2 * 2][:65_536]
    if len(data) < 8:
        return ""
    for name, high in (("utf-16-le", data[1::2]), ("utf-16-be", data[0::2])):
        likely = sum(high.count(byte) for byte in (0x00, 0x30, 0xFF)) + sum(0x4E <= byte <= 0x9F for byte in high)
        zeros = high.count(0)
        other = (data[0::2] if name.endswith("le") else data[1::2]).count(0)
        if zeros + high.count(0x30) < 0.2 * len(high) or likely < 0.9 * len(high) or other > 0.1 * len(high):
            continue
        if b"\0" not in data and data.isascii():
            continue
        text = data.decode(name, "replace")
        if len(_ODD.findall(text)) <= 0.01 * len(text) and _likely_letters(text) >= 0.9:
            return name
    return ""


def _likely_letters(text: str) -> float:
    ascii_count = sum(character < "\x7f" for character in text)
    return (ascii_count + len(_JAPANESE.findall(text))) / len(text)


def _likeness(text: str | None, encoding: str) -> float:
    """How much the characters beyond ASCII look like Japanese, 0 to 1.

    Korean and Chinese files decode as EUC-JP without an error, so that kana have to be among the characters there.
    """
    if not text:
        return 0.0
    text = text[:JUDGED_CHARS]
    beyond = sum(character > "\x7f" for character in text)
    kana = len(_KANA.findall(text))
    if not beyond or (encoding == "euc_jp" and kana < 0.05 * beyond):
        return 0.0
    good = len(_JAPANESE.findall(text)) + 0.3 * len(_HALF_WIDTH.findall(text))
    share = (good - 3 * len(_ODD.findall(text))) / beyond
    return share if kana >= 0.1 * beyond else share * 0.9


def _is_western(text: str) -> bool:
    """Latin text of Western Europe: few accented letters, each inside a word of plain ones."""
    text = text[:JUDGED_CHARS]
    beyond = sum(character > "\x7f" for character in text)
    if _ODD.search(text) or beyond > 0.2 * len(text):
        return False
    inside = sum(
        sum(letter > "\x7f" for letter in word)
        for word in _WESTERN_WORD.findall(text)
        if sum(letter <= "\x7f" for letter in word) >= sum(letter > "\x7f" for letter in word)
    )
    signs = sum(character in "\xa0«»“”‘’–—…€£°§©®·¿¡•" for character in text)
    return inside + signs >= 0.9 * beyond
