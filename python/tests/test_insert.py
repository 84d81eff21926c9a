"""Everything that can be inserted, and that it comes back as it went."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stratalog


@dataclass
class Edge:
    source: int
    target: int


def test_rows_count_new_ones_and_duplicates(db: stratalog.Client) -> None:
    assert db.insert("edge", [(1, 2), (2, 3), (1, 2)]) == (2, 1)
    assert db.insert("edge", [[2, 3], [3, 4]]) == stratalog.Inserted(inserted=1, duplicates=1)
    assert sorted(db.query("?edge(X, Y)")) == [(1, 2), (2, 3), (3, 4)]


def test_scalars_dicts_and_dataclasses(db: stratalog.Client) -> None:
    db.insert("one", ["a", "b"])
    db.insert("edge", [{"source": 1, "target": 2}, {"target": 4, "source": 3}, {"source": 5, "target": None}])
    db.insert("edge", [Edge(6, 7)])
    assert sorted(db.query("?one(X)")) == [("a",), ("b",)]
    assert sorted(db.query("?edge(X, Y)"), key=str) == [(1, 2), (3, 4), (5, None), (6, 7)]


def test_nothing_is_fine(db: stratalog.Client) -> None:
    assert db.insert("edge", []) == (0, 0)
    assert db.insert("edge", pl.DataFrame({"x": [1], "y": [2]}).clear()) == (0, 0)


def test_named_columns_find_their_place(db: stratalog.Client) -> None:
    db.execute("+edge(source: int, target: int)")
    db.insert("edge", pl.DataFrame({"target": [2], "source": [1]}))
    db.insert("edge", [{"target": 4, "source": 3}])
    db.insert("edge", [(6, 5)], columns=["target", "source"])
    assert sorted(db.query("?edge(X, Y)")) == [(1, 2), (3, 4), (5, 6)]


@dataclass
class Person:
    name: str
    born: int
    height: float | None


@dataclass
class Turned:
    height: float | None
    name: str
    born: int


def people(library: str, columns: dict[str, list[Any]]) -> Any:
    """The same columns, in their order, as whoever has them would."""
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    match library:
        case "pandas":
            return pd.DataFrame(columns)
        case "polars":
            return pl.DataFrame(columns)
        case "pyarrow":
            return pa.table(columns)
        case "duckdb":
            return duckdb.from_arrow(pa.table(columns))
        case "dataclasses":
            kind = Person if next(iter(columns)) == "name" else Turned
            return [kind(**row) for row in rows]
        case "dicts":
            return rows
        case "an iterator of many":
            return ({**row, "born": row["born"] - n} for n in range(70_000) for row in rows)
    raise AssertionError(library)


LIBRARIES = ["dicts", "dataclasses", "pandas", "polars", "pyarrow", "duckdb", "an iterator of many"]


@pytest.mark.parametrize("scope", ["persistent", "session"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_names_are_kept_and_values_never_change_places(
    db: stratalog.Client, library: str, scope: str
) -> None:
    db.insert("person", people(library, {"name": ["Ada"], "born": [1815], "height": [1.65]}), scope=scope)
    if scope == "persistent":
        assert db.column_types("person") == {"name": "string", "born": "int", "height": "float"}
    turned = people(library, {"height": [1.78], "name": ["Alan"], "born": [1912]})
    db.insert("person", turned, scope=scope)
    assert db.query("?person(N, 1912, H)").one() == ("Alan", 1912, 1.78)
    before = len(db.query("?person(N, B, H)"))
    with pytest.raises(stratalog.Error, match=r"the data lacks `height`"):
        db.insert("person", pl.DataFrame({"born": [1906], "name": ["Grace"]}), scope=scope)
    more = pl.DataFrame({"born": [1906], "name": ["Grace"], "height": [1.7], "job": ["admiral"]})
    with pytest.raises(stratalog.Error, match=r"the data has `job` beside them"):
        db.insert("person", more, scope=scope)
    with pytest.warns(stratalog.InsertWarning, match="went by position"):
        db.insert("person", pl.DataFrame({"n": ["Grace"], "b": [1906], "h": [1.7]}), scope=scope)
    assert len(db.query("?person(N, B, H)")) == before + 1
    assert db.query('?person("Grace", B, H)').one() == ("Grace", 1906, 1.7)


def test_rows_of_mixed_types_keep_their_names(db: stratalog.Client) -> None:
    db.insert("told", [{"what": "size", "value": 3}, {"what": "name", "value": "Ada"}])
    assert db.column_types("told") == {"what": "string", "value": "any"}
    db.insert("told", [{"value": True, "what": "alive"}, {"value": 1815, "what": "born"}])
    assert sorted(what for what, _ in db.query("?told(What, V)")) == ["alive", "born", "name", "size"]


def test_odd_names_become_such_as_can_be_declared(db: stratalog.Client) -> None:
    db.insert("town", pd.DataFrame({"Town name": ["Oslo"], "Population (2020)": [709_037], "2": [True]}))
    assert db.column_types("town") == {"Town_name": "string", "Population_2020": "int", "column_2": "bool"}
    db.insert("town", pd.DataFrame({"population (2020)": [34_000], "2": [False], "town name": ["Moss"]}))
    assert sorted(db.query("?town(T, P, C)")) == [("Moss", 34_000, False), ("Oslo", 709_037, True)]


def test_what_has_no_names_goes_by_position(db: stratalog.Client) -> None:
    db.insert("pair", [(1, "a")])
    db.insert("pair", pd.DataFrame([(2, "b")]))
    assert db.column_types("pair") == {"A": "int", "B": "string"}
    # The first names are those that it has from then on.
    db.insert("pair", pl.DataFrame({"n": [3], "s": ["c"]}))
    db.insert("pair", pl.DataFrame({"s": ["d"], "n": [4]}))
    assert sorted(db.query("?pair(N, S)")) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_whole_floats_fit_integers(db: stratalog.Client) -> None:
    # A column of pandas with gaps is one of floats.
    db.insert("n", pd.DataFrame({"id": [1], "n": [10]}))
    db.insert("n", pd.DataFrame({"id": [2, 3], "n": [20, None]}))
    found = db.query("?n(Id:asc, N)").rows()
    assert found == [(1, 10), (2, 20), (3, None)]
    assert db.column_types("n") == {"id": "int", "n": "int"}
    for unfit in (0.5, 1e300):
        with pytest.raises(stratalog.TypeMismatch, match=r"n\.n is declared int"):
            db.insert("n", pd.DataFrame({"id": [4], "n": [unfit]}))


FRAME = pl.DataFrame(
    {"n": [1, 2, None], "s": ["a", "long enough to leave its view", None], "x": [0.5, None, 2.0]}
)
FRAME_ROWS = [(1, "a", 0.5), (2, "long enough to leave its view", None), (None, None, 2.0)]


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow", "duckdb"])
def test_data_frames(db: stratalog.Client, library: str) -> None:
    data: Any = FRAME
    match library:
        case "pandas":
            data = pd.DataFrame(
                {"n": pd.array([1, 2, None], "Int64"), "s": FRAME["s"], "x": FRAME["x"].to_list()}
            )
        case "pyarrow":
            data = FRAME.to_arrow()
        case "duckdb":
            data = duckdb.from_arrow(FRAME.to_arrow())
    assert db.insert("t", data).inserted == 3
    found = db.query("?t(N, S, X)").rows()
    # pandas has no missing float but NaN, which is stored as null.
    assert sorted(found, key=str) == sorted(FRAME_ROWS, key=str)


def test_a_result_goes_into_another_relation(db: stratalog.Client) -> None:
    db.insert("p", [(1, "a"), (2, "b")])
    assert db.insert("q", db.query("?p(X, Y)")).inserted == 2
    assert sorted(db.query("?q(X, Y)")) == [(1, "a"), (2, "b")]


def test_many_rows_in_many_frames(db: stratalog.Client) -> None:
    count = 300_000
    frame = pl.DataFrame(
        {"n": range(count), "s": [f"a name of some length, number {n}" for n in range(count)]}
    )
    seen: list[tuple[int, int | None]] = []
    assert db.insert("big", frame, progress=lambda rows, total: seen.append((rows, total))).inserted == count
    # In this process they are handed over at once.
    assert len(seen) > 5 or db.url == ":memory:"
    assert seen[-1] == (count, count)
    result = db.query("?big(N, S)")
    assert len(result) == count
    assert result.to_polars().sort("n").equals(frame)


def test_many_python_rows(db: stratalog.Client) -> None:
    data = [(n, f"name {n}", n / 4, n % 2 == 0) for n in range(100_000)]
    assert db.insert("many", data, progress=True).inserted == len(data)
    assert sorted(db.query("?many(N, S, X, B)")) == data


TEXTS = [
    "",
    "é",
    "漢字",
    "🎉",
    'say "hi"',
    "back\\slash",
    "two\nlines",
    "tab\there",
    "a, b",
    "x\u0000y",
    "$n",
    "_",
]


@pytest.mark.parametrize("many", [False, True])
def test_texts_return_as_they_went(db: stratalog.Client, many: bool) -> None:
    texts = TEXTS + [f"filler {n}" for n in range(2000 if many else 0)]
    db.insert("t", texts)
    assert sorted(row[0] for row in db.query("?t(X)")) == sorted(texts)
    for text in TEXTS:
        assert db.query("?t($text)", {"text": text}).rows() == [(text,)]


@pytest.mark.parametrize("count", [1, 2000])
def test_half_of_a_character_is_refused(db: stratalog.Client, count: int) -> None:
    half = "a\ud800é"
    for data in (
        [half] * count,
        [(half, n) for n in range(count)],
        [{"x": half}] * count,
        [half, 1],
        [[half, 1]],
    ):
        with pytest.raises(ValueError, match=r"ud800.*half of a character"):
            db.insert("t", data)
    with pytest.raises(stratalog.InvalidParameter, match="ud800"):
        db.query("?t($x)", {"x": half})
    with pytest.raises(ValueError, match="ud800"):
        db.execute(f'+t("{half}")')
    with pytest.raises(ValueError, match="ud800"):
        db.insert(half, [1])
    # The connection is the one that it was.
    db.execute("own(1)")
    assert db.query("?own(X)").rows() == [(1,)]


def test_numbers_return_as_they_went(db: stratalog.Client) -> None:
    ints = [0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)]
    floats = [0.1, 1e300, -2.5, 5e-324, 1.0, 2.0**53]
    db.insert("i", ints)
    db.insert("f", floats)
    assert sorted(row[0] for row in db.query("?i(X)")) == sorted(ints)
    found = sorted(row[0] for row in db.query("?f(X)"))
    assert found == sorted(floats)
    assert all(isinstance(value, float) for value in found)


def test_nan_is_null_and_infinity_an_error(db: stratalog.Client) -> None:
    db.insert("f", [(1, math.nan), (2, 0.5)])
    assert sorted(db.query("?f(N, X)")) == [(1, None), (2, 0.5)]
    with pytest.raises(ValueError, match="infinite"):
        db.insert("f", [(3, math.inf)])


def test_mixed_columns_keep_the_types_of_their_values(db: stratalog.Client) -> None:
    values = [1, 1.0, "1", True, None]
    db.insert("m", enumerate(values))
    found = [value for _, value in sorted(db.query("?m(N, X)"), key=lambda row: row[0])]
    assert [(type(value), value) for value in found] == [(type(value), value) for value in values]


def test_vectors(db: stratalog.Client) -> None:
    db.insert("v", [(1, [1.0, 2.5]), (2, [0.0, -1.0])])
    db.insert("v", pl.DataFrame({"n": [3], "v": pl.Series([[4.0, 5.0]], dtype=pl.Array(pl.Float32, 2))}))
    db.insert("v", [(4, np.array([6.0, 7.0], dtype=np.float32))])
    assert sorted(db.query("?v(N, V)")) == [
        (1, [1.0, 2.5]),
        (2, [0.0, -1.0]),
        (3, [4.0, 5.0]),
        (4, [6.0, 7.0]),
    ]


def test_times_are_utc(db: stratalog.Client) -> None:
    berlin = timezone(timedelta(hours=1))
    db.insert("t", [(1, datetime(2020, 1, 1, 1, tzinfo=berlin)), (2, None)])
    db.insert("t", pl.DataFrame({"n": [3], "t": [datetime(1960, 2, 3, 4, 5, 6, 789_000)]}))
    assert sorted(db.query("?t(N, T)"), key=lambda row: row[0]) == [
        (1, datetime(2020, 1, 1, tzinfo=UTC)),
        (2, None),
        (3, datetime(1960, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)),
    ]


def test_numpy_and_pandas_scalars(db: stratalog.Client) -> None:
    db.insert("n", [(np.int64(1), np.float32(0.5), np.bool_(True), np.str_("s"))])
    assert db.query("?n(A, B, C, D)").one() == (1, 0.5, True, "s")


def test_a_declared_float_takes_integers(db: stratalog.Client) -> None:
    db.execute("+f(x: float)")
    db.insert("f", [1, 2])
    found = sorted(row[0] for row in db.query("?f(X)"))
    assert found == [1.0, 2.0]
    assert all(isinstance(value, float) for value in found)


def test_all_or_nothing(db: stratalog.Client) -> None:
    db.execute("+edge(x: int, y: int)")
    with pytest.raises(stratalog.TypeMismatch):
        db.insert("edge", [(1, 2), (3, "four")])
    with pytest.raises(stratalog.TypeMismatch):
        db.insert("edge", pl.DataFrame({"x": [1], "y": ["two"]}))
    with pytest.raises(stratalog.ArityMismatch):
        db.insert("edge", pl.DataFrame({"x": [1], "y": [2], "z": [3]}))
    assert db.query("?edge(X, Y)").rows() == []


def test_a_stream_that_breaks_off_inserts_nothing(db: stratalog.Client) -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            schema = pa.schema([("n", pa.int64())])

            def batches() -> Any:
                yield pa.record_batch({"n": list(range(1000))})
                raise RuntimeError("no more")

            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    with pytest.raises(Exception, match="no more"):
        db.insert("p", Broken())
    assert db.insert("p", [1]).inserted == 1
    assert db.query("?p(X)").rows() == [(1,)]


def test_times_lose_no_digits_in_silence(db: stratalog.Client) -> None:
    start = datetime(2026, 11, 21, 18, 30)
    exact = start.replace(microsecond=123_456)
    whole = start.replace(microsecond=123_000, tzinfo=UTC)
    for unit in ("us", "ns"):
        frame = pl.DataFrame({"at": [None, start, exact]}, schema={"at": pl.Datetime(unit)})
        for data in (frame, frame.to_pandas()):
            with pytest.raises(ValueError, match=r"column 'at': `2026-11-21T18:30:00\.123456` is finer"):
                db.insert("t", data, exact=True)
            with pytest.raises(ValueError, match="finer than milliseconds"):
                db.delete("t", data, exact=True)
        db.insert("t", frame.with_columns(pl.col("at").dt.truncate("1ms")))
    assert db.query("?t(X:asc)").rows() == [(None,), (start.replace(tzinfo=UTC),), (whole,)]
    # What is nothing may hold any digits.
    masked = pa.array([1_000, 1_001], pa.timestamp("us"), mask=np.array([False, True]))
    assert db.insert("masked", pa.table({"at": masked})) == (2, 0)


def test_a_clock_has_more_digits_than_are_kept(db: stratalog.Client) -> None:
    exact = datetime(2026, 11, 21, 18, 30, 0, 123_456, UTC)
    whole = exact.replace(microsecond=123_000)
    fine: list[Any] = [exact, pd.Timestamp(exact), pd.Timestamp("2026-11-21T18:30:00.123000001Z")]
    for scalar in (
        *fine,
        np.datetime64("2026-11-21T18:30:00.123456"),
        np.datetime64("2026-11-21T18:30:00.123000001"),
    ):
        with pytest.warns(stratalog.PrecisionWarning, match="finer than milliseconds"):
            db.insert("t", [scalar])
        with pytest.warns(stratalog.PrecisionWarning):
            assert db.query("?t(X), X = $at", {"at": scalar}).rows() == [(whole,)]
    assert db.insert(
        "t", [whole, np.datetime64("2026-11-21T18:30:00.123"), np.datetime64("2026-11-21", "ns")]
    ) == (1, 2)
    assert db.insert("missing", [(1, np.datetime64("NaT")), (2, np.datetime64("2026-11-21"))]) == (2, 0)
    assert db.query("?missing(N:asc, T)").rows() == [(1, None), (2, datetime(2026, 11, 21, tzinfo=UTC))]


def test_a_series_is_a_relation_of_one_column(db: stratalog.Client) -> None:
    assert db.insert("one", pl.Series("x", [1, 2])) == (2, 0)
    assert db.insert("one", pd.Series([2, 3])) == (1, 1)
    assert db.delete("one", pl.Series([3])).messages == ["deleted 1 fact from one"]
    with pytest.raises(TypeError, match="a stream of int64 has no columns to insert"):
        db.insert("one", pa.chunked_array([[1, 2]]))


def test_what_has_no_type_says_what_to_do(db: stratalog.Client) -> None:
    mixed = pd.DataFrame({"c": [1, "b", None]})
    with pytest.raises(TypeError, match=r"data\.to_dict\('records'\)"):
        db.insert("mixed", mixed)
    assert db.insert("mixed", mixed.to_dict("records")) == (3, 0)
    with pytest.raises(
        TypeError, match=r"column 'c' has the Arrow type duration\('us'\), which cannot be stored"
    ):
        db.insert("t", pl.DataFrame({"c": [timedelta(1)]}))


def test_the_warning_names_the_place_of_the_call(db: stratalog.Client) -> None:
    with pytest.warns(stratalog.PrecisionWarning) as caught:
        db.insert("t", [datetime(2026, 1, 1, microsecond=1)])
    assert caught[0].filename == __file__
