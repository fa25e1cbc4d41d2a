"""Four callers reach for what is ann's, over the interface: nobody, a reader, another editor, and an administrator.

``tests/unit/app/test_every_route.py`` closes every route to strangers; here is something behind the routes.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import core
from app.main import create_app
from core.model import Role
from core.snn.recording import save
from tests.builders import add, knowledge_base
from tests.doubles import tiny_recording

pytestmark = pytest.mark.every_run

PASSWORD = "a long enough password"
SECRET = "zanzibar"
"""Stands in all that is ann's, and nowhere else."""
QUESTION = "Where do the cloves come from?"
HERS = "Spices: the cloves come from Zanzibar, and Pemba has the best of them."


@dataclass(frozen=True)
class Town:
    client: FlaskClient
    keys: dict[str, str]
    paths: dict[str, str]

    def ask(self, who: str, method: str, path: str, **given: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.keys[who]}"} if who != "nobody" else {}
        return self.client.open(f"/api/v1{path.format(**self.paths)}", method=method, headers=headers, **given)


def pdf() -> bytes:
    document = pymupdf.open()
    document.new_page(width=400, height=300).insert_textbox((40, 40, 360, 260), HERS, fontsize=12)
    return bytes(document.tobytes())


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    # So many requests come from one place.
    with knowledge_base(folder, rate_limit=0) as kb:
        add(kb, "open", "Spices: pepper comes from Kerala.")
        yield furnished(kb, folder)


def furnished(kb: core.KnowledgeBase, folder: Path) -> Town:
    keys = {}
    for name, role in (("root", Role.ADMIN), ("ann", Role.EDITOR), ("bob", Role.EDITOR), ("ron", Role.READER)):
        kb.accounts.create_user(name, PASSWORD, role)
        keys[name] = kb.accounts.create_key("k", role, user=name)[1]
    town = Town(create_app(kb).server.test_client(use_cookies=False), keys, {})
    sent = town.ask(
        "ann", "POST", "/documents", data={"file": (io.BytesIO(pdf()), f"{SECRET}.pdf"), "private": "true"}
    ).get_json()
    kb.work_off()
    conversation = town.ask("ann", "POST", "/conversations", json={}).get_json()["id"]
    asked = {"question": QUESTION, "conversation_id": conversation}
    trace = town.ask("ann", "POST", "/ask", json=asked).get_json()
    assert SECRET in json.dumps(trace).lower()
    save(tiny_recording(), folder / "hers.pt")
    with (folder / "hers.pt").open("rb") as file:
        recording = town.ask("ann", "POST", "/recordings", data={"file": (file, f"{SECRET}.pt")}).get_json()["id"]
    lines = f"question,doc\nWhere is {SECRET}?,x.txt\n".encode()
    file = {"file": (io.BytesIO(lines), f"{SECRET}.csv"), "shared": "false"}
    asked_set = town.ask("ann", "POST", "/question-sets", data=file).get_json()["id"]
    run = town.ask("ann", "POST", "/evaluations", json={"set_id": asked_set}).get_json()["id"]
    kb.evaluations.wait(run)
    saved = town.ask("ann", "POST", "/saved-questions", json={"text": f"Where is {SECRET}?", "shared": False})
    assert [each["is_shared"] for each in town.ask("ann", "GET", "/question-sets").get_json()["sets"]] == [False]
    town.paths.update(
        set=asked_set,
        run=run,
        saved=saved.get_json()["id"],
        doc=f"/documents/~ann%2F{SECRET}.pdf",
        job=sent["job_id"],
        conversation=conversation,
        trace=trace["id"],
        recording=recording,
    )
    return town


