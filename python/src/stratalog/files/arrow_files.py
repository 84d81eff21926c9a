"""What pyarrow reads: Parquet, Arrow, and text of plain types, quickly (`pip install 'stratalog[arrow]'`)."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from ..arrow import Batch, batches_of, type_name
from ..errors import FileError
from ..losses import Losses
from .compression import DAMAGED
from .conversion import Conversion, Fault
from .formats import pyarrow
from .layout import arranged, retyped
from .options import ReadOptions
from .text import Rows

_BATCH_ROWS = 1 << 14
_HEXADECIMAL = re.compile(rb"0[xX]")
#: What stands before and behind the quotes of a field.
_ENDS = (b",", b"\n", b"\r")
#: So much text becomes one batch.
_BLOCK_BYTES = 1 << 22


class Stumbled(Exception):
    """Text that the quick reader does not understand."""


class ArrowFile:
    """A file of Parquet or Arrow."""

    def __init__(
        self,
        path: str,
        kind: str,
        declared: Mapping[str, str] | None,
        chosen: Sequence[str] | None,
        options: ReadOptions,
    ) -> None:
        self._path = path
        self._options = options
        #: What values have lost so far.
        self.losses = Losses()
        #: How many rows there are, where the file says so.
        self.num_rows: int | None = None
        try:
            opened = self._parquet() if kind == "parquet" else self._arrow()
        except (FileNotFoundError, ImportError):
            raise
        except Exception as problem:
            raise FileError(path, str(problem)) from problem
        schema, self._batches, self._close = opened
        #: What is good to know about the order of the columns.
        self.warning: str | None = None
        try:
            self._arrange(schema, declared, chosen)
        except BaseException:
            self._close()
            raise
        self._read = 0

    def _arrange(self, schema: Any, declared: Mapping[str, str] | None, chosen: Sequence[str] | None) -> None:
        """Which columns of the file become which, in which types."""
        header = schema.names
        for name in chosen or ():
            if name not in header:
                raise FileError(self._path, f"there is no column {name!r}; there are {', '.join(header)}")
        if chosen is not None or declared is None:
            names = list(header if chosen is None else chosen)
            places = [header.index(name) for name in names] if chosen is not None else list(range(len(names)))
        else:
            places, self.warning = arranged(self._path, header, declared, None)
            names = list(declared) if header else []
            places = places[: len(names)]
        # Of columns that are not declared, some may have types all the same.
        known = [(declared or {}).get(name, "") for name in names]
        types = retyped(self._path, names, known, self._options.types)
        try:
            conversions = [
                Conversion(schema.field(place).with_name(name), wanted or None, self._options)
                for place, name, wanted in zip(places, names, types, strict=True)
            ]
        except ValueError as problem:
            raise FileError(self._path, str(problem)) from None
        self._conversions = list(zip(places, conversions, strict=True))
        fields = [each.target for each in conversions]
        #: Names and types of the columns.
        self.columns = {field.name: _kind(field) for field in fields}
        self._schema = pyarrow().schema(fields)

    @property
    def not_numbers(self) -> int:
        """How many values were NaN so far."""
        return sum(each.not_numbers for _, each in self._conversions)

    def batches(self, most: int) -> Iterator[Batch]:
        """The rows, so many at a time at most."""
        found = False
        while (batch := self._next()) is not None:
            found = True
            yield from batches_of(_table(self._converted(batch)), None, most)
        if not found:
            yield from batches_of(self._schema.empty_table(), None, most)

    def _converted(self, batch: Any) -> Any:
        """The batch in the types in which it travels."""
        columns = []
        for (place, conversion), field in zip(self._conversions, self._schema, strict=True):
            try:
                columns.append(conversion.apply(batch.column(place), self.losses))
            except Fault as fault:
                row = self._read + fault.row + 1
                raise FileError(
                    self._path,
                    f"row {row}, column `{field.name}`: {fault}",
                    help="types can be named by `types`: `string` keeps every value as it is",
                ) from None
        self._read += batch.num_rows
        return pyarrow().RecordBatch.from_arrays(columns, schema=self._schema)

    def close(self) -> None:
        """Lets go of the file."""
        self._close()

    def _next(self) -> Any:
        try:
            return next(self._batches, None)
        except Exception as problem:
            raise FileError(self._path, str(problem)) from problem

    def _parquet(self) -> tuple[Any, Iterator[Any], Callable[[], object]]:
        file = pyarrow("pyarrow.parquet").ParquetFile(self._path)
        self.num_rows = file.metadata.num_rows
        return file.schema_arrow, file.iter_batches(_BATCH_ROWS), file.close

    def _arrow(self) -> tuple[Any, Iterator[Any], Callable[[], object]]:
        pa, ipc = pyarrow(), pyarrow("pyarrow.ipc")
        source = pa.memory_map(self._path)
        if source.read(6) == b"ARROW1":
            file = ipc.open_file(source)
            batches = (file.get_batch(number) for number in range(file.num_record_batches))
            return file.schema, batches, source.close
        source.seek(0)
        stream = ipc.open_stream(source)
        return stream.schema, iter(stream), source.close


class QuickText:
    """CSV or JSON lines of plain types."""

    def __init__(
        self, source: Callable[[], IO[bytes]], kind: str, rows: Rows, read: Callable[[Any], Any]
    ) -> None:
        self._open = source
        self._is_csv = kind == "csv"
        self._has_integers = "int" in rows.kinds
        self._names = rows.names
        self._read = read

    def batches(self, most: int) -> Iterator[Batch]:
        """The rows, so many at a time at most; `Stumbled` where they are not understood."""
        pa = pyarrow()
        source = _Watched(self._open())
        try:
            reader = self._read(source)
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    break
                found = pa.RecordBatch.from_arrays(batch.columns, names=list(self._names))
                if self._is_suspect(source) or not all(map(_is_exact, found.columns)):
                    raise Stumbled
                if found.num_rows:
                    yield from batches_of(_table(found), None, most)
        except (pa.ArrowException, *DAMAGED) as problem:
            raise Stumbled from problem
        finally:
            source.close()
        if self._is_suspect(source) or (self._is_csv and source.inside):
            # Perhaps a quote was left open, and the rest of the file taken for a field.
            raise Stumbled

    def _is_suspect(self, source: _Watched) -> bool:
        return self._is_csv and (source.stray or (self._has_integers and source.hexadecimal))


def _is_exact(column: Any) -> bool:
    """Whether the floats are numbers, and none of them can be an integer that was rounded."""
    if not pyarrow().types.is_float64(column.type):
        return True
    compute = pyarrow("pyarrow.compute")
    return compute.all(compute.less(compute.abs(column), float(1 << 53))).as_py() is not False


class _Watched(io.RawIOBase):
    """Looks at the quotes of CSV while it is read, and at what pyarrow would take for an integer."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        #: The byte that was read last.
        self._last = b"\n"
        #: What was read so far ends inside of quotes.
        self.inside = False
        #: There was a quote elsewhere than around a whole field.
        self.stray = False
        #: There was what may be a number in hexadecimal.
        self.hexadecimal = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        pieces = data.split(b'"')
        self.hexadecimal |= _HEXADECIMAL.search(self._last + data) is not None
        # Every other piece is outside of quotes.
        for place in range(self.inside, len(pieces), 2):
            piece, follows, leads = pieces[place], place > 0 or self._last == b'"', place + 1 < len(pieces)
            if piece:
                self.stray |= follows and piece[:1] not in _ENDS
                self.stray |= leads and piece[-1:] not in _ENDS
            elif leads and not follows:
                self.stray |= self._last not in _ENDS
        self.inside ^= len(pieces) % 2 == 0
        self._last = data[-1:] or self._last
        return data

    def close(self) -> None:
        self._source.close()
        super().close()


