"""`opened`: a file as batches, a few rows at a time.

Text is read in two ways that give the same rows. The quick one is pyarrow's, for columns of plain types.
Where it stumbles or is not there, the careful one goes on: it knows lines, and what may be left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ..arrow import BATCH_ROWS, Batch, build
from ..errors import FileError
from ..losses import Losses
from ..programs import identifiers
from . import arrow_files
from .delimited import delimited
from .elements import elements
from .formats import RDF, format_of, open_text
from .json_rows import json_rows
from .options import ReadOptions
from .rdf import scope, triples
from .text import Line, Rows, as_text, lines

_ROWS = 1 << 14
_KEPT_PROBLEMS = 10


class FileReader:
    """A file that is read while somebody takes its batches."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        declared: Mapping[str, str] | None,
        chosen: Sequence[str] | None,
        options: ReadOptions,
    ) -> None:
        self._path = os.fspath(path)
        self._wanted = (declared, chosen)
        self._options = options
        #: How many rows there are, where the file says so.
        self.num_rows: int | None = None
        #: Records that were left out, and what is wrong with the first of them.
        self.skipped = 0
        self.problems: list[FileError] = []
        #: Values that were NaN, and became null.
        self._not_numbers = 0
        self._losses = Losses()
        self._rows_read = 0
        self._source: Any = None
        self._format = kind = format_of(path)
        self._scope = scope(self._path) if kind in RDF else None
        if kind in ("parquet", "arrow"):
            self._binary: arrow_files.ArrowFile | None = arrow_files.ArrowFile(
                self._path, kind, declared, chosen, options
            )
            self.num_rows = self._binary.num_rows
            self._columns = self._binary.columns
        else:
            self._binary = None
            self._text = self._open()
            self._columns = dict(zip(self._text.names, self._text.kinds, strict=True))

    @property
    def columns(self) -> dict[str, str]:
        """Names that can be declared, and types."""
        return dict(zip(identifiers(list(self._columns)), self._columns.values(), strict=True))

    @property
    def warnings(self) -> list[str]:
        """What is good to know about how it was read so far."""
        how = self._binary if self._binary is not None else self._text
        found = [how.warning] if how.warning is not None else []
        count = self._not_numbers if self._binary is None else self._binary.not_numbers
        losses = self._losses if self._binary is None else self._binary.losses
        if count:
            found.append(
                "1 value was NaN, and is null" if count == 1 else f"{count} values were NaN, and are null"
            )
        return found + losses.warnings

    @property
    def has_only_names(self) -> bool:
        """Whether there was no row, once it is read, but columns."""
        return self._rows_read == 0 and self.skipped == 0 and bool(self._columns)

    def batches(self, most: int = BATCH_ROWS) -> Iterator[Batch]:
        """The rows, so many at a time at most."""
        for batch in self._batches(most):
            self._rows_read += batch.length
            yield batch

    def _batches(self, most: int) -> Iterator[Batch]:
        if self._binary is not None:
            yield from self._binary.batches(most)
            return
        done = 0
        if (quick := self._quick()) is not None:
            try:
                for batch in quick.batches(most):
                    yield batch
                    done += batch.length
            except arrow_files.Stumbled:
                self._text = self._open()
            else:
                return
        yield from self._careful(min(most, _ROWS), done)

    def values(self) -> Iterator[Sequence[Any]]:
        """The rows of text, one by one."""
        for row in self._text.rows:
            if isinstance(row, FileError):
                self._note(row)
            else:
                yield row

    def close(self) -> None:
        """Lets go of the file."""
        if self._binary is not None:
            self._binary.close()
        if self._source is not None:
            self._source.close()

    def _open(self) -> Rows:
        if self._source is not None:
            self._source.close()
        self._source = open_text(self._path, self._options.encoding)
        try:
            return self._rows(self._source)
        except BaseException:
            self._source.close()
            raise

    def _rows(self, source: IO[bytes]) -> Rows:
        (declared, chosen), options, path = self._wanted, self._options, self._path
        match self._format:
            case "csv" | "tsv":
                delimiter = "," if self._format == "csv" else "\t"
                return delimited(path, lines(path, source), delimiter, declared, chosen, options)
            case "json":
                return json_rows(path, _elements(path, source), declared, chosen, options)
            case "jsonl":
                return json_rows(path, lines(path, source), declared, chosen, options)
            case kind:
                for column in options.types:
                    raise FileError(path, f"the types of RDF are its own, and `{column}` has no other")
                return triples(path, source, kind, self._scope)

    def _quick(self) -> arrow_files.QuickText | None:
        """The quick way, where there is one."""
        if self._options.on_error != "abort" or not Path(self._path).is_file():
            return None
        open_again: Callable[[], IO[bytes]] = lambda: open_text(self._path, self._options.encoding)  # noqa: E731
        return arrow_files.quick_text(open_again, self._format, self._text, self._wanted[1] is not None)

    def _careful(self, most: int, done: int) -> Iterator[Batch]:
        names, kinds = self._text.names, [built_as(kind) for kind in self._text.kinds]
        rows = islice(self.values(), done, None)
        some = list(islice(rows, most))
        if not some and not done:
            yield build(names, kinds, [()] * len(names))
        while some:
            columns = [
                self._noted(name, kind, column)
                for name, kind, column in zip(names, kinds, zip(*some, strict=True), strict=True)
            ]
            yield build(names, kinds, columns)
            some = list(islice(rows, most))

    def _noted(self, name: str, kind: str, column: Sequence[Any]) -> Sequence[Any]:
        """With null where a value is no number; what times have lost is counted."""
        if kind == "timestamp":
            self._losses.note_times(name, column)
        if kind != "float" or not (count := sum(value != value for value in column)):
            return column
        self._not_numbers += count
        return [value if value == value else None for value in column]

    def _note(self, problem: FileError) -> None:
        if self._options.on_error == "abort":
            raise problem
        self.skipped += 1
        if len(self.problems) < _KEPT_PROBLEMS:
            self.problems.append(problem)


def _elements(path: str, source: IO[bytes]) -> Iterator[Line]:
    with as_text(source) as text:
        yield from elements(path, text)


def built_as(kind: str) -> str:
    """The type of a column that is sent for one of this type."""
    return "vector" if kind.startswith("vector") else kind


@contextmanager
def opened(
    path: str | os.PathLike[str],
    declared: Mapping[str, str] | None,
    chosen: Sequence[str] | None = None,
    options: ReadOptions | None = None,
) -> Iterator[FileReader]:
    """The rows of a file; `declared` are the types of the relation's columns, where that exists."""
    reader = None
    try:
        reader = FileReader(path, declared, chosen, options or ReadOptions())
        yield reader
    finally:
        if reader is not None:
            reader.close()
