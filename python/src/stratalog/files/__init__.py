"""Files in and out: CSV, TSV, JSON, Parquet, Arrow and RDF, by the same rules as the command line.

`opened` gives the batches of a file, for `insert`; `write` writes the batches of a stream.
"""

from .formats import is_path
from .options import Epoch, OnError, ReadOptions
from .predicates import Predicates
from .reader import FileReader, opened
from .writer import write

__all__ = ["Epoch", "FileReader", "OnError", "Predicates", "ReadOptions", "is_path", "opened", "write"]
