"""Sentences that give orders to whoever answers: a document's, which are never an answer in the product's own words.

They are told by what they say, in English and Japanese: that rules, passages or a prompt are to be left aside, or who
the reader of the text is from now on. A question about such sentences is answered with them.
"""

from __future__ import annotations

import re

_LEAVE = r"(?:ignore|disregard|override|bypass|forget|do not follow|don['’]t follow|stop following)"
_ALL = r"(?:all|any|every|the|your|my|these|those|previous|prior|above|earlier|preceding|other|system|of|and|original)"
_RULES = r"(?:instructions?|prompts?|guidelines|guardrails|directives?|system messages?)"
_TOLD = r"(?:say|answer|reply|respond|claim|write|output|print|tell|state)"
_ORDER = re.compile(
    rf"\b{_LEAVE}\s+(?:{_ALL}\s+){{1,5}}{_RULES}\b"
    rf"|\b{_LEAVE}\s+(?:{_ALL}\s+){{0,4}}(?:passages?|documents?|sources?|context|question)\b.{{0,60}}\b{_TOLD}\b"
    r"|\byou are (?:now |from now on |henceforth )?(?:an?|the|no longer an?) (?:[\w-]+ ){0,4}"
    r"(?:assistant|ai|chat ?bot|language model|llm)\b"
    r"|\b(?:reveal|print|repeat|output|show|leak|send)\b.{0,40}\b(?:system prompt|hidden instructions?)\b"
    # How a key is shown or sent is what manuals tell.
    r"|\b(?:reveal|leak)\b.{0,20}\b(?:your|all|the user['’]s?|users['’]?)\b.{0,20}\b(?:api keys?|passwords?|secrets?)\b"
    r"|(?:これまで|以前|上記|前述|以上|先ほど|今まで|すべて|全て|全部)の?[^。]{0,8}"
    r"(?:指示|命令|プロンプト|ルール|規則|文書|資料)[^。]{0,10}(?:無視|忘れ|破棄|従わ)"
    r"|(?:指示|命令|プロンプト|文書|資料)[^。]{0,8}無視[^。]{0,40}(?:答え|回答|言っ|言い|述べ|出力)"
    r"|あなたは[^。]{0,20}(?:アシスタント|AI|ＡＩ|言語モデル|チャットボット)(?:です|だ|とし)",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT = re.compile(
    r"\b(?:ignor\w*|disregard\w*|instruct\w*|prompts?|injections?|overrid\w*|guardrails?|assistants?|ai|chat ?bots?)\b"
    r"|無視|指示|命令|プロンプト|アシスタント|言語モデル|チャットボット",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[([^\]\n]{0,400})\]\([^()\n]{0,2000}\)")
_LINK = re.compile(r"\[([^\]\n]{1,400})\]\(([^()\s]{1,2000})\)")


def is_order(text: str) -> bool:
    """Tell whether a sentence gives orders to whoever answers from it."""
    return _ORDER.search(text) is not None


def asks_about_orders(question: str) -> bool:
    """Tell whether a question may be answered by such a sentence."""
    return _ABOUT.search(question) is not None


def without_targets(text: str) -> str:
    """Return the text without what a reader of Markdown would load, and with addresses behind their words."""
    return _LINK.sub(r"\1 (\2)", _IMAGE.sub(r"\1", text)) if "](" in text else text
