"""Makes text of documents safe to stand in a prompt: what a model would read as structure is escaped, all else stays.

Structure is what closes or forges a fence, a token of a chat template, a citation mark, a line that plays a role, and
signs that nobody sees (HOSTILE 51 and 52).
"""

from __future__ import annotations

import re
import unicodedata

_ROLES = (
    "system|user|assistant|human|ai|bot|model|developer|tool|function|instructions?|response|input|output|prompt"
    "|question|answer|documents?|sources?|rules?|システム|ユーザー|アシスタント|人間|指示|命令|質問|回答|応答|文書|資料|規則"
)
_OPENING = re.compile(r"[<＜﹤](?=\s*[|/!?_<＜A-Za-z＿／！？｜Ａ-Ｚａ-ｚ])")
_TEMPLATE_WORD = re.compile(r"[\[［](\s*(?:/\s*)?[A-Z][A-Z_ ]{1,30}\s*)[\]］]")
_CITATION_MARK = re.compile(
    r"[\[【［〔](\s*(?:\^\s*)?(?:(?:documents?|doc|sources?|文書|資料|出典)\s*)?(?:(?:number|no\.?|[#№]|番号)\s*)?(?:[:=：]\s*)?"
    r"\d{1,4}(?:\s*[-–,、，;:]\s*\d{1,4}){0,8}\s*)[\]】］〕]",
    re.IGNORECASE,
)
_GAP = r"[^\S\n]*"
_HEAD = rf"(?:#{{1,6}}{_GAP}|\*\*|__|>{_GAP})?"
_ROLE_LINE = re.compile(
    rf"^(?={_GAP}(?:{_HEAD}(?:{_ROLES})(?:[ \t]+\d+)?(?:\*\*|__)?{_GAP}(?:[:：]|$)"
    rf"|(?:(?:[-*+]|\d{{1,9}}[.)]){_GAP})?{_HEAD}(?:(?:{_ROLES})(?:[ \t]+\d+)?|[qa]\d{{0,9}})(?:\*\*|__)?{_GAP}[:：]))",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def escape(text: str) -> str:
    """Return the text as data: it holds no fence, no template token, no citation mark, no role and no hidden sign.

    A line that plays a role is quoted by ``> ``; ``[1]`` becomes ``(1)``; ``<`` before a name or a sign becomes
    ``&lt;``. The result is always valid Unicode text.
    """
    return _ROLE_LINE.sub("> ", escape_inline(text))


def escape_inline(text: str) -> str:
    """Return text for the middle of a line: as ``escape`` does, but nothing is quoted."""
    text = without_hidden(text)
    text = _OPENING.sub("&lt;", text)
    return without_live_marks(_TEMPLATE_WORD.sub(r"(\1)", text))


def without_live_marks(text: str) -> str:
    """Return the text with round brackets around what looks like a citation mark; it stays as long as it is."""
    return _CITATION_MARK.sub(r"(\1)", text)


def without_hidden(text: str) -> str:
    """Return the text without control, zero-width and directional signs; lines end alike."""
    if text.isascii() and text.isprintable():
        return text
    text = _SELECTORS.sub("", _LINE_ENDS.sub("\n", text))
    changed = {ord(sign): shown for sign in set(text) - {"\n", "\t"} if (shown := _shown(sign)) != sign}
    return text.translate(changed) if changed else text


def _shown(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind in ("Cc", "Cf"):
        return ""
    return "\ufffd" if kind == "Cs" else sign
