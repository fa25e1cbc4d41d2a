"""What the server does and holds, in the form that Prometheus reads; no label ever holds a word of a user."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import flask
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric

from app.api.description.describe import operation
from app.api.events.detached import pump_of
from core.model import JobState, Role

if TYPE_CHECKING:
    from core import KnowledgeBase

metrics = flask.Blueprint("metrics", __name__)

KEY = "evorag-metrics"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
QUESTIONS = ("/api/v1/ask", "/api/v1/search")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
MOST_ACTIVE = 10_000
UP = {"ok": 1, "loading": 1, "waiting": 1, "low": 1, "full": 1, "open": 1, "down": 0}


class Measures:
    """The counters of one application, in a registry of their own."""

    def __init__(self, server: flask.Flask, kb: KnowledgeBase) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "evorag_requests", "Requests by route and status.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "evorag_request_seconds",
            "Time until an answer began, by route.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.questions = Histogram(
            "evorag_question_seconds",
            "Time until a question was answered or found.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.received = Counter(
            "evorag_received_bytes", "Bytes of bodies that clients announced.", registry=self.registry
        )
        self.active = Gauge("evorag_requests_active", "Requests being answered.", registry=self.registry)
        self.uploads = Gauge("evorag_uploads_active", "Requests that bring files.", registry=self.registry)
        ProcessCollector(registry=self.registry)
        self.registry.register(Holdings(server, kb))


class Holdings:
    """What there is at the moment of asking: documents, chunks, jobs, rows, what waits."""

    def __init__(self, server: flask.Flask, kb: KnowledgeBase) -> None:
        self._server = server
        self._kb = kb

    def collect(self) -> Iterator[Metric]:
        counts, health = self._kb.counts(), self._kb.health()
        for name in ("documents", "versions", "chunks", "questions", "size_bytes", "sequence"):
            yield GaugeMetricFamily(f"evorag_{name}", f"The {name} of the catalogue.", value=getattr(counts, name))
        yield GaugeMetricFamily("evorag_outbox_rows", "Writes that wait for a store.", value=health.outbox)
        yield GaugeMetricFamily("evorag_models_ready", "1 once the models are loaded.", value=int(health.models_ready))
        rows = GaugeMetricFamily("evorag_store_rows", "Rows of a store.", labels=["store", "engine"])
        up = GaugeMetricFamily("evorag_store_up", "0 while a store is down.", labels=["store", "engine"])
        for store in health.stores:
            up.add_metric([store.name, store.engine], UP.get(store.state, 0))
            if store.rows is not None:
                rows.add_metric([store.name, store.engine], store.rows)
        yield from (rows, up)
        yield from self._jobs()
        pump = pump_of(self._server, self._kb)
        yield GaugeMetricFamily("evorag_streams_active", "Clients that follow jobs by events.", value=pump.count)

    def _jobs(self) -> Iterator[Metric]:
        states = GaugeMetricFamily("evorag_jobs", "Jobs by state.", labels=["state"])
        for state, count in self._kb.job_counts().items():
            states.add_metric([state.value], count)
        stages = GaugeMetricFamily("evorag_jobs_running", "Running jobs by stage.", labels=["stage"])
        running: dict[str, int] = {}
        for job in self._kb.jobs(active=True, limit=MOST_ACTIVE):
            if job.state is JobState.RUNNING:
                running[job.stage.value] = running.get(job.stage.value, 0) + 1
        for stage, count in running.items():
            stages.add_metric([stage], count)
        yield from (states, stages)


@metrics.get("/metrics")
@operation("Measures for Prometheus", tag="state", role=Role.ADMIN, answers={200: "text/plain"})
def show_metrics() -> flask.Response:
    """Answer counters, histograms and gauges in Prometheus' text form."""
    measures: Measures = flask.current_app.extensions[KEY]
    return flask.Response(generate_latest(measures.registry), content_type=CONTENT_TYPE_LATEST)


def measure(server: flask.Flask, kb: KnowledgeBase) -> None:
    """Count every request of ``server`` from now on."""
    measures = server.extensions[KEY] = Measures(server, kb)

    def begin() -> None:
        flask.g.evorag_began = time.perf_counter()
        flask.g.evorag_brings_file = _brings_file(flask.request)
        measures.active.inc()
        if flask.g.evorag_brings_file:
            measures.uploads.inc()
            measures.received.inc(max(flask.request.content_length or 0, 0))

    def finish(response: flask.Response) -> flask.Response:
        began = flask.g.get("evorag_began")
        if began is not None:
            method, route = _labels(flask.request)
            elapsed = time.perf_counter() - began
            measures.requests.labels(method, route, str(response.status_code)).inc()
            measures.seconds.labels(method, route).observe(elapsed)
            if route in QUESTIONS:
                measures.questions.labels(route).observe(elapsed)
        return response

    def forget(_error: BaseException | None) -> None:
        if flask.g.pop("evorag_began", None) is not None:
            measures.active.dec()
            if flask.g.get("evorag_brings_file"):
                measures.uploads.dec()

    server.before_request(begin)
    server.after_request(finish)
    server.teardown_request(forget)
    server.register_blueprint(metrics)


def _labels(request: flask.Request) -> tuple[str, str]:
    """The method and the route's template: what was asked for there is nobody's business."""
    rule: Any = request.url_rule
    return request.method if request.method in METHODS else "other", rule.rule if rule is not None else "none"


def _brings_file(request: flask.Request) -> bool:
    is_part = request.method == "PATCH" and request.mimetype == "application/offset+octet-stream"
    return is_part or (request.method == "POST" and request.mimetype == "multipart/form-data")
