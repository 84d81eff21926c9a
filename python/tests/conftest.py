"""A real server for the whole run, and a fresh graph for each test."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import stratalog
from local_server import LocalServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PASSWORD = "correct-horse"
_REPOSITORY = Path(__file__).resolve().parents[2]
_numbers = itertools.count()


def executable() -> Path:
    """The server under test."""
    return Path(
        os.environ.get("STRATALOG_SERVER") or _REPOSITORY / "target/release/stratalog-server"
    ).resolve()


def cli() -> Path:
    """The command line under test."""
    return Path(os.environ.get("STRATALOG_CLI") or executable().with_name("stratalog")).resolve()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    # Long enough that nothing ends by it: what is to be stopped has to be stopped.
    settings = {"SERVICE_LIMITS__QUERY_TIMEOUT_MS": "600000"}
    with LocalServer(executable(), tmp_path_factory.mktemp("server"), PASSWORD, settings) as server:
        yield server
        # Files of tests share the server in any order, so each takes its people away.
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as admin:
            assert [user.username for user in admin.users.all()] == ["admin"]


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[LocalServer]:
    """A server that a test may end."""
    with LocalServer(executable(), tmp_path, PASSWORD) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    # Few tests need one, and it takes a while to import.
    from playwright.sync_api import sync_playwright

    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        # The sandbox needs rights that containers do not give; the pages are our own.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What needs no server of its own is tested on a server, and on a database in this process."""
    if "database" in metafunc.fixturenames:
        on_server = {"server", "own_server", "command_line"} & set(metafunc.fixturenames)
        metafunc.parametrize("database", ["server"] if on_server else ["server", "embedded"])


@pytest.fixture(scope="session")
def embedded() -> Iterator[stratalog.Client]:
    """A database in this process, in memory."""
    with stratalog.open(timeout=60) as client:
        yield client


@pytest.fixture
def db(database: str, request: pytest.FixtureRequest) -> Iterator[stratalog.Client]:
    """A client in an empty graph of its own."""
    with connected(request.getfixturevalue(database)) as client:
        client.create_kg(f"test_{next(_numbers)}")
        yield client


def connected(to: LocalServer | stratalog.Client) -> stratalog.Client:
    """A client with a session of its own."""
    if isinstance(to, stratalog.Client):
        return to.kg("default")
    return stratalog.connect(to.url, user="admin", password=PASSWORD, timeout=60)


@pytest.fixture
def command_line(server: LocalServer, db: stratalog.Client) -> Callable[..., str]:
    """The command line on the graph of `db`."""
    environment = {**os.environ, "STRATALOG_URL": server.url, "STRATALOG_PASSWORD": PASSWORD}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [str(cli()), *arguments, "--kg", str(db.kg), "-q"],
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
