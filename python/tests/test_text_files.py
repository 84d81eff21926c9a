"""CSV, TSV and JSON lines: the same rows and files as on the command line, faults, and what is left out."""

from __future__ import annotations

import asyncio
import bz2
import gzip
import json
import lzma
import math
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog import FileError

CSV = '''zip,name,score,at,on,v,big,nothing,Odd name (1)
00501,"Ada, ""the first""",1,2020-01-01T00:00:00Z,true,"[1, 2.5]",9223372036854775808,,a
10001,"",2.5,2020-01-02,FALSE,[3],1,,b

20002,,-1e3,1970-01-01 00:00:01+01:00,true,,2,,"two
lines"
"30003",  x ,,,,[],3,,d
'''
TSV = 'a\tb\tc\n1\tx\\ty\\\\z\\n\t"1"\n\\N\t\\N\t2\n3\t\tx\n4\t"quoted\\t""tab"\ttrue\n'
LINES = """{"a": 1, "b": "x", "c": [1, 2], "d": 1, "e": "2020-01-01"}
{"b": null, "a": 2.5, "c": null, "d": "one"}

{"c": [0.5], "a": 3}
{"a": 4, "b": "\\u00e9\\n", "d": [1.5], "e": "x"}
"""


def same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return sorted(map(repr, one)) == sorted(map(repr, other))


@pytest.mark.parametrize(("name", "text"), [("x.csv", CSV), ("x.tsv", TSV), ("x.jsonl", LINES)])
@pytest.mark.parametrize("quick", [True, False])
def test_a_file_has_the_same_rows_as_on_the_command_line(
    db: stratalog.Client,
    command_line: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    quick: bool,
) -> None:
    if not quick:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / name
    path.write_text(text, newline="")
    command_line("import", "theirs", str(path))
    db.insert("ours", path)
    columns = db.relations.columns("theirs")
    assert db.relations.columns("ours") == columns
    query = f"({', '.join(chr(ord('A') + n) for n in range(len(columns)))})"
    rows = db.query(f"?theirs{query}").rows()
    assert len(rows) == 4
    assert same(db.query(f"?ours{query}").rows(), rows)


def test_integers_of_arrays_are_not_rounded(
    db: stratalog.Client, command_line: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "ids.jsonl"
    path.write_text('{"ids": [16777217, 2]}\n{"ids": [16777216, 2]}\n')
    db.insert("ours", path)
    command_line("import", "theirs", str(path))
    assert db.relations.columns("ours") == db.relations.columns("theirs")
    assert sorted(db.query("?ours(X)").rows()) == [([16777216, 2],), ([16777217, 2],)]
    db.execute("+held(ids: vector)")
    with pytest.raises(stratalog.Error, match="32-bit float would round"):
        db.insert("held", path)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_rows_are_the_same_file_as_on_the_command_line(
    db: stratalog.Client, command_line: Callable[..., str], tmp_path: Path, kind: str
) -> None:
    db.execute("+t(n: int, s: string, x: float, b: bool, at: timestamp, v: vector)")
    texts = [
        "",
        "a,b",
        'a"b',
        '"',
        " edge ",
        "tab\there",
        "line\nbreak\r",
        "back\\slash",
        "\\N",
        "é𝄞",
        "\x1f\x7f",
        None,
    ]
    numbers = [0.0, 2.0, -0.5, 0.1, 1e15, 1e16, 1e21, 1.5e300, 1e-5, -1.25e-5, 1e-7, None]
    day = datetime(2020, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    vectors = [[0.1, 1.0, 1e-8], [math.pi, 3e38], [16777216.0], [], None, *[[float(n)] for n in range(7)]]
    db.insert(
        "t",
        [
            (n, texts[n], numbers[n], n % 2 == 0, day if n % 3 else None, vectors[n])
            for n in range(len(texts))
        ],
    )
    mixed: list[object] = [1, "1", "one", True, "true", None, 1.0]
    db.insert("any", list(enumerate(mixed)))
    for query in ("?t(N:asc, S, X, B, At, V)", "?any(N:asc, X)"):
        ours, theirs = tmp_path / f"ours.{kind}", tmp_path / f"theirs.{kind}"
        db.stream(query).write(ours)
        command_line("export", query, str(theirs))
        assert ours.read_text() == theirs.read_text()
    db.execute("+any_back(N: int, X: any)")
    db.insert("any_back", tmp_path / f"ours.{kind}")
    assert same(db.query("?any_back(N, X)").rows(), db.query("?any(N, X)").rows())


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "zst"])
def test_compressed_text_goes_in_and_out(
    db: stratalog.Client, tmp_path: Path, kind: str, packed: str
) -> None:
    path = tmp_path / f"x.{kind}.{packed}"
    db.execute("+t(n: int, s: string)")
    db.insert("t", [(n, f"text {n}") for n in range(5000)])
    assert db.stream("?t(N:asc, _)").write(path) == 5000
    unpack: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.decompress,
        "bz2": bz2.decompress,
        "xz": lzma.decompress,
        "zst": lambda data: pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(),
    }
    assert unpack[packed](path.read_bytes()).decode().splitlines()[-1].strip('"}').endswith("text 4999")
    assert db.insert("back", path) == (5000, 0)
    assert db.insert("t", str(path)) == (0, 5000)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match=rf"x\.{kind}\.{packed}: "):
        db.insert("cut", path)
    with pytest.raises(FileNotFoundError):
        db.insert("cut", tmp_path / f"absent.{kind}.{packed}")
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?cut(X, Y)")


