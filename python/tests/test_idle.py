"""Connections that nobody reads for a while, or whose server says nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import stratalog
from conftest import PASSWORD, wait_until
from local_server import LocalServer
from stratalog import connection


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a minute of silence is half a second."""
    monkeypatch.setattr(connection, "KEEP_SECONDS", 0.1)
    monkeypatch.setattr(connection, "SILENCE_SECONDS", 0.5)


def client(server: LocalServer, **options: Any) -> stratalog.Client:
    return stratalog.connect(server.url, user="admin", password=PASSWORD, **options)


def stands_still(process: int) -> bool:
    """Whether each of its threads has stopped."""
    states = [
        each.read_text().rpartition(")")[2].split()[0]
        for each in Path(f"/proc/{process}/task").glob("*/stat")
    ]
    return all(state == "T" for state in states)


@contextmanager
def frozen(server: LocalServer) -> Iterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        # Its threads stop one by one, and until then another may answer.
        wait_until(lambda: stands_still(server.pid))
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def test_who_has_not_read_what_it_was_told_is_closed_at_once(
    own_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "KEEP_SECONDS", 600)
    idle = client(own_server)
    with client(own_server) as busy:
        for number in range(200):
            busy.graphs.create(f"told_{number}")
    begin = time.monotonic()
    idle.close()
    assert time.monotonic() - begin < 5


def test_who_asks_nothing_is_told_of_changes(server: LocalServer, db: stratalog.Client) -> None:
    with client(server, kg=str(db.kg)) as idle:
        idle.execute("mine(1)")
        for n in range(500):
            db.insert("busy", [n])
        told: list[dict[str, Any]] = []

        def all_of_them() -> bool:
            told.extend(idle.notifications)
            return len(told) >= 500

        wait_until(all_of_them)
        assert [note["seq"] for note in told] == sorted(note["seq"] for note in told)
        assert idle.query("?mine(X)").rows() == [(1,)], "the session is the same"


def test_whoever_hangs_up_and_who_keeps_the_connection_do_not_read_at_once(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong in the thread that keeps a connection fails the test."""
    # Not 0: what is sent without a pause fills both directions of a socket, and then nobody reads.
    monkeypatch.setattr(connection, "KEEP_SECONDS", 0.001)
    for _ in range(60):
        with client(server) as db:
            db.query("?X <- X = 1")


def test_a_stream_may_be_read_slowly(db: stratalog.Client) -> None:
    db.insert("n", range(1_000))
    with db.stream("?n(X), n(Y)") as stream:
        rows = stream.rows()
        next(rows)
        time.sleep(2)
        assert 1 + sum(1 for _ in rows) == 1_000_000


def test_a_stream_may_be_read_slowly_by_a_task(server: LocalServer) -> None:
    async def work() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.create_kg("slow_task")
            await db.insert("n", range(1_000))
            read = 0
            async with await db.stream("?n(X), n(Y)") as stream:
                async for _ in stream.rows():
                    if read == 0:
                        await asyncio.sleep(2)
                    read += 1
            assert read == 1_000_000

    asyncio.run(work())


def test_a_long_question_is_no_silence(own_server: LocalServer) -> None:
    with client(own_server) as db:
        db.insert("start", [1])
        with pytest.raises(stratalog.QueryTimeout):
            db.query("n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)", timeout=3)


def test_a_server_that_says_nothing_is_given_up(own_server: LocalServer) -> None:
    with client(own_server, reconnect=0) as db:
        db.insert("p", [1])
        with frozen(own_server), pytest.raises(stratalog.ConnectionLost, match="does not answer"):
            db.query("?p(X)")


def test_a_server_that_says_nothing_is_given_up_by_a_task(own_server: LocalServer) -> None:
    async def work() -> None:
        connecting = stratalog.connect_async(own_server.url, user="admin", password=PASSWORD, reconnect=0)
        async with await connecting as db:
            await db.insert("p", [1])
            with frozen(own_server), pytest.raises(stratalog.ConnectionLost, match="does not answer"):
                await db.query("?p(X)")

    asyncio.run(work())
