"""Routes that go on telling: the progress of jobs as server-sent events and by WebSocket, and answers as they come.

Events hold no thread of the server (``app.api.events.detached``). A WebSocket holds one of its own, of which there are
few; whoever finds none is told to come back, and asks for the job instead.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

import flask
from werkzeug.exceptions import ServiceUnavailable

from app.api.description.describe import operation, whole
from app.api.description.reading import arguments
from app.api.events.detached import EventStream, pump_of
from app.api.events.progress import (
    HEARTBEAT,
    LONGEST_S,
    MOVING_S,
    AllFollower,
    Event,
    Follower,
    JobFollower,
    new_events,
    written,
)
from app.api.system.waiting import room_to_write
from app.components.shared.states import error_words, unknown_error
from app.context import kb, rag
from app.security.sockets import SocketAnswer
from app.serving.conversation import Conversation
from core.errors import EvoRAGError, NotFound
from core.model import AskStep, Query, WritingStep, event_of

streams = flask.Blueprint("streams", __name__)

SHARE = 4
"""There are so many times as many threads for requests as for WebSockets."""
TICK_S = 0.25
MOST_FOLLOWED = 100
MOST_MESSAGES = 60
MESSAGES_WITHIN_S = 10.0
AGAIN_S = 5
STILL_WRITING = WritingStep("")
"""Says nothing to a client, but shows whether there is one."""
POLICY, BUSY, AWAY, BAD_MESSAGE, FOREIGN, UNKNOWN = 1008, 1013, 1001, 4400, 4403, 4404

SEEN = whole("Only changes after this one; `Last-Event-ID` says the same.", low=0, high=2**62)


@streams.get("/api/v1/jobs/<job_id>/events")
@operation(
    "Follow a job",
    tag="jobs",
    query={"after": SEEN},
    headers={"Last-Event-ID": whole("The last change that the client has seen.", low=0, high=2**62)},
    answers={200: "event-stream", 204: None},
    errors=(NotFound,),
)
def follow_job(job_id: str) -> flask.Response:
    """Send an event ``job`` at once and at every change, and ``end`` once it has ended.

    204 where the job has ended and the client has seen it, so that an ``EventSource`` does not come back.
    """
    seen = _seen()
    follower = JobFollower(kb(), job_id, -1 if seen is None else seen)
    job = kb().job(job_id)
    if follower.seen >= job.change and not _is_active(job.state):
        return flask.Response(status=204)
    return _streamed(follower)


@streams.get("/api/v1/jobs/events")
@operation(
    "Follow all jobs",
    tag="jobs",
    query={"after": SEEN},
    headers={"Last-Event-ID": whole("The last change that the client has seen.", low=0, high=2**62)},
    answers={200: "event-stream"},
)
def follow_jobs() -> flask.Response:
    """Send an event ``job`` at every change of a job that one sees, or ``reload`` where there were too many."""
    return _streamed(AllFollower(kb(), _seen()))


def answer_events(query: Query, *, keep: bool = True) -> flask.Response:
    """Answer a question as events, and ``done`` with the trace: ``analysis``, ``passages``, ``writing``, ``answer``.

    ``writing`` and ``answer`` come piece by piece. What goes wrong before the search begins is an ordinary error,
    afterwards the event ``error``. While a generator is silent a comment comes every few seconds, so that a client that
    has gone is noticed: the generator stops then, and nothing is kept.
    """
    with ExitStack() as opened:
        opened.enter_context(room_to_write(query))
        steps = rag().ask_events(query, keep=keep)
        opened.callback(steps.close)
        first = next(steps)
        held = opened.pop_all()

    def parts() -> Iterator[bytes]:
        try:
            yield _step(first)
            for step in steps:
                yield _step(step)
        except EvoRAGError as error:
            yield _error(error, error.status)
        except Exception as error:
            yield _error(unknown_error(error), 500)
        finally:
            held.close()

    response = flask.Response(flask.stream_with_context(parts()), mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(held.close)
    return response


def wants_events() -> bool:
    """Say whether the present request asks for events rather than JSON."""
    accepted = flask.request.accept_mimetypes
    return (
        "text/event-stream" in accepted.values()
        and accepted.best_match(["application/json", "text/event-stream"]) == "text/event-stream"
    )


@streams.route("/ws/progress/<job_id>", websocket=True)
@operation("Follow jobs by WebSocket", tag="jobs", answers={101: None})
def socket_of_job(job_id: str) -> flask.Response:
    """Tell the progress of a job, and of those named in ``{"subscribe": [ids]}``, until all have ended."""
    return SocketAnswer(partial(_serve, job_id=job_id))


@streams.route("/api/v1/ws/progress/<job_id>", websocket=True)
@operation("Follow jobs by WebSocket", tag="jobs", answers={101: None})
def socket_under_v1(job_id: str) -> flask.Response:
    """Tell what ``/ws/progress`` tells."""
    return SocketAnswer(partial(_serve, job_id=job_id))


def _serve(conversation: Conversation, job_id: str) -> None:
    with _slot() as has_room:
        code, why = (
            _talk(conversation, job_id) if has_room else (BUSY, "Too many clients follow progress; ask for the job.")
        )
        conversation.close(code, why)


def _talk(ws: Conversation, job_id: str) -> tuple[int, str]:
    """Tell and listen until there is a reason to close, and return it."""
    followers = {job_id: JobFollower(kb(), job_id)}
    heard: deque[float] = deque(maxlen=MOST_MESSAGES)
    ends, change, told = time.monotonic() + LONGEST_S, -1, 0.0
    while (now := time.monotonic()) < ends:
        newest = kb().jobs_changed(0, 0.0)
        is_moving = any(follower.is_moving for follower in followers.values())
        if newest != change or (is_moving and now - told >= MOVING_S):
            change, told = newest, now
            for key, follower in list(followers.items()):
                for event in new_events(follower):
                    if event.name == "error":
                        return UNKNOWN, f"There is no job {key[:32]}."
                    ws.send(_message(event))
                if follower.has_ended:
                    del followers[key]
        if not followers:
            return 1000, "All have ended."
        payload = ws.receive(TICK_S)
        if payload is None:
            continue
        heard.append(time.monotonic())
        if len(heard) == MOST_MESSAGES and heard[-1] - heard[0] < MESSAGES_WITHIN_S:
            return POLICY, "Too many messages."
        wanted = _subscribed(payload)
        if wanted is None:
            return BAD_MESSAGE, 'A message is {"subscribe": [ids of jobs]} or {"ping": anything}.'
        if len(followers.keys() | wanted) > MOST_FOLLOWED:
            return POLICY, f"At most {MOST_FOLLOWED} jobs."
        followers |= {key: JobFollower(kb(), key) for key in wanted - followers.keys()}
        change = -1 if wanted else change
    return AWAY, "Connect again."


def _subscribed(payload: str | bytes) -> set[str] | None:
    """Return the jobs that a message names, None where it is none of ours."""
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    if message.keys() == {"ping"}:
        return set()
    wanted = message.get("subscribe")
    if message.keys() != {"subscribe"} or not isinstance(wanted, list):
        return None
    return set(wanted) if all(isinstance(key, str) and len(key) <= 64 for key in wanted) else None


def _message(event: Event) -> str:
    """Return an event as the message of a WebSocket."""
    named = {"type": "progress", "job_id": event.data["id"]} if event.name == "job" else {"type": event.name}
    return json.dumps({**named, **event.data})


def _streamed(follower: Follower) -> flask.Response:
    pump = pump_of(flask.current_app, kb())
    if pump.is_full:
        raise ServiceUnavailable("Too many clients follow progress at the same time.", retry_after=AGAIN_S)
    return EventStream(kb(), pump, follower)


@contextmanager
def _slot() -> Iterator[bool]:
    """Keep threads free for the pages; gives whether there is room for one more socket."""
    server = kb().settings.server
    room = max(1, min(server.stream_limit, server.server_threads // SHARE))
    slots = flask.current_app.extensions.setdefault("evorag-sockets", threading.BoundedSemaphore(room))
    has_room = slots.acquire(blocking=False)
    try:
        yield has_room
    finally:
        if has_room:
            slots.release()


def _seen() -> int | None:
    """The last change that the client has seen, where it says so."""
    after: int | None = arguments()["after"]
    last = flask.request.headers.get("Last-Event-ID", "")
    if last.isascii() and last.isdigit() and len(last) < 19:
        return int(last)
    return after


def _is_active(state: str) -> bool:
    return state in ("queued", "running")


def _step(step: AskStep) -> bytes:
    return HEARTBEAT if step == STILL_WRITING else written([Event(None, *event_of(step))])


def _error(error: EvoRAGError | Mapping[str, str], status: int) -> bytes:
    return written([Event(None, "error", {**error_words(error), "status": status})])


def register_streams(server: flask.Flask) -> None:
    """Add the routes to ``server``."""
    server.register_blueprint(streams)
