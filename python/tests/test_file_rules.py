"""What comes from a file is what stands there, or is refused with its place; as on the command line."""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog import FileError, FileWarning

CSV = """large,mixed,time,finite,name,of_files
9007199254740993,9007199254740993,2025-11-21T10:00:00.123456Z,1.5,[0.5 1.0],"[1.0 2.0]"
1,0.5,2025-11-21T10:00:00Z,inf,[0.5 x],x
"""
LINES = '{"a": 9007199254740993, "b": 100000000000000000000}\n{"a": 0.5, "b": 1}\n'


@pytest.mark.parametrize(("name", "text"), [("x.csv", CSV), ("x.jsonl", LINES)])
def test_guesses_lose_nothing(
    db: stratalog.Client, command_line: Callable[..., str], tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        db.insert("ours", path)
    assert [str(warning.message).split(": ", 1)[1] for warning in told] == (
        [
            "column `time`: 1 value, `2025-11-21T10:00:00.123456Z`, is finer than milliseconds, "
            "which is what times are kept in: what comes after is cut off"
        ]
        if name == "x.csv"
        else []
    )
    command_line("import", "theirs", str(path))
    columns = db.relations.columns("ours")
    assert columns == db.relations.columns("theirs")
    expected = ["int", *["string"] * 5] if name == "x.csv" else ["any", "float"]
    assert [column.type for column in columns] == (
        ["int", "string", "timestamp", "string", "string", "string"] if name == "x.csv" else expected
    )
    query = f"({', '.join(chr(ord('A') + n) for n in range(len(columns)))})"
    ours, theirs = (db.query(f"?{relation}{query}").rows() for relation in ("ours", "theirs"))
    assert sorted(ours, key=repr) == sorted(theirs, key=repr)


REFUSED = [
    ("x: float", "1\n9007199254740993\n", "`9007199254740993` would be rounded to a float"),
    ("x: float", "1\ninf\n", "`inf` is no float"),
    ("x: float", "1\n1e400\n", "`1e400` is no float"),
    ("x: int", "1\n9223372036854775808\n", "`9223372036854775808` is no int"),
    ("x: int", "1\n0x1F\n", "`0x1F` is no int"),
    ("x: timestamp", "1\n2025-11-21T10:00:00.0001Z\n", "is finer than milliseconds"),
    ("x: vector", '"[1]"\n[1e300]\n', "has a number that is beyond 32-bit floats"),
    ("x: any", "[1]\n[1e300]\n", "has a number that is beyond 32-bit floats"),
    ("x: string", 'a\n"a"b\n', "text follows a closing quote"),
]


@pytest.mark.parametrize(("column", "lines", "problem"), REFUSED)
def test_columns_with_types_refuse_what_would_be_lost(
    db: stratalog.Client, tmp_path: Path, column: str, lines: str, problem: str
) -> None:
    db.execute(f"+t({column}, y: int)")
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{line},1\n" for line in lines.splitlines()))
    with pytest.raises(FileError) as caught:
        db.insert("t", path, exact=True)
    assert caught.value.line == 3
    assert problem in caught.value.problem
    assert db.insert("t", path, on_error="skip", exact=True).skipped == 1


def test_json_has_each_key_once_and_no_integer_beyond_64_bits(db: stratalog.Client, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for line, problem in [
        ('{"a": 1, "b": 2, "a": 3}', "the key `a` comes twice"),
        ('{"a": 123456789012345678901}', "is beyond 64 bits with sign: it can be a string"),
        ('{"a": 1e400}', "`1e400` is no value"),
    ]:
        path.write_text(f'{{"a": 0.5}}\n{line}\n')
        with pytest.raises(FileError) as caught:
            db.insert("t", path)
        assert (caught.value.line, problem in caught.value.problem) == (2, True)
        assert db.insert("t", path, on_error="skip").skipped == 1


def test_a_quote_that_is_never_closed_ends_every_insert(db: stratalog.Client, tmp_path: Path) -> None:
    db.execute("+t(n: int, s: string)")
    path = tmp_path / "t.csv"
    path.write_text('n,s\n1,a\n2,"b\n3,c\n')
    with pytest.raises(FileError, match=r"t\.csv:3: a quote is opened here and never closed"):
        db.insert("t", path, on_error="skip")
    assert db.query("?t(N, S)").rows() == []


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_file_of_one_column_has_no_empty_lines(
    db: stratalog.Client, command_line: Callable[..., str], tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"t.{kind}"
    path.write_text("x\r\n\r\na\r\n\r\n", newline="")
    db.execute("+ours(x: string)\n+theirs(x: string)")
    assert db.insert("ours", path) == (2, 1)
    command_line("import", "theirs", str(path))
    rows = db.query("?ours(X)").rows()
    assert sorted(rows, key=repr) == sorted([("a",), (None if kind == "csv" else "",)], key=repr)
    assert sorted(db.query("?theirs(X)").rows(), key=repr) == sorted(rows, key=repr)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_what_is_written_comes_back(
    db: stratalog.Client, command_line: Callable[..., str], tmp_path: Path, kind: str
) -> None:
    db.execute("+t(n: int, x: any, at: timestamp)")
    times = [-62_167_219_200_000, -62_135_596_800_001, 253_402_300_800_000, 0, None, 1, 2]
    values = [[0.5, 1.0], "[0.5 1.0]", "", None, [], "[1]", "x"]
    db.insert("t", list(zip(range(7), values, times, strict=True)))
    ours, theirs = tmp_path / f"ours.{kind}", tmp_path / f"theirs.{kind}"
    db.stream("?t(N:asc, X, At)").write(ours)
    command_line("export", "?t(N:asc, X, At)", str(theirs))
    assert ours.read_text() == theirs.read_text()
    db.execute("+back(n: int, x: any, at: timestamp)")
    db.insert("back", ours)
    assert sorted(db.query("?back(N, X, At)").rows()) == sorted(db.query("?t(N, X, At)").rows())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_count_in_capitals_or_not(
    server: LocalServer, db: stratalog.Client, tmp_path: Path, kind: str
) -> None:
    db.execute("+t(a: int, b: int)")
    path = tmp_path / f"t.{kind}"

    def put(**columns: int) -> None:
        if kind == "csv":
            path.write_text(f"{','.join(columns)}\n{','.join(map(str, columns.values()))}\n")
        else:
            pq.write_table(pa.table({name: [value] for name, value in columns.items()}), path)

    put(B=2, A=1)
    assert db.insert("t", path) == (1, 0)
    put(x=3, y=4)
    with pytest.warns(
        FileWarning, match="the columns x, y have other names than a, b: they went by position"
    ):
        assert db.insert("t", path) == (1, 0)
    put(a=1, c=2)
    with pytest.raises(FileError, match="the file has the columns a, c"):
        db.insert("t", path)
    assert db.query("?t(A:asc, B)").rows() == [(1, 2), (3, 4)]
    # A, B, C are no names to go by.
    db.insert("plain", [(0, 0)])
    put(b=1, a=2)
    assert db.insert("plain", path) == (1, 0)
    assert db.query("?plain(X:asc, Y)").rows() == [(0, 0), (1, 2)]

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as other:
            await other.use(str(db.kg))
            put(x=5, y=6)
            with pytest.warns(FileWarning, match="they went by position"):
                await other.insert("t", path)

    asyncio.run(main())


def test_nan_is_null_with_a_warning_that_counts(db: stratalog.Client, tmp_path: Path) -> None:
    db.execute("+t(n: int, x: float)")
    (tmp_path / "t.csv").write_text("n,x\n1,NaN\n2,0.5\n3,nan\n")
    with pytest.warns(FileWarning, match=r"t\.csv: 2 values were NaN, and are null"):
        db.insert("t", tmp_path / "t.csv")
    assert db.query("?t(N:asc, X)").rows() == [(1, None), (2, 0.5), (3, None)]
    pq.write_table(pa.table({"n": [1, 2], "x": [float("nan"), None]}), tmp_path / "t.parquet")
    with pytest.warns(FileWarning, match=r"t\.parquet: 1 value was NaN, and is null"):
        db.insert("of_parquet", tmp_path / "t.parquet")
    assert db.query("?of_parquet(N:asc, X)").rows() == [(1, None), (2, None)]


ROW_2 = [
    (
        pa.array([1, 2**64 - 1], pa.uint64()),
        None,
        "`18446744073709551615` is no integer of 64 bits with sign",
    ),
    (pa.array([0, 1], pa.timestamp("us", "UTC")), None, "`1970-01-01T00:00:00.000001Z` is no time in millis"),
    (pa.array([Decimal("1.5"), Decimal("12345678901234567890.1")]), None, "would be rounded to a float"),
    (pa.array([Decimal(1), Decimal(10**20)]), None, "`100000000000000000000` is no integer of 64 bits"),
    (pa.array([1.5, float("-inf")]), None, "an infinite number cannot be stored"),
    (pa.array([[1.0], [1e300]]), None, "a vector has a number that is no 32-bit float"),
    (pa.array([1, 2**53 + 1]), "float", "`9007199254740993` would be rounded to a float"),
    (pa.array([1.0, 1.5]), "int", "`1.5` is no integer of 64 bits with sign"),
    (pa.array(["2020-01-01", "soon"]), "timestamp", "`soon` is no timestamp"),
]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize(("column", "declared", "problem"), ROW_2)
def test_parquet_and_arrow_refuse_what_would_be_lost(
    db: stratalog.Client, tmp_path: Path, kind: str, column: Any, declared: str | None, problem: str
) -> None:
    path = tmp_path / f"t.{kind}"
    write(path, pa.table({"x": column}))
    if declared is not None:
        db.execute(f"+t(x: {declared})")
    with pytest.raises(FileError, match="row 2, column `x`: ") as caught:
        db.insert("t", path, exact=True)
    assert problem in str(caught.value)
    # The first row alone is fine.
    write(path, pa.table({"x": column.slice(0, 1)}))
    assert db.insert("t", path) == (1, 0)


def test_parquet_becomes_what_it_becomes_on_the_command_line(
    db: stratalog.Client, command_line: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    times = [0, 1_500_000]
    pq.write_table(
        pa.table(
            {
                "whole": pa.array([Decimal(7), None]),
                "part": pa.array([Decimal("1.10"), Decimal("-0.25")]),
                "unsigned": pa.array([1, 2**63 - 1], pa.uint64()),
                "at": pa.array(times, pa.timestamp("us", "Europe/Warsaw")),
                "day": pa.array([0, 1], pa.date32()),
                "real": pa.array([1e20, 1.5e-7]),
                "round": pa.array([2.0, 0.1]),
                "yes": pa.array([True, False]),
                "word": pa.array(["a", "b"]).dictionary_encode(),
                "small": pa.array([0.5, 0.1], pa.float32()),
                "v": pa.array([[1.0], [0.1]]),
            }
        ),
        path,
    )
    variables = "(A, B, C, D, E, F, G, H, I, J, K)"
    command_line("import", "theirs", str(path))
    db.insert("ours", path)
    assert db.relations.columns("ours") == db.relations.columns("theirs")
    rows = db.query(f"?ours{variables}").rows()
    assert sorted(rows, key=repr) == sorted(db.query(f"?theirs{variables}").rows(), key=repr)
    assert {row[:4] for row in rows} == {
        (7, 1.1, 1, datetime(1970, 1, 1, tzinfo=UTC)),
        (None, -0.25, 2**63 - 1, datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
    }
    # As text, everything is kept.
    texts = ", ".join(
        f"{name}: string" for name in ("whole", "part", "unsigned", "at", "day", "real", "round", "yes")
    )
    types = f"({texts}, word: any, small: float, v: vector)"
    db.execute(f"+our_text{types}\n+their_text{types}")
    command_line("import", "their_text", str(path))
    db.insert("our_text", path)
    rows = db.query(f"?our_text{variables}").rows()
    assert sorted(rows, key=repr) == sorted(db.query(f"?their_text{variables}").rows(), key=repr)


def write(path: Path, table: Any) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, str(path), compression="uncompressed")


def test_rights_links_and_other_files_stay(db: stratalog.Client, tmp_path: Path) -> None:
    db.insert("t", [(1, 2)])
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "a.csv").chmod(0o600)
    (tmp_path / "a.csv.partial").write_text("mine")
    (tmp_path / "link.csv").symlink_to("a.csv")
    (tmp_path / "nowhere.csv").symlink_to("b.csv")
    for name in ("link.csv", "nowhere.csv"):
        assert db.stream("?t(X, Y)").write(tmp_path / name) == 1
        assert (tmp_path / name).is_symlink()
    for name in ("a.csv", "b.csv"):
        assert (tmp_path / name).read_text() == "X,Y\n1,2\n"
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "b.csv").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (tmp_path / "a.csv.partial").read_text() == "mine"
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OSError, match="directory"):
        db.stream("?t(X, Y)").write(tmp_path / "folder.csv")
    with pytest.raises(FileError):
        db.stream("?t(X, Y)").write(tmp_path / "a.nt")
    names = ["a.csv", "a.csv.partial", "b.csv", "folder.csv", "link.csv", "nowhere.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize("name", ["pipe.csv", "pipe.jsonl.gz", "pipe.parquet", "pipe.arrow"])
def test_a_pipe_is_written_to_as_it_is(db: stratalog.Client, tmp_path: Path, name: str) -> None:
    db.insert("t", [(1, 2)])
    path, copy = tmp_path / name, tmp_path / f"copy_{name}"
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: copy.write_bytes(path.read_bytes()))
    reader.start()
    assert db.stream("?t(X, Y)").write(path) == 1
    reader.join()
    assert path.is_fifo()
    assert db.insert("again", copy) == (1, 0)
    assert db.query("?again(X, Y)").rows() == [(1, 2)]
