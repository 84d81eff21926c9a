"""Arrow IPC streams: the frames that are sent, and those that were received."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import nanoarrow as na
from nanoarrow.c_array_stream import CArrayStream
from nanoarrow.ipc import InputStream, StreamWriter

from .buffers import may_hold_any, type_name
from .building import Batch, batch_of, build, kind_of
from .plain import ArrowStream, values_of

#: No frame that we send is larger.
FRAME_BYTES = 1 << 20
PROVENANCE = "_provenance"


def frames(batches: Iterable[Batch]) -> Generator[tuple[bytes, int]]:
    """One Arrow IPC stream cut into frames, each with the number of rows that are complete with it."""
    sink = _Sink()
    rows = 0
    with StreamWriter.from_writable(sink) as writer:
        for batch in batches:
            writer.write_stream(batch.array)
            pieces = sink.cut(FRAME_BYTES)
            for number, piece in enumerate(pieces, 1):
                yield piece, rows + batch.length * number // (len(pieces) + 1)
            rows += batch.length
    for piece in sink.cut(1):
        yield piece, rows


class _Sink:
    def __init__(self) -> None:
        self.buffer = bytearray()

    def write(self, data: Any) -> int:
        self.buffer += data
        return len(data)

    def cut(self, at_least: int) -> list[bytes]:
        """Takes out what fills whole frames, or everything when `at_least` is 1."""
        pieces = []
        while len(self.buffer) >= max(at_least, 1):
            pieces.append(bytes(self.buffer[:FRAME_BYTES]))
            del self.buffer[:FRAME_BYTES]
        return pieces


class Handed:
    """Rows of a database in this process, where they are; for another process, a copy of them."""

    def __init__(self, rows: _NativeRows) -> None:
        self._rows = rows

    def stream(self) -> ArrowStream:
        """All of them, as often as they are asked for."""
        return self._rows.stream()

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        copy = io.BytesIO()
        with StreamWriter.from_writable(copy) as writer:
            writer.write_stream(na.c_array_stream(self.stream()))
        return bytes, (copy.getvalue(),)


class _NativeRows(Protocol):
    def stream(self) -> ArrowStream: ...


#: Takes rows, by the frame that names them.
Collect = Callable[[bytes], Handed]


@dataclass(slots=True)
class Table:
    """The rows of an answer, from a stream that was received or where they are, decoded when asked for."""

    data: bytes | Handed

    def _source(self) -> ArrowStream:
        source: ArrowStream
        source = InputStream.from_readable(self.data) if isinstance(self.data, bytes) else self.data.stream()
        return source

    def schema(self) -> Any:
        with na.c_array_stream(self._source()) as stream:
            return stream._get_cached_schema()

    def types(self) -> list[str]:
        """The type of each column, without the provenance."""
        schema = self.schema()
        fields = [schema.child(i) for i in range(schema.n_children)]
        return [type_name(field) for field in fields if field.name != PROVENANCE]

    def may_hold_any(self) -> list[bool]:
        """Of each column, whether it holds anything or is declared so that it may."""
        schema = self.schema()
        fields = [schema.child(i) for i in range(schema.n_children)]
        return [may_hold_any(field) for field in fields if field.name != PROVENANCE]

    def columns(self) -> tuple[list[list[Any]], list[str], int]:
        """The values of every column, the provenance of every row if it was sent, and the number of rows."""
        names, found, length = values_of(self._source())
        provenance = [found[i] for i, name in enumerate(names) if name == PROVENANCE]
        kept = [found[i] for i, name in enumerate(names) if name != PROVENANCE]
        return kept, provenance[0] if provenance else [], length

    def length(self) -> int:
        """How many rows there are."""
        with na.c_array_stream(self._source()) as stream:
            return sum(batch.length for batch in stream)

    def stream(self) -> Any:
        """The stream for other libraries, without the provenance."""
        return without_provenance(self._source())


def open_stream(source: Any) -> Any:
    """The batches of an Arrow IPC stream in bytes, or in something to read from, without the provenance."""
    return without_provenance(InputStream.from_readable(source))


def without_provenance(source: ArrowStream) -> Any:
    """The batches of a stream without what says where a row comes from.

    They are read when they are asked for, but where there is a provenance to take out.
    """
    stream = na.c_array_stream(source)
    schema = stream._get_cached_schema()
    kept = [i for i in range(schema.n_children) if schema.child(i).name != PROVENANCE]
    if len(kept) == schema.n_children:
        return stream
    fields = [schema.child(i) for i in kept]
    with stream:
        parts = [batch_of(fields, [batch.child(i) for i in kept], batch.length) for batch in stream]
    return CArrayStream.from_c_arrays(
        [part.array for part in parts], na.c_schema(na.struct(fields)), validate=False
    )


def table_stream(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """A stream of rows that came as JSON."""
    values = [[row[i] for row in rows] for i in range(len(names))]
    return build(names, [kind_of(column) for column in values], values).array
