"""RDF as rows of subject, predicate and object, and back, by pyoxigraph (`pip install 'stratalog[rdf]'`).

Text in angle brackets is an IRI, and text that begins with `_:` a blank node, as in N-Triples. Literals are
values: strings, numbers and booleans. What has no value of its own (a string with a language, a date) stays
in the notation of N-Triples, `"chat"@fr`, and so do strings that would read as one of these; so nothing is
lost on the way back. The command line does the same, to the letter (client/src/files/rdf.rs).
"""

from __future__ import annotations

import importlib
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import IO, Any

from ..errors import FileError
from ..times import written
from .compression import DAMAGED
from .text import Row, Rows

_XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = {f"{_XSD}{name}" for name in ("integer", "int", "long", "short", "byte")}
_REALS = {f"{_XSD}{name}" for name in ("double", "float", "decimal")}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_INT = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_64_BITS = range(-(1 << 63), 1 << 63)
_PLACE = re.compile(r"[^:]*: (.*)", re.DOTALL)

#: What some programs put before text.
_MARK = b"\xef\xbb\xbf"

_COLUMNS = {"subject": "string", "predicate": "string", "object": "any"}


def triples(name: str, source: IO[bytes], kind: str, mark: int | None) -> Rows:
    """The triples of a file, each a row of three values; of N-Quads the graph is the fourth.

    The mark tells blank nodes of this file from those of others; without one, they are of this reading.
    """
    mark = secrets.randbits(64) if mark is None else mark
    columns = _COLUMNS | ({"graph": "string"} if kind == "nq" else {})
    return Rows(list(columns), list(columns.values()), _rows(name, source, kind, f"_:f{mark:016x}-"))


def scope(path: str) -> int | None:
    """What tells a file from others, and from what it was: where it lies, its length, when it was written.

    Read again, it has the same. None for what is no regular file, and comes but once.
    """
    try:
        about = Path(path).stat()
        identity = os.fsencode(Path(path).resolve(strict=True))
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    identity += about.st_size.to_bytes(8, "little") + max(about.st_mtime_ns, 0).to_bytes(16, "little")
    return int(_library("xxhash").xxh3_64_intdigest(identity))


def _rows(name: str, source: IO[bytes], kind: str, scope: str) -> Iterator[Row]:
    read = _LineByLine(source)
    parser = _library().parse(read, format=_format(kind), without_named_graphs=kind != "nq")
    while True:
        try:
            triple = next(parser)
        except StopIteration:
            return
        except DAMAGED as problem:
            raise FileError(name, str(problem)) from problem
        except SyntaxError as problem:
            # The message says the place once more.
            place = _PLACE.fullmatch(problem.msg)
            yield FileError(name, place[1] if place else problem.msg, line=problem.lineno)
            continue
        try:
            found = [
                _resource(triple.subject, scope),
                str(triple.predicate),
                _object(triple.object, scope),
            ]
            if kind == "nq":
                is_default = isinstance(triple.graph_name, _library().DefaultGraph)
                found.append(None if is_default else _resource(triple.graph_name, scope))
            row: Row = found
        except ValueError as problem:
            row = FileError(name, str(problem), line=read.line)
        yield row


