"""Plain text and CSV: encodings, paragraphs, rows, and files that are larger than memory should hold."""

from __future__ import annotations

import tracemalloc
import unicodedata
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Undecodable
from core.ingest.parsers import parse
from core.ingest.parsers.encoding import READ_BYTES, detect, is_binary
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.ingest.parsers.wording import MAX_BLOCK_CHARS, clean, join_lines, pieces, squeeze
from core.model import BlockKind
from tests.unit.ingest.documents import read, texts

JAPANESE = (
    "東京本社の就業規則では、年次有給休暇は入社後六か月で十日付与される。\n"
    "ただし、パートタイム社員についてはこの限りではない。\n\n"
    "申請はポータルサイトから行い、上長の承認を得ること。ＡＢＣ株式会社・総務部「担当：山田」\n"
)
ENGLISH = "The café in Zürich serves crème brûlée — naïve visitors say it’s déjà vu.\n" * 3


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp932", "euc_jp", "iso2022_jp"],
)
@pytest.mark.parametrize("repeats", [1, 400])
def test_japanese_is_read_in_every_encoding(tmp_path: Path, encoding: str, repeats: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((JAPANESE * repeats).encode(encoding))
    blocks, _ = read(path)
    expected = [part.strip("\n") for part in (JAPANESE * repeats).split("\n\n")]
    assert texts(blocks) == expected


def test_half_width_katakana_is_read(tmp_path: Path) -> None:
    text = "ｺｰﾄﾞ: ﾃｽﾄ品番 の一覧を下に示す。数量は十個である。これは注文書の写しです。\n"
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode("cp932"))
    assert texts(read(path)[0]) == [text.strip()]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_western_letters_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(ENGLISH.encode(encoding))
    blocks, metadata = read(path)
    assert texts(blocks) == [ENGLISH.strip()]
    assert metadata["encoding"] == encoding


def test_the_encoding_is_found_where_the_first_letters_beyond_ascii_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain line\n" * 200_000 + "\n休暇の申請は上長の承認を得ること。\n".encode("euc_jp"))
    assert read(path)[0][-1].text == "休暇の申請は上長の承認を得ること。"


@pytest.mark.parametrize(
    "content",
    [
        JAPANESE.encode("utf-8") * 3 + JAPANESE.encode("cp932") * 3,
        JAPANESE.encode("cp932") * 5 + JAPANESE.encode("euc_jp") * 5,
        bytes(range(128, 256)) * 30,
        bytes(range(256)) * 30,
    ],
)
def test_a_text_that_cannot_be_read_with_certainty_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(Undecodable):
        read(path)


