"""Rows as objects: `objects` for any class with fields, `Rows` for the answer to a composed query."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .errors import NotOneRow
from .naming import letters, matched
from .relation import Relation, reader

if TYPE_CHECKING:
    import pandas
    import polars

    from .result import Result
    from .statements import Select

T = TypeVar("T")
Row = tuple[Any, ...]


class Rows(Sequence[T], Generic[T]):
    """The answer to a composed query: objects or tuples, as it asked for."""

    def __init__(self, query: Select[T], result: Result) -> None:
        #: The answer as it came, whose columns may stand in another order.
        self.result = result
        self._query = query
        self._places = query.places
        self._whole: list[T] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._query.names

    def _rows(self) -> list[T]:
        if self._whole is None:
            read, places = self._query.read, self._places
            if places == list(range(len(places))):
                self._whole = [read(row) for row in self.result]
            else:
                self._whole = [read(tuple(row[place] for place in places)) for row in self.result]
        return self._whole

    def one(self) -> T:
        """The only row; an error if there is none, or more than one."""
        if len(self) != 1:
            raise NotOneRow(f"expected one row, found {len(self)}")
        return self._rows()[0]

    def first(self) -> T | None:
        """The first row; None if there is none."""
        return self._rows()[0] if len(self) else None

    def to_polars(self) -> polars.DataFrame:
        """A Polars DataFrame, its columns named as in the query."""
        frame = self.result.to_polars()
        chosen = [frame.to_series(place) for place in self._places]
        return type(frame)([series.alias(name) for series, name in zip(chosen, self.columns, strict=True)])

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame, its columns named as in the query."""
        frame = self.result.to_pandas().iloc[:, self._places]
        return frame.set_axis(self.columns, axis="columns")

    def to_arrow(self) -> Any:
        """A pyarrow Table, its columns named as in the query."""
        return self.result.to_arrow().select(self._places).rename_columns(self.columns)

    def __len__(self) -> int:
        return len(self.result)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._rows()[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self._rows())

    def __repr__(self) -> str:
        return repr(self.result)

    def _repr_html_(self) -> str:
        return self.result._repr_html_()


def objects(kind: type[T], columns: Sequence[str], rows: Iterable[Row]) -> list[T]:
    """Rows as objects of a class with fields."""
    make = maker(kind, columns)
    return [make(row) for row in rows]


def maker(kind: type[T], columns: Sequence[str]) -> Callable[[Row], T]:
    """Makes an object of a row with these columns."""
    fields, required = _fields(kind)
    places = matched(fields, columns)
    found = [place for place in places if place is not None]
    lacking = {name for name, place in zip(fields, places, strict=True) if place is None}
    in_order = places[: len(columns)] == list(range(len(columns))) and not lacking & required
    if in_order or (len(columns) == len(fields) and _go_by_order(places, columns)):
        return _positional(kind)
    if not lacking:
        make = _positional(kind)
        return lambda row: make(tuple(row[place] for place in found))
    if len(found) == len(columns) and not lacking & required:
        named = [(name, place) for name, place in zip(fields, places, strict=True) if place is not None]
        return lambda row: kind(**{name: row[place] for name, place in named})
    raise TypeError(
        f"{kind.__name__} has the fields {', '.join(fields)}; the answer has the columns {', '.join(columns)}"
        ": all of them have to be found by their names, or none, and then the order counts"
    )


def _go_by_order(places: Sequence[int | None], columns: Sequence[str]) -> bool:
    """Whether no field is found by its name; or it is in its place, and the others have none but a letter."""
    if all(place is None for place in places):
        return True
    named = zip(places, columns, letters(len(columns)), strict=True)
    return all(
        place == at or (place is None and column == letter)
        for at, (place, column, letter) in enumerate(named)
    )


def _positional(kind: type[T]) -> Callable[[Row], T]:
    if issubclass(kind, Relation):
        return reader(kind)
    return lambda row: kind(*row)


def _fields(kind: type[Any]) -> tuple[list[str], set[str]]:
    """The names of the fields, and those that must be given."""
    if dataclasses.is_dataclass(kind):
        fields = [field for field in dataclasses.fields(kind) if field.init]
        missing = dataclasses.MISSING
        return [field.name for field in fields], {
            field.name for field in fields if field.default is missing and field.default_factory is missing
        }
    if (names := getattr(kind, "_fields", None)) is not None:
        return list(names), set(names) - set(kind._field_defaults)
    if (model := getattr(kind, "model_fields", None)) is not None:
        return list(model), {name for name, field in model.items() if field.is_required()}
    raise TypeError(f"{kind.__name__} has no fields: give a dataclass, a named tuple or a typed relation")
