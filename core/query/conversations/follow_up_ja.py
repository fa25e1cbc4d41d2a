"""Japanese follow-up questions: what makes them so, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text import japanese
from core.text.analysis import content_words
from core.text.sentences import joined

_LONGEST_TOPIC = 40
_LONGEST_ELLIPSIS = 24

_OPENING = r"(?:では|じゃあ?|それでは|それなら|なら|ちなみに|また|そして|あと|でも|それと|ところで)"
_OPENED = re.compile(rf"^{_OPENING}[、,\s]*")
_ABOUT = re.compile(
    r"^(?P<what>[^、。？?]+?)(?P<case>の場合|のとき|の時)?(?:は|って|については|に関しては|についてはどう|はどう|だと|なら|も)"
    r"(?:どう)?(?:ですか|でしょうか|なの|なのか|同じですか|同じ)?[？?。\s]*$"
)
_PRONOUN = re.compile(
    r"(?P<thing>それら?|これら?|あれら?)(?=[はがをもにでとのって、へからまで])|(?P<person>彼女?ら?)(?=[はがをもにとの])"
)
_DETERMINED = re.compile(r"(?:その|この|あの|同じ)(?P<noun>[^はがをもにでとの、。？?\s]{1,20})?")
_PLACE = re.compile(r"(?:そこ|そちら|ここ)(?=[はがをもにでのへ])")
_MORE = re.compile(
    rf"^(?:{_OPENING}[、,\s]*)?(?:ほかに|他に|そのほか|その他|もっと|さらに|それ以外|例えば|たとえば|詳しく|具体的に|なぜ|どうして|いつ"
    r"|どこ|だれ|誰|いくら|何故|理由は|続けて)[^、。]{0,12}[？?。\s]*$"
)
_FIGURE = re.compile(r"(?<![0-9０-９])[0-9０-９]+(?:[.,][0-9]+)*(?=年|月|日|円|人|回|件|%|％|条|章|版|$|[はのにでが])")
_SAYS_LITTLE = """
    理由 例 例える 詳しい 具体 的 他 ほか 以外 続ける 教える もっと さらに 更に その他 説明 くださる
"""
_SAYS_NOTHING = frozenset(_SAYS_LITTLE.split())
_TOPIC_MARKS = ("は", "とは", "って", "が", "には", "では", "について")
_INTERROGATIVE = re.compile("誰|だれ|何|どこ|いつ|なぜ|どの|どんな|どう|どれ|どちら|いくら|いくつ")


def resolve(question: str, before: str, titles: Sequence[str]) -> str | None:
    """Return what a question means after another one, None where it stands by itself."""
    told = _OPENED.sub("", question)
    topic = _topic(before)
    if _MORE.match(question) and content_words(told) <= _SAYS_NOTHING:
        return joined(before, question)
    for pattern, replace in ((_PRONOUN, _named), (_PLACE, _named), (_DETERMINED, _determined)):
        found = pattern.search(told)
        if found and not content_words(told[: found.start()]):
            made = replace(told, found, topic or (_only(titles) if pattern is not _PRONOUN else ""))
            return made or joined(before, question)
    if not content_words(told):
        return joined(before, question)
    about = _ABOUT.match(told)
    if about and len(told) <= _LONGEST_ELLIPSIS and not _has_predicate(about["what"]):
        case = _in_case(about["what"], before, topic) if about["case"] else ""
        return case or _in_place(about["what"], before, topic) or joined(before, question)
    return None


def _named(told: str, found: re.Match[str], topic: str) -> str:
    if not topic or (found.lastgroup == "person" and "の" in topic):
        return ""
    return f"{told[: found.start()]}{topic}{told[found.end() :]}"


def _determined(told: str, found: re.Match[str], topic: str) -> str:
    if not topic:
        return ""
    noun = found["noun"] or ""
    meant = topic if noun and topic.endswith(noun) else f"{topic}の{noun}"
    return f"{told[: found.start()]}{meant}{told[found.end() :]}"


def _in_place(what: str, before: str, topic: str) -> str:
    """Return the question before with ``what`` in the place of its like; empty where that is not certain."""
    figures = _FIGURE.findall(before)
    if re.match(r"[0-9０-９]", what):
        figure = _FIGURE.match(what)
        like = (
            re.search(rf"{re.escape(figures[0])}(?P<unit>[年月日円人回件条章版]?度?)", before)
            if len(figures) == 1
            else None
        )
        unit = re.fullmatch(r"[0-9０-９.,]+(?P<unit>[年月日円人回件条章版]?度?)", what)
        if figure is None or like is None or unit is None or unit["unit"] != like["unit"]:
            return ""
        return before.replace(like.group(), what, 1)
    if not topic or not before.startswith(topic):
        return ""
    rest = before[len(topic) :]
    head, _, tail = topic.rpartition("の")
    if not head:
        return what + rest
    if what[-1] == tail[-1] and what[-1] != head[-1]:
        return f"{head}の{what}{rest}"
    if what[-1] == head[-1] and what[-1] != tail[-1] and "の" not in head:
        return f"{what}の{tail}{rest}"
    return ""


def _in_case(what: str, before: str, topic: str) -> str:
    if not topic or not before.startswith(topic) or re.match(r"[0-9０-９]", what):
        return ""
    return f"{what}の{topic.rpartition('の')[2]}{before[len(topic) :]}"


def _topic(before: str) -> str:
    """Return what a question is about: what stands before its first は or が; empty where that is a question word."""
    line = _OPENED.sub("", before)
    text, has_noun = "", False
    for word in japanese.words(line):
        if word.surface in _TOPIC_MARKS and has_noun:
            break
        text += word.surface
        has_noun = has_noun or (word.is_noun and not word.stopped)
        if len(text) > _LONGEST_TOPIC or word.surface in "、。？?,":
            return ""
    else:
        return ""
    return "" if _INTERROGATIVE.search(text) or not before.startswith(text) else text


def _has_predicate(text: str) -> bool:
    """Tell whether a text holds a verb, so that it is more than a name for something."""
    return any(not word.is_noun and not word.stopped for word in japanese.words(text)) or bool(
        _INTERROGATIVE.search(text)
    )


def _only(titles: Sequence[str]) -> str:
    return f"「{titles[0]}」" if len(set(titles)) == 1 else ""
