"""A real server for the whole run, and a fresh graph for each test."""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stratalog
from local_server import LocalServer

PASSWORD = "correct-horse"
_REPOSITORY = Path(__file__).resolve().parents[2]
_numbers = itertools.count()


def executable() -> Path:
    """The server under test."""
    return Path(
        os.environ.get("STRATALOG_SERVER") or _REPOSITORY / "target/release/stratalog-server"
    ).resolve()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    # Long enough that nothing ends by it: what is to be stopped has to be stopped.
    settings = {"SERVICE_LIMITS__QUERY_TIMEOUT_MS": "600000"}
    with LocalServer(executable(), tmp_path_factory.mktemp("server"), PASSWORD, settings) as server:
        yield server


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[LocalServer]:
    """A server that a test may end."""
    with LocalServer(executable(), tmp_path, PASSWORD) as server:
        yield server


@pytest.fixture
def db(server: LocalServer) -> Iterator[stratalog.Client]:
    """A client in an empty graph of its own."""
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as client:
        client.create_kg(f"test_{next(_numbers)}")
        yield client


@pytest.fixture
def command_line(server: LocalServer, db: stratalog.Client) -> Callable[..., str]:
    """The command line on the graph of `db`."""
    path = os.environ.get("STRATALOG_CLI") or executable().with_name("stratalog")
    environment = {**os.environ, "STRATALOG_URL": server.url, "STRATALOG_PASSWORD": PASSWORD}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [str(path), *arguments, "--kg", str(db.kg), "-q"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def wait_until(holds: Callable[[], bool], seconds: float = 120) -> None:
    """Waits for what another thread or process is about to do."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(db: stratalog.Client, part: str) -> bool:
    """Whether the server works at a program with these words, as another client sees."""
    return any(part in request.program for request in db.requests.all() if request.state == "running")


#: Never ends by itself: the numbers go on.
ENDLESS = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)"
