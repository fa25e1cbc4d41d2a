"""Mails (eml by RFC 5322 and 2045, msg of Outlook): who wrote what to whom when, the text, and what is attached."""

from __future__ import annotations

import codecs
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Any

from core.errors import EvoRAGError, ParserFailed
from core.ingest.parsers.embedded import size_of
from core.ingest.parsers.html import blocks_of
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import MEBIBYTE, Loss, ParserInput
from core.ingest.parsers.wording import one_line, pieces
from core.model import Block, BlockKind

MOST_BYTES = 256 * MEBIBYTE
_MOST_ATTACHMENTS = 200
_DEEPEST = 3
"""Mails within mails that are read."""
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg", ".emz", ".wmz", ".ics", ".vcf", ".p7s", ".asc")
"""Logos, signatures, cards and invitations: a mail is whole without them."""
_UNSET_YEAR = 1900
_CODE_PAGE = re.compile(r"windows_(\d{3})")


def _by_code_page(name: str) -> codecs.CodecInfo | None:
    """Return the codec of a code page that Python knows by another name, as those of East Asia."""
    page = _CODE_PAGE.fullmatch(name)
    try:
        return codecs.lookup(f"cp{page[1]}") if page else None
    except LookupError:
        return None


codecs.register(_by_code_page)


@dataclass(frozen=True, slots=True)
class _Mail:
    """What is read of a mail, whatever its format; ``html`` stands for ``text`` where there is only that."""

    subject: str
    said: tuple[tuple[str, str], ...]
    sent: datetime | None
    text: str
    html: str
    attachments: tuple[tuple[str, bytes], ...]


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an eml file and of its attachments. Raises: ``UnreadableDocument`` and its kinds."""
    reading.note(parser="eml")
    _check_size(reading)
    with reading.path.open("rb") as file:
        message = BytesParser(policy=policy.default).parse(file)
    yield from _blocks(_of_message(message, reading), reading)


def parse_outlook(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a msg file and of its attachments. Raises as ``parse``."""
    reading.note(parser="msg")
    _check_size(reading)
    from oxmsg import Message

    try:
        mail = _of_outlook(Message.load(str(reading.path)))
    except MemoryError:
        raise
    except Exception as error:
        # The library meets damaged files with whatever its next step raises.
        raise ParserFailed("The mail is damaged.") from error
    yield from _blocks(mail, reading)


def _check_size(reading: ParserInput) -> None:
    if reading.path.stat().st_size > MOST_BYTES:
        raise ParserFailed(f"Mails of more than {MOST_BYTES // MEBIBYTE} MiB are not read.")


def _of_message(message: EmailMessage, reading: ParserInput) -> _Mail:
    said = [(name, _header(message, name)) for name in ("From", "To", "Cc", "Date")]
    body = message.get_body(("plain", "html"))
    content = _content(body, reading) if body is not None else ""
    is_html = body is not None and body.get_content_type() == "text/html"
    attachments: list[tuple[str, bytes]] = []
    for part in _parts(message):
        if part is body:
            continue
        name = part.get_filename()
        if name is None and part.get_content_type() == "message/rfc822":
            name = "message.eml"
        if name and len(attachments) < _MOST_ATTACHMENTS:
            attachments.append((one_line(name), _bytes(part)))
    try:
        sent = message["Date"].datetime if message["Date"] is not None else None
    except (AttributeError, ValueError, TypeError):
        sent = None
    return _Mail(
        _header(message, "Subject"),
        tuple((name, text) for name, text in said if text),
        sent,
        "" if is_html else content,
        content if is_html else "",
        tuple(attachments),
    )


def _parts(message: Any) -> Iterator[Any]:
    """Yield the parts of a mail, but not those of a mail that hangs on it."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            waiting.extend(reversed(part.get_payload()))
        else:
            yield part


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message[name] or ""))
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        # Headers of spam are damaged in ways that the library does not expect.
        return ""


def _content(part: Any, reading: ParserInput) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, KeyError):
        reading.warn("The mail names an encoding that does not exist.")
        return (part.get_payload(decode=True) or b"").decode("utf-8", "replace")


def _bytes(part: Any) -> bytes:
    if part.get_content_type() == "message/rfc822":
        return b"".join(inner.as_bytes() for inner in part.get_payload())
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _of_outlook(message: Any) -> _Mail:
    headers = message.message_headers
    sent = message.sent_date if message.sent_date and message.sent_date.year > _UNSET_YEAR else None
    to = ", ".join(f"{each.name} <{each.email_address}>".strip() for each in message.recipients)
    said = (
        ("From", one_line(message.sender or "")),
        ("To", one_line(to)),
        ("Cc", one_line(headers.get("Cc", "") if headers else "")),
        ("Date", str(sent or "")),
    )
    attachments = tuple(
        (one_line(each.file_name or ""), each.file_bytes or b"")
        for each in list(message.attachments)[:_MOST_ATTACHMENTS]
        if each.attached_by_value
    )
    text = message.body or ""
    return _Mail(
        one_line(message.subject or ""),
        tuple((name, value) for name, value in said if value),
        sent,
        text,
        "" if text else message.html_body or "",
        attachments,
    )


def _blocks(mail: _Mail, reading: ParserInput) -> Iterator[Block]:
    outline = Outline()
    if mail.subject:
        yield outline.heading(mail.subject, 1)
    if mail.said:
        yield outline.block("\n".join(f"{name}: {text}" for name, text in mail.said), BlockKind.LIST)
    if mail.html and not mail.text:
        yield from blocks_of(mail.html, outline, reading, is_whole=False)
    for paragraph in mail.text.replace("\r\n", "\n").split("\n\n"):
        for piece in pieces(paragraph.strip()):
            yield outline.block(piece)
    reading.note(title=mail.subject, author=dict(mail.said).get("From"), created=mail.sent)
    reading.note(attachments=len(mail.attachments) or None)
    for name, data in mail.attachments:
        yield from _attached(name, data, outline, reading)


def _attached(name: str, data: bytes, outline: Outline, reading: ParserInput) -> Iterator[Block]:
    """Yield the text of an attachment under its name; what cannot be read is named and counted as lost."""
    from core.ingest.parsers import parse as parse_any
    from core.ingest.validate import check_type

    yield outline.heading(name, 2)
    if size_of(data) is not None:
        yield from reading.within_picture(lambda: data, outline.locator())
        return
    if reading.within >= _DEEPEST:
        reading.miss(Loss.ATTACHMENT)
        return
    with tempfile.TemporaryDirectory(prefix="evorag-mail-") as folder:
        path = Path(folder) / "attachment"
        path.write_bytes(data)
        inner = ParserInput(path, "", reading.limits, within=reading.within + 1, embedded=reading.embedded)
        try:
            inner.extension = check_type(name, data[:65_536], path)
            yield from _below(outline.path, parse_any(inner))
            if "in_part" in inner.metadata:
                reading.miss(Loss.ATTACHMENT)
        except EvoRAGError:
            if not name.lower().endswith(_PICTURES):
                reading.miss(Loss.ATTACHMENT)


def _below(above: tuple[str, ...], blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        locator = replace(block.locator, heading_path=(*above, *block.locator.heading_path))
        level = min(block.level + 2, 6) if block.kind is BlockKind.HEADING else block.level
        yield replace(block, locator=locator, level=level)
