"""The commands of versions: what is shown, hidden, and removed for good, and who is told what before."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.cli.conftest import OLDER

QUESTION = "How many days of leave in the first year?"


@pytest.fixture
def revised(filled, papers):
    """The handbook in two versions, 14 and then 12 days."""
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    assert filled("add", papers / "handbook.md", "--note", "fewer days", "--label", "2.0")[0] == 0
    return filled


def shown(evorag):
    return json.loads(evorag("show", "handbook.md", "--json")[1])["document"]["published_version"]


def test_versions_are_listed_with_label_and_what_they_changed(revised):
    _, out, _ = revised("versions", "Handbook.md")
    newest, first = (line.split("\t") for line in out.splitlines())
    assert newest[:3] == ["2", "shown", "2.0"]
    assert first[:3] == ["1", "ready", "-"]
    assert newest[-1] == "fewer days"
    assert [version["number"] for version in json.loads(revised("versions", "handbook.md", "--json")[1])] == [2, 1]


def test_draft_is_shown_only_once_it_is_published(filled, papers):
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    status, out, _ = filled("add", papers / "handbook.md", "--draft")
    assert (status, out.split()) == (0, ["handbook.md", "2", "draft", "done"])
    assert filled("versions", "handbook.md")[1].startswith("2\tdraft\t")
    assert "14 days" in filled("ask", QUESTION)[1]
    assert "12 days" in filled("ask", QUESTION, "--as-of", "Handbook.md#v2")[1]
    assert filled("publish", "handbook.md", 2, "--note", "approved")[0] == 0
    assert "12 days" in filled("ask", QUESTION)[1]


def test_publication_at_a_time_can_be_taken_back(filled, papers):
    later = (datetime.now(UTC) + timedelta(days=3)).isoformat(timespec="seconds")
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    assert filled("add", papers / "handbook.md", "--publish-at", later)[0] == 0
    assert json.loads(filled("versions", "handbook.md", "--json")[1])[0]["publish_at"] is not None
    assert filled("publish", "handbook.md", 2, "--at", "never")[0] == 0
    assert json.loads(filled("versions", "handbook.md", "--json")[1])[0]["publish_at"] is None
    status, out, err = filled("publish", "handbook.md", 2, "--at", later, "--json")
    assert (status, json.loads(out)["is_draft"]) == (0, True)
    assert "from then on" in err
    assert shown(filled) == 1


def test_rollback_shows_the_version_before_or_a_named_one(revised):
    assert revised("rollback", "handbook.md", "--note", "too strict")[0] == 0
    assert shown(revised) == 1
    assert "14 days" in revised("ask", QUESTION)[1]
    assert revised("rollback", "handbook.md", "--to", 2)[0] == 0
    assert shown(revised) == 2
    status, _, err = revised("rollback", "handbook.md", "--to", 2)
    assert status == 1
    assert err.startswith("conflict: ")


def test_unpublished_document_stays_listed_and_can_be_restored(revised):
    assert revised("unpublish", "handbook.md")[0] == 0
    assert "12 days" not in revised("ask", QUESTION)[1]
    assert "handbook.md\tunpublished" in revised("list")[1]
    assert revised("restore", "handbook.md")[0] == 0
    assert "12 days" in revised("ask", QUESTION)[1]


def test_audit_says_what_was_done_by_whom_and_why(revised, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "mori")
    revised("rollback", "handbook.md", "--note", "too strict")
    revised("delete", "旅費規程.md")
    everything = json.loads(revised("audit", "--json")[1])
    assert [entry["action"] for entry in everything] == ["delete", "rollback", "publish", "publish", "publish"]
    assert [entry["actor"] for entry in everything[:2]] == ["mori", "mori"]
    [line] = revised("audit", "--doc", "handbook.md", "--action", "rollback")[1].splitlines()
    assert line.split("\t")[2:] == ["handbook.md", "rollback", "1", "-", "mori", "too strict"]
    assert len(revised("audit", "--limit", 2)[1].splitlines()) == 2


def test_annotated_version_keeps_note_and_label(revised):
    assert revised("annotate", "handbook.md", 1, "--label", "1.0", "--note", "as signed")[0] == 0
    first = json.loads(revised("versions", "handbook.md", "--json")[1])[1]
    assert (first["label"], first["note"]) == ("1.0", "as signed")
    assert json.loads(revised("annotate", "handbook.md", 1, "--note", "", "--json")[1])["label"] == "1.0"


def test_purge_without_a_person_to_ask_names_what_is_lost_and_does_nothing(revised):
    status, out, err = revised("purge", "handbook.md", "--version", 1)
    assert (status, out) == (1, "")
    assert "version 1 (ready), handbook.md, " in err
    assert "version 2" not in err
    assert "--yes" in err
    assert "14 days" in revised("show", "handbook.md", "--text", "--version", 1)[1]


@pytest.mark.parametrize(("answer", "lost"), [("n\n", False), ("y\n", True)])
def test_purge_in_a_terminal_asks_first(revised, in_terminal, answer, lost):
    status, shown = in_terminal("purge", "handbook.md", "--version", 1, answer=answer)
    assert "cannot be undone" in shown
    assert (status == 0) is lost
    state = json.loads(revised("versions", "handbook.md", "--json")[1])[1]["state"]
    assert state == ("purged" if lost else "ready")


def test_purged_version_leaves_a_tombstone_and_says_so(revised):
    assert revised("purge", "handbook.md", "--version", 1, "--yes", "--note", "asked to")[0] == 0
    tombstone = json.loads(revised("versions", "handbook.md", "--json")[1])[1]
    assert tombstone["state"] == "purged"
    assert tombstone["purged_at"]
    status, out, err = revised("show", "handbook.md", "--text", "--version", 1)
    assert (status, out) == (1, "")
    assert err.startswith("purged: ")


def test_purged_document_is_gone_from_answers(revised):
    assert revised("purge", "handbook.md", "--yes")[0] == 0
    assert "12 days" not in revised("ask", QUESTION)[1]
    assert "12 days" not in revised("search", QUESTION, "--all-versions")[1]


def test_search_of_all_versions_finds_what_is_no_longer_shown(revised):
    assert "14 days" not in revised("search", QUESTION)[1]
    assert "14 days" in revised("search", QUESTION, "--all-versions")[1]


def test_question_as_of_a_time_sees_what_was_shown_then(filled, papers):
    before = datetime.now(UTC).isoformat()
    (papers / "handbook.md").write_text(OLDER, "utf-8")
    filled("add", papers / "handbook.md")
    assert "14 days" in filled("ask", QUESTION, "--as-of", before)[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("publish", "handbook.md", "0"),
        ("publish", "handbook.md", "1", "--at", "soon"),
        ("publish", "handbook.md", "1", "--at", "2099-01-01", "--note", "x"),
        ("annotate", "handbook.md", "1"),
        ("add", "x.md", "--publish-at", "soon"),
    ],
)
def test_wrong_command_has_status_2(filled, arguments):
    assert filled(*arguments)[0] == 2


def test_time_that_has_passed_is_refused(filled):
    status, _, err = filled("publish", "handbook.md", 1, "--at", "2001-01-01")
    assert status == 1
    assert err.split(":")[0] in ("invalid_input", "conflict")


def test_account_without_a_name_is_nobody(filled, monkeypatch):
    def nobody():
        raise OSError("no name")

    monkeypatch.setattr("getpass.getuser", nobody)
    filled("delete", "handbook.md")
    assert json.loads(filled("audit", "--json")[1])[0]["actor"] == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("publish", "handbook.md", 9),
        ("publish", "handbook.md", 9, "--at", "never"),
        ("rollback", "handbook.md", "--to", 9),
        ("purge", "handbook.md", "--version", 9, "--yes"),
        ("annotate", "handbook.md", 9, "--note", "x"),
        ("show", "handbook.md", "--text", "--version", 9),
        ("diff", "handbook.md", 1, 9),
    ],
)
def test_unknown_version_is_told_with_the_way_to_those_that_there_are(revised, arguments):
    status, out, err = revised(*arguments)
    assert (status, out) == (1, "")
    assert "has no version 9" in err and "`evorag versions handbook.md` lists them." in err