READ = (
    "{doc}",
    "{doc}/versions/1/chunks",
    "{doc}/text",
    "{doc}/publications",
    "{doc}/versions",
    "{doc}/versions/1",
    "{doc}/versions/1/original",
    "{doc}/versions/1/has-pages",
    "{doc}/versions/1/pages",
    "{doc}/versions/1/pages/1",
    "{doc}/versions/1/pages/1/text",
    "{doc}/versions/1/pages/find?text=cloves",
    "/jobs/{job}",
    "/jobs/{job}/log",
    "/conversations/{conversation}",
    "/conversations/{conversation}/export",
    "/traces/{trace}",
    "/traces/{trace}.json",
    "/traces/{trace}/wrong",
    "/recordings/{recording}",
    "/recordings/{recording}/file",
    "/recordings/{recording}/tokens",
    "/recordings/{recording}/summary",
    "/recordings/{recording}/heat-map",
    "/recordings/{recording}/export",
    "/question-sets/{set}",
    "/question-sets/{set}/questions",
    "/question-sets/{set}/export",
    "/evaluations?set={set}",
    "/evaluations/{run}",
    "/evaluations/{run}/outcomes",
    "/evaluations/compare?old={run}&new={run}",
    "/traces/{run}-1",
)
CHANGED: tuple[tuple[str, str, Any], ...] = (
    ("PATCH", "/conversations/{conversation}", {"title": "mine"}),
    ("PATCH", "/recordings/{recording}", {"name": "mine"}),
    ("POST", "/ask", {"question": "And Pemba?", "conversation_id": "{conversation}"}),
    ("POST", "/jobs/{job}/retry", None),
    ("POST", "/jobs/{job}/cancel", None),
    ("DELETE", "{doc}", None),
    ("DELETE", "/conversations/{conversation}", None),
    ("DELETE", "/recordings/{recording}", None),
    ("PATCH", "/question-sets/{set}", {"shared": True}),
    ("PATCH", "/question-sets/{set}", {"gates": True}),
    ("DELETE", "/question-sets/{set}", None),
    ("POST", "/evaluations", {"set_id": "{set}"}),
    ("POST", "/evaluations/{run}/cancel", None),
    ("DELETE", "/evaluations/{run}", None),
    ("PATCH", "/saved-questions/{saved}", {"shared": True}),
    ("DELETE", "/saved-questions/{saved}", None),
    ("POST", "/traces/{trace}/wrong", {"note": "mine"}),
    ("DELETE", "/traces/{trace}/wrong", None),
)
LISTS = (
    "/documents?limit=50",
    "/documents?q=zanzibar",
    "/jobs",
    "/conversations",
    "/questions",
    "/recordings",
    "/audit",
    "/tags",
    "/saved-questions",
    "/question-sets",
    "/evaluations",
    "/readings",
    "/readings/list",
    "/counts",
    "/models",
    "/trainings",
    "/generators",
    "/vocabulary",
)
OF_ADMINISTRATORS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/stores/quarantine", None),
    ("POST", "/stores/quarantine/restore", {"name": "x", "file_name": "x.txt"}),
    ("POST", "/stores/quarantine/empty", {"all": True}),
    ("GET", "/stores/files", None),
    ("GET", "/stores/report", None),
    ("POST", "/readings", {}),
    ("POST", "/readings/show", {}),
    ("POST", "/readings/undo", {}),
    ("POST", "/readings/drop", {}),
    ("GET", "/generators/servers", None),
    ("PUT", "/generators/servers/mine", {"url": "http://127.0.0.1:9/v1", "allow_inside": True}),
    ("DELETE", "/generators/servers/mine", None),
    ("POST", "/generators/none/try", None),
    ("POST", "/generators/none/default", None),
    ("POST", "/trainings", {"name": "mine"}),
    ("POST", "/trainings/x/cancel", None),
    ("POST", "/trainings/x/resume", None),
    ("DELETE", "/trainings/x", None),
    ("DELETE", "/models/x", None),
    ("GET", "/backup", None),
    ("GET", "/users", None),
    ("POST", "/users", {"name": "eve", "password": PASSWORD, "role": "admin"}),
)


COMPARED = ("diff", "diff/rows", "compare.json", "compare.html", "compare.patch", "compare.txt", "compare/view")
TUS = {"Tus-Resumable": "1.0.0"}


def told(answer: TestResponse) -> str:
    return answer.get_data(as_text=True).lower()


