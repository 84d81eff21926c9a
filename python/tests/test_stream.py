"""Answers that are read while they come."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

ROWS = 300_000
#: Far more rows than lie between server and client, so that there is something to stop.
MANY = "?A, B <- big(A, _), big(B, _), A < 1000, B < 4000"
_numbers = itertools.count()


@pytest.fixture(scope="module")
def big(server: LocalServer) -> str:
    """A graph with a relation of more than one batch."""
    name = f"stream_{next(_numbers)}"
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.create_kg(name)
        db.execute("+big(n: int, s: string)")
        db.insert("big", pl.DataFrame({"n": range(ROWS), "s": [f"number {n}" for n in range(ROWS)]}))
    return name


@pytest.fixture
def reader(server: LocalServer, big: str) -> Iterator[stratalog.Client]:
    with stratalog.connect(server.url, user="admin", password=PASSWORD, kg=big, timeout=60) as db:
        yield db


@dataclass
class Big:
    n: int
    s: str


def test_batches_rows_and_objects(reader: stratalog.Client) -> None:
    with reader.stream("?big(N, S)") as stream:
        assert (stream.columns, stream.total_count) == (["n", "s"], ROWS)
        batches = list(stream)
    assert len(batches) > 2
    assert sum(len(batch) for batch in batches) == ROWS
    assert sorted(row[0] for batch in batches for row in batch) == list(range(ROWS))
    assert batches[0].to_polars().columns == ["n", "s"]
    with reader.stream("?big(N, S), N < $most", {"most": 5}) as stream:
        assert sorted(stream.rows()) == [(n, f"number {n}") for n in range(5)]
    with reader.stream("?big(N:asc, S), limit(1)") as stream:
        assert list(stream.objects(Big)) == [Big(0, "number 0")]


def test_other_libraries_read_from_the_server(reader: stratalog.Client) -> None:
    assert pl.DataFrame(reader.stream("?big(N, S)")).height == ROWS
    assert pa.RecordBatchReader.from_stream(reader.stream("?big(N, S)")).read_all().num_rows == ROWS
    stream = pa.RecordBatchReader.from_stream(reader.stream("?big(N, S)"))
    assert duckdb.from_arrow(stream).aggregate("sum(n)").fetchall() == [(ROWS * (ROWS - 1) // 2,)]


def test_no_rows_keep_their_columns(reader: stratalog.Client) -> None:
    with reader.stream("?big(N, S), N < 0") as stream:
        (batch,) = stream
    assert (len(batch), batch.columns, batch.types) == (0, ["n", "s"], ["int", "string"])


def test_a_stream_is_read_once(reader: stratalog.Client) -> None:
    stream = reader.stream("?big(N, S), N < 2")
    assert len(list(stream.rows())) == 2
    with pytest.raises(RuntimeError, match="once"):
        list(stream)
    with pytest.raises(RuntimeError, match="once"):
        stream.__arrow_c_stream__()
    closed = reader.stream(MANY)
    closed.close()
    with pytest.raises(stratalog.Cancelled):
        list(closed)


def test_a_stream_goes_into_another_relation(reader: stratalog.Client) -> None:
    with reader.kg(reader.kg) as other:
        assert reader.insert("copy", other.stream("?big(N, S), N < 100000")).inserted == 100_000
    assert len(reader.query("?copy(N, S), N < 10")) == 10
    with pytest.raises(Exception, match="stream through another client"):
        reader.insert("copy", reader.stream("?big(N, S)"))
    with pytest.raises(RuntimeError, match="stream through another client"):
        reader.insert("copy", reader.stream("?big(N, S)").rows())
    assert len(reader.query("?copy(N, S), N < 10")) == 10
    reader.relations.drop("copy")


def test_messages_come_too(db: stratalog.Client) -> None:
    with db.stream("+p(1)") as stream:
        assert [batch.messages for batch in stream] == [["inserted 1 fact into p"]]
    # More than one message of the protocol, and still not Arrow.
    with db.stream("\n".join(f"r({n})" for n in range(40_000))) as stream:
        assert sum(len(batch.messages) for batch in stream) == 40_000
    assert pl.DataFrame(db.stream("+p(2)")).rows() == [("inserted 1 fact into p",)]


def test_a_stream_that_is_left_is_cancelled(reader: stratalog.Client) -> None:
    with reader.stream("?big(N, S)") as stream:
        next(iter(stream))
    assert len(reader.query("?big(1, S)")) == 1


def test_others_may_ask_while_a_stream_is_open(reader: stratalog.Client) -> None:
    with reader.stream("?big(N, S)") as stream:
        batches = iter(stream)
        seen = len(next(batches))
        assert len(reader.query("?big(1, S)")) == 1
        seen += sum(len(batch) for batch in batches)
    assert seen == ROWS


def test_faults_are_raised_before_and_while_reading(reader: stratalog.Client) -> None:
    with pytest.raises(stratalog.UnknownRelation):
        reader.stream("?bigg(N, S)")
    with reader.stream(MANY) as stream:
        batches = iter(stream)
        next(batches)
        assert reader.cancel()
        with pytest.raises(stratalog.Cancelled):
            list(batches)


def test_session_facts_are_streamed_without_provenance(reader: stratalog.Client) -> None:
    reader.execute('big(-1, "mine")')
    assert pl.DataFrame(reader.stream("?big(N, S), N < 2")).sort("n").rows() == [
        (-1, "mine"),
        (0, "number 0"),
        (1, "number 1"),
    ]
    with reader.stream("?big(N, S), N < 0") as stream:
        (batch,) = stream
    assert (batch.rows(), batch.provenance) == ([(-1, "mine")], ["ephemeral"])
    reader.own.clear()


def test_files_are_written_whole_or_not_at_all(reader: stratalog.Client, tmp_path: Path) -> None:
    path = tmp_path / "big.parquet"
    assert reader.stream("?big(N, S)").write(path) == ROWS
    assert pq.read_metadata(path).num_rows == ROWS
    assert reader.stream("?big(N:asc, S), N < 2").write(tmp_path / "two.csv") == 2
    assert (tmp_path / "two.csv").read_text() == "n,s\n0,number 0\n1,number 1\n"
    assert reader.stream("?big(N:asc, S), N < 2").write(tmp_path / "two.jsonl") == 2
    assert (tmp_path / "two.jsonl").read_text().splitlines()[0] == '{"n":0,"s":"number 0"}'
    assert reader.stream("?big(N, S)").write(str(tmp_path / "big.arrow")) == ROWS
    assert pl.read_ipc(tmp_path / "big.arrow").height == ROWS
    with pytest.raises(ValueError, match="known are"):
        reader.stream("?big(N, S)").write(tmp_path / "big.docx")
    with reader.stream(MANY) as stream:
        assert reader.cancel()
        with pytest.raises(stratalog.Cancelled):
            stream.write(tmp_path / "lost.parquet")
    assert {each.name for each in tmp_path.iterdir()} == {"big.parquet", "two.csv", "two.jsonl", "big.arrow"}


def test_asyncio(server: LocalServer, big: str) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD, kg=big) as db:
            async with await db.stream("?big(N, S)") as stream:
                seen = [len(batch) async for batch in stream]
            assert (sum(seen), len(seen) > 2) == (ROWS, True)
            async with await db.stream("?big(N, S)") as stream:
                async for row in stream.rows():
                    assert row[1] == f"number {row[0]}"
                    break
            async with await db.stream("?big(N, S)") as stream:
                batches = aiter(stream)
                left = ROWS - len(await anext(batches))
                assert len(await db.query("?big(1, S)")) == 1
                async for batch in batches:
                    left -= len(batch)
            assert left == 0
            async with await db.stream("?big(N:asc, S), limit(1)") as stream:
                assert [each async for each in stream.objects(Big)] == [Big(0, "number 0")]

    asyncio.run(main())


MEMORY = """
import sys
import stratalog