SENTENCES = {
    ("cp1250", "iso8859_2"): (
        "Książka leży na stole, a okno jest otwarte. Proszę zamknąć drzwi, gdy będzie późno.",
        "Kniha leží na stole a okno je otevřené. Prosím zavřete dveře, až bude pozdě; příští týden přijde nový učitel.",
        "A könyv az asztalon fekszik, az ablak nyitva van. Este csukja be az ajtót, mert ősszel hűvös lesz.",
    ),
    ("cp1251", "koi8_r", "iso8859_5", "cp866"): (
        "Книга лежит на столе, а окно открыто. Пожалуйста, закройте дверь, когда будете уходить вечером домой.",
    ),
    ("cp1253",): (
        "Το βιβλίο είναι πάνω στο τραπέζι και το παράθυρο είναι ανοιχτό. Παρακαλώ κλείστε την πόρτα το βράδυ.",
    ),
    ("cp1254",): ("Kitap masanın üzerinde ve pencere açık. Akşam çıkarken kapıyı kapatın; sabah buluşacağız.",),
    ("cp1255",): ("הספר מונח על השולחן והחלון פתוח. בבקשה לסגור את הדלת כאשר יוצאים בערב הביתה.",),
    ("cp1256",): ("الكتاب على الطاولة والنافذة مفتوحة. يرجى إغلاق الباب عند الخروج في المساء إلى البيت.",),
    ("cp1257",): ("Knyga guli ant stalo. Prašome uždaryti duris, kai išeisite vėlai, nes šąla ir pučia vėjas.",),
    ("cp1252", "mac_roman"): (
        "Le livre est posé sur la table et la fenêtre est ouverte. Fermez la porte à clé le soir, s’il vous plaît.",
        "Das Buch liegt auf dem Tisch, das Fenster ist geöffnet. Schließen Sie abends die Tür, wenn Sie spät gehen.",
        "El libro está en la mesa y la ventana está abierta. Mañana cerrará la puerta el señor Núñez, ¿verdad?",
    ),
    ("cp1252",): (
        "Rendez-vous à midi.",
        "Größe: 5 m, Fläche über 3 m². Öl prüfen.",
        "Bókin liggur á borðinu og glugginn er opinn. Það er gott að loka dyrunum á kvöldin.",
        "O livro está na mesa e as janelas estão abertas; não há lições amanhã.",
    ),
    ("gb18030", "gbk"): ("书放在桌子上，窗户开着。晚上离开的时候请把门关好，明天早上我们在会议室见面。",),
    ("big5",): ("書放在桌子上，窗戶開著。晚上離開的時候請把門關好，明天早上我們在會議室見面。",),
    ("euc_kr",): ("책은 책상 위에 있고 창문은 열려 있습니다. 저녁에 나갈 때 문을 닫아 주십시오.",),
    ("cp874",): ("หนังสือวางอยู่บนโต๊ะและหน้าต่างเปิดอยู่ กรุณาปิดประตูเมื่อออกจากห้องในตอนเย็น",),
}
VIETNAMESE = "Quyển sách nằm trên bàn và cửa sổ đang mở. Xin đóng cửa lại khi bạn ra về vào buổi tối muộn."
TONES = "\u0300\u0301\u0303\u0309\u0323"
FEW_LETTERS = 4
"""Fewer different letters beyond ASCII say nothing: ``ž`` and ``ľ`` are one byte in two encodings of two languages."""
WRITTEN = [(encoding, text) for encodings, texts in SENTENCES.items() for encoding in encodings for text in texts]


@pytest.mark.parametrize(("encoding", "text"), WRITTEN)
@pytest.mark.parametrize("repeats", [1, 50])
def test_other_encodings_are_read(tmp_path: Path, encoding: str, text: str, repeats: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\n\n".join([text] * repeats).encode(encoding))
    assert texts(read(path)[0]) == [text] * repeats


@pytest.mark.parametrize(("encoding", "text"), WRITTEN)
def test_a_few_words_are_read_rightly_or_refused(encoding: str, text: str) -> None:
    words = text.split(" ")
    for count in range(1, len(words)):
        some = " ".join(words[:count])
        if len(set(filter(str.isalpha, some)) - set(map(chr, range(128)))) < FEW_LETTERS:
            continue
        data = some.encode(encoding)
        try:
            found = data.decode(detect(data))
        except Undecodable:
            continue
        assert found == some


@pytest.mark.parametrize("repeats", [1, 5_000])
def test_vietnamese_is_read_in_the_encoding_that_sets_tones_behind_their_letters(tmp_path: Path, repeats: int) -> None:
    def as_stored(letter: str) -> str:
        parts = unicodedata.normalize("NFD", letter)
        tones = "".join(part for part in parts if part in TONES)
        return unicodedata.normalize("NFC", "".join(part for part in parts if part not in TONES)) + tones

    path = tmp_path / "a.txt"
    path.write_bytes("\n\n".join(["".join(map(as_stored, VIETNAMESE))] * repeats).encode("cp1258"))
    blocks, metadata = read(path)
    assert metadata["encoding"] == "cp1258"
    assert texts(blocks) == [VIETNAMESE] * repeats


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
def test_a_long_text_with_few_accents_keeps_them(tmp_path: Path, encoding: str) -> None:
    text = "Il libro è sul tavolo. " + "La finestra resta aperta fino a sera, poi si chiude la porta. " * 20
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert "\ufffd" not in texts(read(tmp_path / "a.txt")[0])[0]
    assert detect(text.encode("cp1252")) == "cp1252"


def test_garbage_after_a_good_start_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("日本語の文。\n".encode() * 100_000 + b"\xff\xfe\x80" * 200_000)
    with pytest.raises(Undecodable):
        read(path)


def test_a_single_bad_byte_costs_one_sign_and_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(JAPANESE.encode() * 20 + b"\xff\n" + JAPANESE.encode() * 20)
    joined = "".join(texts(read(path)[0]))
    assert joined.count("\ufffd") == 1
    assert joined.count("東京本社") == 40


def test_controls_and_lone_surrogates_never_leave_the_parser(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    odd = "x\x01\x07y\uffffz \ufdd0" + "e" + "\u0301" * 10_000 + " tab\there\x0bnext\u2028line"
    path.write_bytes(odd.encode() * 1 + b" plain text that goes on" * 50)
    text = read(path)[0][0].text
    assert text.startswith("xyz e\u0301")
    assert "tab\there\nnext\nline" in text
    assert clean("a\ud800b\udfffc\0d") == "a\ufffdb\ufffdcd"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(alphabet="ab。. \n日", max_size=400), st.integers(min_value=4, max_value=50))
def test_cutting_loses_nothing_and_keeps_the_bound(text: str, limit: int) -> None:
    cut = list(pieces(text, limit))
    assert "".join(cut) == text
    assert all(0 < len(piece) <= limit for piece in cut)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(alphabet="ab 語。\n\r\t", min_size=1, max_size=60), max_size=12))