@pytest.mark.parametrize("path", READ)
def test_what_is_anns_is_read_by_her_and_is_to_others_as_if_it_had_never_been(town: Town, path: str) -> None:
    assert town.ask("nobody", "GET", path).status_code == 401
    never = path
    for name in ("{doc}", "{job}", "{conversation}", "{trace}", "{recording}", "{set}", "{run}"):
        never = never.replace(name, "/documents/~ann%2Fnothing.pdf" if name == "{doc}" else "0" * 32)
    for who in ("ron", "bob"):
        answer, of_nothing = town.ask(who, "GET", path), town.ask(who, "GET", never)
        assert answer.status_code == of_nothing.status_code == 404, who
        assert answer.get_json()["code"] == of_nothing.get_json()["code"]
        assert SECRET not in told(answer).replace(f"~ann/{SECRET}.pdf", "")
    if path not in ("{doc}/versions/1/chunks", "{doc}/text", "{doc}/versions/1/preview"):
        assert town.ask("ann", "GET", path).status_code == 200


@pytest.mark.parametrize(("method", "path", "body"), CHANGED)
def test_what_is_anns_is_changed_by_nobody_else(town: Town, method: str, path: str, body: Any) -> None:
    if body:
        named = {"conversation_id": town.paths["conversation"], "set_id": town.paths["set"]}
        body = {name: named.get(name, value) for name, value in body.items()}
    assert town.ask("nobody", method, path, json=body).status_code == 401
    assert town.ask("ron", method, path, json=body).status_code in (403, 404)
    assert town.ask("bob", method, path, json=body).status_code == 404
    for path in ("/conversations/{conversation}", "/recordings/{recording}", "{doc}", "/question-sets/{set}"):
        left = town.ask("ann", "GET", path)
        assert left.status_code == 200 and '"mine"' not in told(left)


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("who", ["ron", "bob"])
def test_no_list_names_what_is_anns(town: Town, path: str, who: str) -> None:
    answer = town.ask(who, "GET", path)
    assert answer.status_code == 200
    assert SECRET not in told(answer) and "cloves" not in told(answer)


@pytest.mark.parametrize("form", COMPARED)
def test_no_comparison_tells_of_what_is_anns_whichever_side_it_is(town: Town, form: str) -> None:
    hers, never = f"~ann/{SECRET}.pdf", "~ann/nothing.pdf"
    for which in ("doc={}&other=open.txt", "doc=open.txt&other={}", "doc={0}"):
        path = f"/{form}?old=1&new=1&side=old&{which}" if form == "compare.txt" else f"/{form}?old=1&new=1&{which}"
        for who in ("ron", "bob"):
            answer, of_nothing = (town.ask(who, "GET", path.format(each)) for each in (hers, never))
            assert answer.status_code == of_nothing.status_code == 404, (who, which)
            assert told(answer).replace(hers, "…") == told(of_nothing).replace(never, "…")
        assert town.ask("nobody", "GET", path.format(hers)).status_code == 401
    side = "&side=old" if form == "compare.txt" else ""
    assert town.ask("ann", "GET", f"/{form}?doc={hers}&old=1&new=1{side}").status_code == 200