url, password, kg, what, rows, folder = sys.argv[1:]

def peak():
    # Not ru_maxrss, which begins with the peak of the process that started this one.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:"))

with stratalog.connect(url, user="admin", password=password, kg=kg, timeout=120) as db:
    if what == "in":
        db.insert("few", ((n, n * 0.5, f"{n:0200}") for n in range(100_000)))
        before = peak()
        db.insert("many", ((n, n * 0.5, f"{n:0200}") for n in range(int(rows))))
    elif what == "file":
        db.insert("few_of_file", folder + "/few.parquet")
        before = peak()
        assert db.insert("many_of_file", folder + "/many.parquet").inserted == int(rows)
    elif what == "to file":
        db.stream("?few(A, B, C)").write(folder + "/few_back.parquet")
        before = peak()
        assert db.stream("?many(A, B, C)").write(folder + "/many_back.parquet") == int(rows)
    else:
        for batch in db.stream("?few(A, B, C)"):
            pass
        before = peak()
        assert sum(len(batch) for batch in db.stream("?many(A, B, C)")) == int(rows)
    print(peak() - before)
"""


def test_memory_does_not_grow_with_the_data(
    server: LocalServer, db: stratalog.Client, tmp_path: Path
) -> None:
    rows = 600_000  # 130 MB as Arrow, and much more as Python objects.
    for name, count in (("few", 100_000), ("many", rows)):
        n = pl.int_range(count, eager=True)
        frame = pl.DataFrame({"n": n, "x": n * 0.5, "s": n.cast(pl.String).str.zfill(200)})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    # Otherwise what is measured is how much freed memory pyarrow's allocator keeps, which differs by machine.
    eager = {"MIMALLOC_PURGE_DELAY": "0", "MIMALLOC_ARENA_EAGER_COMMIT": "0"}
    for what in ("in", "out", "file", "to file"):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, server.url, PASSWORD, str(db.kg), what, str(rows), str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | eager,
        )
        assert int(done.stdout) < 60, f"{what}: {done.stdout} MiB more for six times the rows"
