"""Times, decimals and lists of Python: what goes in comes out, or the loss is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stratalog
from stratalog import PrecisionWarning

FINE = datetime(2026, 11, 21, 18, 30, 0, 123456, tzinfo=UTC)
CUT = FINE.replace(microsecond=123000)
BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


@pytest.fixture
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


FORMS: list[Any] = [
    pl.DataFrame({"at": [FINE, BEFORE_1970]}),
    pd.DataFrame({"at": [FINE, BEFORE_1970]}),
    pa.table({"at": pa.array([FINE, BEFORE_1970], pa.timestamp("ns", "UTC"))}),
    [
        {"at": time}
        for time in np.array(["2026-11-21T18:30:00.123456", "1969-12-31T23:59:59.999999"], "M8[us]")
    ],
    [{"at": FINE}, {"at": BEFORE_1970}],
]


@pytest.mark.parametrize("data", FORMS, ids=lambda data: type(data).__module__.split(".")[0])
def test_finer_times_are_cut_towards_the_past_or_refused(db: stratalog.Client, data: Any) -> None:
    with pytest.raises(ValueError, match=r"18:30:00\.123456.* is finer than milliseconds"):
        db.insert("seen", data, exact=True)
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?seen(At)")
    with pytest.warns(
        PrecisionWarning, match=r"column `at`: 2 values, as in `.*123456.*`, are finer"
    ) as told:
        db.insert("seen", data)
    assert len(told) == 1
    assert told[0].filename == __file__
    whole_second = datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)
    assert db.query("?seen(At:asc)").rows() == [(whole_second,), (CUT,)]
    # And go by the same: what was inserted is found, and deleted.
    with pytest.warns(PrecisionWarning):
        db.delete("seen", [(FINE,)])
    with pytest.raises(ValueError, match="finer than milliseconds"):
        db.delete("seen", [(FINE,)], exact=True)
    assert db.query("?seen(At)").rows() == [(whole_second,)]


@pytest.mark.usefixtures("quiet")
def test_what_loses_nothing_says_nothing(db: stratalog.Client) -> None:
    db.insert("a", pl.DataFrame({"at": [CUT], "x": [Decimal("1.25")], "n": [Decimal(7)]}))
    db.insert("b", [(CUT, Decimal("1.25"), Decimal(7))], exact=True)
    assert db.query("?a(A, X, N)").rows() == [(CUT, 1.25, 7.0)]
    assert db.query("?b(A, X, N)").rows() == [(CUT, 1.25, 7)]


def test_decimals_that_no_float_is_are_told(db: stratalog.Client) -> None:
    large = Decimal("12345678901234567890.1")
    for data in ([(large,)], pa.table({"x": pa.array([large])}), pl.DataFrame({"x": [large]})):
        with pytest.raises(ValueError, match="would be rounded to a float"):
            db.insert("d", data, exact=True)
        with pytest.warns(PrecisionWarning, match="is rounded to the nearest float"):
            db.insert("d", data)
    assert db.query("?d(X)").rows() == [(float(large),)]


def test_text_beside_times(db: stratalog.Client) -> None:
    db.execute("+seen(who: string, at: timestamp)")
    db.insert("seen", [("ann", "2024-01-05"), ("bob", date(2024, 2, 1)), ("cid", 1_704_412_800_000)])
    january = datetime(2024, 1, 5, tzinfo=UTC)
    assert db.query("?seen(W:asc, At)").rows() == [
        ("ann", january),
        ("bob", datetime(2024, 2, 1, tzinfo=UTC)),
        ("cid", january),
    ]
    for when in ("2024-01-31T23:00:00+01:00", datetime(2024, 1, 31, 22, tzinfo=UTC)):
        assert db.query("?seen(W, At), At > $when", {"when": when}).rows() == [
            ("bob", datetime(2024, 2, 1, tzinfo=UTC))
        ]
    assert [who for who, _ in db.query("?seen(W:asc, $at)", {"at": "2024-01-05"}).rows()] == ["ann", "cid"]
    with pytest.raises(stratalog.TypeMismatch, match=r"2024-01-05"):
        db.insert("seen", [("dan", "5.1.2024")])
    with pytest.raises(stratalog.TypeMismatch, match=r"2024-01-05"):
        db.query("?seen(W, At), At > $when", {"when": "yesterday"})


LISTS: list[Any] = [["a", 1, None], [["x", [True]], []], ["one"], [[1.5, 2.0], "v"]]


def test_lists_come_back_in_every_form(db: stratalog.Client) -> None:
    db.insert("l", [(number, value) for number, value in enumerate(LISTS)], columns=["n", "value"])
    with pytest.raises(TypeError, match="a list holds no times"):
        db.insert("l", [(4, ["a", FINE])])
    query = "?l(N:asc, V)"
    assert [value for _, value in db.query(query).rows()] == LISTS
    assert [row["value"] for row in db.query(query).dicts()] == LISTS
    assert [plain(value) for value in db.query(query).to_pandas()["value"]] == LISTS
    assert [plain(value) for value in db.query(query).to_polars()["value"]] == LISTS


def plain(value: Any) -> Any:
    """A list of a data frame."""
    import json

    return json.loads(value) if isinstance(value, str) else value


def test_numbers_of_parameters_are_exact_where_lists_are_taken(db: stratalog.Client) -> None:
    db.insert("p", [1, 20_000_000, 20_000_001, 0.1])
    found = db.query("?p(X), X in $ids", {"ids": [20_000_001, 0.1]}).rows()
    assert sorted(found) == [(0.1,), (20_000_001,)]
    assert db.query("?p(X), X in $ids", {"ids": {20_000_001, 0.1, 7}}).rows() == found
    found = db.query("?p(X), !(X in $ids)", {"ids": [20_000_001, 0.1]}).rows()
    assert sorted(found) == [(1,), (20_000_000,)]


def test_files_of_finer_times_and_lists(db: stratalog.Client, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"n": 1, "l": ["a", [1, "b"]]}\n{"n": 2, "l": []}\n')
    db.insert("t", path)
    assert db.query("?t(N:asc, L)").rows() == [(1, ["a", [1, "b"]]), (2, [])]
    path = tmp_path / "u.csv"
    path.write_text("at\n2025-11-21T10:00:00.123456Z\n")
    with pytest.warns(stratalog.FileWarning, match="is finer than milliseconds"):
        db.insert("u", path)
    with pytest.raises(stratalog.FileError, match=r"u\.csv:2: .* is finer than milliseconds"):
        db.insert("exactly", path, exact=True)
    path.write_text("at\n1763722625\n")
    db.execute("+w(at: timestamp)")
    with pytest.raises(stratalog.FileError, match="say which by `epoch`"):
        db.insert("w", path)
    db.insert("w", path, epoch="s")
    assert db.query("?w(At)").rows() == [(datetime(2025, 11, 21, 10, 57, 5, tzinfo=UTC),)]


BIG = 2**60 + 1


def tuples(count: int) -> list[tuple[int, list[Any]]]:
    return [(row, [row, BIG] if row else [0.1]) for row in range(count)]


@pytest.mark.parametrize("count", [5, 3000, 140_000])
@pytest.mark.parametrize("form", [list, iter])
def test_a_column_of_lists_keeps_numbers_as_they_are(db: stratalog.Client, count: int, form: Any) -> None:
    db.execute("+m(k: int, l: list)\n+v(k: int, v: vector[2])")
    assert db.insert("m", form([(row, [row, BIG]) for row in range(count)])).inserted == count
    assert db.query("?m(K, L), has(L, 4)").rows() == [(4, [4, BIG])]
    db.insert("m", form([(row, [0.1 + row]) for row in range(count, 2 * count)]))
    assert db.query(f"?L <- m({count}, L)").rows() == [([0.1 + count],)]
    # Vectors have 32 bits, whatever they come from.
    db.insert("v", form([(row, [0.1, row]) for row in range(count)]))
    assert db.query("?V <- v(3, V)").rows() == [([pytest.approx(0.1), 3.0],)]


def test_lists_of_frames_and_files_come_back_as_lists(db: stratalog.Client, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"k": [1, 2], "s": [["a", None], []], "n": [[["x"], ["y"]], None], "b": [[True], []]}
    )
    db.insert("f", frame)
    assert [column.type for column in db.relations.columns("f")] == ["int", "list", "list", "list"]
    found = db.query("?f(K:asc, S, N, B)")
    assert found.types == ["int", "list", "list", "list"]
    assert found.to_polars().equals(frame)
    assert found.to_arrow().to_pylist() == frame.to_dicts()
    assert found.to_pandas()["s"].tolist() == [["a", None], []]
    db.insert("again", found.to_arrow())
    assert db.query("?again(K:asc, S, N, B)").rows() == found.rows()
    for kind in ("csv", "tsv", "json", "jsonl", "parquet", "arrow"):
        path = tmp_path / f"f.{kind}"
        with db.stream("?f(K, S, N, B)") as rows:
            rows.write(path)
        db.execute(f"+of_{kind}(k: int, s: list, n: list, b: list)")
        db.insert(f"of_{kind}", path)
        assert db.query(f"?of_{kind}(K:asc, S, N, B)").rows() == found.rows(), kind


def test_lists_of_several_types_are_text_in_frames(db: stratalog.Client) -> None:
    db.insert("mixed", [{"k": 1, "l": ["x", 1]}, {"k": 2, "l": ["y"]}])
    found = db.query("?mixed(K:asc, L)")
    assert found.to_polars()["l"].to_list() == ['["x", 1]', '["y"]']
    assert found.rows() == [(1, ["x", 1]), (2, ["y"])]


def test_a_typed_relation_has_lists(db: stratalog.Client) -> None:
    class Trip(stratalog.Relation):
        who: str
        stops: list[str]
        more: list[Any]

    db.declare(Trip)
    db.insert(Trip, [Trip("ann", ["a", "b"], [1, "x"])])
    assert [column.type for column in db.relations.columns("trip")] == ["string", "list", "list"]
    assert list(db.query(stratalog.select(Trip))) == [Trip("ann", ["a", "b"], [1, "x"])]


def test_an_iterator_of_lists_keeps_to_one_kind_of_numbers(db: stratalog.Client) -> None:
    rows = ((row, [row] if row < 70_000 else [0.5]) for row in range(80_000))
    with pytest.raises(ValueError, match="its first rows decide"):
        db.insert("kinds", rows)


def test_times_that_are_parameters_are_times(db: stratalog.Client) -> None:
    program = '// $d\n+d($d, "$d", $n) /* $d /* */ $d */'
    params = {"d": date(2020, 1, 1), "n": 1}
    db.execute(program, params)
    with db.transaction() as t:
        t.execute("+e($d)", {"d": datetime(2020, 1, 1)})
        t.execute("+f($d)", {"d": np.datetime64("2021-01-01")})
    midnight = datetime(2020, 1, 1, tzinfo=UTC)
    assert db.query("?d(D, S, N)").rows() == [(midnight, "$d", 1)]
    assert list((db.column_types("d") or {}).values()) == ["timestamp", "string", "int"]
    assert db.query("?e($d)", {"d": midnight}).rows() == [(midnight,)]
    assert db.query("?f(X), X > $d", {"d": midnight}).scalar() == datetime(2021, 1, 1, tzinfo=UTC)
    assert db.query("?X <- X = $d", {"d": datetime(10, 1, 1)}).scalar() == datetime(10, 1, 1, tzinfo=UTC)
    with pytest.raises(stratalog.InvalidParameter, match="no parameter `\\$more`"):
        db.query("?e(X)", {"more": midnight})


def test_times_beside_other_values_are_times(db: stratalog.Client) -> None:
    day = datetime(2020, 1, 1, tzinfo=UTC)
    assert db.insert("t", [(day,), ("x",), (day,), (None,)]) == (3, 1)
    assert db.query("?t(X), X = $day", {"day": day}).rows() == [(day,)]
    db.execute("+known(what: string, value: any)")
    with pytest.warns(PrecisionWarning, match="finer than milliseconds"):
        db.insert("known", [{"value": FINE, "what": "time"}, {"value": 1, "what": "number"}])
    assert db.query("?known(W, V), V > $day", {"day": day}).rows() == [("time", CUT)]
    db.insert("new", iter([{"a": date(2020, 1, 1), "b": 1}, {"a": "x", "b": 2}]))
    assert db.column_types("new") == {"a": "any", "b": "int"}
    assert db.query("?new(X, 1)").one()[0] == day
    db.execute("+typed(x: timestamp)")
    with pytest.raises(stratalog.TypeMismatch):
        db.insert("typed", [(day,), ("x",)])
    assert db.query("?typed(X)").rows() == []
    for more in ({"commit_every": 1}, {"scope": "session"}):
        with pytest.raises(ValueError, match="times beside other values"):
            db.insert("t", [(day,), ("x",)], **more)


LARGE = 2**53 + 1
#: What the declared types make another value of, in all forms of data.
OTHERS: dict[str, tuple[str, list[Any]]] = {
    "integers": ("float", [LARGE, 1, None, -LARGE]),
    "times": ("timestamp", ["2026-11-21T18:30:00.1234", "2026-11-21 18:30:00.123000", None]),
}


# Text among rows without names is no time.
WITH_NAMES = ["dicts", "many", "polars", "pyarrow"]


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *(("times", form) for form in WITH_NAMES),
        *(("integers", form) for form in ("rows", "iterator", *WITH_NAMES)),
    ],
)
def test_what_the_relation_makes_of_values_is_told_or_refused(
    db: stratalog.Client, kind: str, form: str
) -> None:
    declared, values = OTHERS[kind]
    db.execute(f"+t(n: int, x: {declared})")
    columns = {"X": values, "n": list(range(len(values)))}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    data: dict[str, Any] = {
        "rows": [(row["n"], row["X"]) for row in rows],
        "dicts": rows,
        "many": rows + [{"X": None, "n": n} for n in range(2000)],
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table({"more": values, **columns}).select(["X", "n"]),
        "iterator": [(n, LARGE if n > 70_000 else 1) for n in range(70_003)],
    }

    def made() -> Any:
        return iter(data[form]) if form == "iterator" else data[form]

    with pytest.raises(ValueError, match=r"is finer than milliseconds|would be rounded to a float"):
        db.insert("t", made(), exact=True)
    assert db.query("?t(N, X)").rows() == []
    with pytest.warns(PrecisionWarning, match=r"finer than milliseconds|2 values, as in `9007199254740993`"):
        db.insert("t", made())


@pytest.mark.usefixtures("quiet")
def test_values_that_the_relation_keeps_are_not_told(db: stratalog.Client) -> None:
    db.execute("+f(x: float)\n+i(x: int)\n+s(x: string)\n+t(x: timestamp)")
    floats = [2**53, -(2**53), 2**60, None]
    forms: list[Any] = [floats, pl.DataFrame({"x": floats})]
    for data in forms:
        db.insert("f", data, exact=True)
        db.insert("f", data)
    forms = [[LARGE], pl.DataFrame({"x": [LARGE]}), pa.table({"x": pa.array([LARGE], pa.uint64())})]
    for data in forms:
        db.insert("i", data, exact=True)
        db.insert("i", data)
    db.insert("s", pl.DataFrame({"x": ["2026-11-21T18:30:00.1234"]}), exact=True)
    db.insert("t", pl.DataFrame({"x": ["2026-11-21T18:30:00.123000Z"]}), exact=True)
