"""A real server for the whole run, and a fresh graph for each test."""

from __future__ import annotations

import itertools
import os
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
    with LocalServer(executable(), tmp_path_factory.mktemp("server"), PASSWORD) as server:
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


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Waits for what another thread or process is about to do."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


#: Never ends by itself: the numbers go on.
ENDLESS = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)"
