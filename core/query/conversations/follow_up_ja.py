"""Japanese follow-up questions: what makes them so, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.query.conversations.ellipsis_ja import described, in_place
from core.query.conversations.readings import Readings
from core.text import japanese
from core.text.analysis import content_words
from core.text.sentences import joined

_LONGEST_TOPIC = 40
_LONGEST_ELLIPSIS = 24
_LONGEST_READ = 400
"""Of longer questions nobody left anything out."""

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
_SAYS_LITTLE = """
    理由 例 例える 詳しい 具体 的 他 ほか 以外 続ける 教える もっと さらに 更に その他 説明 くださる
"""
_SAYS_NOTHING = frozenset(_SAYS_LITTLE.split())
_TOPIC_MARKS = ("は", "とは", "って", "が", "には", "では", "について")
_CASES = ("と", "に", "で", "へ")
"""The dictionary gives these apart from a は behind them."""
_INTERROGATIVE = re.compile("誰|だれ|何|どこ|いつ|なぜ|どの|どんな|どう|どれ|どちら|いくら|いくつ")

_ASKS_SOMETHING = re.compile(
    "(?:誰|だれ|何|どこ|いつ|なぜ|どの(?:くらい|ぐらい|程度|ように)|どう|どれ(?:くらい|ぐらい|だけ|ほど)|いくら|いくつ)[がをにでとへからまで]*"
)
_ASKS_WHY = re.compile("なぜ|どうして|何故")
_ALSO = re.compile(r"^(?P<what>[^はがをもにで、。？?\s]{1,20})も(?P<predicate>[^、。？?]{2,}?(?:か|の)?)[？?。\s]*$")
_RELATED = re.compile(
    "(?:次|次回|前回|最初|最後|理由|条件|期限|料金|費用|対象|上限|下限|締め切り|場所|方法|手順|例外|担当者|連絡先|単位|範囲|期間)は"
    "(?:誰|だれ|何|どこ|いつ|どの|どう|どれ|いくら|いくつ|あります)"
)


def resolve(question: str, before: str, titles: Sequence[str]) -> Readings | None:
    """Return what a question means after another one, None where it stands by itself."""
    if max(len(question), len(before)) > _LONGEST_READ:
        return None
    told = _OPENED.sub("", question)
    topic, front = _topic(before), joined(before, question)
    if _MORE.match(question) and content_words(told) <= _SAYS_NOTHING:
        return _asked_of(topic, question, front)
    for pattern, replace in ((_PRONOUN, _named), (_PLACE, _named), (_DETERMINED, _determined)):
        found = pattern.search(told)
        if found and not content_words(told[: found.start()]):
            made = replace(told, found, topic or (_only(titles) if pattern is not _PRONOUN else ""))
            return Readings(made or front)
    if not content_words(told):
        return _asked_of(topic, question, front)
    about = _ABOUT.match(told)
    if about and len(told) <= _LONGEST_ELLIPSIS and not _has_predicate(about["what"]):
        placed = in_place(about["what"], before, topic, front)
        if about["case"] and (placed.other or placed.text == front):
            case = _in_case(about["what"], before, topic)
            return Readings(case, placed.text) if case and placed.other else Readings(case or placed.text)
        return placed
    return _also(told, question, before, topic) or _without_topic(told, question, topic)


def _asked_of(topic: str, question: str, front: str) -> Readings:
    """Return a question of few words asked of the topic; ``front`` where there is none."""
    if topic and _ASKS_SOMETHING.match(question) and not _ASKS_WHY.match(question):
        return Readings(f"{topic}は{question}", front)
    return Readings(front)


def _also(told: str, question: str, before: str, topic: str) -> Readings | None:
    """Return 「アルバイトも使えますか」 with what they can use; None for another question."""
    found = _ALSO.match(told)
    if found is None or not topic or _has_predicate(found["what"]) or found["what"] in before:
        return None
    line = before.rstrip("？?。 ")
    predicate = found["predicate"].rstrip("？?。 ")
    rest = line[len(topic) :]
    if line.endswith(predicate) and rest[:1] in "はが":
        if _INTERROGATIVE.search(rest):
            # Whether they can is asked, not how much; and the topic may be what is done as well as who does it.
            return Readings(joined(before, question))
        return Readings(f"{found['what']}も{rest[1:]}")
    return Readings(f"{topic}は{told}", question) if not content_words(predicate) else None


def _without_topic(told: str, question: str, topic: str) -> Readings | None:
    """Return a question that names nothing by itself, asked of the topic; it may stand by itself all the same."""
    if not topic:
        return None
    asked = _ASKS_SOMETHING.match(told)
    if asked and not _ASKS_WHY.match(told) and not _names_something(told[asked.end() :]):
        return Readings(f"{topic}は{told}", question)
    related = _RELATED.match(told)
    return Readings(f"{topic}の{told}", question) if related else None


def _names_something(text: str) -> bool:
    """Tell whether a text holds a noun that names a thing, and not what is done with one or a unit."""
    kinds = [kind for _, _, kind, stopped in japanese.described(text) if not stopped and kind.startswith("名詞")]
    if re.search(r"[A-Za-z]", text) or re.search("[はをも]", text):
        return True
    return any(not kind.endswith(("サ変接続", "接尾", "副詞可能", "形容動詞語幹")) for kind in kinds)


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


def _in_case(what: str, before: str, topic: str) -> str:
    if not topic or not before.startswith(topic) or re.match(r"[0-9０-９]", what):
        return ""
    return f"{what}の{topic.rpartition('の')[2]}{before[len(topic) :]}"


def _topic(before: str) -> str:
    """Return what a question is about: what stands before its first は or が; empty where that is a question word."""
    line = _OPENED.sub("", before)
    text, case, has_noun = "", "", False
    for word in japanese.words(line):
        if word.surface in _TOPIC_MARKS and has_noun:
            break
        text += word.surface
        case = word.surface if word.stopped and word.surface in _CASES else ""
        has_noun = has_noun or (word.is_noun and not word.stopped)
        if len(text) > _LONGEST_TOPIC or word.surface in "、。？?,":
            return ""
    else:
        return ""
    text = text.removesuffix(case)
    return "" if _INTERROGATIVE.search(text) or not before.startswith(text) else text


def _has_predicate(text: str) -> bool:
    """Tell whether a text holds a verb, so that it is more than a name for something."""
    if _INTERROGATIVE.search(text):
        return True
    return any(not (word.is_noun or word.stopped or kind.startswith("接頭詞")) for word, _, kind, _ in described(text))


def _only(titles: Sequence[str]) -> str:
    return f"「{titles[0]}」" if len(set(titles)) == 1 else ""
