"""Inserts in parts: more than one request may hold, and what is there when one of them fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import stratalog
from conftest import PASSWORD, executable
from local_server import LocalServer
from stratalog import Inserted, PartlyInserted

ROWS = 10_000


def versions(db: stratalog.Client) -> Iterator[int]:
    """How many facts each commit has, as events tell."""
    with db.events() as events:
        yield 0
        while (event := events.next(timeout=0.5)) is not None:
            if isinstance(event, stratalog.Event) and event.count is not None:
                yield event.count


def test_so_many_rows_are_a_commit(db: stratalog.Client, tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": range(ROWS), "s": [str(n) for n in range(ROWS)]})
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_csv(tmp_path / "x.csv")
    data: list[Any] = [
        frame,
        frame.rows(),
        (row for row in frame.rows()),
        frame.rows()[:999],
        tmp_path / "x.parquet",
        tmp_path / "x.csv",
    ]
    for number, each in enumerate(data):
        rows = 999 if number == 3 else ROWS
        seen: list[int] = []
        commits = versions(db)
        next(commits)
        found = db.insert(
            f"t{number}",
            each,
            commit_every=300,
            progress=lambda done, _: seen.append(done),  # noqa: B023
        )
        assert found == (rows, 0)
        assert seen == sorted(seen)
        counts = list(commits)
        assert (max(counts), sum(counts)) == (300, rows)
        assert db.query(f"?count<X> <- t{number}(X, _)").scalar() == rows
    with pytest.raises(ValueError, match="commit_every is a number of rows"):
        db.insert("t", frame, commit_every=0)


def test_what_was_committed_is_told(db: stratalog.Client, tmp_path: Path) -> None:
    db.execute("+t(n: int)")
    path = tmp_path / "x.csv"
    path.write_text("n\n" + "".join(f"{n}\n" for n in range(1000)) + "no\n")
    with pytest.raises(PartlyInserted, match="the first 900 rows are committed, the rest is not") as caught:
        db.insert("t", path, commit_every=300)
    assert (caught.value.rows, caught.value.committed) == (900, Inserted(900, 0))
    assert isinstance(caught.value.__cause__, stratalog.FileError)
    assert caught.value.__cause__.line == 1002
    assert db.query("?count<N> <- t(N)").scalar() == 900
    # What fails before anything is committed is what it is.
    with pytest.raises(stratalog.FileError):
        db.insert("t", path, commit_every=2000)
    with pytest.raises(PartlyInserted) as refused:
        db.insert("t", [[n] for n in range(500)] + [["x"]], commit_every=100)
    assert isinstance(refused.value.__cause__, stratalog.TypeMismatch)
    assert (refused.value.code, refused.value.committed) == ("type_mismatch", (0, 500))
    # Again from where it stopped, or from the beginning.
    assert db.insert("t", path, commit_every=300, on_error="skip") == (100, 900)

    def interrupted() -> Iterator[int]:
        yield from range(100_000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as pressed:
        db.insert("t", interrupted(), commit_every=50_000)
    assert pressed.value.__notes__ == ["50,000 rows were committed before"]


def test_a_request_may_hold_less_than_the_data(tmp_path: Path) -> None:
    settings = {"SERVICE_LIMITS__QUERY_MEMORY_BYTES": str(16 << 20)}
    frame = pl.DataFrame({"n": range(400_000), "s": [f"{n:040}" for n in range(400_000)]})
    with (
        LocalServer(executable(), tmp_path, PASSWORD, settings) as server,
        stratalog.connect(server.url, user="admin", password=PASSWORD) as db,
    ):
        with pytest.raises(stratalog.LimitExceeded):
            db.insert("t", frame)
        with pytest.raises(stratalog.UnknownRelation):
            db.query("?t(X, Y), limit(1)")
        assert db.insert("t", frame, commit_every=20_000) == (400_000, 0)


def test_asyncio_does_the_same(server: LocalServer, db: stratalog.Client, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f'{{"n": {n}}}\n' for n in range(1000)) + "{}}\n")

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as other:
            await other.use(str(db.kg))
            assert await other.insert("t", range(1000), commit_every=300) == (1000, 0)
            with pytest.raises(PartlyInserted) as caught:
                await other.insert("u", path, commit_every=300)
            assert (caught.value.rows, caught.value.committed) == (900, (900, 0))

    asyncio.run(main())
    assert db.query("?count<N> <- u(N)").scalar() == 900
