"""`Result`: the rows of an answer, in whatever form they are wanted.

The rows stay in the bytes that arrived until somebody looks at them, and a DataFrame is made from those bytes
without a Python object per value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from . import arrow
from .errors import NotOneRow
from .extras import extra
from .objects import objects
from .protocol import Answer
from .tables import HTML_ROWS, TEXT_ROWS, counted, html_table, text_table

if TYPE_CHECKING:
    import pandas
    import polars

Row = tuple[Any, ...]
T = TypeVar("T")


class Result:
    """The answer to a program: iterate over it for tuples, or take it as a DataFrame or an Arrow table.

    Values are int, float, str, bool, None, timezone-aware datetime, and lists of floats for vectors.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._table = arrow.Table(answer.arrow) if answer.arrow is not None else None
        #: The names of the columns.
        self.columns = list(answer.columns)
        #: How many rows these are.
        self.row_count = answer.row_count
        #: How many there were before a limit.
        self.total_count = answer.total_count
        #: Whether a limit left rows out.
        self.truncated = answer.truncated
        #: Time on the server, in milliseconds.
        self.elapsed_ms = answer.execution_time_ms
        #: The version of the graph that this is the answer at, or from which on what was written is there.
        self.version = answer.version
        #: What the server wants to have said about the program.
        self.warnings = answer.warnings
        #: Everything else that came along, such as `proof_trees` and `timing_breakdown`.
        self.extra = answer.extra

    @cached_property
    def types(self) -> list[str]:
        """Of each column int, float, string, bool, timestamp, vector, list, null, or any for a mixture."""
        if self._table is not None:
            return self._table.types()
        return [arrow.kind_of(row[i] for row in self._answer.rows) for i in range(len(self.columns))]

    @cached_property
    def _may_hold_any(self) -> list[bool]:
        """Of each column, whether it holds values of several types, or is declared so that it may."""
        if self._table is not None:
            return self._table.may_hold_any()
        return [kind == "any" for kind in self.types]

    @cached_property
    def _decoded(self) -> tuple[list[Row], list[str]]:
        if self._table is None:
            return [tuple(row) for row in self._answer.rows], self._answer.provenance
        columns, provenance, length = self._table.columns()
        return (list(zip(*columns, strict=True)) if columns else [()] * length), provenance

    @property
    def provenance(self) -> list[str]:
        """For each row `persistent` or `ephemeral`, where the session holds facts or rules of its own."""
        return list(self._decoded[1])

    @property
    def messages(self) -> list[str]:
        """What the statements of a program without a query had to say."""
        if self._table is None and self.columns == ["message"]:
            return [str(row[0]) for row in self._answer.rows]
        return []

    def __len__(self) -> int:
        return self.row_count

    def __bool__(self) -> bool:
        return self.row_count > 0

    def __iter__(self) -> Iterator[Row]:
        return iter(self._decoded[0])

    def __getitem__(self, place: int) -> Row:
        return self._decoded[0][place]

    def rows(self) -> list[Row]:
        """Every row as a tuple."""
        return list(self._decoded[0])

    def dicts(self) -> list[dict[str, Any]]:
        """Every row as a dict; of two columns of one name the later one wins."""
        return [dict(zip(self.columns, row, strict=True)) for row in self]

    def objects(self, kind: type[T]) -> list[T]:
        """Every row as an object of a dataclass, named tuple or typed relation.

        Columns that are called as the class's fields find them by name; otherwise the order counts.
        """
        return objects(kind, self.columns, self)

    def one(self) -> Row:
        """The only row; an error if there is none, or more than one."""
        if self.row_count != 1:
            raise NotOneRow(f"expected one row, found {self.row_count}")
        return self[0]

    def scalar(self) -> Any:
        """The only value; an error on any other shape."""
        row = self.one()
        if len(row) != 1:
            raise NotOneRow(f"expected one column, found {len(row)}: {', '.join(self.columns)}")
        return row[0]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow C stream interface; a requested schema is not honoured, as the interface allows."""
        return self._stream().__arrow_c_stream__(None)

    def to_arrow(self) -> Any:
        """A pyarrow Table. Lists of one type are lists, values of other mixed columns JSON text."""
        with extra("arrow"):
            import pyarrow as pa

        table = pa.table(self)
        for place, values in self._lists():
            with suppress(pa.ArrowException):  # elements of several types
                table = table.set_column(place, table.field(place).name, pa.array(values))
        return table

    def to_polars(self) -> polars.DataFrame:
        """A Polars DataFrame. Lists of one type are lists, values of other mixed columns JSON text."""
        with extra("polars"):
            import polars as pl

        frame = pl.DataFrame(self)
        for place, values in self._lists():
            with suppress(TypeError, pl.exceptions.PolarsError):  # elements of several types
                frame.replace_column(place, pl.Series(frame.columns[place], values))
        return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame."""
        with extra("pandas"):
            import pandas as pd
            import pyarrow  # noqa: F401 (by which pandas takes what is Arrow)

        # pandas-stubs do not know from_arrow yet.
        frame: pandas.DataFrame = pd.DataFrame.from_arrow(self)  # type: ignore[attr-defined]
        for place, kind in enumerate(self.types):
            if kind in ("any", "list"):
                values = [row[place] for row in self]
                frame.isetitem(place, pd.Series(values, dtype=object).array)
            elif isinstance(frame.dtypes.iloc[place], pd.CategoricalDtype):
                frame.isetitem(place, frame.iloc[:, place].astype("str").array)
        return frame

    def __repr__(self) -> str:
        return self._drawn(text_table, TEXT_ROWS)

    def _repr_html_(self) -> str:
        return self._drawn(html_table, HTML_ROWS)

    def _drawn(self, table: Callable[[list[str], list[Row], str], str], most: int) -> str:
        shown = self._decoded[0][:most]
        below = counted(len(shown), self.row_count)
        if self.truncated:
            below += f", cut from {self.total_count}"
        return table(self.columns, shown, below)

    def _lists(self) -> Iterator[tuple[int, list[Any]]]:
        """The columns that hold nothing but lists, with their places."""
        for place, kind in enumerate(self.types):
            if kind in ("any", "list"):
                values = [row[place] for row in self]
                if all(value is None or isinstance(value, list) for value in values):
                    yield place, values

    def _stream(self) -> Any:
        if self._table is not None:
            return self._table.stream()
        import nanoarrow as na

        return na.c_array_stream(arrow.table_stream(self.columns, self._answer.rows))
