"""What becomes of inserted rows, in one commit or in parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import TracebackType
from typing import NamedTuple, Self

from .errors import AlreadyExists, FileError, InsertWarning, PartlyInserted, PrecisionWarning
from .listings import RelationInfo
from .protocol import Call
from .result import Result


class _Counts(NamedTuple):
    inserted: int
    #: Rows that were there already, or came twice.
    duplicates: int


class Inserted(_Counts):
    """What became of the rows of an insert."""

    #: Records of a file that were left out, by `on_error="skip"`.
    skipped: int = 0
    #: What is wrong with the first ten of them.
    problems: tuple[FileError, ...] = ()
    #: The version of the graph from which on all of them are there.
    version: int | None = None

    def __repr__(self) -> str:
        text = f"Inserted(inserted={self.inserted}, duplicates={self.duplicates}"
        return f"{text}, skipped={self.skipped})" if self.skipped else f"{text})"

    def plus(self, more: Inserted) -> Inserted:
        """Both together."""
        both = Inserted(self.inserted + more.inserted, self.duplicates + more.duplicates)
        both.version = self.version if more.version is None else more.version
        return both

    def with_skipped(self, count: int, problems: tuple[FileError, ...]) -> Inserted:
        """The same beside what was left out of the file."""
        found = Inserted(self.inserted, self.duplicates)
        found.skipped, found.problems, found.version = count, problems, self.version
        return found


def refuse_to_register(name: str, known: Iterable[RelationInfo]) -> None:
    """Raises if a relation of that name is among those that are there."""
    if any(relation.name == name for relation in known):
        raise AlreadyExists(
            f"{name} is a relation already, and its rows and these would be one relation",
            help=f"register another name, or put the rows into {name} for this session: "
            'insert(..., scope="session")',
        )


def kind_of_warning(text: str) -> type[UserWarning]:
    """What a warning of the server is for Python: of digits that are lost, or of where columns went."""
    is_loss = "finer than milliseconds" in text or "rounded to the nearest float" in text
    return PrecisionWarning if is_loss else InsertWarning


def told(result: Result, rows: int) -> Inserted:
    """What the messages of a program say that inserts so many rows."""
    counts = [int(found[1]) for message in result.messages if (found := _INSERTED.match(message))]
    inserted = Inserted(sum(counts), rows - sum(counts))
    inserted.version = result.version
    return inserted


_INSERTED = re.compile(r"inserted (\d+) facts? into ")


class Committed:
    """What of an insert is in the relation for good: nothing but at its end, or part after part."""

    def __init__(self) -> None:
        self.rows = 0
        self.total = Inserted(0, 0)
        #: What is good to know about how columns were arranged.
        self.warnings: dict[str, None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Says what was committed before something went wrong."""
        if self.rows and isinstance(value, Exception):
            raise PartlyInserted(self.rows, self.total, value) from value
        if self.rows and value is not None:
            value.add_note(f"{self.rows:,} rows were committed before")

    def add(self, rows: int, call: Call) -> Inserted:
        """A part was answered."""
        answer = Result(call.answer())
        self.warnings |= dict.fromkeys(answer.warnings)
        row = answer.dicts()[0]
        found = Inserted(int(row["inserted"]), int(row["duplicates"]))
        found.version = answer.version
        self.total = self.total.plus(found)
        self.rows += rows
        return found
