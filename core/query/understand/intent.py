"""What a question is about: the documents, the knowledge base itself, or nothing.

Questions about the knowledge base are answered by the catalogue, within what whoever acts sees. Only whole questions of
a few plain forms are taken as such; everything else goes to the documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from core.model import Analysis, Answer, AnswerType, Filters, Intent, Query
from core.query.answer.question_profile import is_small_talk
from core.query.understand.dates import NamedDate, named_date
from core.query.understand.implied_filters import is_a_document, resolve

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.catalog.documents.naming import Named

REASON = "knowledge_base"
_MOST_LISTED = 10
_LONGEST = 200

_BASE = r"(?:the|this|our|your) (?:knowledge base|collection|library|system|index)"
_COUNT = re.compile(
    r"how many (?:documents|files) (?:are there|are (?:stored|indexed|available)|do (?:you|we) have"
    rf"|does {_BASE} (?:have|hold|contain)|are in {_BASE})(?: in {_BASE})?"
    r"(?: now| in all| in total| altogether| currently)?"
    r"|(?:(?:この|現在の)?(?:ナレッジベース|システム)(?:に|の中に)?は?、?)?(?:文書|資料|ドキュメント|ファイル)(?:の数)?は?、?(?:全部で|現在|今|いま)?"
    r"(?:何件|いくつ|何個|何点)(?:あります|ある|登録されています|登録されている|入っています|入っている|です)?か?",
    re.IGNORECASE,
)
_VERSIONS = (
    re.compile(
        r"how many versions (?:(?:does|do|has|have|are there of|of) )(?:(?:the|our) )?(?P<name>.+?)"
        r"(?: have| had| got| exist| are there)?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<name>.+?)(?:に)?(?:は|の(?:版|バージョン)は)、?(?:全部で)?(?:何版|いくつ|いくつの(?:版|バージョン)が|何個の(?:版|バージョン)が|何バージョン)"
        r"(?:まで)?(?:あります|ある|です)?か?"
    ),
)
_UPDATED = (
    re.compile(
        r"when (?:was|were) (?:(?:the|our) )?(?P<name>.+?) (?:last )?(?:updated|changed|uploaded|modified|revised)"
        r"(?: last)?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<name>.+?)(?:は|が)(?:最後に|最近)?いつ(?:最後に)?(?:更新|改訂|改定|変更|アップロード|登録)され(?:ました|た)(?:の(?:です)?)?か?"
        r"|(?P<other>.+?)の(?:最終)?更新日時?は(?:いつ)?(?:です)?か?"
    ),
)
_CHANGED = re.compile(
    r"(?:which|what) (?:documents|files) (?:have |has |were |was |are )?(?:been )?"
    r"(?:changed|updated|new|added|uploaded|modified|revised)"
    r"|(?:に|の間に|、)?(?:変わった|更新された|変更された|追加された|登録された|改訂された|新しい)(?:文書|資料|ファイル)は?"
    r"(?:どれ|何|なに|ありますか|あります)?(?:です)?か?|(?:に|、)?どの(?:文書|資料|ファイル)が(?:変わり|更新され|変更され|追加され|改訂され)ましたか?",
    re.IGNORECASE,
)
_END = " \t?？。.!！"


def intent_of(question: str, now: datetime) -> Intent:
    """Tell what the normalised question is about by its form alone."""
    if is_small_talk(question):
        return Intent.SMALL_TALK
    plain = question.strip(_END)
    forms = (_COUNT, *_VERSIONS, *_UPDATED)
    names = [match for form in forms if (match := form.fullmatch(plain)) is not None]
    is_about = len(plain) <= _LONGEST and (
        any("name" not in match.re.groupindex or is_a_document(_name(match)) for match in names)
        or _changed_since(plain, now) is not None
    )
    return Intent.KNOWLEDGE_BASE if is_about else Intent.DOCUMENTS


def answer_about(catalog: Catalog, query: Query, analysis: Analysis, now: datetime) -> Answer | None:
    """Answer a question about the knowledge base as it is now; None where it is none, or its document is not known.

    It has no citations: the catalogue says so, and no passage.
    """
    if analysis.intent is not Intent.KNOWLEDGE_BASE or query.as_of is not None or query.filters != Filters():
        return None
    plain = analysis.normalised.strip(_END)
    is_ja = analysis.language == "ja"
    if _COUNT.fullmatch(plain):
        counts = catalog.counts()
        return _told(
            f"文書は{counts.documents:,}件、版は{counts.versions:,}件あります。"
            if is_ja
            else f"{_there_are(counts.documents, 'document')}, with {_several(counts.versions, 'version')} in all."
        )
    date = _changed_since(plain, now)
    if date is not None:
        changed, total = catalog.naming.updated_between(date.after, date.before, _MOST_LISTED)
        return _told(_listed(changed, total, plain[date.start : date.end].strip(), is_ja))
    document = _document(catalog, _VERSIONS, plain)
    if document is not None:
        number = sum(version.state != "cancelled" for version in catalog.documents.versions(document.doc_id))
        return _told(
            f"「{document.title}」には{number}版あります。"
            if is_ja
            else f"“{document.title}” has {_several(number, 'version')}."
        )
    document = _document(catalog, _UPDATED, plain)
    if document is not None:
        at = document.updated_at.astimezone(now.tzinfo)
        return _told(
            f"「{document.title}」は{at:%Y年%-m月%-d日 %H:%M}に更新されました。"
            if is_ja
            else f"“{document.title}” was last updated on {at:%-d %B %Y at %H:%M}."
        )
    return None


def _changed_since(plain: str, now: datetime) -> NamedDate | None:
    date = named_date(plain, now)
    if date is None:
        return None
    rest = " ".join((plain[: date.start] + " " + plain[date.end :]).split()).strip(_END + "、,")
    return date if _CHANGED.fullmatch(rest) else None


def _document(catalog: Catalog, forms: Sequence[re.Pattern[str]], plain: str) -> Named | None:
    names = [_name(match) for form in forms if (match := form.fullmatch(plain)) is not None]
    named = resolve([name for name in names if is_a_document(name)], catalog.naming.called)
    return named[1] if named else None


def _name(match: re.Match[str]) -> str:
    name = match["name"] or match.groupdict().get("other") or ""
    return name.strip(' 「」『』“”"')


def _listed(changed: Sequence[Named], total: int, when: str, is_ja: bool) -> str:
    more = total - len(changed)
    if is_ja:
        if not total:
            return f"「{when}」に当たる期間に変わった文書はありません。"
        names = "、".join(f"「{document.title}」" for document in changed)
        return f"{total:,}件の文書が変わりました: {names}" + (f"、ほか{more:,}件。" if more else "。")
    if not total:
        return f"No document has changed ({when})."
    names = ", ".join(f"“{document.title}”" for document in changed)
    return f"{_several(total, 'document')} changed: {names}" + (f" and {more:,} more." if more else ".")


def _there_are(count: int, noun: str) -> str:
    return f"There {'is' if count == 1 else 'are'} {_several(count, noun)}"


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _told(text: str) -> Answer:
    return Answer(text, AnswerType.EXTRACTIVE, confidence=1.0, reason=REASON)