def test_upload_of_ann_is_continued_and_ended_by_nobody_else(town: Town) -> None:
    sent = f"filename {base64.b64encode(f'{SECRET} two.txt'.encode()).decode()}"
    begun = town.client.post(
        "/api/v1/uploads",
        headers={
            **TUS,
            "Upload-Length": "40",
            "Upload-Metadata": sent,
            "Authorization": f"Bearer {town.keys['ann']}",
        },
    )
    where = begun.headers["Location"].partition("/api/v1")[2]

    def ask(who: str, method: str, **given: Any) -> TestResponse:
        key = {"Authorization": f"Bearer {town.keys[who]}"} if who != "nobody" else {}
        headers = {**TUS, **key, **given.pop("headers", {})}
        return town.client.open(f"/api/v1{where}", method=method, headers=headers, **given)

    part: dict[str, Any] = {
        "headers": {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"},
        "data": b"x" * 10,
    }
    for who, statuses in (("nobody", {401}), ("ron", {403, 404}), ("bob", {404})):
        for method, given in (("HEAD", {}), ("GET", {}), ("PATCH", part), ("DELETE", {})):
            answer = ask(
                who, method, **{name: dict(value) if name == "headers" else value for name, value in given.items()}
            )
            assert answer.status_code in statuses, (who, method)
            assert SECRET not in told(answer)
    assert ask("ann", "HEAD").headers["Upload-Offset"] == "0"
    assert ask("ann", "DELETE").status_code == 204


@pytest.mark.parametrize(("method", "path", "body"), OF_ADMINISTRATORS)
def test_what_is_of_administrators_is_refused_to_all_others(town: Town, method: str, path: str, body: Any) -> None:
    assert town.ask("nobody", method, path, json=body).status_code == 401
    for who in ("ron", "bob", "ann"):
        assert town.ask(who, method, path, json=body).status_code == 403, who
    assert town.ask("root", method, path, json=body).status_code != 403 or method != "GET"


@pytest.mark.parametrize(
    "question", [QUESTION, "Where do the cloves come from", "From where do the cloves come?", "Cloves: where from?"]
)
def test_cache_that_knows_anns_answer_tells_it_to_nobody_else(town: Town, question: str) -> None:
    for _ in range(2):
        assert SECRET in told(town.ask("ann", "POST", "/ask", json={"question": QUESTION}))
    for who in ("ron", "bob"):
        assert SECRET not in told(town.ask(who, "POST", "/ask", json={"question": question}))


def test_nobody_becomes_more_than_they_are(town: Town) -> None:
    """A key reaches no further than its user, whatever is asked of it."""
    asked = {"label": "mine", "role": "admin"}
    answer = town.ask("bob", "POST", "/keys", json=asked)
    assert answer.status_code in (400, 403), answer.get_json()
    assert town.ask("bob", "PATCH", "/users/bob", json={"role": "admin"}).status_code in (403, 404, 405)
    assert town.ask("bob", "GET", "/users").status_code == 403


def test_what_is_sent_says_nothing_of_whose_it_is(town: Town) -> None:
    """Whose something is and what somebody may do is known from who asks, never from what they send."""
    claims: dict[str, Any] = {"owner": "root", "owner_id": 1, "user_id": 1, "actor": "root"}
    for name, value in claims.items():
        for path, body in (
            ("/conversations", {"title": "mine"}),
            ("/saved-questions", {"text": "Whose is this?"}),
            ("/ask", {"question": QUESTION}),
        ):
            assert town.ask("bob", "POST", path, json={**body, name: value}).status_code == 400, (path, name)
        form = {"file": (io.BytesIO(b"question\nWhose is this?\n"), "claimed.csv"), name: str(value)}
        assert town.ask("bob", "POST", "/question-sets", data=form).status_code == 400, name
    lines = b'{"question": "Whose?", "owner": "root", "owner_id": 1, "role": "admin"}\n'
    sent = town.ask("bob", "POST", "/question-sets", data={"file": (io.BytesIO(lines), "claimed.jsonl")}).get_json()
    assert (sent["owner"], sent["name"]) == ("bob", "claimed")
    assert town.ask("bob", "DELETE", f"/question-sets/{sent['id']}").status_code == 204
    assert town.ask("bob", "POST", "/users", json={"name": "eve", "password": PASSWORD}).status_code == 403
    assert town.ask("bob", "DELETE", "/users/ann/second-factor").status_code == 403


@pytest.mark.parametrize(
    "name",
    ["http://169.254.169.254/latest/meta-data", "http://127.0.0.1:6379/", "file:///etc/passwd", "openai\r\nHost: x"],
)
def test_address_of_a_generator_is_nothing_that_a_caller_chooses(town: Town, name: str) -> None:
    for body in (
        {"question": QUESTION, "generator": name},
        {"question": QUESTION, "openai_url": name},
        {"question": QUESTION, "generator": "openai", "url": name},
    ):
        assert town.ask("ann", "POST", "/ask", json=body).status_code == 400