FAULTS = [
    ("csv", "n,s\n1,a\ntwo,b\n3,c\n", 3, "`two` is no int"),
    ("csv", "n,s\n1,a\n2,b,c\n3,c\n", 3, "3 fields, expected 2"),
    ("csv", 'n,s\n1,"two\nlines"\nx,b\n3,c\n', 4, "`x` is no int"),
    ("tsv", "n\ts\n1\ta\n2\n3\tc\n", 3, "1 field, expected 2"),
    ("jsonl", '{"n": 1}\n{"n": "2"}\n{"n": 3}\n', 2, 'n: `"2"` is no int'),
    ("jsonl", '{"n": 1}\n{"n": 2\n{"n": 3}\n', 2, "Expecting ',' delimiter (character 8)"),
    ("jsonl", '{"n": 1}\n{"m": 2}\n{"n": 3}\n', 2, "there is no column `m`"),
    ("jsonl", '{"n": 1}\n7\n{"n": 3}\n', 2, "expected an object or an array"),
    ("jsonl", '{"n": 1}\n{"n": NaN}\n{"n": 3}\n', 2, "`NaN` is no value of JSON"),
]


@pytest.mark.parametrize(("kind", "text", "line", "problem"), FAULTS)
def test_faults_have_their_line_and_may_be_left_out(
    db: stratalog.Client, tmp_path: Path, kind: str, text: str, line: int, problem: str
) -> None:
    db.execute("+t(n: int, s: string)")
    path = tmp_path / f"wrong.{kind}"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        db.insert("t", path)
    assert (caught.value.file, caught.value.line, caught.value.problem) == (str(path), line, problem)
    assert len(db.query("?t(N, S)")) == 0
    found = db.insert("t", path, on_error="skip")
    assert (found, found.skipped, found.problems[0].line) == ((2, 0), 1, line)
    assert [n for n, _ in db.query("?t(N:asc, S)")] == [1, 3]


