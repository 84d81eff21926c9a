"""Answers that are read while they come: batch by batch, row by row, or by another library as an Arrow
stream.

At no time is more held than a few frames and the batch that is looked at. The server makes rows as fast as
they are taken. While a stream is open, other requests of the same client stand behind it, and what they make
it read has to be kept: to ask while reading, use a client of its own, `db.kg(db.kg)`.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from . import arrow
from .ipc import Batches
from .objects import maker
from .protocol import Answer, Call
from .result import Result, Row

if TYPE_CHECKING:
    from .aio_connection import AsyncConnection
    from .connection import Connection
    from .statements import Select

T = TypeVar("T")


def in_order(program: str | Select[Any]) -> Select[Any] | None:
    """The composed query, whose columns have to come in its order."""
    if isinstance(program, str):
        return None
    if program.places != sorted(program.places):
        raise ValueError(
            "a stream is ordered by columns in the order in which they are selected: select them so"
        )
    return program


class _Head:
    """What is known of an answer before its rows."""

    def __init__(self, call: Call, query: Select[Any] | None) -> None:
        header = (call.answer() if call.done else call.header) or Answer([])
        self._call = call
        self._taken = False
        #: The names of the columns.
        self.columns = list(header.columns if query is None else query.names)
        #: How many rows there are, those that a limit left out included.
        self.total_count = header.total_count
        #: Whether a limit left rows out.
        self.truncated = header.truncated
        #: What the server wants to have said about the program.
        self.warnings = header.warnings

    def _batch(self, data: bytes) -> Result:
        batch = Answer(self.columns, arrow=data)
        batch.row_count = batch.total_count = arrow.Table(data).length()
        return Result(batch)

    def _take(self) -> None:
        """Whoever reads does so once: what was read is not kept."""
        if self._taken:
            raise RuntimeError("a stream can be read once; ask again for another one")
        self._taken = True

    def __del__(self) -> None:
        # Nobody will take the rest: it needs not be kept when somebody else reads it from the connection.
        if hasattr(self, "_call"):
            self._call.abandoned = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.total_count} rows: {', '.join(self.columns)}>"


class ResultStream(_Head):
    """An answer on its way. Iterate over it for batches, each a `Result`; use it in a `with` statement."""

    def __init__(
        self, connection: Connection, call: Call, seconds: float | None, query: Select[Any] | None
    ) -> None:
        super().__init__(call, query)
        self._connection = connection
        self._seconds = seconds

    def __iter__(self) -> Iterator[Result]:
        self._take()
        batches = Batches()
        for frame in self._frames():
            for data in batches.feed(frame):
                yield self._batch(data)
        if (rest := batches.rest) is not None:
            yield self._batch(rest)
        elif not batches.begun:
            # It did not come as Arrow.
            yield Result(self._call.answer())

    def rows(self) -> Iterator[Row]:
        """Every row as a tuple."""
        for batch in self:
            yield from batch

    def objects(self, kind: type[T]) -> Iterator[T]:
        """Every row as an object, as for `Result.objects`."""
        make = maker(kind, self.columns)
        return (make(row) for row in self.rows())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow C stream interface: whoever takes it reads from the server."""
        self._take()
        frames = self._frames()
        if (first := next(frames, None)) is None:
            # It did not come as Arrow.
            return Result(self._call.answer()).__arrow_c_stream__(None)
        return arrow.open_stream(_Reader(chain([first], frames))).__arrow_c_stream__(None)

    def write(self, path: str | Path) -> int:
        """Writes a file, what its name says: parquet, arrow, csv, tsv, jsonl; how many rows."""
        from .files import write

        try:
            return write(self, Path(path))
        except Exception:
            # What the server said is more than what comes through the C interface.
            if self._call.done:
                self._call.answer()
            raise

    def close(self) -> None:
        """Ends the request, if there is more to come."""
        if not self._call.done:
            self._connection.drop(self._call)

    def _frames(self) -> Iterator[bytes]:
        while (frame := self._connection.frame(self._call, self._seconds)) is not None:
            yield frame
        self._call.answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncResultStream(_Head):
    """The same for asyncio: `async with await db.stream(..) as stream`, `async for batch in stream`."""

    def __init__(
        self, connection: AsyncConnection, call: Call, seconds: float | None, query: Select[Any] | None
    ) -> None:
        super().__init__(call, query)
        self._connection = connection
        self._seconds = seconds

    async def __aiter__(self) -> AsyncIterator[Result]:
        self._take()
        batches = Batches()
        while (frame := await self._connection.frame(self._call, self._seconds)) is not None:
            for data in batches.feed(frame):
                yield self._batch(data)
        answer = self._call.answer()
        if (rest := batches.rest) is not None:
            yield self._batch(rest)
        elif not batches.begun:
            # It did not come as Arrow.
            yield Result(answer)

    async def rows(self) -> AsyncIterator[Row]:
        """Every row as a tuple."""
        async for batch in self:
            for row in batch:
                yield row

    async def objects(self, kind: type[T]) -> AsyncIterator[T]:
        """Every row as an object, as for `Result.objects`."""
        make = maker(kind, self.columns)
        async for row in self.rows():
            yield make(row)

    async def close(self) -> None:
        """Ends the request, if there is more to come."""
        if not self._call.done:
            await self._connection.drop(self._call)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Reader(io.RawIOBase):
    """Frames as a file that is read from front to back."""

    def __init__(self, frames: Iterator[bytes]) -> None:
        self._frames = frames
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            frame = next(self._frames, None)
            if frame is None:
                return 0
            self._rest = memoryview(frame)
        into = memoryview(target).cast("B")
        count = min(len(into), len(self._rest))
        into[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
