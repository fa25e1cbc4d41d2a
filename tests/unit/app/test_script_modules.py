"""The scripts of the pages: which module is loaded where and under which address, and that none is missing."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app import ASSETS
from app.script_modules import MAIN, ScriptModules, imported

FOLDER = ASSETS / "modules"
MODULES = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*.js")}
WORKERS = {"upload/sha256.js"}
CLIENTSIDE = re.compile(r'ClientsideFunction\("(\w+)", "(\w+)"\)')
PRELOADED = re.compile(r'<link rel="modulepreload" href="(/assets/modules-\w+/([^"]+))">')
RUN = re.compile(r'<script type="module" id="_dash-renderer" src="(/assets/modules-(\w+)/main\.js)"></script>')


def scripts(client: FlaskClient, path: str = "/") -> dict[str, str]:
    """The modules that the window at ``path`` asks for, and their addresses."""
    return {name: address for address, name in PRELOADED.findall(client.get(path).text)}


def pages(client: FlaskClient) -> dict[str, str]:
    (content,) = re.findall(r'<meta name="evorag-pages" content="([^"]+)">', client.get("/").text)
    return dict(json.loads(unescape(content)))


def test_scripts_are_modules_and_none_is_on_every_page_by_its_name() -> None:
    assert list(ASSETS.glob("*.js")) == [] and len(MODULES) > 30
    assert [name for name, content in MODULES.items() if b"window.evorag" in content] == []


@pytest.mark.parametrize(
    ("path", "own"),
    [("/", "ask"), ("/neurons", "neurons"), ("/documents", "documents"), ("/documents/manual.md", "document")],
)
def test_a_window_loads_the_modules_of_its_page_alone(client: FlaskClient, path: str, own: str) -> None:
    wanted = scripts(client, path)
    assert {MAIN, f"{own}/page.js"} <= set(wanted)
    assert {name.partition("/")[0] for name in wanted if "/" in name} == {own, "shared", "shell"}
    for name, address in wanted.items():
        answer = client.get(address)
        assert answer.data == MODULES[name] and answer.mimetype == "text/javascript"
        assert "immutable" in answer.headers["Cache-Control"]


def test_dash_begins_where_main_does(client: FlaskClient) -> None:
    html = client.get("/").text
    assert RUN.search(html) is not None and "new DashRenderer()" not in html
    assert b"new window.DashRenderer()" in MODULES[MAIN]


def test_every_page_with_a_script_is_known_by_its_address(client: FlaskClient) -> None:
    known = pages(client)
    assert known["/"] == known["/ask"] == "ask/page.js"
    assert known["/documents"] == "documents/page.js" and known["/documents/"] == "document/page.js"
    assert set(known.values()) <= set(MODULES)


def test_every_module_is_reached_and_whatever_one_imports_is_there(client: FlaskClient) -> None:
    later = {
        name
        for content in MODULES.values()
        for name in MODULES
        if f'import("../{name}")'.encode() in content or f'new URL("./{name.partition("/")[2]}"'.encode() in content
    }
    assert later == WORKERS | {"ask/tour.js"}
    assert set(imported(MODULES, [MAIN, *pages(client).values()])) | later == set(MODULES)


def test_no_modules_import_each_other_in_a_circle() -> None:
    for name in MODULES:
        direct = imported({**dict.fromkeys(MODULES, b""), name: MODULES[name]}, [name])[1:]
        assert name not in imported(MODULES, direct), name


def test_every_callback_in_the_browser_is_offered_by_the_module_of_its_page() -> None:
    offered = {}
    for content in MODULES.values():
        for all_names in re.findall(r"^offer\(\{(.*?)\}\);$", content.decode(), re.MULTILINE | re.DOTALL):
            for namespace, functions in re.findall(r"(\w+): \{([^}]*)\}", all_names):
                offered[namespace] = set(re.findall(r"\w+", functions))
    named = {
        found for path in (ASSETS.parent / "app").rglob("*.py") for found in CLIENTSIDE.findall(path.read_text("utf-8"))
    }
    assert len(named) > 20
    assert named == {(namespace, function) for namespace, functions in offered.items() for function in functions}


def test_a_window_of_before_an_update_gets_modules_that_are_not_kept(client: FlaskClient) -> None:
    answer = client.get("/assets/modules-0123456789abcdef0123/upload/page.js")
    assert answer.data == MODULES["upload/page.js"] and answer.headers["Cache-Control"] == "no-cache"
    for missing in ("nothing.js", "package.json"):
        assert client.get(f"/assets/modules-0123456789abcdef0123/{missing}").status_code == 404


@pytest.mark.parametrize("version", ["0123456789abcdef0123", "..", "%2e%2e%2f", "x" * 5_000, "%00"])
@pytest.mark.parametrize(
    "path",
    [
        *("..%2fhead%2fboot.js", "../head/boot.js", "%2e%2e/%2e%2e/app/main.py", "ask/../../head/boot.js"),
        *(
            "..\\..\\app\\main.py",
            "/etc/passwd",
            "%2fetc%2fpasswd",
            "main.js%00",
            "main.js/",
            "./main.js%2f..%2fx",
            "%ff.js",
        ),
    ],
)
def test_no_address_of_a_module_leads_out_of_their_folder(client: FlaskClient, version: str, path: str) -> None:
    answer = client.get(f"/assets/modules-{version}/{path}")
    # One that leads back to a file that everybody who signed in is given is that file's.
    files = {path.read_bytes() for path in ASSETS.rglob("*.js")}
    assert answer.status_code in (301, 308, 400, 404) or answer.data in files
    assert b"from __future__" not in answer.data and b"root:" not in answer.data


def test_another_byte_is_another_address_for_all(tmp_path: Path) -> None:
    (tmp_path / "ask").mkdir()
    (tmp_path / MAIN).write_text("export {};\n")
    page = tmp_path / "ask" / "page.js"
    page.write_text('import "../shared.js";\n')
    (tmp_path / "shared.js").write_text("export {};\n")
    modules = ScriptModules(tmp_path)
    before, _ = modules.tags({"script": "ask/page.js"})
    page.write_text('import "../shared.js";\nexport const one = 1;\n')
    after, _ = modules.tags({"script": "ask/page.js"})
    assert [name for _, name in PRELOADED.findall(after)] == [MAIN, "ask/page.js", "shared.js"]
    assert not {address for address, _ in PRELOADED.findall(before)} & {
        address for address, _ in PRELOADED.findall(after)
    }
