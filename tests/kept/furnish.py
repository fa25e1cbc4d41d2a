"""Fills a new data folder with something of everything, mostly through the routes that programs use.

It runs at the commit that the kept files were written by and at every later one, so it names hardly anything of the
program but its addresses and the fields of their JSON.
"""

from __future__ import annotations

import base64
import io
import shlex
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

import core
from app.main import create_app
from core.errors import GenerationFailed
from core.model.training import TrainingCourse, TrainingLabels
from core.settings import Settings
from core.snn.artifacts import manifest, write_json
from core.snn.jobs import TrainingSource, begin_job
from core.snn.recording import save
from tests.doubles import RecordedGenerator, tiny_recording, use
from tests.unit.ingest.documents import docx_parts, paragraph, pdf, pdf_stream, pptx, slide_text, text_pdf, xlsx

ADMIN, PASSWORD = "ada", "a long enough password"
TUS = {"Tus-Resumable": "1.0.0"}
PART = "application/offset+octet-stream"
LONG_TEXT = "The pump of hall 3 is checked every 14 days.\n" * 40
RECEIVED = 600
"""Bytes of the unfinished upload that have arrived."""

WRITTEN = (
    "The yearly fee is 12 euros. [1] The yearly fee was 99 euros. [1] "
    "An annual fee of 12 euros is asked by the club. [1] Penguins march over southern ice."
)
"""Supported, with a figure of its own, settled by the meaning, and supported by nothing."""
PROGRAM = f"import sys; sys.stdin.read(); print({WRITTEN!r})"


def settings(folder: Path, **changes: Any) -> Settings:
    """Both indexes are on the disk; vectors are short and hashed, for the files are part of the repository."""
    values: dict[str, Any] = {
        "data_dir": folder,
        "embedder": "hash:32",
        "job_workers": 0,
        "chunk_tokens": 60,
        "search_depth": 6,
        "upload_expiry_hours": 24 * 365 * 200,
        "min_free_bytes": 0,
        "llm_command": shlex.join([sys.executable, "-c", PROGRAM]),
        "rate_limit": 0,
    }
    return Settings(**{**values, **changes})


class Caller:
    """A program that calls the routes with a key."""

    def __init__(self, client: FlaskClient, secret: str = "") -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {secret}"} if secret else {"Sec-Fetch-Site": "same-origin"}

    def __call__(self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any) -> Any:
        answer = self.raw(method, path, headers=headers, **options)
        assert answer.status_code < 400, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.get_json() if answer.is_json else answer.data

    def raw(self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any) -> Any:
        where = path if path.startswith("/") else f"/api/v1/{path}"
        return self._client.open(where, method=method, headers={**self._headers, **(headers or {})}, **options)

    def send(self, name: str, content: bytes, **fields: Any) -> Any:
        form = {"file": (io.BytesIO(content), name), **fields}
        return self("POST", "documents", data=form, content_type="multipart/form-data")

    def sign_in(self, name: str, password: str) -> int:
        form = {"name": name, "password": password}
        return int(self._client.post("/sign-in", data=form, headers=self._headers).status_code)

    def upload(self, name: str, content: bytes, received: int | None = None, **said: str) -> str:
        """Send a file in parts, wholly or its first bytes only; return its address."""
        pairs = {"filename": name, **said}.items()
        metadata = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs)
        headers = {**TUS, "Upload-Length": str(len(content)), "Upload-Metadata": metadata}
        where: str = self.raw("POST", "uploads", headers=headers).headers["Location"]
        self.go_on(where, content[:received], 0)
        return where

    def go_on(self, where: str, part: bytes, offset: int) -> None:
        self("PATCH", where, data=part, content_type=PART, headers={**TUS, "Upload-Offset": str(offset)})

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + 120
        while self.raw("GET", "health/ready").status_code != 200:
            assert time.monotonic() < deadline, self.raw("GET", "health/ready").text
            time.sleep(0.1)


def furnish(folder: Path, scratch: Path) -> dict[str, str]:
    """Fill a new data folder; return the secrets of the keys by name. What is queued and begun stays so."""
    with core.build(settings(folder)) as kb:
        client = create_app(kb).server.test_client()
        session = Caller(client)
        session.wait_until_ready()
        session("POST", "users", json={"name": ADMIN, "password": PASSWORD, "role": "admin"})
        session.sign_in(ADMIN, PASSWORD)
        secrets = _people(session)
        client.delete_cookie("evorag_session")
        ada, ben = (Caller(client, secrets[name]) for name in ("importer", "bens"))
        _documents(kb, ada, ben, scratch)
        _vocabulary(kb, ada)
        _questions(kb, ada)
        _evaluations(kb, ada)
        _recordings(kb, ada, scratch)
        _models(kb)
        _purge(kb, ada)
    _questions_that_meet_trouble(folder, secrets["importer"])
    with core.build(settings(folder)) as kb:
        ada = Caller(create_app(kb).server.test_client(), secrets["importer"])
        ada.wait_until_ready()
        _checks(kb, ada)
        _unfinished(ada)
    return secrets


