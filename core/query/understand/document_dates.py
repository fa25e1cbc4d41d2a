"""Tells whether a date in a question says when documents were written or changed, or when what it tells of happened.

“I lost my badge yesterday” and 「先月の出張費」 are of the second kind: no document is from that day.
"""

from __future__ import annotations

import re
from typing import Literal

Use = Literal["changed", "written"]
"""Whether the date says when documents changed, or since when they were written."""

_LEADING = re.compile(r"(?:(?:since|in|during|within|over|from)\s+)?(?:the\s+)?", re.IGNORECASE)
_TRAILING = re.compile(r"(?:['’]s|(?:から|以降|以来)?(?:の間に|[のにで])?)$")
_D = "\x00"
"""Stands for the date."""

_DOC = (
    r"(?:documents?|files?|reports?|minutes|polic(?:y|ies)|rules?|regulations?|guidelines?|guides?|handbooks?|manuals?"
    r"|notes|memos?|pages?|procedures?|spec(?:ification)?s?|announcements?|notices?|newsletters?|bulletins?|contracts?"
    r"|faqs?|presentations?|slides|spreadsheets?)\b"
)
_NEW = r"new(?=\s+(?:in|since|from|this|last|over|during|within|on|for|about)\b|\s*\x00|\s*[?.!,]|\s*$)"
_CHANGE = (
    r"(?:(?:updat|chang|revis)(?:ed?|es)|(?:add|upload|publish|amend|edit|creat|written|post)(?:e?d|es)?|modif(?:y|ied)"
    rf"|{_NEW})\b"
)
_AUXILIARY = (
    r"(?:\s+(?:that|which|i|we|you|they|have|has|had|was|were|are|is|been|being|got|did|recently|newly|lately)"
    r"|\s*\x00)*"
)
_OF = r"(?:from|of|since|over|in|within|during)\s+(?:the\s+)?"
_MEETING = r"(?:['’]s\s+(?:meeting|session|call|workshop)s?\b|(?!['’]s))"
_QUALIFIED = rf"(?:(?:\w+\s+){{0,2}}{_DOC}\s+{_OF}{_D}{_MEETING}|{_D}['’]s\s+(?:[\w-]+\s+){{0,2}}?{_DOC})"
_SAY = r"(?:say|said|tell|mention|contain|state|report|show)\b"
_WRITTEN = re.compile(
    rf"\b(?:in|within|among|from|across|per|according\s+to|(?:show|list|find|search|summari[sz]e)(?:\s+me)?)\s+"
    rf"(?:(?:the|our|all|of)\s+)*{_QUALIFIED}|\b(?:do|does|did)\s+(?:(?:the|our)\s+)?{_QUALIFIED}\s+{_SAY}",
    re.IGNORECASE,
)
_DOCUMENTS_CHANGED = re.compile(
    rf"\b{_DOC}(?:\s+(?:about|on|for|in|of)\s+\w+)?{_AUXILIARY}\s+{_CHANGE}"
    rf"|\b(?:new|(?:newly\s+)?(?:updated|changed|revised|added|published|uploaded))\s+(?!(?:the|an?|my|our)\b)(?:\w+\s+)?{_DOC}",
    re.IGNORECASE,
)
_WHAT_CHANGED = re.compile(
    rf"\b(?:what|anything|something|everything)(?:['’]s)?(?:\s+else)?{_AUXILIARY}\s+{_CHANGE}"
    rf"|\b(?:changes|updates|revisions|additions)(?:\s+(?:to|in|of|for)(?:\s+[\w-]+){{1,4}}?)?\s+(?:{_OF})?{_D}",
    re.IGNORECASE,
)
_MY = re.compile(r"\b(?:my|mine)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|my|mine)\b", re.IGNORECASE)

_PERSONAL = re.compile(
    r"\b(?:i|me|my|mine|who|whose|if|must|should|may|can|could|how\s+(?:do|to|many|much|long))\b", re.IGNORECASE
)
"""Questions of persons and of what is to be done: their time is that of what happened to somebody."""
_TO_ME = re.compile(r"\b(?:show|find|give|tell)\s+me\b", re.IGNORECASE)
_NEWS = re.compile(
    rf"^\W*(?:(?:(?:in|during|within|over|from)\s+(?:the\s+)?)?{_D}\W*)?(?:what(?:['’]s|\s+has|\s+have|\s+is|\s+was|\s+were)?(?:\s+been)?\s+(?:{_D}\s+)?"
    r"(?:new|happen(?:ed|ing)|said|reported|announced|published|written)\b"
    r"|(?:is|are|was|were)\s+there\s+any(?:thing)?\b|any(?:thing|\s+news|\s+updates?)\b"
    r"|(?:show|list|find|give|tell|search|summari[sz]e)\b(?:\s+(?:me|us))?[^.?!]*\b(?:news|updates?|anything|everything)\b"
    r"|what\s+(?:did|have|has)\s+(?:[\w-]+\s+){1,3}(?:decided?|announced?|reported?|said|say|published?)\b"
    r"|(?:show|list|tell|summari[sz]e)\b(?:\s+(?:me|us))?\s+what\s+(?:has\s+|have\s+|was\s+)?(?:happened|changed|said|announced"
    r"|decided|reported|published)\b"
    r"|(?:news|updates?)\b)",
    re.IGNORECASE,
)

