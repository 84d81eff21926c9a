"""Arrow in both directions without a server: what is written must be what pyarrow reads, and the reverse."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from stratalog import arrow, rows


def written(data: Any, names: list[str] | None = None) -> Any:
    frames = [frame for frame, _ in arrow.frames(arrow.batches_of(data, names))]
    assert all(len(frame) <= arrow.FRAME_BYTES for frame in frames)
    return pa.ipc.open_stream(b"".join(frames)).read_all()


def received(table: Any, batch_rows: int = 1000) -> arrow.Table:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch_rows)
    return arrow.Table(sink.getvalue())


WIDE = pl.DataFrame(
    {
        "i": [1, None, 3, -4],
        "s": ["x", "a string of more than twelve bytes", None, "é"],
        "f": [1.5, None, 2.0, -0.0],
        "b": [True, None, False, True],
        "c": pl.Series(["a", "b", None, "a"], dtype=pl.Categorical),
        "v": pl.Series([[1.0, 2.0], [3.0, 4.0], None, [5.0, 6.0]], dtype=pl.Array(pl.Float32, 2)),
        "l": pl.Series([[1.0], [], None, [2.0, 3.0]], dtype=pl.List(pl.Float32)),
        "t": [datetime(2020, 1, 1), None, datetime(1960, 5, 6, 7), datetime(2262, 1, 1)],
        "d": [date(2020, 1, 1), None, date(1960, 5, 6), date(2262, 1, 1)],
        "u": pl.Series([1, 2, None, 255], dtype=pl.UInt8),
    }
)
WIDE_COLUMNS: dict[str, list[Any]] = {
    "i": [1, None, 3, -4],
    "s": ["x", "a string of more than twelve bytes", None, "é"],
    "f": [1.5, None, 2.0, -0.0],
    "b": [True, None, False, True],
    "c": ["a", "b", None, "a"],
    "v": [[1.0, 2.0], [3.0, 4.0], None, [5.0, 6.0]],
    "l": [[1.0], [], None, [2.0, 3.0]],
    "t": [
        datetime(2020, 1, 1, tzinfo=UTC),
        None,
        datetime(1960, 5, 6, 7, tzinfo=UTC),
        datetime(2262, 1, 1, tzinfo=UTC),
    ],
    "d": [
        datetime(2020, 1, 1, tzinfo=UTC),
        None,
        datetime(1960, 5, 6, tzinfo=UTC),
        datetime(2262, 1, 1, tzinfo=UTC),
    ],
    "u": [1, 2, None, 255],
}


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("library", ["polars", "pyarrow", "record batch"])
def test_slices_of_every_type_are_written_from_their_first_row(library: str, start: int) -> None:
    data: Any = WIDE.slice(start)
    if library != "polars":
        data = WIDE.to_arrow().slice(start)
    if library == "record batch":
        data = data.to_batches()[0]
    table = written(data)
    assert table.to_pydict() == {name: values[start:] for name, values in WIDE_COLUMNS.items()}


def test_slices_across_bytes_of_the_bitmap() -> None:
    values = [None if i % 3 == 0 else i for i in range(100)]
    flags = [None if i % 5 == 0 else i % 2 == 0 for i in range(100)]
    table = pa.table({"n": values, "b": flags}).slice(13, 50)
    assert written(table).to_pydict() == {"n": values[13:63], "b": flags[13:63]}


def test_no_rows_keep_their_columns() -> None:
    table = written(WIDE.clear())
    assert (table.num_rows, table.column_names) == (0, WIDE.columns)


def test_pandas_without_its_index() -> None:
    frame = pd.DataFrame({"n": [1, 2], "s": ["x", None]}, index=["p", "q"])
    assert written(frame).to_pydict() == {"n": [1, 2], "s": ["x", None]}


def test_a_duckdb_relation_in_many_batches() -> None:
    table = written(duckdb.sql("select range as n, 'n' || range as s from range(200000)"))
    assert table.column("n").to_pylist() == list(range(200_000))
    assert table.column("s")[199_999].as_py() == "n199999"


def test_columns_are_chosen_and_ordered() -> None:
    assert written(pl.DataFrame({"a": [1], "b": [2], "c": [3]}), ["c", "a"]).to_pydict() == {
        "c": [3],
        "a": [1],
    }
    with pytest.raises(ValueError, match="no column 'z'; it has a, b"):
        written(pl.DataFrame({"a": [1], "b": [2]}), ["z"])


def test_what_cannot_be_stored_is_named() -> None:
    with pytest.raises(TypeError, match="column 'o' has the Arrow type"):
        written(pa.table({"o": [{"x": 1}]}))


def test_dictionaries_are_read_across_batches() -> None:
    table = pa.table({"d": pa.array(["a", "b", None, "a", "c"]).dictionary_encode()})
    found, _, length = received(table, 2).columns()
    assert (found, length) == ([["a", "b", None, "a", "c"]], 5)


def test_mixed_columns_are_read_as_values() -> None:
    field = pa.field("m", pa.string(), metadata={"stratalog.type": "any"})
    table = pa.table([["1", '"x"', None, "[1.5]", "2.0"]], schema=pa.schema([field]))
    stream = received(table)
    assert stream.types() == ["any"]
    found = stream.columns()[0][0]
    assert found == [1, "x", None, [1.5], 2.0]
    assert isinstance(found[4], float)


def test_the_provenance_is_kept_apart() -> None:
    table = pa.table({"n": [1, 2], "_provenance": ["persistent", "ephemeral"]})
    stream = received(table)
    assert stream.columns() == ([[1, 2]], ["persistent", "ephemeral"], 2)
    assert pa.table(stream.stream()).to_pydict() == {"n": [1, 2]}


def test_times_out_of_range_are_numbers() -> None:
    table = pa.table({"t": pa.array([0, 10**15, None], pa.timestamp("ms", "UTC"))})
    assert received(table).columns()[0] == [[datetime(1970, 1, 1, tzinfo=UTC), 10**15, None]]


def test_few_rows_are_json_and_many_are_arrow() -> None:
    def as_json(data: object) -> object:
        return next(rows.plan(data).parts).rows

    assert as_json([(1, "a")]) == [[1, "a"]]
    assert as_json([(n,) for n in range(5000)]) is None
    assert as_json([{"a": 1}]) is None
    assert as_json([(n if n else "zero",) for n in range(5000)]) is not None


def test_progress_ends_with_the_number_of_rows() -> None:
    table = pl.DataFrame({"n": range(300_000)})
    done = [rows for _, rows in arrow.frames(arrow.batches_of(table))]
    assert done == sorted(done)
    assert done[-1] == 300_000


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([(float("inf"),)], "infinite"),
        ([(1 << 63,)], "64 bits"),
        ([(1,), (1, 2)], "row 1 has 2 values"),
        ([{"a": 1}, {"b": 1}], "row 1 lacks the key 'a'"),
        ([(object(),)], "cannot be stored"),
        ([([1.0, float("nan")],)], "finite numbers"),
        ("text", "cannot insert str"),
        (5, "cannot insert int"),
    ],
)
def test_rows_that_do_not_fit_are_refused_at_once(data: Any, problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        rows.plan(data)


def test_categories_that_are_times() -> None:
    for kind in (pa.timestamp("us"), pa.date32(), pa.timestamp("ns", "UTC")):
        words = pa.array([datetime(2020, 1, 1), None, datetime(2020, 1, 1)]).cast(kind)
        found = written(pa.table({"c": words.dictionary_encode()}))
        start = datetime(2020, 1, 1, tzinfo=UTC)
        assert found.column("c").to_pylist() == [start, None, start]
    frame = pd.DataFrame({"c": pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02"]))})
    assert written(frame).column("c").to_pylist() == [datetime(2020, 1, day, tzinfo=UTC) for day in (1, 2)]


def test_what_pandas_has_and_arrow_has_not() -> None:
    periods = pd.DataFrame({"p": pd.period_range("2020-01", periods=2, freq="M")})
    for read in (written, rows.named_rows):
        with pytest.raises(TypeError, match="column 'p' has periods of pandas"):
            read(periods)
    with pytest.raises(ValueError, match="two columns of the frame have one name: a, a"):
        written(pd.DataFrame([[1, 2]], columns=["a", "a"]))


TIMES_IN_LISTS = [
    pa.list_(pa.date32()),
    pa.large_list(pa.timestamp("us")),
    pa.list_(pa.timestamp("ns", "UTC"), 1),
    pa.list_(pa.list_(pa.date64())),
]


@pytest.mark.parametrize("kind", TIMES_IN_LISTS, ids=str)
def test_times_in_lists_become_no_numbers(kind: Any) -> None:
    when = datetime(2020, 1, 1)
    value = [[when]] if pa.types.is_list(kind.value_type) else [when]
    with pytest.raises(
        TypeError, match=r"column 'x' has the Arrow type .*, and a list holds no times: cast them"
    ):
        written(pa.table({"x": pa.array([value], kind)}))


def test_times_in_lists_are_refused_from_all_libraries() -> None:
    for data in (
        pl.DataFrame({"x": [[date(2020, 1, 1)]]}),
        pl.DataFrame({"x": [[datetime(2020, 1, 1)]]}),
        pl.DataFrame({"x": pl.Series([[date(2020, 1, 1)]], dtype=pl.Array(pl.Date, 1))}),
        duckdb.sql("select [date '2020-01-01'] as x"),
    ):
        with pytest.raises(TypeError, match="a list holds no times"):
            written(data)


STRUCTS = pa.array([{"n": n, "s": f"name {n}", "b": n == 2, "l": [n]} for n in range(5)])


def test_slices_of_structs_are_those_rows() -> None:
    data = pa.chunked_array([STRUCTS.slice(1, 3), STRUCTS.slice(4)])
    expected = [(n, f"name {n}", n == 2, [n]) for n in (1, 2, 3, 4)]
    assert list(zip(*written(data).to_pydict().values(), strict=True)) == expected
    found = rows.named_rows(data)
    assert found == (["n", "s", "b", "l"], expected)


@pytest.mark.parametrize("read", [written, rows.named_rows])
def test_rows_that_are_null_as_a_whole_are_refused(read: Any) -> None:
    data = pa.array([{"n": 1}, None, {"n": 3}])
    with pytest.raises(ValueError, match="a row of the data is null as a whole"):
        read(pa.chunked_array([data]))
    assert read(pa.chunked_array([data.slice(2)])) is not None