def _people(session: Caller) -> dict[str, str]:
    session("POST", "users", json={"name": "ben", "password": PASSWORD, "role": "editor"})
    session("POST", "users", json={"name": "eve", "password": PASSWORD})
    session("PATCH", "users/eve", json={"is_disabled": True})
    session("POST", "users", json={"name": "gone", "password": PASSWORD})
    session("DELETE", "users/gone")
    asked = (("importer", "admin", ADMIN), ("bens", "editor", "ben"), ("revoked", "reader", ADMIN))
    made = {
        name: session(
            "POST",
            "keys",
            json={"name": name, "role": role, "user": user, "expires_at": "2199-01-01T00:00:00+00:00"},
        )
        for name, role, user in asked
    }
    session("DELETE", f"keys/{made['revoked']['key']['id']}")
    return {name: each["secret"] for name, each in made.items()}


def _documents(kb: core.KnowledgeBase, ada: Caller, ben: Caller, scratch: Path) -> None:
    def text(name: str, words: str, **more: Any) -> None:
        ada("POST", "texts", json={"name": name, "text": words, **more})
        kb.work_off()

    def file(name: str, content: bytes, caller: Caller = ada, **fields: Any) -> None:
        caller.send(name, content, **fields)
        kb.work_off()

    for words in ("ten euros", "eleven euros", "12 euros"):
        text("fees.txt", f"The yearly fee is {words}.\n\nIt is due in January.", tags=["money"], note=f"now {words}")
    text("fees.txt", "The yearly fee is thirteen euros.", draft=True, note="for May", label="2.0")
    for words in ("nine", "ten", "eleven"):
        text("hours.txt", f"The shop opens at {words}.\n\nIt is closed on Sundays.")
    ada("POST", "documents/hours.txt/rollback", json={"version": 2, "note": "eleven was wrong"})
    later = {"publish_at": "2199-05-01T09:00:00+00:00"}
    text("hours.txt", "The shop opens at noon.", **later)
    file("日当.md", "# 出張規程\n\n## 日当\n\n日当は3,200円とする。宿泊費は別に払う。\n".encode(), tags="travel")
    file("日当.md", "# 出張規程\n\n## 日当\n\n日当は3,500円とする。宿泊費は別に払う。\n".encode())
    html = (
        "<html><head><title>Museum</title></head><body><h1>Visits</h1><p>The museum opens at nine. Is entry free? "
        "Entry is free on Mondays.</p><table><tr><th>Room</th><th>Painter</th></tr><tr><td>1</td><td>Klee</td></tr>"
        f"<tr><td>2</td><td>Marc</td></tr></table><img alt='door' src='data:image/png;base64,{_dot()}'></body></html>"
    )
    file("museum.html", html.encode(), early="true", priority="3")
    ada("PATCH", "documents/museum.html/versions/1", json={"label": "1.1", "note": "as agreed"})
    file("stock.csv", _stock("valve,12,3.50"), label="March", note="counted")
    file("stock.csv", _stock("valve,9,3.75"), label="April", note="counted")
    shapes = "".join(map(slide_text, ("Goals of the year", "Fewer leaks in hall 3")))
    file("goals.pptx", pptx(scratch / "goals.pptx", shapes).read_bytes())
    text("opening hours.txt", "The shop opens at ten.\n\nIt is closed on Sundays.")
    file("letter.docx", _docx("The laptop is replaced after four years.", "Batteries are replaced after two years."))
    file("letter.docx", _docx("The laptop is replaced after five years.", "Batteries are replaced after two years."))
    file("notice.pdf", pdf(text_pdf("Smoking is forbidden in the store room")))
    file("notice.pdf", pdf(_two_pages("Smoking is forbidden in the store room", "Fire exits are kept free")))
    cell = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
    rows = (
        cell.format("A1", "Room") + cell.format("B1", "Seats"),
        cell.format("A2", "Aquarium") + '<c r="B2"><v>14</v></c>',
    )
    cells = "".join(f'<row r="{number}">{row}</row>' for number, row in enumerate(rows, 1))
    file("rooms.xlsx", xlsx(scratch / "rooms.xlsx", cells).read_bytes())
    file("bens diary.txt", b"Ben likes walnut bread.", ben, private="true")
    file("broken.docx", _zip(docx_parts("<w:p></w:tbl>")))
    text("restored.txt", "What was deleted came back.")
    ada("POST", "documents/restored.txt/delete", json={"note": "by mistake"})
    ada("POST", "documents/restored.txt/restore", json={"note": "it was needed"})
    text("deleted.txt", "What was deleted stays away.")
    ada("DELETE", "documents/deleted.txt")
    text("hidden.txt", "Nobody sees this now.")
    ada("POST", "documents/hidden.txt/unpublish", json={"note": "not yet"})
    text("cancelled.txt", "This one is not wanted.")
    packed = _zip({"manual/pump.txt": b"The pump holds 14 litres.", "manual/valve.md": b"# Valve\n\nTurn it left."})
    ada.upload("manual.zip", packed, tags='["manual"]', note="from the maker")
    kb.work_off()
    ada("PUT", "documents/stock.csv/tags", json={"tags": ["store", "counted"]})
    for key in ("stock.csv", "fees.txt", "letter.docx"):
        ada("GET", f"diff?doc={key}&old=1&new=2")


