"""Arrow without pyarrow: the one door to nanoarrow, for both directions."""

from .buffers import ANY, ANY_KEY, LIST, decode, has_large, type_name
from .building import BATCH_ROWS, Batch, build, exact_kind, kind_of
from .plain import ArrowStream, batches_of, count_rows, stream_rows
from .streams import FRAME_BYTES, Collect, Handed, Table, frames, open_stream, table_stream

__all__ = [
    "ANY",
    "ANY_KEY",
    "BATCH_ROWS",
    "FRAME_BYTES",
    "LIST",
    "ArrowStream",
    "Batch",
    "Collect",
    "Handed",
    "Table",
    "batches_of",
    "build",
    "count_rows",
    "decode",
    "exact_kind",
    "frames",
    "has_large",
    "kind_of",
    "open_stream",
    "stream_rows",
    "table_stream",
    "type_name",
]