def test_no_visible_character_of_a_text_is_lost(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    content = "".join(parts)
    path.write_bytes(content.encode())
    blocks, _ = read(path)
    assert "".join("".join(texts(blocks)).split()) == "".join(content.split())


@pytest.mark.long
def test_one_enormous_line_is_streamed_in_bounded_pieces(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    sentence = "This is a sentence of one line. "
    with path.open("w") as file:
        for _ in range(24):
            file.write(sentence * (1024 * 1024 // len(sentence)))
    longest = total = 0
    ends = set()
    tracemalloc.start()
    for block in parse(ParserInput(path, "txt", ParserLimits())):
        longest = max(longest, len(block.text))
        total += len(block.text)
        ends.add(block.text[-2:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == path.stat().st_size
    assert longest <= MAX_BLOCK_CHARS
    assert ends == {". "}
    assert peak < 12 * 1024 * 1024


def test_lines_of_a_paragraph_stay_apart_and_blank_lines_part_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\n\r\n  \t\r\nthree\rfour")
    assert texts(read(path)[0]) == ["one\ntwo", "three\nfour"]


def test_joining_lines_follows_the_script() -> None:
    assert join_lines("研究", "開発") == "研究開発"
    assert join_lines("research", "and") == "research and"
    assert join_lines("研究", "and") == "研究 and"


def test_blanks_that_typesetting_made_disappear() -> None:
    assert squeeze("令和 6 年 4 月 1 日に 12% 減少した") == "令和6年4月1日に12%減少した"
    assert squeeze("1.2 概要   の説明") == "1.2 概要 の説明"
    assert squeeze("年 次 報 告 書") == "年次報告書"
    assert squeeze("文書番号\u3000第 9 版") == "文書番号\u3000第9版"
    assert squeeze("plain  English   text") == "plain English text"


def test_every_group_of_csv_rows_carries_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("name,qty\n" + "".join(f"item {number},{number}\n" for number in range(200)), encoding="utf-8")
    blocks, _ = read(path)
    assert {block.kind for block in blocks} == {BlockKind.TABLE}
    assert blocks[0].text.startswith("name | qty\nitem 0 | 0\n") and blocks[0].header == ""
    assert all(block.header == "name | qty" for block in blocks[1:])
    assert [line for block in blocks for line in block.text.split("\n")][1:] == [f"item {n} | {n}" for n in range(200)]
    ends = accumulate(block.text.count("\n") + 1 for block in blocks)
    starts = [1, *(end + 1 for end in ends)]
    places = [f"A{first}:B{following - 1}" for first, following in pairwise(starts)]
    assert [block.locator.cells for block in blocks] == places
    assert all(block.text.count("\n") < 50 for block in blocks)


@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "cp932"), ("\t", "utf-16"), (";", "utf-8-sig")])
def test_csv_delimiters_and_encodings(tmp_path: Path, delimiter: str, encoding: str) -> None:
    path = tmp_path / "a.csv"
    rows = [["品名", "数量"], ["りんご, 青森", "三個"], ['"特選"\nみかん', "二箱"]]
    quoted = "\r\n".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    path.write_bytes(quoted.encode(encoding))
    assert read(path)[0][0].text == '品名 | 数量\nりんご, 青森 | 三個\n"特選" みかん | 二箱'


def test_a_quote_that_nothing_closes_loses_no_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"row {number},{number}\n" for number in range(100_000))
    path.write_text('a,b\n1,2\n"open,3\n' + rows, encoding="utf-8")
    joined = "\n".join(texts(read(path)[0]))
    assert "row 0" in joined and "row 99999" in joined and "1 | 2" in joined


def test_an_enormous_csv_cell_is_cut_into_bounded_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "x" * 900_000 + ",2\n", encoding="utf-8")
    blocks, _ = read(path)
    assert max(len(block.text) for block in blocks) <= MAX_BLOCK_CHARS
    assert sum(block.text.count("x") for block in blocks) == 900_000


def test_ascii_needs_no_guess() -> None:
    assert detect(b"plain ascii only") == "utf-8"


MANUAL_PAGE = """\
FERRY(1)                       Harbour Commands                       FERRY(1)

NAME
       ferry - cross the harbour

OPTIONS
       -n, --no-return
              Stay on the other side.

   Weather
       The ferry waits for fog to lift.

1.2                              May 2024                             FERRY(1)
"""


def test_headings_of_a_manual_page_are_told_by_its_indentation(tmp_path: Path) -> None:
    path = tmp_path / "ferry.txt"
    path.write_text(MANUAL_PAGE)
    blocks, _ = read(path)
    headings = [(block.text, block.level) for block in blocks if block.kind is BlockKind.HEADING]
    assert headings == [("NAME", 1), ("OPTIONS", 1), ("Weather", 2)]
    under = {block.text.strip(): block.locator.heading_path for block in blocks}
    assert under["The ferry waits for fog to lift."] == ("OPTIONS", "Weather")
    assert under["ferry - cross the harbour"] == ("NAME",)
    assert "".join("".join(texts(blocks)).split()) == "".join(MANUAL_PAGE.split())


def test_lines_at_the_margin_of_another_text_are_no_headings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(MANUAL_PAGE.replace("FERRY(1)", "FERRY"))
    assert all(block.kind is not BlockKind.HEADING for block in read(path)[0])


@pytest.mark.parametrize("before", range(0, 40))
def test_overstruck_letters_and_colours_of_a_terminal_leave_the_text_alone(tmp_path: Path, before: int) -> None:
    def bold(text: str) -> str:
        return "".join(sign if sign == " " else f"{sign}\b{sign}" for sign in text)

    head = "LS(1)                User Commands               LS(1)\n"
    body = f"\n{bold('NAME')}\n       {bold('ls')} - list _\bf_\bi_\bl_\be_\bs 研\b\b研 \x1b[1mnow\x1b[0m\n\n+\bo one\n"
    path = tmp_path / "a.txt"
    filler = "x" * (READ_BYTES - len(head) - 2 - 20 - before) if before else ""
    path.write_text(f"{head}\n{filler}\n{body}", encoding="utf-8")
    assert texts(read(path)[0])[-3:] == ["NAME", "       ls - list files 研 now", "o one"]


def test_an_overstruck_page_is_no_binary_file() -> None:
    assert not is_binary(b"N\bNA\bAM\bME\bE\n   l\bls\bs\n" * 10)
    assert is_binary(b"\x08\x08\x00\x01\x08\x02ab" * 10)


@pytest.mark.parametrize(
    "before",
    [
        "<!DOCTYPE html>\n<html>",
        "\ufeff\n<HTML lang='en'>",
        "<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0//EN'>\n<html>",
        "<!-- saved on Monday -->\n<html>",
    ],
)
def test_a_page_that_is_named_a_text_is_read_as_a_page(tmp_path: Path, before: str) -> None:
    path = tmp_path / "a.txt"
    page = f"{before}<head><title>Pumps</title></head><body><h1>Valves</h1><p>Open &amp; close them.</p></body></html>"
    path.write_text(page, encoding="utf-8")
    blocks, metadata = read(path)
    assert texts(blocks) == ["Valves", "Open & close them."]
    assert blocks[0].kind is BlockKind.HEADING
    assert metadata["parser"] == "html"


@pytest.mark.parametrize(
    "text",
    [
        "<html-note> is no page.",
        "<b>Bold</b> is set so.",
        "A page begins with\n<!DOCTYPE html>",
        "<?xml version='1.0'?><a>",
    ],
)
def test_a_text_that_only_shows_markup_stays_as_it_stands(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    assert texts(read(path)[0]) == [text]
