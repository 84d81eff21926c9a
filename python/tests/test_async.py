"""The client for asyncio."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import polars as pl
import pytest

import stratalog
from conftest import ENDLESS, PASSWORD
from local_server import LocalServer
from stratalog import aio_connection

_numbers = itertools.count()


def run(
    server: LocalServer, work: Callable[[stratalog.AsyncClient], Awaitable[None]], reconnect: float = 10
) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(
            server.url, user="admin", password=PASSWORD, reconnect=reconnect
        ) as db:
            await db.create_kg(f"async_{next(_numbers)}")
            await work(db)

    asyncio.run(main())


def test_insert_and_query(server: LocalServer) -> None:
    async def work(db: stratalog.AsyncClient) -> None:
        assert (await db.insert("p", [(1, "a")])).inserted == 1
        assert (await db.insert("p", pl.DataFrame({"n": [2], "s": ["b"]}))).inserted == 1
        answers = await asyncio.gather(*[db.query("?p($n, S)", {"n": n}) for n in (1, 2)])
        assert [answer.one() for answer in answers] == [(1, "a"), (2, "b")]
        assert await db.ping() > 0
        with pytest.raises(stratalog.UnknownRelation):
            await db.query("?q(X)")

    run(server, work)


def test_cancel(server: LocalServer) -> None:
    async def work(db: stratalog.AsyncClient) -> None:
        await db.insert("start", [1])
        query = asyncio.create_task(db.query(ENDLESS))
        await asyncio.sleep(0.3)
        assert await db.cancel() is True
        with pytest.raises(stratalog.Cancelled):
            await query
        query = asyncio.create_task(db.query(ENDLESS))
        await asyncio.sleep(0.3)
        query.cancel()
        with pytest.raises(asyncio.CancelledError):
            await query
        assert (await db.query("?start(X)")).scalar() == 1

    run(server, work)


def test_who_waits_is_told_how_far_the_query_is(server: LocalServer) -> None:
    async def work(db: stratalog.AsyncClient) -> None:
        await db.insert("start", [1])
        told: list[stratalog.Working] = []
        with pytest.raises(stratalog.QueryTimeout):
            await db.query(ENDLESS, timeout=2, progress=told.append)
        assert len(told) >= 2
        assert told[0].rounds < told[1].rounds
        with pytest.raises(ZeroDivisionError):
            await db.stream(ENDLESS, progress=lambda working: working.rounds // 0)
        assert (await db.query("?start(X)", progress=True)).scalar() == 1

    run(server, work)


def test_what_stands_behind_a_long_query_runs_out_of_time_alone(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aio_connection, "GRACE_SECONDS", 0.2)

    async def work(db: stratalog.AsyncClient) -> None:
        await db.insert("start", [1])
        query = asyncio.create_task(db.query(ENDLESS))
        await asyncio.sleep(0.3)
        with pytest.raises(stratalog.QueryTimeout):
            await db.query("?start(X)", timeout=0.2)
        assert not query.done()
        assert await db.cancel() is True
        with pytest.raises(stratalog.Cancelled):
            await query
        assert (await db.query("?start(X)")).scalar() == 1

    run(server, work)


def test_a_wrong_password_is_refused(server: LocalServer) -> None:
    with pytest.raises(stratalog.AuthError):
        asyncio.run(stratalog.connect_async(server.url, user="admin", password="wrong"))


def test_a_killed_server_is_noticed(own_server: LocalServer) -> None:
    async def work(db: stratalog.AsyncClient) -> None:
        await db.insert("start", [1])
        query = asyncio.create_task(db.query(ENDLESS))
        await asyncio.sleep(0.3)
        own_server.kill()
        with pytest.raises(stratalog.ConnectionLost):
            await query

    run(own_server, work, reconnect=0)
