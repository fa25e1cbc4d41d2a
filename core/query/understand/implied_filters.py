"""Filters that a question names in its own words: when documents changed, which document, which kind of file.

Few are read, and only where the words can hardly mean anything else: a filter that was not meant hides the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from core.catalog.documents.naming import Named
from core.model import Filters, ReadFilter
from core.model.file_types import EXTENSIONS, KINDS
from core.query.understand.dates import DATED, named_date

Called = Callable[[Collection[str]], Mapping[str, Sequence[Named]]]
"""Finds the documents that people call by one of some names in lower case."""

_KINDS = {
    "pdf": ("pdf",),
    "excel": ("xlsx", "xls"),
    "word": ("docx", "doc"),
    "powerpoint": ("pptx", "ppt"),
    "markdown": KINDS["markdown"],
    "csv": ("csv",),
    "html": ("html", "htm"),
}
_KIND_WORDS = {
    **{kind: kind for kind in _KINDS},
    **{"pdfs": "pdf", "spreadsheet": "excel", "spreadsheets": "excel", "slides": "powerpoint", "エクセル": "excel"},
    **{"ワード": "word", "パワーポイント": "powerpoint", "パワポ": "powerpoint", "スライド": "powerpoint"},
    "マークダウン": "markdown",
}
_THE = r"(?:all\s+(?:of\s+)?)?(?:the|our|my|these|those)"
_EN_KIND = re.compile(
    rf"\b(?:in|from|within|among)\s+{_THE}\s+(?:(?P<plural>pdfs?|spreadsheets?|slides)\b(?!\s+(?:\w+ed|formats?|versions?)\b)"
    r"|(?P<file>pdf|excel|word|powerpoint|markdown|csv|html)\s+(?:files?|documents?|sheets?)\b)",
    re.IGNORECASE,
)
_JA_KIND = re.compile(
    r"(?P<kind>PDF|エクセル|Excel|ワード|Word|パワーポイント|PowerPoint|パワポ|スライド|マークダウン|Markdown|CSV|HTML)"
    r"\s?(?:(?:の?(?:ファイル|文書|資料))?の中(?:[での]|に(?=書|記載|載|ある|あり|は)|から(?=探|検索))"
    r"|の?(?:文書|資料)で(?!の?(?:提出|保存|出力|入力|申請|作|送|受け|書き出|取り込|変換|印刷|開|配布|共有|添付|管理|ダウン|アップ|き)))",
    re.IGNORECASE,
)
_HOW_TO = re.compile(r"\bhow\s+(?:do|can|could|to)\b|方法|やり方|仕方|[うくぐすつぬぶむる]には", re.IGNORECASE)
"""What is asked of with a kind of file is then more often how one is made than what stands in ours."""
_WHETHER = re.compile(
    r"\b(?:is|are)\b[^.?!]{0,120}\b(?:allowed|permitted|forbidden|supported|accepted|blocked|possible|enabled|disabled)\b",
    re.IGNORECASE,
)
"""So it is what a kind of file may hold that is asked."""

_EN_NOUN = re.compile(
    r"\b(?:polic(?:y|ies)|handbook|manual|guide(?:lines?)?|report|minutes|spec(?:ification)?s?|contract|agreement|list|faq"
    r"|plan|rules|regulations?|procedures?|instructions|document|file|memo|notes|proposal|schedule|brochure"
    r"|catalogu?e?|form|sheet|readme)$",
    re.IGNORECASE,
)
_JA_NOUN = re.compile(
    r"(?:規程|規定|規則|規約|要領|要綱|手順書?|仕様書?|議事録|報告書|レポート|マニュアル|計画書?|一覧表?|契約書?|ガイド(?:ライン|ブック)?|手引き?"
    r"|説明書|組織図|方針|ポリシー|ハンドブック|資料|台帳|目録|案内|よくある質問|faq|価格表|料金表|名簿|覚書|提案書)$",
    re.IGNORECASE,
)
_EN_CUE = re.compile(r"\b(?:in|from|within|per|according to|of)\s+(?:(?:the|our|my|this|that)\s+)?", re.IGNORECASE)
_JA_CUE = re.compile(
    r"の中[でにの]|のなか|による?と|によれば|に書|に記載|において|で定め|に従|では|に?は(?=何|どの|どう)"
)
_QUOTED = (
    re.compile(r"\b(?:in|from|within|per|according to)\s+(?:the\s+)?[“\"]([^“”\"]{2,80})[”\"]", re.IGNORECASE),
    re.compile(r"[「『]([^「」『』]{2,80})[」』](?=の中|のなか|に(?:よる?と|よれば|書|記載|おいて)|では)"),
)
_ENDINGS = "|".join(extension for extension in EXTENSIONS if len(extension) > 1)
_FILE = re.compile(rf"[\w.()（）+-]+\.(?:{_ENDINGS})(?![A-Za-z0-9])", re.IGNORECASE)
_WORDS = re.compile(r"[\w.+'’-]+(?: [\w.+'’-]+){0,7}")
_MOST_SIGNS = 30


def read_filters(question: str, now: datetime, called: Called) -> tuple[ReadFilter, ...]:
    """Return the filters that the normalised question names: at most one date, one document, one kind of file."""
    found: list[ReadFilter] = []
    date = named_date(question, now)
    if date is not None:
        bounds = Filters(updated_after=date.after, updated_before=date.before)
        found.append(ReadFilter(date.id, "updated", question[date.start : date.end].strip(), bounds))
    named = document_within(question, called)
    if named is not None:
        words, document = named
        found.append(ReadFilter(f"document:{document.doc_key}", "document", words, Filters((document.doc_key,))))
    else:
        is_of_files = any(asks.search(question) for asks in (_HOW_TO, _WHETHER))
        match = None if is_of_files else _EN_KIND.search(question) or _JA_KIND.search(question)
        if match is not None:
            kind = _KIND_WORDS[next(word for word in match.groupdict().values() if word).lower()]
            found.append(ReadFilter(f"extension:{kind}", "extension", match.group(), Filters(extensions=_KINDS[kind])))
    return tuple(found)


def without_dates(question: str, read: Sequence[ReadFilter]) -> str:
    """Return the question without the words of a relative date that is a filter now; all of it if nothing is left.

    Month and year may stand in the document as well, and are searched for.
    """
    left = question
    for each in read:
        if each.kind == "updated" and each.is_applied and not each.id.startswith(DATED):
            left = left.replace(each.words, " ", 1)
    left = " ".join(left.split())
    return left if sum(map(str.isalnum, left)) > 1 else question


def document_within(question: str, called: Called) -> tuple[str, Named] | None:
    """Return the one document that the question says it asks in, with the words that name it."""
    said: list[str] = []
    for cue in _EN_CUE.finditer(question):
        following = _WORDS.match(question, cue.end())
        words = following.group().split(" ") if following else []
        said += [" ".join(words[:count]) for count in range(1, len(words) + 1)]
    for cue in _JA_CUE.finditer(question):
        said += [question[at : cue.start()] for at in range(max(0, cue.start() - _MOST_SIGNS), cue.start())]
    phrases = [phrase for phrase in said if is_a_document(phrase)]
    phrases += [match.group() for match in _FILE.finditer(question)]
    phrases += [match.group(1) for quoted in _QUOTED for match in quoted.finditer(question)]
    return resolve(phrases, called)


def resolve(phrases: Sequence[str], called: Called) -> tuple[str, Named] | None:
    """Return the longest of the phrases that is what a document is called, unless it is what several are called."""
    by_name: dict[str, str] = {}
    for phrase in phrases:
        by_name.setdefault(" ".join(phrase.lower().strip(" .,、。").split()), phrase)
    by_name.pop("", None)
    if not by_name:
        return None
    found = called(by_name.keys())
    for name in sorted(found, key=len, reverse=True):
        documents = found[name]
        return (by_name[name], documents[0]) if len(documents) == 1 else None
    return None


def is_a_document(phrase: str) -> bool:
    """Tell whether words can hardly name anything but a document: a file name, or with a word such as “policy”."""
    plain = phrase.strip()
    return any(form.search(plain) for form in (_EN_NOUN, _JA_NOUN)) or _FILE.fullmatch(plain) is not None