def _vocabulary(kb: core.KnowledgeBase, ada: Caller) -> None:
    words = {
        "words": [["社内便", "シャナイビン"], ["AB 1"]],
        "synonyms": [["laptop", "notebook computer"], ["fee", "charge"]],
    }
    ada("PUT", "vocabulary", json=words)
    ada("POST", "vocabulary/reindex")
    kb.work_off()


def _questions(kb: core.KnowledgeBase, ada: Caller) -> None:
    def ask(question: str, **more: Any) -> Any:
        return ada("POST", "ask", json={"question": question, **more})

    ask("When does the shop open?")
    ask("When does the shop open?")
    ask("日当はいくらですか")
    ask("What is the yearly charge?", as_of="1", rerank="mix", recency=True)
    ask("What is the yearly fee?", generator="command")
    ask("What is the yearly fee?", as_of="fees.txt#v1", per_document=1, fresh=True)
    ask("When is a notebook computer replaced?", versions="all", fusion="mix", alpha=0.4, top_k=3)
    filters = {
        "tags": ["money", "travel"],
        "extensions": ["txt", "md"],
        "updated_after": "2020-01-01T00:00:00+00:00",
        "updated_before": "2199-01-01T00:00:00+00:00",
        "doc_keys": ["fees.txt", "日当.md"],
    }
    ask("What is due in January?", filters=filters)
    ask('"free on Mondays" -shop type:html', syntax="advanced")
    ask("How many seats has the aquarium in last week's reports?", dismissed=["document:nothing"], read_filters=True)
    ask("Which colour has the moon over Tokyo?", rerank="cross")
    ask("How many documents are there?")
    ask("How many seals of 33 mm are there?")
    ask("What are the goals of the year?")
    use(kb, RecordedGenerator(GenerationFailed("The program stopped.")))
    ask("When does the shop open?", generator="snn", fresh=True)
    talk = ada("POST", "conversations", json={})["id"]
    ask("When does the museum open?", conversation_id=talk)
    ask("Is it free?", conversation_id=talk)
    ada("PATCH", f"conversations/{talk}", json={"title": "About the museum"})
    ask("Is smoking allowed in the store room?", rerank="none")
    ask("Is smoking permitted in the store room?", rerank="none")
    for question in ("When does the shop open?", "日当はいくらですか"):
        ada("POST", "saved-questions", json={"text": question})
    stages = {"old": {"doc_key": "stock.csv", "version": 1}, "new": {"doc_key": "stock.csv", "version": 2}}
    ada("POST", "compare-answers", json={"question": "How many valves are there?", **stages})


def _questions_that_meet_trouble(folder: Path, secret: str) -> None:
    """Ask where sentences that nothing supports are marked, and where a store does not answer."""
    for changes in ({"unsupported": "mark"}, {"keyword_url": "http://127.0.0.1:9"}):
        with core.build(settings(folder, **changes)) as kb:
            ada = Caller(create_app(kb).server.test_client(), secret)
            ada("POST", "ask", json={"question": "What is the yearly fee?", "generator": "command", "fresh": True})


def _evaluations(kb: core.KnowledgeBase, ada: Caller) -> None:
    lines = (
        "question,doc,answers,answerable\nWhen does the shop open?,hours.txt,ten,\n"
        "Who painted the moon?,nowhere.txt,Bob,\nWhat is the yearly fee?,fees.txt,12 euros,\nWho is the king?,,,no\n"
    )
    form = {"file": (io.BytesIO(lines.encode()), "staff.csv")}
    kept = ada("POST", "question-sets", data=form, content_type="multipart/form-data")
    ada("PATCH", f"question-sets/{kept['id']}", json={"gates": True})
    run = ada("POST", "evaluations", json={"set_id": kept["id"], "label": "first", "top_k": 3})
    kb.evaluations.wait(run["id"])


