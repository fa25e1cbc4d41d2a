"""What has no place in an answer unless the documents hold it: links, addresses, images, HTML, advertising."""

from __future__ import annotations

import re

from core.text.analysis import normalise

_LINK = re.compile(
    r"(?<![\w+.-])(?:[a-z][a-z0-9+.-]{0,30}://|www\.)[^\s<>\"'()\[\]「」（）。、]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|info|biz|io|ai|app|dev|shop|store|xyz|jp|uk|de|fr|cn|ru|eu)\b"
    r"(?:/[^\s<>\"'()]*)?|(?<![\w-])(?:data|javascript|mailto|vbscript):[^\s]+",
    re.IGNORECASE | re.ASCII,
)
_IMAGE = re.compile(
    r"!\[[^\]]{0,500}\]\s{0,9}[(\[]"
    r"|<\s{0,9}(?:img|image|iframe|script|video|audio|object|embed|link|svg|picture|source|input|style|base|form)\b[^>]{0,300}"
    r"(?:\b(?:src|srcset|href|data|poster|action|style|on\w+)\s*=|url\()",
    re.IGNORECASE,
)
_TAG = re.compile(r"<!--|<\s{0,9}/?[a-z][^<>]{0,200}>?|!\[[^\]]{0,500}\]", re.IGNORECASE)
_SLOGANS = """
    buy now|order now|call now|click here|sign up now|subscribe now|subscribe to|follow us|limited offer|special offer
    |limited time offer|promo code|coupon code|discount code|money back|free trial|act now|visit our website
    |affiliate link|sponsored by|like and share|今すぐ購入|今すぐ登録|今すぐ申し込|ご購入はこちら|お申し込みはこちら
    |詳しくはこちら|クリックしてください|チャンネル登録|期間限定|キャンペーン中|クーポンコード|割引コード|無料体験
    |お問い合わせはこちら|フォローして
"""
_ADVERTISING = tuple(map(str.strip, _SLOGANS.split("|")))


def plain(text: str) -> str:
    """Return the text in the form in which it is compared."""
    return normalise(text).casefold()


def unsupported_content(sentence: str, held: str) -> str:
    """Return why a sentence may not be shown, or nothing.

    ``held`` is what the documents say, made ``plain``. Reasons: ``remote_image`` (whatever the documents say: nothing
    may be loaded from elsewhere), ``foreign_html``, ``foreign_link`` and ``advertising``.
    """
    said = plain(sentence)
    if _IMAGE.search(said):
        return "remote_image"
    tags = _TAG.findall(said)
    if any(tag not in held for tag in tags):
        return "remote_image" if any(tag.startswith(("![", "<img")) for tag in tags) else "foreign_html"
    if any(link.rstrip(".,;:!?") not in held for link in _LINK.findall(said)):
        return "foreign_link"
    if any(slogan in said and slogan not in held for slogan in _ADVERTISING):
        return "advertising"
    return ""
