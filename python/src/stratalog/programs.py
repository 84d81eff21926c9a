"""Program text that the client writes. Values never become part of it: each is a parameter.

But times are written in it, also those that a user gives as parameters: these have no type for them, so an
integer would stand there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import FileError
from .losses import finer, warn
from .times import CutTime, Time, time_literal
from .values import timed

#: What may hold a `$` that begins no parameter, or begins one.
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|(?<![^\n])[ \t]*%[^\n]*|/\*|\$(?P<name>[^\W\d]\w*)', re.DOTALL
)
_COMMENT = re.compile(r"/\*|\*/")
_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"\w+")
_QUERY = re.compile(r"^\?", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """Text and the values of its parameters."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict)


def before_query(text: str, command: str) -> str:
    """A program with a command about its last query; rules and facts may stand in front of that."""
    last = max((found.start() for found in _QUERY.finditer(text)), default=0)
    return text[:last] + command + text[last:].lstrip()


def join(programs: Iterable[Program]) -> Program:
    """One program of several. Where two give one name to different values, the later one is renamed."""
    texts: list[str] = []
    params: dict[str, Any] = {}
    for program in programs:
        renamed = {
            name: _unused(name, params.keys() | program.params.keys())
            for name, value in program.params.items()
            if name in params and not _same(params[name], value)
        }
        texts.append(_rename(program.text, renamed).strip("\n") if renamed else program.text.strip("\n"))
        params |= {renamed.get(name, name): value for name, value in program.params.items()}
    return Program("\n".join(texts), params)


def facts(sign: str, relation: str, rows: Sequence[Sequence[Any]]) -> Program:
    """Inserts (`+`) or deletes (`-`) facts, each named in full."""
    if not rows:
        return Program("")
    params: dict[str, Any] = {}

    def written(name: str, value: Any) -> str:
        if isinstance(value, Time):
            return time_literal(value)
        params[name] = value
        return f"${name}"

    tuples = [
        "(" + ", ".join(written(f"v{number}_{place}", value) for place, value in enumerate(row)) + ")"
        for number, row in enumerate(rows)
    ]
    return Program(f"{sign}{identifier(relation)}[{', '.join(tuples)}]", params)


def declaration(relation: str, columns: Mapping[str, str]) -> Program:
    """Gives a relation its columns, names and types."""
    spelled = ", ".join(f"{identifier(name)}: {kind}" for name, kind in columns.items())
    return Program(f"+{identifier(relation)}({spelled})")


def can_be_declared(file: str, relation: str) -> None:
    """Makes sure, before anything is sent, that a relation can be declared after the facts of a file."""
    if relation.startswith("_invalid_"):
        raise FileError(
            file,
            f"`{relation}` begins with `_invalid_`, which a declared relation may not be called",
            help="choose another name",
        )


def identifier(name: str) -> str:
    """A name that can stand in a program."""
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} cannot stand in a program: a name is letters, digits and _")
    return name


def identifiers(names: Sequence[str]) -> list[str]:
    """Names that can be declared, each once: `Population (2020)` is `Population_2020`."""
    taken: list[str] = []
    for place, spelled in enumerate(names, 1):
        name = "_".join(_WORD.findall(spelled)) or f"column_{place}"
        if name[0].isnumeric() or name == "_":
            name = f"column_{name}"
        plain, copy = name, 2
        while name in taken:
            name, copy = f"{plain}_{copy}", copy + 1
        taken.append(name)
    return taken


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, str | int | float) and one == other)


def _unused(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    return next(new for number in range(2, len(known) + 3) if (new := f"{name}_{number}") not in known)


def _rename(text: str, names: Mapping[str, str]) -> str:
    return _replaced(text, lambda name: f"${names.get(name, name)}")


def parameters(text: str) -> list[str]:
    """The names of the parameters of a program."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return ""

    _replaced(text, note)
    return found


def with_times(program: Program) -> Program:
    """The same with its times in the text: as parameters they would be integers."""
    times = {name: time for name, value in program.params.items() if isinstance(time := timed(value), Time)}
    used = times.keys() & set(parameters(program.text)) if times else set()
    if not used:
        return program
    for name in used:
        if isinstance(time := times[name], CutTime):
            warn(finer(time.text))
    text = _replaced(program.text, lambda name: time_literal(times[name]) if name in used else f"${name}")
    return Program(text, {name: value for name, value in program.params.items() if name not in used})


def _replaced(text: str, change: Callable[[str], str]) -> str:
    """The text with something else for each parameter, but in strings and comments."""
    parts: list[str] = []
    done = at = 0
    while (found := _TOKEN.search(text, at)) is not None:
        at = _end_of_comment(text, found.end()) if found[0] == "/*" else found.end()
        if (name := found["name"]) is not None:
            parts += [text[done : found.start()], change(name)]
            done = at
    return "".join([*parts, text[done:]])


def _end_of_comment(text: str, at: int) -> int:
    """Comments nest."""
    depth = 1
    for mark in _COMMENT.finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    return len(text)