def test_what_a_file_cannot_be(db: stratalog.Client, tmp_path: Path) -> None:
    db.execute("+t(n: int, s: string)")
    path = tmp_path / "x.csv"
    path.write_text("n,z\n1,2\n")
    with pytest.raises(FileError, match=r"x\.csv:1: the file has the columns n, z\n.*name all of them"):
        db.insert("t", path)
    path.write_text("a,b,c\n1,2,3\n")
    with pytest.raises(FileError, match=r"x\.csv:1: 3 columns, expected 2"):
        db.insert("t", path)
    path.write_bytes(b"n,s\n1,\xff\n")
    with pytest.raises(FileError, match=r"x\.csv:2: this is not UTF-8"):
        db.insert("t", path)
    path.write_text('n,s\n1,"open\n')
    with pytest.raises(FileError, match=r"x\.csv:2: a quote is opened here and never closed"):
        db.insert("t", path)
    with pytest.raises(ValueError, match="on_error is 'abort' or 'skip'"):
        db.insert("t", path, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_error is for files"):
        db.insert("t", [(1, "a")], on_error="skip")
    path.write_text("")
    assert db.insert("t", path) == (0, 0)
    (tmp_path / "x.jsonl").write_text('[3, "z"]\n')
    assert db.insert("t", tmp_path / "x.jsonl") == (1, 0)
    # A quote inside of a field that is not quoted is no fault.
    (tmp_path / "y.csv").write_text('n,s\n4,5" of rain\n')
    assert db.insert("t", tmp_path / "y.csv") == (1, 0)
    # By position, where no name is known; and only what is chosen.
    path.write_text("a,b\n1,x\n")
    with pytest.warns(stratalog.FileWarning, match="they went by position"):
        assert db.insert("t", path) == (1, 0)
    path.write_text("more,s,n\n?,y,2\n")
    assert db.insert("t", path, columns=["n", "s"]) == (1, 0)
    assert db.query("?t(N:asc, S)").rows() == [(1, "x"), (2, "y"), (3, "z"), (4, '5" of rain')]


def test_a_column_of_nothing_is_no_reason_to_refuse(db: stratalog.Client, tmp_path: Path) -> None:
    assert db.insert("a", [{"x": 1, "y": None}]) == (1, 0)
    assert db.insert("b", [(n, None) for n in range(5000)]) == (5000, 0)
    assert db.insert("c", pl.DataFrame({"x": [1, 2], "y": [None, None]})) == (2, 0)
    (tmp_path / "x.csv").write_text("x,y\n1,\n")
    assert db.insert("d", tmp_path / "x.csv") == (1, 0)


def test_columns_of_several_types_stay_what_they_are(db: stratalog.Client, tmp_path: Path) -> None:
    db.insert("t", [(1, 1), (2, "1"), (3, True)])
    rows = db.query("?t(N:asc, X)").rows()
    db.insert("of_a_result", db.query("?t(N, X)"))
    assert db.query("?of_a_result(N:asc, X)").rows() == rows
    for kind in ("parquet", "arrow"):
        db.stream("?t(N, X)").write(tmp_path / f"t.{kind}")
        db.insert(kind, tmp_path / f"t.{kind}")
        assert db.query(f"?{kind}(N:asc, X)").rows() == rows


def test_text_needs_no_pyarrow(server: LocalServer, db: stratalog.Client, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("n,s\n1,a\n")
    script = (
        "import sys; sys.modules['pyarrow'] = None\nimport stratalog\n"
        f"db = stratalog.connect({server.url!r}, user='admin', password={PASSWORD!r}, kg={str(db.kg)!r})\n"
        "db.insert('t', 'x.csv')\ndb.stream('?t(N, S)').write('y.jsonl')\n"
        "print(db.insert('t', 'y.jsonl'))\ndb.close()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "Inserted(inserted=0, duplicates=1)\n", done.stderr
    assert json.loads((tmp_path / "y.jsonl").read_text()) == {"n": 1, "s": "a"}


def test_asyncio_does_the_same(server: LocalServer, db: stratalog.Client, tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"n,s\n1,a\n2,b,c\n"))

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as other:
            await other.use(str(db.kg))
            with pytest.raises(FileError, match=":3: 3 fields"):
                await other.insert("t", path)
            found = await other.insert("t", path, on_error="skip", commit_every=1)
            assert (found, found.skipped) == ((1, 0), 1)

    asyncio.run(main())
    assert [(c.column, c.type) for c in db.relations.columns("t")] == [("n", "int"), ("s", "string")]