def quick_text(source: Callable[[], IO[bytes]], kind: str, rows: Rows, some: bool) -> QuickText | None:
    """The quick way through a file of text, where there is one; `some` of its columns are left out."""
    try:
        pa = pyarrow()
    except ImportError:
        return None
    known = {"int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_()}
    if not rows.names or not set(rows.kinds) <= set(known):
        return None
    types = [known[name] for name in rows.kinds]
    if kind == "csv" and (places := rows.places) is not None:
        return QuickText(source, kind, rows, lambda watched: _csv(watched, places, types))
    if kind == "jsonl" and not some:
        schema = pa.schema(list(zip(rows.names, types, strict=True)))
        return QuickText(source, kind, rows, lambda watched: _json(watched, schema))
    return None


def _csv(source: Any, places: tuple[int, Sequence[int]], types: Sequence[Any]) -> Any:
    csv = pyarrow("pyarrow.csv")
    width, chosen = places
    return csv.open_csv(
        source,
        csv.ReadOptions(
            block_size=_BLOCK_BYTES,
            use_threads=False,
            skip_rows=1,
            column_names=[str(n) for n in range(width)],
        ),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types={str(place): kind for place, kind in zip(chosen, types, strict=True)},
            include_columns=[str(place) for place in chosen],
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true", "True", "TRUE", "t", "T", "1"],
            false_values=["false", "False", "FALSE", "f", "F", "0"],
        ),
    )


def _json(source: Any, schema: Any) -> Any:
    lines = pyarrow("pyarrow.json")
    return lines.open_json(
        source,
        lines.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
        lines.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )


def _table(batch: Any) -> Any:
    return pyarrow().Table.from_batches([batch])


def _kind(field: Any) -> str:
    """The type of a column, in the words of the language."""
    import nanoarrow as na

    schema = na.c_schema(field)
    kind = type_name(schema)
    if kind != "vector":
        return "any" if kind == "null" else kind
    word = "vector_int8" if schema.child(0).format == "c" else kind
    length = schema.format.removeprefix("+w:")
    return f"{word}[{length}]" if length.isdigit() else word
