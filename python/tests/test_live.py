"""Live queries, in all the ways in which one waits for them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import stratalog
from conftest import PASSWORD, executable, wait_until
from local_server import LocalServer

REACH = "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)"


@pytest.fixture
def reach(db: stratalog.Client) -> stratalog.Client:
    """A graph with something that follows."""
    db.insert("edge", [(1, 2), (2, 3)])
    db.execute(REACH)
    return db


def test_rows_come_and_go(reach: stratalog.Client) -> None:
    with reach.live("?reach($from, Y)", {"from": 1}) as live:
        first = live.next(60)
        assert first is not None
        assert first.reset
        assert sorted(first.added) == [(1, 2), (1, 3)]
        assert live.columns == ["A", "Y"]
        inserted = reach.insert("edge", [(3, 4), (7, 8)])
        change = live.next(60)
        assert change is not None
        assert (change.added, change.removed, change.reset) == ([(1, 4)], [], False)
        assert change.version == inserted.version == live.version
        reach.execute("-edge(2, 3)")
        change = live.next(60)
        assert change is not None
        assert sorted(change.removed) == [(1, 3), (1, 4)]
        assert live.rows == [(1, 2)]
        assert live.next(0.2) is None


def test_changes_are_frames(db: stratalog.Client) -> None:
    db.insert("p", [(1, "a", 0.5), (2, "b", 1.5)])
    with db.live("?p(N, T, X)") as live:
        assert live.next(60) is not None
        db.execute('-p(1, T, X) <- p(1, T, X)\n+p(3, "c", 2.5)', atomic=True)
        change = live.next(60)
        assert change is not None
        assert change.to_polars().sort("N").rows() == [(-1, 1, "a", 0.5), (1, 3, "c", 2.5)]
        assert change.to_pandas().sort_values("N")["_diff"].tolist() == [-1, 1]
        assert change.to_arrow().column_names == ["_diff", "N", "T", "X"]


def test_a_value_is_found_again_when_its_column_looks_otherwise(db: stratalog.Client) -> None:
    # A time among values of other types is a number.
    db.execute('+said[(1, t"2024-01-05"), (2, 5), (3, t"2024-01-06")]')
    with db.live("?said(X, Y)") as live:
        assert live.next(60) is not None
        for step in [
            "-said(2, 5)",
            '-said(3, t"2024-01-06")',
            "+said(4, 7)",
            "-said(4, 7)",
            '-said(1, t"2024-01-05")',
        ]:
            db.execute(step)
            assert live.next(60) is not None
            assert sorted(map(repr, live.rows)) == sorted(map(repr, map(tuple, db.execute("?said(X, Y)")))), (
                step
            )
        assert live.rows == []


def test_values_of_all_kinds_are_kept_apart(db: stratalog.Client) -> None:
    db.execute('+v[(1), (1.0), (true), ("1"), ([1, 2])]')
    with db.live("?v(X)") as live:
        assert live.next(60) is not None
        assert len(live.rows) == 5
        db.execute("-v(1.0)")
        assert live.next(60) is not None
        assert sorted(map(repr, live.rows)) == sorted(map(repr, db.query("?v(X)").rows()))


def test_many_rows_and_a_large_change(db: stratalog.Client) -> None:
    db.insert("n", range(300_000))
    with db.live("?n(X)") as live:
        assert live.next(60) is not None
        assert len(live.rows) == 300_000
        db.execute("-n(X) <- n(X), X >= 100000")
        change = live.next(60)
        assert change is not None
        assert (len(change.removed), len(live.rows)) == (200_000, 100_000)


def test_it_waits_for_ones_own_write(reach: stratalog.Client) -> None:
    with reach.live("?reach(1, Y)", progress=True) as live:
        inserted = reach.insert("edge", [(3, 4)])
        unrelated = reach.insert("other", [1])
        assert inserted.version is not None
        assert unrelated.version is not None
        assert live.wait(inserted.version, 60)
        assert (1, 4) in live.rows
        assert live.wait(unrelated.version, 60)
        assert not live.wait(unrelated.version + 1, 0.3)
    with reach.live("?reach(1, Y)") as live, pytest.raises(ValueError, match="progress=True"):
        live.wait(1)


def test_another_thread_ends_it(reach: stratalog.Client) -> None:
    live = reach.live("?reach(X, Y)")
    threading.Timer(0.3, live.close).start()
    assert len(list(live)) == 1


def test_what_is_wrong_is_told_at_once(reach: stratalog.Client) -> None:
    with pytest.raises(stratalog.UnknownRelation, match="did you mean"):
        reach.live("?raech(X, Y)")
    with pytest.raises(stratalog.NotLive):
        reach.live("+edge(1, 1)\n?edge(X, Y)")
    with pytest.raises(ValueError, match="token"):
        reach.live("?edge(X, Y)", resume="nonsense")


def test_it_ends_with_the_reason(reach: stratalog.Client) -> None:
    with reach.live("?reach(X, Y)") as live:
        assert live.next(60) is not None
        reach.execute(".rule drop reach")
        with pytest.raises(stratalog.UnknownRelation):
            live.next(60)


def test_it_goes_on_where_it_was(reach: stratalog.Client) -> None:
    with reach.live("?reach(1, Y)") as live:
        assert live.next(60) is not None
        token = live.token
        link = live._link
        assert link is not None
        link.close()
        reach.insert("edge", [(3, 4)])
        change = live.next(60)
        assert change is not None
        assert (change.reset, change.added) == (False, [(1, 4)])
        assert len(live.rows) == 3
    with reach.live("?reach(1, Y)", resume=token, keep=False) as live:
        change = live.next(60)
        assert change is not None
        assert (change.reset, change.added, live.rows) == (False, [(1, 4)], [])


def test_it_outlives_the_server(tmp_path: Path) -> None:
    with LocalServer(executable(), tmp_path, PASSWORD) as first:
        port = int(first.url.rpartition(":")[2])
        db = stratalog.connect(first.url, user="admin", password=PASSWORD)
        db.insert("p", [1])
        live = db.live("?p(X)")
        assert live.next(60) is not None
        first.kill()
    with LocalServer(executable(), tmp_path, PASSWORD, port=port) as second, live:
        with stratalog.connect(second.url, user="admin", password=PASSWORD) as again:
            again.insert("p", [2])
        wait_until(lambda: live.next(0.5) is not None and len(live.rows) == 2)
    db.close()


def test_it_is_there_for_tasks(server: LocalServer) -> None:
    async def work() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.create_kg("live_tasks")
            await db.insert("edge", [(1, 2), (2, 3)])
            await db.execute(REACH)
            async with db.live("?reach($from, Y)", {"from": 1}) as live:
                changes = aiter(live)
                assert (await anext(changes)).reset
                await db.insert("edge", [(3, 4)])
                assert (await anext(changes)).added == [(1, 4)]
                await db.execute("-edge(1, 2)")
                assert len((await anext(changes)).removed) == 3
                assert live.rows == []
            with pytest.raises(stratalog.UnknownRelation):
                async with db.live("?nothing(X)"):
                    pass

    asyncio.run(work())