class _LineByLine(io.RawIOBase):
    """Gives the parser no more than a line at once, so that it is known where it is."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._complete = True
        self.line = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._source.readline(size)
        if self.line == 0 and piece.startswith(_MARK):
            piece = piece[len(_MARK) :] or self._source.readline(size)
        self.line += self._complete and piece != b""
        self._complete = piece.endswith(b"\n")
        return piece


def _resource(node: Any, scope: str) -> str:
    if isinstance(node, _library().BlankNode):
        return f"{scope}{node.value}"
    if isinstance(node, _library().NamedNode):
        return str(node)
    raise ValueError(f"`{node}` has no place in a column")


def _object(term: Any, scope: str) -> Any:
    if not isinstance(term, _library().Literal):
        return _resource(term, scope)
    if term.direction is not None:
        raise ValueError(f"`{term}` has no place in a column")
    text, datatype = term.value, term.datatype.value
    value: Any = None
    if datatype == f"{_XSD}string":
        value = None if is_notation(text) else text
    elif datatype == f"{_XSD}boolean":
        value = _BOOLEANS.get(text)
    elif datatype in _INTEGERS and _INT.fullmatch(text):
        value = number if (number := int(text)) in _64_BITS else None
    elif datatype in _REALS and _FLOAT.fullmatch(text):
        value = real if isfinite(real := float(text)) else None
    return str(term) if value is None else value


def is_notation(text: str) -> bool:
    """Whether text reads as an IRI, a blank node or a literal in quotes."""
    return (text.startswith("<") and text.endswith(">")) or text.startswith(("_:", '"'))


class TripleWriter:
    """Writes rows as triples, or as quads, whose fourth column is the graph."""

    def __init__(self, name: str, out: IO[bytes], kind: str, names: Sequence[str]) -> None:
        if kind == "nq" and len(names) not in (3, 4):
            raise FileError(name, f"a quad has three columns or four, found {len(names)}")
        if kind != "nq" and len(names) != 3:
            raise FileError(name, f"a triple has three columns, found {len(names)}")
        self._name = name
        self._out = out
        self._format = _format(kind)
        self._are_quads = kind == "nq"
        self._library = _library()

    def write(self, rows: Iterator[Sequence[Any]]) -> None:
        """All rows, while they come."""
        self._library.serialize((self._triple(row) for row in rows), self._out, format=self._format)

    def _triple(self, row: Sequence[Any]) -> Any:
        subject, predicate, value, *graph = row
        terms = (self._node(subject, "subject"), self._node(predicate, "predicate"), self._value(value))
        if self._are_quads:
            return self._library.Quad(*terms, *map(self._graph, graph))
        return self._library.Triple(*terms)

    def _graph(self, value: Any) -> Any:
        if value is None:
            return self._library.DefaultGraph()
        try:
            return self._node(value, "graph")
        except FileError:
            problem = f"{_shown(value)} is no graph: it is an IRI in angle brackets, or null"
            raise FileError(self._name, problem) from None

    def _node(self, value: Any, what: str) -> Any:
        if isinstance(value, str):
            try:
                if what != "predicate" and value.startswith("_:"):
                    return self._library.BlankNode(value[2:])
                if value.startswith("<") and value.endswith(">"):
                    return self._library.NamedNode(value[1:-1])
            except ValueError:
                pass
        raise self._unlike(value, what)

    def _value(self, value: Any) -> Any:
        match value:
            case str() if value.startswith('"'):
                return self._literal(value)
            case str() if is_notation(value):
                return self._node(value, "object")
            case datetime():
                return self._library.Literal(written(value))
            case str() | bool() | int() | float():
                return self._library.Literal(value)
            case _:
                raise self._unlike(value, "object")

    def _literal(self, notation: str) -> Any:
        source = f"<s:s> <p:p> {notation} ."
        try:
            found = list(self._library.parse(source.encode(), format=self._library.RdfFormat.N_TRIPLES))
        except (SyntaxError, UnicodeError):
            found = []
        if len(found) != 1:
            raise self._unlike(notation, "object")
        return found[0].object

    def _unlike(self, value: Any, what: str) -> FileError:
        return FileError(
            self._name,
            f'{_shown(value)} is no {what}: IRIs stand in angle brackets, "<http://example.org/ada>"',
        )


def _shown(value: Any) -> str:
    return "null" if value is None else f'"{value}"' if isinstance(value, str) else str(value)


def _format(kind: str) -> Any:
    formats = _library().RdfFormat
    return {"ttl": formats.TURTLE, "nq": formats.N_QUADS}.get(kind, formats.N_TRIPLES)


def _library(name: str = "pyoxigraph") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ImportError(f"RDF is read and written by {name}: pip install 'stratalog[rdf]'") from problem
