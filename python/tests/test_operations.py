"""Metrics and probes as monitoring reads them, with the parser of Prometheus' own client."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

import stratalog
from conftest import PASSWORD, executable
from local_server import LocalServer

#: The metrics of the interface, with their types.
LISTED = {
    "service_uptime_seconds": "gauge",
    "service_queries_total": "counter",
    "service_knowledge_graphs": "gauge",
    "service_unwritable_knowledge_graphs": "gauge",
    "service_relations_total": "gauge",
    "service_views_total": "gauge",
    "service_sessions_total": "gauge",
    "service_sessions_clean": "gauge",
    "service_sessions_dirty": "gauge",
    "service_tuples_total": "gauge",
    "service_memory_usage_bytes": "gauge",
    "service_ephemeral_facts": "gauge",
    "service_ephemeral_rules": "gauge",
    "service_ephemeral_bytes": "gauge",
    "service_connections": "gauge",
    "service_websockets": "gauge",
    "service_connections_refused_total": "counter",
}
#: Ours, beside those.
OWN = {
    "service_stored_memory_bytes": "gauge",
    "service_stored_memory_limit_bytes": "gauge",
    "service_archive_age_seconds": "gauge",
    "service_archive_failures_total": "counter",
    "service_kept_views": "gauge",
    "service_kept_view_memory_bytes": "gauge",
    "service_kept_view_steps_total": "counter",
    "service_kept_view_steps_given_up_total": "counter",
    "service_live_queries": "gauge",
    "service_live_subscriptions": "gauge",
    "service_live_memory_bytes": "gauge",
    "service_live_behind_versions": "gauge",
    "service_live_deltas_total": "counter",
    "service_live_resets_total": "counter",
}
LATENCIES = {
    "service_query_seconds",
    "service_query_wait_seconds",
    "service_query_parse_seconds",
    "service_query_execute_seconds",
}
BOUNDS = ["0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1", "5", "+Inf"]


class Monitor:
    """Asks a server for its metrics with a key of its own."""

    def __init__(self, server: LocalServer, key: str) -> None:
        self._base = server.url.replace("ws://", "http://")
        self._key = key

    def get(self, path: str) -> str:
        request = urllib.request.Request(self._base + path, headers={"Authorization": f"Bearer {self._key}"})
        with urllib.request.urlopen(request, timeout=120) as response:
            return str(response.read().decode())

    def scrape(self) -> dict[str, Metric]:
        families = text_string_to_metric_families(self.get("/metrics/prometheus"))
        return {family.name: family for family in families}

    def numbers(self) -> dict[str, float]:
        samples = (sample for family in self.scrape().values() for sample in family.samples)
        return {sample.name: sample.value for sample in samples if not sample.labels}


@pytest.fixture
def monitored(own_server: LocalServer) -> Iterator[tuple[stratalog.Client, Monitor]]:
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD, timeout=60) as client:
        key = str(client.query(".apikey create monitor").rows()[0][0])
        yield client, Monitor(own_server, key)


def test_exactly_the_listed_metrics_and_the_latencies_are_there(
    monitored: tuple[stratalog.Client, Monitor],
) -> None:
    _, monitor = monitored
    text = monitor.get("/metrics/prometheus")
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    assert set(names) == set(LISTED) | set(OWN) | LATENCIES
    types = dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE"))
    assert {name: types[name] for name in LISTED | OWN} == LISTED | OWN
    for name in names:
        assert sum(line.startswith(f"# HELP {name} ") for line in text.splitlines()) == 1
    families = monitor.scrape()
    for name in LATENCIES:
        buckets = [s for s in families[name].samples if s.name.endswith("_bucket")]
        counts = [s.value for s in buckets]
        assert [s.labels["le"] for s in buckets] == BOUNDS
        assert counts == sorted(counts)
        assert counts[-1] == next(s.value for s in families[name].samples if s.name.endswith("_count"))


def test_metrics_move_by_what_was_done(monitored: tuple[stratalog.Client, Monitor]) -> None:
    client, monitor = monitored
    before = monitor.numbers()
    client.create_kg("lab")
    client.execute("+edge[(1,2),(2,3),(3,4)]")
    client.execute("+reach(X, Y) <- edge(X, Y)")
    client.execute("mine[(1),(2)]")
    for _ in range(5):
        client.query("?reach(X, Y)")
    after = monitor.numbers()
    moved = {name: after[name] - before[name] for name in before if after[name] != before[name]}
    del moved["service_memory_usage_bytes"], moved["service_stored_memory_bytes"]
    assert moved.pop("service_ephemeral_bytes") > 0
    assert moved.pop("service_kept_view_memory_bytes") > 0
    moved.pop("service_connections", None)
    moved = {name: by for name, by in moved.items() if not name.endswith("_sum")}
    moved.pop("service_uptime_seconds", None)
    assert moved == {
        "service_queries_total": 9,
        "service_knowledge_graphs": 1,
        "service_relations_total": 1,
        "service_views_total": 1,
        "service_sessions_clean": -1,
        "service_sessions_dirty": 1,
        "service_tuples_total": 3,
        "service_kept_views": 1,
        "service_ephemeral_facts": 2,
        "service_query_seconds_count": 9,
        "service_query_wait_seconds_count": 9,
        "service_query_parse_seconds_count": 9,
        "service_query_execute_seconds_count": 9,
    }


def test_both_forms_tell_the_same(monitored: tuple[stratalog.Client, Monitor]) -> None:
    client, monitor = monitored
    client.execute("+edge[(1,2)]")
    data = json.loads(monitor.get("/v1/metrics"))["data"]
    numbers = monitor.numbers()
    assert data["query_count"] == numbers["service_queries_total"]
    assert data["memory_usage_bytes"] == numbers["service_memory_usage_bytes"]
    assert data["sessions"]["clean"] == numbers["service_sessions_clean"]


def test_storage_that_hangs_makes_the_server_degraded_and_not_ready(tmp_path: Path, slow_disk: Path) -> None:
    gate = tmp_path / "hang"
    settings = {"LD_PRELOAD": str(slow_disk), "STRATALOG_TEST_HANG": str(gate)}
    with LocalServer(executable(), tmp_path / "server", PASSWORD, settings) as server:
        base = server.url.replace("ws://", "http://")
        assert probe(base, "/health") == (200, "healthy")
        with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as client:
            gate.touch()
            with ThreadPoolExecutor(1) as pool:
                insert = pool.submit(client.execute, "+edge[(1,2)]")
                try:
                    while probe(base, "/ready") == (200, None):
                        # The insert has not come to the disk yet.
                        assert not insert.done()
                    assert probe(base, "/health") == (503, "degraded")
                    assert probe(base, "/v1/ready") == (503, None)
                    assert probe(base, "/live") == (200, None)
                finally:
                    gate.unlink()
                insert.result(timeout=120)
            assert probe(base, "/health") == (200, "healthy")
            assert probe(base, "/ready") == (200, None)


@pytest.fixture(scope="session")
def slow_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library under whose reign syncing hangs as long as a file is there."""
    folder = tmp_path_factory.mktemp("slow_disk")
    source, library = folder / "slow_disk.c", folder / "slow_disk.so"
    source.write_text(_SLOW_DISK)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


_SLOW_DISK = """
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hang(void) {
    const char *gate = getenv("STRATALOG_TEST_HANG");
    while (gate && access(gate, F_OK) == 0) usleep(5000);
}

int fsync(int fd) { hang(); return (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { hang(); return (int)syscall(SYS_fdatasync, fd); }
"""


def probe(base: str, path: str) -> tuple[int, str | None]:
    """Status and, where there is a body, what it says."""
    try:
        with urllib.request.urlopen(base + path, timeout=120) as response:
            status, body = response.status, response.read()
    except urllib.error.HTTPError as refused:
        with refused:
            status, body = refused.code, refused.read()
    return status, json.loads(body)["data"]["status"] if body else None