def _recordings(kb: core.KnowledgeBase, ada: Caller, scratch: Path) -> None:
    use(kb, RecordedGenerator("The museum opens at nine. [1]"))
    ada("POST", "ask", json={"question": "When does the museum open?", "record": True})
    save(tiny_recording(7), scratch / "spikes.pt")
    form = {"file": (io.BytesIO((scratch / "spikes.pt").read_bytes()), "spikes.pt"), "name": "sent as a file"}
    ada("POST", "recordings", data=form, content_type="multipart/form-data")


def _models(kb: core.KnowledgeBase) -> None:
    """Leave what trainings leave: a model, but for weights of any use, and one whose training was interrupted."""
    models = kb.settings.data_dir / "models"
    labels, course = TrainingLabels("small"), TrainingCourse(steps=1, layers=1, width=64)
    place = models / "trained" / "small"
    place.mkdir(parents=True)
    config = course.config("0" * 64)
    write_json(place / "artifact_manifest.json", manifest(labels, config, ["money"], 1))
    write_json(place / "training_config.json", config)
    (place / "model.safetensors").write_bytes(bytes(range(256)))
    write_json(models / "chosen.json", {"standard": "small"})
    texts = [TrainingSource("The yearly fee is 12 euros. " * 20, ("money",))]
    begin_job(models, TrainingLabels("interrupted", license="MIT"), course, texts, ["money"])


def _purge(kb: core.KnowledgeBase, ada: Caller) -> None:
    for words in ("Nobody may know the code 4711.", "Nobody may know any code."):
        ada("POST", "texts", json={"name": "codes.txt", "text": words})
        kb.work_off()
        ada("POST", "ask", json={"question": "What is the code that nobody may know?", "fresh": True})
    ada("POST", "documents/codes.txt/purge", json={"version": 1, "confirm": "codes.txt"})
    ada("POST", "texts", json={"name": "secret.txt", "text": "This is purged as a whole."})
    kb.work_off()
    ada("POST", "documents/secret.txt/purge", json={"confirm": "secret.txt"})
    kb.work_off()


def _checks(kb: core.KnowledgeBase, ada: Caller) -> None:
    ada("POST", "stores/repair", json={"dry_run": True})
    kb.work_off()


def _unfinished(ada: Caller) -> None:
    """Leave a text, an archive and a check of the stores in the queue, and an upload half arrived."""
    ada(
        "POST", "texts", json={"name": "waiting.txt", "text": "This one is queued.", "tags": ["late"], "note": "queued"}
    )
    job = ada("POST", "texts", json={"name": "cancelled.txt", "text": "Nobody waits for this one."})["job_id"]
    ada("POST", f"jobs/{job}/cancel")
    packed = _zip({"late/boiler.txt": b"The boiler is lit in October."})
    said = {"note": "late", "label": "L1", "private": "true", "early": "true", "priority": "1"}
    ada.upload("late.zip", packed, tags='["manual"]', **said)
    ada("POST", "stores/repair", json={"store": "keyword", "dry_run": False})
    ada.upload("pump.txt", LONG_TEXT.encode(), RECEIVED, tags='["pump"]', note="half", label="P1", priority="2")


def _stock(first: str) -> bytes:
    """More lines than one passage holds, so that the header stands over several."""
    return "\n".join(
        ["item,pieces,price", first, *(f"seal {size} mm,{size * 3},0.{size}" for size in range(10, 40))]
    ).encode()


def _dot() -> str:
    from PIL import Image

    dot = io.BytesIO()
    Image.new("RGB", (12, 12), (200, 40, 40)).save(dot, "PNG")
    return base64.b64encode(dot.getvalue()).decode()


def _zip(files: dict[str, bytes | str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6)), content)
    return packed.getvalue()


def _docx(*paragraphs: str) -> bytes:
    return _zip(docx_parts("".join(map(paragraph, paragraphs))))


def _two_pages(first: str, second: str) -> dict[int, str | bytes]:
    one = text_pdf(first)
    page = str(one[3]).replace("/Contents 4 0 R", "/Contents 7 0 R")
    more: dict[int, str | bytes] = {
        2: "<</Type /Pages /Kids [3 0 R 6 0 R] /Count 2>>",
        6: page,
        7: pdf_stream(f"BT /F1 12 Tf 72 700 Td ({second}) Tj ET".encode()),
    }
    return {**one, **more}
