"""The command line as a person or a script meets it: what it prints, where, and with which exit status."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from core.ingest.parsers import legacy
from core.sample import documents
from tests import programs
from tests.integration.cli.conftest import OLDER

OLD = ["company-overview.ppt", "incident-report-2026-014.doc"]
"""What of the sample only LibreOffice reads."""


def test_added_folder_is_listed_with_tags(filled):
    status, out, _ = filled("list", "--json")
    documents = json.loads(out)
    assert status == 0
    assert [document["name"] for document in documents] == ["handbook.md", "旅費規程.md"]
    assert all(document["tags"] == ["rules"] and document["state"] == "published" for document in documents)


def test_pipe_gets_one_tab_separated_line_a_document(filled):
    _, out, _ = filled("list")
    lines = out.splitlines()
    assert len(lines) == 2
    assert lines[0].split("\t")[:2] == ["handbook.md", "published"]


def test_json_is_all_that_stdout_holds(evorag, papers):
    status, out, _ = evorag("add", papers, "--json")
    added = json.loads(out)
    assert status == 0
    assert [upload["outcome"] for upload in added["uploads"]] == ["new", "new"]
    assert {job["state"] for job in added["jobs"]} == {"done"}
    assert added["errors"] == []


def test_same_file_again_is_unchanged(filled, papers):
    status, out, _ = filled("add", papers / "handbook.md", "--json")
    assert status == 0
    added = json.loads(out)
    assert (added["uploads"][0]["outcome"], added["uploads"][0]["job_id"], added["jobs"]) == ("unchanged", None, [])
    assert filled("add", papers / "handbook.md")[1].rstrip("\n").split("\t")[1:] == ["1", "unchanged", "-"]


def test_bad_file_is_reported_and_good_one_added(evorag, papers):
    (papers / "broken.pdf").write_bytes(b"this is no pdf at all")
    status, out, err = evorag("add", papers, "--json")
    added = json.loads(out)
    assert status == 1
    assert len(added["uploads"]) == 2
    assert [error["code"] for error in added["errors"]] == ["type_mismatch"]
    assert "type_mismatch: broken.pdf" in err


def test_folder_skips_links_hidden_and_foreign_files(evorag, papers):
    (papers / "link.md").symlink_to(papers / "handbook.md")
    (papers / ".hidden.md").write_text("hidden", "utf-8")
    (papers / "program.exe").write_bytes(b"MZ")
    status, out, err = evorag("add", papers, "--json")
    assert status == 0
    assert len(json.loads(out)["uploads"]) == 2
    assert "2 links or files of other types" in err


def test_files_of_one_name_in_several_folders_become_documents_of_their_own(evorag, papers):
    for name in ("a", "b"):
        (papers / name).mkdir()
        (papers / name / "Readme.md").write_text(f"About {name}.", "utf-8")
    status, _, err = evorag("add", papers, "--json")
    assert (status, err) == (0, "")
    names = [document["name"] for document in json.loads(evorag("list", "--json")[1])]
    assert names == ["handbook.md", "papers - a - Readme.md", "papers - b - Readme.md", "旅費規程.md"]
    again = json.loads(evorag("add", papers / "a", papers / "b" / "Readme.md", "--json")[1])
    assert [upload["doc_key"] for upload in again["uploads"]] == ["readme.md", "a - readme.md"]


@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_an_empty_file_needs_no_text_recognition(evorag, tmp_path, content):
    (tmp_path / "empty.txt").write_bytes(content)
    status, _, err = evorag("add", tmp_path / "empty.txt")
    assert status == 1
    assert err.startswith("empty_document: empty.txt: ")
    assert "Choose a file that has something in it." in err


def test_a_private_document_needs_a_server(evorag, papers):
    status, out, err = evorag("add", papers, "--private")
    assert (status, out) == (1, "")
    assert err.startswith("invalid_input: ") and "--url" in err


def test_how_urgent_a_document_is_and_when_it_shows_can_be_said(evorag, papers):
    assert evorag("add", papers, "--early", "--priority", "7", "--no-wait")[0] == 0
    assert {job["priority"] for job in json.loads(evorag("jobs", "--json")[1])} == {7}
    assert evorag("add", papers, "--priority", "11")[0] == 2


def test_missing_path_adds_nothing(evorag, papers):
    status, out, err = evorag("add", papers, papers / "absent.md")
    assert (status, out) == (1, "")
    assert err.startswith("not_found: ")
    assert json.loads(evorag("list", "--json")[1]) == []


def test_uploads_without_waiting_are_indexed_later(evorag, papers):
    assert evorag("add", papers, "--no-wait")[0] == 0
    status, out, _ = evorag("jobs", "--wait", "--json")
    assert status == 0
    assert {job["state"] for job in json.loads(out)} == {"done"}


def test_a_terminal_gets_the_names_of_the_columns(filled, in_terminal):
    status, shown = in_terminal("jobs", COLUMNS="200")
    assert status == 0
    header = re.sub(r"\x1b\[\d*m", "", shown).split("\n")[0]
    assert header.split() == ["job", "document", "version", "state", "stage", "done"]
    assert filled("jobs")[1].split("\n")[0].split("\t")[3:6] == ["done", "published", "1 of 1"]


def test_show_gives_versions_and_metadata(filled, papers):
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    filled("add", papers / "handbook.md")
    _, out, _ = filled("show", "Handbook.MD", "--json")
    shown = json.loads(out)
    assert [version["number"] for version in shown["versions"]] == [2, 1]
    assert shown["document"]["published_version"] == 2
    assert len(shown["publications"]) == 2
    assert "parser" in filled("show", "handbook.md")[1]


def test_show_text_gives_the_text_of_a_version(filled, papers):
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    filled("add", papers / "handbook.md")
    assert "12 days" in filled("show", "handbook.md", "--text")[1]
    assert "14 days" in filled("show", "handbook.md", "--text", "--version", 1)[1]


@pytest.mark.parametrize(
    ("question", "answer", "name"),
    [
        ("How many days of leave in the first year?", "14 days", "handbook.md"),
        ("日当はいくらですか", "3,200円", "旅費規程.md"),
    ],
)
def test_ask_answers_and_cites(filled, question, answer, name):
    status, out, _ = filled("ask", question)
    assert status == 0
    assert answer in out
    assert f"{name}, version 1" in out


def test_ask_reads_the_question_from_a_pipe(filled, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("How many days of leave in the first year?\n"))
    assert "14 days" in filled("ask", "-")[1]


def test_ask_as_of_an_earlier_sequence_sees_the_earlier_version(filled, papers):
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    filled("add", papers / "handbook.md")
    question = "How many days of leave in the first year?"
    assert "12 days" in filled("ask", question)[1]
    assert "14 days" in filled("ask", question, "--as-of", 2)[1]


def test_questions_of_a_conversation_follow_each_other(filled):
    question = "When does the first year begin?"
    _, _, err = filled("ask", question, "--conversation", "new")
    conversation = re.search(r"^conversation ([0-9a-f]{32})$", err, re.MULTILINE)[1]
    trace = json.loads(filled("ask", "and in 2025?", "--conversation", conversation, "--json")[1])
    assert trace["analysis"]["standalone"] == "When does the first year begin in 2025?"
    assert filled("ask", question, "--conversation", "nothing")[0] == 1


def test_a_kept_answer_says_so_and_is_asked_afresh(filled):
    question = "How many days of leave in the first year?"
    assert "--fresh" not in filled("ask", question)[2]
    assert "--fresh" in filled("ask", question)[2]
    assert "--fresh" not in filled("ask", question, "--fresh")[2]


def test_ask_with_details_shows_both_legs(filled):
    _, out, _ = filled("ask", "How many days of leave in the first year?", "--details")
    row = next(line for line in out.splitlines() if line.startswith("1\thandbook.md"))
    assert re.search(r"\t1, \d+\.\d{3}, 0\.01639", row)


def test_search_obeys_filters(filled):
    trace = json.loads(filled("search", "日当", "--doc", "handbook.md", "--json")[1])
    assert {hit["placed"]["doc_key"] for hit in trace["hits"]} <= {"handbook.md"}
    assert "旅費規程.md" in filled("search", "日当", "--type", ".MD", "--tag", "rules")[1]


@pytest.mark.parametrize(
    ("options", "alpha", "legs"),
    [
        (["--semantic"], 1.0, {"vector"}),
        (["--keyword"], 0.0, {"keyword"}),
        (["--hybrid"], 0.4, {"vector", "keyword"}),
        (["--hybrid", "--alpha", ".7"], 0.7, {"vector", "keyword"}),
    ],
)
def test_search_ranks_by_meaning_by_words_or_by_both(filled, options, alpha, legs):
    trace = json.loads(filled("search", "Who has leave in the first year?", *options, "--json")[1])
    assert (trace["query"]["fusion"], trace["query"]["alpha"], trace["query"]["rerank"]) == ("mix", alpha, "none")
    assert trace["hits"] and trace["rerank"] is None
    for hit in trace["hits"]:
        parts = {leg: hit[leg]["contribution"] for leg in ("vector", "keyword") if hit[leg]}
        assert hit["score"] == pytest.approx(sum(parts.values()))
        assert legs & set(parts)
    assert [hit["score"] for hit in trace["hits"]] == sorted((hit["score"] for hit in trace["hits"]), reverse=True)


def test_search_by_words_alone_finds_nothing_without_them(filled):
    assert json.loads(filled("search", "holidays", "--keyword", "--json")[1])["hits"] == []


@pytest.mark.parametrize("options", [["--semantic", "--keyword"], ["--alpha", ".4"], ["--hybrid", "--alpha", "2"]])
def test_search_takes_one_way_to_rank(filled, options):
    assert filled("search", "leave", *options)[0] == 2


@pytest.mark.parametrize("question", ['"', "a AND", "*", "'; DROP TABLE documents; --", "(((", "/*/*"])
def test_odd_questions_are_literal_text(filled, question):
    assert filled("search", "--json", "--", question)[0] == 0


def test_deleted_document_is_not_found_until_restored(filled):
    question = "How many days of leave in the first year?"
    assert filled("delete", "handbook.md")[0] == 0
    assert "14 days" not in filled("ask", question)[1]
    assert filled("restore", "handbook.md")[0] == 0
    assert "14 days" in filled("ask", question)[1]


def test_delete_goes_on_after_an_unknown_name(filled):
    status, out, err = filled("delete", "absent.md", "handbook.md", "--json")
    assert status == 1
    assert [publication["doc_key"] for publication in json.loads(out)["publications"]] == ["handbook.md"]
    assert "not_found: absent.md" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("nonsense",),
        ("ask", "q", "--top-k", "0"),
        ("ask", "q", "--as-of", "yesterday"),
        ("serve", "--port", "x"),
    ],
)
def test_wrong_command_has_status_2(evorag, arguments):
    assert evorag(*arguments)[0] == 2


def test_error_says_code_and_remedy(evorag):
    status, out, err = evorag("show", "absent.md")
    assert (status, out) == (1, "")
    assert re.match(r"not_found: .*absent\.md.*\n  \w", err)


def test_future_sequence_is_refused(filled):
    status, _, err = filled("ask", "leave", "--as-of", 10**12)
    assert status == 1
    assert "invalid_input" in err


def test_text_cannot_steer_the_terminal(evorag, tmp_path):
    (tmp_path / "note.txt").write_text("Leave is granted.\x1b[2J\x1b]0;owned\x07 See below.", "utf-8")
    evorag("add", tmp_path / "note.txt")
    assert "\x1b" not in evorag("show", "note.txt", "--text")[1]


def test_user_text_stays_out_of_stderr(filled):
    _, _, err = filled("ask", "Where is the xylophone of the president?")
    assert "xylophone" not in err


def test_sample_loads_and_answers(evorag):
    status, out, err = evorag("sample", "--json")
    assert status == 0, err
    loaded = json.loads(out)
    assert {job["state"] for job in loaded["jobs"]} == {"done"} and loaded["errors"] == []
    left_out = [] if programs.find("soffice") else OLD
    assert len(loaded["uploads"]) == len(list(documents())) - len(left_out)
    assert [name in err for name in OLD] == [name in left_out for name in OLD]
    trace = json.loads(evorag("search", "海外出張の日当はいくらですか", "--json")[1])
    assert any("62米ドル" in "".join(hit["placed"]["chunk"]["text"].split()) for hit in trace["candidates"])


def test_sample_without_libreoffice_says_in_one_line_what_is_left_out(evorag, monkeypatch):
    monkeypatch.setattr(legacy, "PROGRAMS", ("no-such-program",))
    status, out, err = evorag("sample")
    assert status == 0
    [line] = err.splitlines()
    assert line.startswith(f"left out: {', '.join(OLD)}: LibreOffice")
    assert not any(name in out for name in OLD) and "spare-parts-stock.xls\t1\tnew\tdone" in out
    assert evorag("sample")[0] == 0


def test_eval_measures_a_question_set(evorag, tmp_path):
    passages = [
        {"id": "p1", "title": "Leave", "text": "Each colleague has 14 days of leave in the first year."},
        {"id": "p2", "title": "Lunch", "text": "Lunch is served in the canteen from noon to one."},
    ]
    questions = [
        {"id": "q1", "question": "How many days of leave are there?", "passage_id": "p1", "answers": ["14 days"]},
        {"id": "q2", "question": "Where is lunch served?", "passage_ids": ["p2"], "answers": ["canteen"]},
        {"id": "q3", "question": "Who painted the ceiling?", "passage_ids": [], "answers": [], "answerable": False},
    ]
    for name, rows in (("passages", passages), ("questions", questions)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    status, out, err = evorag("eval", tmp_path, "--json")
    report = json.loads(out)
    assert status == 0, err
    assert (report["questions"], report["unanswerable"]) == (3, 1)
    assert report["keyword"]["recall_at_1"] == 1.0
    assert json.loads(evorag("eval", tmp_path, "--sample", 1, "--seed", 3, "--json")[1])["questions"] == 1


def test_eval_names_what_it_leaves_out_and_measures_the_rest(evorag, tmp_path, monkeypatch):
    monkeypatch.setenv("EVORAG_MAX_TEXT_CHARS", "200")
    monkeypatch.setenv("EVORAG_MAX_QUESTION_CHARS", "100")
    leave = "Each colleague has 14 days of leave in the first year."
    passages = [
        {"id": "p1", "title": "Leave", "text": leave},
        {"id": "p2", "text": "long " * 100},
        {"id": "folder/p1", "text": "It would be the next version of the first."},
        {"id": "con", "text": "A name that some systems reserve."},
    ]
    questions = [
        {"id": "q1", "question": "How many days of leave are there?", "passage_id": "p1", "answers": ["14 days"]},
        {"id": "q2", "question": "What is long?", "passage_id": "p2"},
        {"id": "q3", "question": "Why? " * 50},
        {"id": "q4", "question": "How much leave is there?"},
    ]
    for name, rows in (("passages", passages), ("questions", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines + '{"id": "cut', "utf-8")
    status, out, err = evorag("eval", tmp_path, "--json")
    report = json.loads(out)
    assert status == 0, err
    assert (report["passages"], report["questions"], report["unjudged"]) == (1, 2, 1)
    assert report["final"]["recall_at_1"] == report["answers"]["contains_gold"] == 1.0
    named = [(each["file"], each["line"], each["id"]) for each in report["left_out"]]
    assert sorted(named) == [
        ("passages.jsonl", 2, "p2"),
        ("passages.jsonl", 3, "folder/p1"),
        ("passages.jsonl", 4, "con"),
        ("passages.jsonl", 5, ""),
        ("questions.jsonl", 2, "q2"),
        ("questions.jsonl", 3, "q3"),
        ("questions.jsonl", 5, ""),
    ]
    assert "left out: passages.jsonl, line 2 (p2): The text has 500 characters" in err
    assert "1 without a judgement" in err
    status, out, err = evorag("eval", tmp_path)
    assert (status, "left_out\t7\n" in out) == (0, True)
    (tmp_path / "passages.jsonl").write_text('{"id": "p2", "text": ""}\n', "utf-8")
    status, out, err = evorag("eval", tmp_path)
    assert (status, out) == (1, "") and "passages.jsonl, line 1 (p2): the text is empty." in err


def test_eval_leaves_no_trace_in_the_data_folder(evorag, tmp_path, data_dir):
    assert evorag("eval", tmp_path)[0] == 1
    assert not data_dir.exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_pipe_ends_quietly(filled, unbuffered):
    command = f"{sys.executable} -m core.cli list | true"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, env=environment)
    assert ended.stderr == ""


# ---- serving


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served(data_dir):
    """Start ``python -m app`` and return the process and its port once it says that it serves."""
    started = []

    def start():
        port = free_port()
        command = [sys.executable, "-m", "app", "--port", str(port), "--json"]
        root = Path(__file__).parents[3]
        process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process, port

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_serve_answers_and_ends_with_its_signal(served, data_dir, ending):
    process, port = served()
    assert json.loads(process.stdout.readline())["url"] == f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
        assert answer.status == 200
    process.send_signal(ending)
    assert process.wait(timeout=30) == 0
    assert_lock_is_free(data_dir)


def assert_lock_is_free(data_dir):
    import fcntl

    with (data_dir / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_second_process_is_told_who_holds_the_data_folder(served, evorag):
    process, _ = served()
    process.stdout.readline()
    status, _, err = evorag("list")
    assert status == 1
    assert err.startswith("data_folder_in_use: ")
    assert re.search(r"process \d+", err)
    other, _ = served()
    assert other.wait(timeout=60) == 1
    assert "data_folder_in_use" in other.stderr.read()


def test_taken_port_is_an_explained_error(evorag):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, _, err = evorag("serve", "--port", taken.getsockname()[1])
    assert status == 1
    assert err.startswith("address_in_use: ")


def test_empty_variables_set_nothing(filled, monkeypatch):
    for variable in ("EVORAG_TOP_K", "ASK_PROMPT_MAX_BYTES", "EVORAG_CACHE_ANSWERS", "EVORAG_EMBEDDER", "EVORAG_URL"):
        monkeypatch.setenv(variable, "")
    status, out, err = filled("search", "How much leave?", "--json")
    assert status == 0, err
    assert json.loads(out)["hits"]


@pytest.mark.parametrize("command", [("list",), ("serve",), ("worker",), ("eval", "list"), ("export", "x.tar")])
def test_wrong_variable_is_an_explained_error(evorag, monkeypatch, command):
    monkeypatch.setenv("EVORAG_TOP_K", "abc")
    status, out, err = evorag(*command)
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == "invalid_input: EVORAG_TOP_K has to be a whole number of at least 1, not “abc”."
    assert len(err.splitlines()) == 2


def test_indexing_goes_on_after_a_stop(served, evorag, papers):
    evorag("add", papers, "--no-wait")
    process, _ = served()
    process.stdout.readline()
    os.kill(process.pid, signal.SIGTERM)
    process.wait(timeout=30)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        jobs = json.loads(evorag("jobs", "--wait", "--json")[1])
        if {job["state"] for job in jobs} == {"done"}:
            return
    pytest.fail(f"not done: {jobs}")


def test_server_that_has_just_begun_to_listen_is_ended_all_the_same(served, data_dir):
    process, _ = served()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == ""
    assert_lock_is_free(data_dir)
