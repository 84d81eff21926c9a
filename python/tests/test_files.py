"""Files in: types declared or found, and faults with their place."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog.arrow import BATCH_ROWS
from stratalog.files import FileReader

FRAME = pl.DataFrame({"n": [1, 2], "s": ["007", None], "x": [0.5, 2.0]})


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl", "csv", "tsv"])
def test_every_format(db: stratalog.Client, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data.{suffix}"
    match suffix:
        case "parquet":
            FRAME.write_parquet(path)
        case "arrow":
            FRAME.write_ipc(path)
        case "jsonl":
            FRAME.write_ndjson(path)
        case _:
            FRAME.write_csv(path, separator="," if suffix == "csv" else "\t", quote_style="never")
    # Columns are found by name, and a declared type counts: "007" is text.
    db.execute("+t(x: float, s: string, n: int)")
    seen: list[tuple[int, int | None]] = []
    assert db.insert("t", path, progress=lambda rows, total: seen.append((rows, total))).inserted == 2
    # Nothing is null in CSV, and an empty string in TSV.
    rows = [(0.5, "007", 1), (2.0, "" if suffix == "tsv" else None, 2)]
    assert db.query("?t(X:asc, S, N)").rows() == rows
    assert seen[-1] == (2, 2) if suffix == "parquet" else seen
    assert db.insert("t", str(path)) == (0, 2)


def test_types_are_found_where_none_are_declared(db: stratalog.Client, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("who,at,score\nann,2020-01-01T00:00:00Z,1\nbob,,2.5\n")
    db.insert("seen", path)
    assert db.query("?seen(Who:asc, At, Score)").rows() == [
        ("ann", datetime(2020, 1, 1, tzinfo=UTC), 1.0),
        ("bob", None, 2.5),
    ]


def test_a_fault_names_file_and_row_and_inserts_nothing(db: stratalog.Client, tmp_path: Path) -> None:
    db.execute("+t(n: int, s: string)")
    path = tmp_path / "wrong.csv"
    path.write_text("n,s\n1,a\ntwo,b\n")
    with pytest.raises(ValueError, match=r"wrong\.csv:3: `two` is no int"):
        db.insert("t", path)
    path.write_text("n,s\n1,a\n2,b,c\n")
    with pytest.raises(ValueError, match=r"wrong\.csv:3: 3 fields, expected 2"):
        db.insert("t", path)
    path.write_text("n,s\n" + "1,a\n" * 1_000_000 + "two,b\n")
    with pytest.raises(ValueError, match=r"wrong\.csv:1000002: `two` is no int"):
        db.insert("t", path)
    with pytest.raises(FileNotFoundError):
        db.insert("t", tmp_path / "absent.csv")
    with pytest.raises(ValueError, match="known are"):
        db.insert("t", tmp_path / "notes.docx")
    with pytest.raises(TypeError, match="cannot insert str"):
        db.insert("t", "Oslo")
    assert len(db.query("?t(N, S)")) == 0


def test_without_pyarrow_an_error_names_the_extra(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from stratalog.files import opened\n"
        f"with opened({str(tmp_path / 'x.parquet')!r}, None): pass"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: files of Parquet and Arrow are read and written by pyarrow: pip" in done.stderr


def test_an_iterator_is_sent_while_it_is_read(db: stratalog.Client) -> None:
    assert db.insert("p", ((n, str(n)) for n in range(200_000))).inserted == 200_000
    assert db.insert("q", ({"b": n, "a": -n} if n % 2 else {"a": -n, "b": n} for n in range(100_000)))
    assert len(db.query("?q(A, B), A = 0 - B")) == 100_000
    with pytest.raises(ValueError, match="column 0 holds any after row 147456, and int before"):
        db.insert("r", (n if n < 150_000 else str(n) for n in range(200_000)))
    with pytest.raises(ValueError, match="row 70000 has 2 values"):
        db.insert("r", ((n,) if n != 70_000 else (n, n) for n in range(200_000)))
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?r(X)")
    assert db.insert("m", (n if n % 2 else str(n) for n in range(70_000))).inserted == 70_000


def test_asyncio_goes_on_while_a_file_is_read(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "".join(f"{n},text {n}\n" for n in range(1_500_000)))
    readers: list[int] = []
    opening, batches = FileReader._open, FileReader.batches

    def watched_opening(self: FileReader) -> Any:
        readers.append(threading.get_ident())
        return opening(self)

    def watched_batches(self: FileReader, most: int = BATCH_ROWS) -> Iterator[Any]:
        for batch in batches(self, most):
            readers.append(threading.get_ident())
            yield batch

    monkeypatch.setattr(FileReader, "_open", watched_opening)
    monkeypatch.setattr(FileReader, "batches", watched_batches)

    async def main() -> int:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.graphs.create("asyncio_files")
            return (await db.insert("large", path)).inserted

    assert asyncio.run(main()) == 1_500_000
    # Opening guesses types from the beginning, and takes a while as well.
    assert len(readers) > 2
    assert threading.get_ident() not in readers


def test_a_cancelled_task_closes_its_file(server: LocalServer, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "".join(f"{n},text {n}\n" for n in range(1_500_000)))

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.graphs.create("cancelled_files")
            for enough in (0, 1, 1_000_000):
                running: list[asyncio.Task[Any]] = []

                def stop(
                    sent: int, _: int | None, enough: int = enough, running: list[asyncio.Task[Any]] = running
                ) -> None:
                    if 0 < enough <= sent:
                        running[0].cancel()

                task = asyncio.create_task(db.insert("large", path, progress=stop))
                running.append(task)
                # Without a number it is cancelled while the file is opened.
                await asyncio.sleep(0)
                if enough == 0:
                    task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            with pytest.raises(stratalog.UnknownRelation):
                await db.query("?count<A> <- large(A, B)")

    asyncio.run(main())


def test_a_relation_that_cannot_be_declared_is_refused_before_anything_is_sent(
    server: LocalServer, db: stratalog.Client, tmp_path: Path
) -> None:
    message = "`_invalid_x` begins with `_invalid_`, which a declared relation may not be called"
    csv, ttl = tmp_path / "a.csv", tmp_path / "a.ttl"
    csv.write_text("a,b\n1,2\n")
    ttl.write_text('@prefix e: <http://e/> .\ne:ada e:x "Ada" .\n')
    with pytest.raises(stratalog.FileError, match=message):
        db.insert("_invalid_x", csv)
    with pytest.raises(stratalog.FileError, match=message):
        db.insert_predicates("_invalid_*", ttl)

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as other:
            await other.use(str(db.kg))
            with pytest.raises(stratalog.FileError, match=message):
                await other.insert("_invalid_x", csv)

    asyncio.run(main())
    assert db.relations.all() == []
    # Facts of a session are not declared.
    assert db.insert("_invalid_x", csv, scope="session").inserted == 1
