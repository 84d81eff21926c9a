"""RDF as one relation a predicate, of subject and object, which has a type where all of them are of one.

The file is read twice: what is wrong with it, which predicates there are and what their objects are is known
before the first fact is sent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..arrow import Batch, build
from ..errors import FileError
from ..programs import can_be_declared
from ..times import CutTime
from .cells import json_reader, time_of
from .formats import format_of
from .guesses import Seen
from .options import OnError, ReadOptions
from .reader import FileReader, built_as

_ROWS = 1 << 14
_SEPARATORS = re.compile(r"[/#:]")
_NO_WORD = re.compile(r"\W")
_TIME = re.compile(r'"(.*)"\^\^<http://www\.w3\.org/2001/XMLSchema#(?:dateTime|date)>', re.DOTALL)


class Predicates:
    """The predicates of a file, each with its relation."""

    def __init__(self, path: str | os.PathLike[str], pattern: str, on_error: OnError) -> None:
        self._path = os.fspath(path)
        if format_of(path) not in ("nt", "ttl"):
            raise FileError(
                self._path,
                "only triples of RDF have predicates to name relations after",
                help="name one relation",
            )
        self._options = ReadOptions(on_error)
        if Path(path).exists() and not Path(path).is_file():
            raise FileError(
                self._path,
                "it is read more than once, which only a file can be",
                help="insert it into one relation of triples, or write it to a file first",
            )
        seen: dict[str, Seen] = {}
        reader = FileReader(path, None, None, self._options)
        try:
            for _, predicate, value in reader.values():
                kind = seen.setdefault(predicate, Seen())
                if _time(value) is not None:
                    kind.found("timestamp")
                else:
                    kind.json(value)
        finally:
            reader.close()
        #: Triples that were left out, and what is wrong with the first of them.
        self.skipped, self.problems = reader.skipped, tuple(reader.problems)
        self._relations: dict[str, str] = {}
        self._columns = {
            predicate: {"subject": "string", "object": seen[predicate].kind} for predicate in sorted(seen)
        }
        #: A relation that exists has other types than its objects have by themselves.
        self._differ = False
        for predicate in self._columns:
            name = pattern.replace("*", local_name(predicate), 1)
            for other, taken in self._relations.items():
                if taken == name:
                    raise FileError(
                        self._path,
                        f"{other} and {predicate} would both be the relation `{name}`",
                        help="insert the file into one relation of triples, and divide it by rules",
                    )
            self._relations[predicate] = name

    @property
    def relations(self) -> dict[str, dict[str, str]]:
        """Names of the relations, with names and types of their columns."""
        return {name: self._columns[predicate] for predicate, name in self._relations.items()}

    def check(self, known: Mapping[str, Mapping[str, str] | None]) -> None:
        """Takes the types of relations that exist, and makes sure that the objects fit."""
        for predicate, name in self._relations.items():
            if (columns := known[name]) is None:
                can_be_declared(self._path, name)
                continue
            if len(columns) != 2:
                problem = f"`{name}` has {len(columns)} columns, and a predicate has 2"
                raise FileError(self._path, problem)
            (subject, kind), object_kind = next(iter(columns.items())), list(columns.values())[1]
            if kind not in ("string", "any"):
                problem = f"subjects are strings, and `{subject}` of `{name}` is of type {kind}"
                raise FileError(self._path, problem)
            self._differ |= object_kind != self._columns[predicate]["object"]
            self._columns[predicate] = dict(columns)
        if self._differ:
            for _ in self.batches():
                pass

    def batches(self) -> Iterator[tuple[str, Batch]]:
        """Reads the file again; the facts of each relation, some thousands at a time."""
        waiting: dict[str, list[tuple[str, Any]]] = {predicate: [] for predicate in self._relations}
        reader = FileReader(self._path, None, None, self._options)
        try:
            for subject, predicate, value in reader.values():
                if predicate not in waiting:
                    raise FileError(self._path, "the file has changed while it was read")
                waiting[predicate].append((subject, value))
                if len(waiting[predicate]) == _ROWS:
                    yield self._batch(predicate, waiting[predicate])
                    waiting[predicate] = []
        finally:
            reader.close()
        for predicate, rows in waiting.items():
            if rows:
                yield self._batch(predicate, rows)

    def _batch(self, predicate: str, rows: list[tuple[str, Any]]) -> tuple[str, Batch]:
        name, columns = self._relations[predicate], self._columns[predicate]
        kinds = list(columns.values())
        read = json_reader(kinds[1], self._options)
        is_time = kinds[1] == "timestamp"
        try:
            # A date in the notation of RDF is one, as is what reads as one elsewhere.
            objects = [
                time if is_time and (time := _time(value)) is not None else read(value) for _, value in rows
            ]
        except ValueError as problem:
            raise FileError(self._path, f"an object of `{name}`: {problem}") from None
        subjects = [subject for subject, _ in rows]
        return name, build(list(columns), [built_as(kind) for kind in kinds], [subjects, objects])


def local_name(predicate: str) -> str:
    """What stands after the last `/`, `#` or `:` of an IRI, as a name."""
    iri = predicate.strip("<>").rstrip("/#:")
    return _NO_WORD.sub("_", _SEPARATORS.split(iri)[-1])


def _time(value: Any) -> int | None:
    """The time that the notation of a literal stands for, if it is one."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    time = time_of(found[1]) if found is not None else None
    # One that is finer stays in its notation, so nothing is lost.
    return None if isinstance(time, CutTime) else time
