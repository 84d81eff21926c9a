"""Files in: types declared or found, and faults with their place."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import stratalog

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
    rows = [(0.5, "007", 1), (2.0, "" if suffix in ("csv", "tsv") else None, 2)]
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
    with pytest.raises(ValueError, match=r"wrong\.csv: .*Row #3.*int64.*'two'"):
        db.insert("t", path)
    path.write_text("n,s\n1,a\n2,b,c\n")
    with pytest.raises(ValueError, match=r"wrong\.csv: .*Row #3: Expected 2 columns, got 3"):
        db.insert("t", path)
    path.write_text("n,s\n" + "1,a\n" * 6_000_000 + "two,b\n")
    with pytest.raises(ValueError, match=r"wrong\.csv: .*'two'"):
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
    assert "ImportError: files are read and written by pyarrow: pip install 'stratalog[arrow]'" in done.stderr


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
