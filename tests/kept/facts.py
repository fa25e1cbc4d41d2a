"""What a knowledge base says of itself through its routes, and what is missing of what it said before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

PASSING = {"last_seen_at", "last_used_at", "seconds"}
"""Fields that change while one looks."""
ASKED = (
    ("What is the yearly fee?", {}),
    ("What is the yearly fee?", {"as_of": "1"}),
    ("What is the yearly fee?", {"as_of": "2"}),
    ("What is the yearly fee?", {"as_of": "fees.txt#v1"}),
    ("What is the yearly fee?", {"as_of": "fees.txt#v4"}),
    ("What is the yearly fee?", {"versions": "all"}),
    ("When does the shop open?", {}),
    ("When does the shop open?", {"as_of": "hours.txt#v3"}),
    ("日当はいくらですか", {}),
    ("日当はいくらですか", {"as_of": "日当.md#v1"}),
    ("When is a notebook computer replaced?", {}),
    ("When is a notebook computer replaced?", {"as_of": "letter.docx#v1"}),
    ("How many seats has the aquarium?", {}),
    ("How much does the pump hold?", {}),
    ("Who painted room 2 of the museum?", {"filters": {"extensions": ["html"]}}),
)


def facts(call: Any) -> dict[str, Any]:
    """Return everything that an administrator reads, by section; nothing of the knowledge base changes."""
    documents = call("GET", "documents?include_deleted=true&limit=1000")["documents"]
    keys = [each["doc_key"] for each in documents]
    versions = {key: call("GET", f"documents/{quote(key)}/versions") for key in keys}
    places = [(key, each["number"]) for key in keys for each in versions[key]["versions"]]
    questions = call("GET", "questions?limit=1000")["questions"]
    runs = call("GET", "evaluations?limit=1000")["runs"]
    outcomes = {each["id"]: call("GET", f"evaluations/{each['id']}/outcomes?limit=1000")["outcomes"] for each in runs}
    traces = [each["id"] for each in questions]
    traces += [each["trace_id"] for found in outcomes.values() for each in found if each["trace_id"]]
    sets = call("GET", "question-sets")["sets"]
    talks = call("GET", "conversations?limit=1000")["conversations"]
    recordings = call("GET", "recordings?limit=1000")["recordings"]
    jobs = call("GET", "jobs?limit=1000")["jobs"]
    return {
        "me": call("GET", "me"),
        "counts": call("GET", "counts"),
        "documents": by(documents, "doc_key"),
        "versions": versions,
        "texts": {name_of(*place): told(call, f"{address(*place)[0]}/text?version={place[1]}") for place in places},
        "chunks": {name_of(*place): told(call, f"{address(*place)[1]}/chunks?limit=1000") for place in places},
        "originals": {name_of(*place): told(call, f"{address(*place)[1]}/original") for place in places},
        "publications": {key: call("GET", f"documents/{quote(key)}/publications?limit=1000") for key in keys},
        "audit": call("GET", "audit.json"),
        "tags": call("GET", "tags"),
        "users": by(call("GET", "users")["users"], "name"),
        "keys": by(call("GET", "keys")["keys"], "id"),
        "questions": by(questions, "id"),
        "traces": {each: told(call, f"traces/{each}") for each in traces},
        "conversations": {each["id"]: call("GET", f"conversations/{each['id']}") for each in talks},
        "exported_conversations": {
            each["id"]: told(call, f"conversations/{each['id']}/export?format=json") for each in talks
        },
        "saved_questions": call("GET", "saved-questions"),
        "question_sets": by(sets, "id"),
        "set_questions": {each["id"]: call("GET", f"question-sets/{each['id']}/questions?limit=1000") for each in sets},
        "runs": by(runs, "id"),
        "outcomes": outcomes,
        "vocabulary": call("GET", "vocabulary"),
        "recordings": by(recordings, "id"),
        "recording_files": {each["id"]: told(call, f"recordings/{each['id']}/file") for each in recordings},
        "recording_summaries": {each["id"]: call("GET", f"recordings/{each['id']}/summary") for each in recordings},
        "models": call("GET", "models"),
        "trainings": call("GET", "trainings"),
        "jobs": by(jobs, "id"),
        "job_logs": {each["id"]: call("GET", f"jobs/{each['id']}/log?limit=1000") for each in jobs},
        "report": told(call, "stores/report"),
        "diffs": {key: difference(call, key) for key in ("stock.csv", "fees.txt", "letter.docx")},
        "generations": call("GET", "generations"),
        "uploads": call("GET", "uploads"),
        "passages": {f"{question} {asked}": passages(call, question, asked) for question, asked in ASKED},
    }


def travelled(said: dict[str, Any]) -> dict[str, Any]:
    """Return what an archive brings: neither uploads and trainings under way nor orders to mend the stores."""
    orders = {each["id"] for each in said["jobs"].values() if each["kind"] == "repair" and each["state"] == "queued"}
    jobs, logs = ({key: each for key, each in said[name].items() if key not in orders} for name in ("jobs", "job_logs"))
    counts = {**said["counts"], "running_jobs": said["counts"]["running_jobs"] - len(orders)}
    trainings = [each for each in said["trainings"]["trainings"] if each["state"] == "done"]
    left = {name: each for name, each in said.items() if name not in ("uploads", "report")}
    return {**left, "jobs": jobs, "job_logs": logs, "counts": counts, "trainings": {"trainings": trainings}}


def passages(call: Any, question: str, asked: Mapping[str, Any]) -> list[Any]:
    """Return the passages that a search finds, in order."""
    found = call("POST", "search", json={"question": question, **asked})
    placed = [hit["placed"] for hit in found["hits"]]
    return [[each["doc_key"], each["version"], each["chunk"]["position"], each["chunk"]["text"]] for each in placed]


def missing(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield what is not as it was; fields that came in since are passed over."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name, value in before.items():
            if name in PASSING:
                continue
            if name in now:
                yield from missing(value, now[name], f"{where}/{name}")
            else:
                yield f"{where}/{name} is gone"
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from missing(old, new, f"{where}/{place}")
    elif before != now:
        yield f"{where} was {before!r:.300} and is {now!r:.300}"


def difference(call: Any, key: str) -> Any:
    """Return what changed between the first two versions of a document, without how long it took to find out."""
    found = call("GET", f"diff?doc={quote(key)}&old=1&new=2")
    return {name: each for name, each in found.items() if name != "timings_ms"}


def told(call: Any, path: str) -> Any:
    """Return the JSON or the SHA-256 that a route answers, or why it does not."""
    answer = call.raw("GET", path)
    if answer.is_json or answer.mimetype == "application/problem+json":
        found = answer.get_json(force=True)
        return found if answer.status_code < 400 else {"status": answer.status_code, "code": found["code"]}
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
    return {"sha256": sha256(answer.data).hexdigest(), "size": len(answer.data)}


def by(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return {row[name]: row for row in rows}


def name_of(key: str, number: int) -> str:
    return f"{key}#v{number}"


def address(key: str, number: int) -> tuple[str, str]:
    return f"documents/{quote(key)}", f"documents/{quote(key)}/versions/{number}"
