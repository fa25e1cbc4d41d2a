"""Both languages say everything, and say it as each language does."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app import i18n
from app.components.shared.times import left_of, relative
from core import errors

APP = Path(i18n.__file__).parent
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def forms(message: i18n.Message) -> list[str]:
    return list(message.values()) if isinstance(message, dict) else [message]


def fields(message: i18n.Message) -> set[str]:
    return {name for form in forms(message) for name in re.findall(r"\{(\w+)\}", form)}


def error_kinds(kind: type[errors.EvoRAGError]) -> list[type[errors.EvoRAGError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in error_kinds(child))]


def test_languages_have_the_same_messages() -> None:
    assert set(i18n.messages("en")) == set(i18n.messages("ja"))


def test_messages_have_the_same_fields_and_are_not_empty() -> None:
    for key, message in i18n.messages("en").items():
        other = i18n.messages("ja")[key]
        assert all(forms(message)) and all(forms(other)), key
        assert fields(other) <= fields(message) | {"count"}, key


def test_numbers_have_two_forms_in_english_and_one_in_japanese() -> None:
    for lang, expected in (("en", {"one", "other"}), ("ja", {"other"})):
        for key, message in i18n.messages(lang).items():
            assert isinstance(message, str) or set(message) == expected, (lang, key)


def test_japanese_messages_are_japanese_without_half_width_kana() -> None:
    text = "".join(form for message in i18n.messages("ja").values() for form in forms(message))
    assert not re.search(r"[\uff61-\uff9f]", text)
    untranslated = [key for key, message in i18n.messages("ja").items() if message == i18n.messages("en")[key]]
    assert [key for key in untranslated if re.search(r"(?<!\{)\b[a-z]{4}", str(i18n.messages("en")[key]))] == []


def test_no_message_shouts() -> None:
    for lang in i18n.LANGUAGES:
        assert [
            key for key, message in i18n.messages(lang).items() if any(s in "".join(forms(message)) for s in "!！")
        ] == []


def test_every_key_that_the_code_names_exists() -> None:
    named = set()
    for source in [*APP.rglob("*.py"), *(APP.parent / "assets" / "modules").rglob("*.js")]:
        named |= set(
            re.findall(r"""\b(?:t|text|tab_title)\(\s*["']([a-z_]+(?:\.[a-z_]+)+)["']""", source.read_text("utf-8"))
        )
    assert named - set(i18n.messages("en")) == {"area.key"}  # the example of i18n's own docstring
    assert len(named) > 50


def test_every_error_has_a_title_and_a_remedy() -> None:
    for kind in error_kinds(errors.EvoRAGError):
        assert i18n.has(f"error.{kind.code}") and i18n.has(f"remedy.{kind.code}"), kind


@pytest.mark.parametrize(
    ("lang", "count", "expected"),
    [("en", 1, "1 minute ago"), ("en", 2, "2 minutes ago"), ("ja", 1, "1分前"), ("en", 12_345, "12,345 minutes ago")],
)
def test_count_chooses_the_form(lang: str, count: int, expected: str) -> None:
    assert i18n.t("time.minutes", lang, count=count) == expected


def test_value_with_braces_stays_as_it_is() -> None:
    assert "{0.__class__}" in i18n.t("error.internal.id", "en", id="{0.__class__}")


def test_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        i18n.t("no.such.key")


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [(0, "0 B"), (1023, "1,023 B"), (1536, "1.5 KB"), (512 * 2**20, "512 MB"), (3 * 2**40, "3,072 GB")],
)
def test_sizes_are_read_as_file_managers_show_them(size_bytes: int, expected: str) -> None:
    assert i18n.size(size_bytes) == expected


@pytest.mark.parametrize(
    ("duration_s", "expected"), [(0.34, "340 ms"), (2.44, "2.4 s"), (42.2, "42 s"), (200, "3 min 20 s")]
)
def test_durations_carry_their_unit(duration_s: float, expected: str) -> None:
    assert i18n.seconds(duration_s, "en") == expected


@pytest.mark.parametrize(
    ("age", "en", "ja"),
    [
        (timedelta(seconds=2), "just now", "たった今"),
        (timedelta(seconds=-5), "just now", "たった今"),
        (timedelta(minutes=59), "59 minutes ago", "59分前"),
        (timedelta(hours=1), "1 hour ago", "1時間前"),
        (timedelta(days=29), "29 days ago", "29日前"),
        (timedelta(days=31), "21 Oct 2026, 12:00 UTC", "2026年10月21日 12:00 UTC"),
    ],
)
def test_moments_are_relative(age: timedelta, en: str, ja: str) -> None:
    assert (relative(NOW - age, NOW, "en"), relative(NOW - age, NOW, "ja")) == (en, ja)


@pytest.mark.parametrize(
    ("accepts", "cookie", "expected"),
    [("ja,en;q=0.8", None, "ja"), ("fr", None, "en"), ("", None, "en"), ("en", "ja", "ja"), ("ja", "xx", "ja")],
)
def test_language_is_the_cookie_then_the_browser_then_english(
    client: FlaskClient, accepts: str, cookie: str | None, expected: str
) -> None:
    if cookie:
        client.set_cookie(i18n.COOKIE, cookie)
    assert f'<html lang="{expected}"' in client.get("/", headers={"Accept-Language": accepts}).text


def test_address_with_a_language_sets_it_and_goes_on_without(client: FlaskClient) -> None:
    answer = client.get("/ask?q=%E7%82%B9%E6%A4%9C&lang=ja")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/ask?q=%E7%82%B9%E6%A4%9C"
    assert '<html lang="ja"' in client.get("/ask").text


@pytest.mark.parametrize("path", ["//evil.example/?lang=ja", "/%5Cevil.example/?lang=ja", "/\\evil.example?lang=ja"])
def test_language_address_leads_to_no_other_host(client: FlaskClient, path: str) -> None:
    location = client.get(path).headers.get("Location", "/")
    assert location.startswith("/") and not location.startswith(("//", "/\\"))


def test_time_left_follows_what_was_done_since_the_beginning_and_is_not_said_before() -> None:
    began = NOW - timedelta(seconds=30)
    assert left_of(10, 40, began, NOW) == "2 min left"
    assert left_of(10, 11, began, NOW) == "3 s left"
    for done, total, at in ((0, 40, began), (40, 40, began), (1, 40, NOW), (1, 40, None)):
        assert left_of(done, total, at, NOW) == ""
