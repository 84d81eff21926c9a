"""Files in and out: CSV, TSV, JSON lines, Parquet, Arrow and RDF, by the same rules as the command line.

`opened` gives the batches of a file, for `insert`; `write` writes the batches of a stream.
"""

from .formats import is_path
from .predicates import Predicates
from .reader import FileReader, OnError, opened
from .writer import write

__all__ = ["FileReader", "OnError", "Predicates", "is_path", "opened", "write"]