_JA_DOC = (
    r"(?:文書|資料|ドキュメント|ファイル|報告書|レポート|議事録|規程|規定|規則|規約|手順書?|仕様書|マニュアル|ガイド|案内|お知らせ|通知"
    r"|契約書|方針|ポリシー|ハンドブック|FAQ|ルール|計画書|提案書|日報|週報|月報|要領|要綱|指針|覚書)"
)
_JA_CHANGE = r"(?:更新|変更|追加|変わ|改訂|改定|改正|アップロード|登録|公開|発行)"
_JA_TO = r"(?:から|以降|以来)?(?:の間に|[のには])?、?"
_JA_WRITTEN = re.compile(
    rf"{_D}(?:から|以降|以来)?の(?:間の)?[^、。はがをにで\s]{{0,8}}?{_JA_DOC}"
    r"(?:の中|のうち|で|から|に(?:よる|よれ|書|記載|載|は|も|あ)|を(?:見|探|検索|要約|まとめ|教え|表示|一覧)|は(?:どれ|どこ|何(?![時日曜月])|なに|あり)"
    r"|の(?:要点|要約|内容|概要|まとめ)|は?[?？。]*$)",
    re.IGNORECASE,
)
_JA_TO_DO = re.compile(r"どう(?:すれ|したら)|いつまで|提出|手続|なくし|失くし|紛失")
_JA_CHANGED = re.compile(
    rf"{_D}{_JA_TO}(?:新しく|新たに)?{_JA_CHANGE}[ぁ-ん]{{0,6}}[^、。のをがは]{{0,8}}{_JA_DOC}"
    rf"|{_D}{_JA_TO}(?:新しい|新着の?){_JA_DOC}"
    rf"|{_JA_DOC}(?:が|は|で|の中で|のうち)、?{_D}{_JA_TO}{_JA_CHANGE}"
    rf"|{_D}[^。]{{0,12}}(?:何|なに|どこ|どれ|どの{_JA_DOC})が?[^。をに]{{0,8}}{_JA_CHANGE}"
    rf"|(?:何|なに|どこ|どれ)が?{_D}{_JA_TO}{_JA_CHANGE}"
    rf"|{_D}{_JA_TO}(?:変更|更新|改定|改訂|追加)(?:点|箇所|内容|履歴|情報|は|[?？]|$)",
    re.IGNORECASE,
)


_JA_NEWS = re.compile(
    rf"{_D}[^。]{{0,12}}?(?:ニュース|お知らせ|動き|話題|トピック|出来事|新着)"
    rf"|{_D}(?:の間に|[のには])*、?(?:何か|新しいこと|新たに)"
    rf"|{_D}(?:の間に|[のには])*、?(?:何|なに)が[^。]{{0,6}}(?:あり|起き|起こ|決ま|発表|報告)"
    rf"|{_D}(?:の間に|[のにで])?、?(?:新たに)?(?:発表|公表|報告|決定)された(?:こと|もの|内容|件)"
    rf"|{_D}(?:の間に|[のにで])?、?[^。、]{{1,16}}(?:について|に関して)、?(?:何か|何が)[^。]{{0,10}}(?:発表|報告|言わ|決ま|書かれ|あり)"
    rf"|(?:について|に関して|の件で|は)、?{_D}(?:の間に|[のには])*、?(?:何|どんな|なに)[^。]{{0,10}}(?:発表|報告|言わ|決ま|書かれ|あり)"
)
_JA_PERSONAL = re.compile(r"私|僕|俺|自分|わたし")


def use_of(question: str, start: int, end: int, *, is_window: bool = False) -> Use | None:
    """Return what the date at that span says of documents; None where it says nothing of them.

    ``is_window`` tells that the time ends now; what is asked for as news is then written within it.
    """
    said = question[start:end]
    lead = _LEADING.match(said)
    first = lead.end() if lead else 0
    tail = _TRAILING.search(said, first)
    last = tail.start() if tail else len(said)
    before, after = question[:start] + said[:first], said[last:] + question[end:]
    begin = max(before.rfind(sign) for sign in ".!?;。？！") + 1
    ends = [at for sign in (". ", "! ", "? ", ";", "。", "？", "！") if (at := after.find(sign)) >= 0]
    sentence = before[begin:] + _D + after[: min(ends, default=len(after)) + 1]
    if _JA_CHANGED.search(sentence) or (_DOCUMENTS_CHANGED.search(sentence) and not _MY.search(question)):
        return "changed"
    if _WHAT_CHANGED.search(sentence) and not _OWN.search(question):
        return "changed"
    if _WRITTEN.search(sentence):
        return "written"
    if is_window and _is_news(sentence, question):
        return "written"
    return "written" if _JA_WRITTEN.search(sentence) and not _JA_TO_DO.search(question) else None


def _is_news(sentence: str, question: str) -> bool:
    if _NEWS.search(sentence):
        return not _PERSONAL.search(_TO_ME.sub("", sentence))
    return _JA_NEWS.search(sentence) is not None and not (_JA_TO_DO.search(question) or _JA_PERSONAL.search(question))
