"""What site generators add to Markdown: boxes with a title, tabs and tags of templates.

``!!! note "Title"`` and ``=== "Tab"`` have their content indented (Python-Markdown, Material for MkDocs), ``::: tip``
has it between marks (Docusaurus, VuePress); read as plain Markdown the first is code, and the marks are text. A box
with a title becomes a list of definitions with that one term. The plugins for both lose words of lines that only look
alike, and what follows forty marks that nothing closes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.utils import is_code_block

_MARK = "box_mark"
_INDENT = 4
_INDENTED = re.compile(
    r'(?:(?:!!!|\?\?\?\+?)[ \t]*([\w-]+(?:[ \t]+[\w-]+)*)?|===[+!]?)(?:[ \t]+"(.*)")?[ \t]*\Z', re.DOTALL
)
_MARKED = re.compile(r"(:{3,})(.*)", re.DOTALL)
_NAME = re.compile(r"([\w-]+)(?:\[(.*)\])?")
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ATTRIBUTES = re.compile(r"\{[^{}]*\}")
_TITLES = ("label", "title", "summary", "alt-text")
_TAG = re.compile(r"\{%[^{}]*%\}|\{\{[%<][^{}]*[%>]\}\}")
_ONLY_TAGS = re.compile(rf"(?:(?:{_TAG.pattern})[ \t]*)+\Z")
_TAG_AS_TARGET = re.compile(r"\]\((?:\{%[^{}]*%\}|\{\{[^{}]*\}\})")
_QUOTED = re.compile(r"""["']([^"']*)["']""")
_ALERT = re.compile(r"\[!\w+\][ \t]*(?:\n|\Z)")


def add_boxes(markdown: MarkdownIt) -> MarkdownIt:
    """Have a reader of Markdown take boxes, tabs and tags for what they are."""
    for name, rule in ((_MARK, _mark), ("template_tags", _tags), ("indented_box", _indented)):
        markdown.block.ruler.before("fence", name, rule, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    markdown.core.ruler.before("inline", "marked_boxes", _pair)
    markdown.core.ruler.before("inline", "site_marks", _without_marks)
    markdown.core.ruler.after("inline", "single_marks", _name)
    return markdown


def _pair(state: StateCore) -> None:
    """Make boxes of the marks ``:::`` that open and close one; others stay marks."""
    made = [[token] for token in state.tokens]
    opened: list[int] = []
    for at, token in enumerate(state.tokens):
        if token.type != _MARK:
            continue
        if token.info:
            if not token.info.endswith(":::"):
                opened.append(at)
        elif opened:
            first = opened.pop()
            title = _title_of(state.tokens[first].info)
            made[first], made[at] = list(_opening(title, token.level)), list(_closing(title, token.level))
    state.tokens = [token for tokens in made for token in tokens]


def _opening(title: str, level: int) -> Iterator[Token]:
    """Yield what stands before the content of a box: its title as a term, where it has one.

    Within raw HTML the list is hidden: there a box is its paragraphs.
    """
    if title:
        yield Token("dl_open", "dl", 1, level=level, hidden=True)
        yield Token("dt_open", "dt", 1, level=level, hidden=True)
        yield Token("paragraph_open", "p", 1, level=level)
        yield Token("inline", "", 0, content=title, children=[], level=level)
        yield Token("paragraph_close", "p", -1, level=level)
        yield Token("dt_close", "dt", -1, level=level, hidden=True)
        yield Token("dd_open", "dd", 1, level=level, hidden=True)


def _closing(title: str, level: int) -> Iterator[Token]:
    if title:
        yield Token("dd_close", "dd", -1, level=level, hidden=True)
        yield Token("dl_close", "dl", -1, level=level, hidden=True)


def _name(state: StateCore) -> None:
    """Have a mark that is of no box be the text that its attributes name it by, else all of its own."""
    made = []
    for token in state.tokens:
        if token.type != _MARK:
            made.append(token)
            continue
        info = token.info.removesuffix(":::").strip()
        if text := _named(info) or info:
            children = [Token("text", "", 0, content=text)]
            made.append(Token("inline", "", 0, content=text, children=children, level=token.level))
    state.tokens = made


def _title_of(info: str) -> str:
    """Return the title that was written behind ``:::`` and the name of its kind."""
    named = _NAME.match(info)
    if named and named[2] is not None:
        return named[2].strip()
    rest = info[named.end() :] if named else info
    return _named(rest) or _ATTRIBUTES.sub("", rest).strip()


def _named(info: str) -> str:
    """Return what attributes name a thing by."""
    told = {name: double or single for name, double, single in _ATTRIBUTE.findall(info)}
    return next((told[name] for name in _TITLES if name in told), "")


def _mark(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    found = None if is_code_block(state, first) else _MARKED.match(state.src, *_line(state, first))
    if found is None:
        return False
    if not silent:
        token = state.push(_MARK, "", 0)
        token.info = found[2].strip()
        state.line = first + 1
    return True


def _tags(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if is_code_block(state, first) or not _ONLY_TAGS.match(state.src, *_line(state, first)):
        return False
    if not silent:
        state.line = first + 1
    return True


def _indented(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a box that goes on as long as lines are empty or indented; without such a line it is text."""
    found = None if is_code_block(state, first) else _INDENTED.match(state.src, *_line(state, first))
    if found is None or (found[1] is None and found[2] is None):
        return False
    inner = state.sCount[first] + _INDENT
    end = first + 1
    while end < last and state.isEmpty(end):
        end += 1
    if end == last or state.sCount[end] < inner:
        return False
    if silent:
        return True
    while end < last and (state.isEmpty(end) or state.sCount[end] >= inner):
        end += 1
    before = state.parentType, state.lineMax, state.blkIndent
    state.parentType, state.lineMax, state.blkIndent = "admonition", end, inner
    title = (found[2] or "").strip()
    state.tokens.extend(_opening(title, state.level))
    state.md.block.tokenize(state, first + 1, end)
    state.tokens.extend(_closing(title, state.level))
    state.parentType, state.lineMax, state.blkIndent = before
    state.line = end
    return True


def _line(state: StateBlock, number: int) -> tuple[int, int]:
    return state.bMarks[number] + state.tShift[number], state.eMarks[number]


def _without_marks(state: StateCore) -> None:
    """Leave out of headings the anchors, of quotations the kinds of alerts, and everywhere the tags of templates."""
    for at, token in enumerate(state.tokens):
        if token.type != "inline":
            continue
        before = [each.type for each in state.tokens[max(0, at - 2) : at]]
        if before[-1:] == ["heading_open"]:
            token.content = _without_anchor(token.content)
        elif before == ["blockquote_open", "paragraph_open"]:
            token.content = _ALERT.sub("", token.content, count=1) if token.content[:2] == "[!" else token.content
        if "{" in token.content:
            token.content = _TAG_AS_TARGET.sub(_target, token.content)
            token.content = token.content if "`" in token.content else _TAG.sub("", token.content)


def _without_anchor(heading: str) -> str:
    """Return a heading without the ``{#anchor}`` at its end."""
    at = heading.rfind("{")
    is_anchor = at > 0 and heading.endswith("}") and heading[at + 1] in "#:"
    return heading[:at].rstrip() if is_anchor else heading


def _target(found: re.Match[str]) -> str:
    quoted = _QUOTED.search(found[0])
    return f"]({quoted[1] if quoted else ''}"
