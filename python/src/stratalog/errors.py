"""Everything that can go wrong, as one tree below `Error`.

The server answers a failed request with a stable code; each code has a class here, and a code that this
version does not know becomes a plain `Error` with that `code`. `str(error)` shows the program's line with a
caret under the place, so that a traceback is enough to see what is wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .inserts import Inserted


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the program as it was sent.

    `line` and `column` count characters from 1; `offset` and `length` count bytes of UTF-8.
    """

    line: int
    column: int
    length: int
    offset: int


@dataclass(frozen=True, slots=True)
class Label:
    """A further place, with what it contributes."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """A text in the place of another, which would mend what was found."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that the server found in a program."""

    severity: str
    code: str
    message: str
    help: str | None = None
    span: Span | None = None
    labels: tuple[Label, ...] = ()
    fixes: tuple[Replacement, ...] = ()


class Error(Exception):
    """The root of the tree, and the class of a code that this version does not know."""

    codes: ClassVar[tuple[str, ...]] = ()
    #: Whether a write was sent that may have taken effect or not.
    uncertain: bool = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        help: str | None = None,  # noqa: A002 - the name that the protocol uses
        span: Span | None = None,
        diagnostics: Sequence[Diagnostic] = (),
        statement_index: int | None = None,
        limit: tuple[str, int] | None = None,
        retry_after: float | None = None,
        request_id: int | str | None = None,
        program: str | None = None,
        uncertain: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or (self.codes[0] if self.codes else "error")
        self.help = help
        self.span = span
        self.diagnostics = tuple(diagnostics)
        self.statement_index = statement_index
        #: Name and value of the limit that was reached.
        self.limit = limit
        #: Seconds after which trying again makes sense.
        self.retry_after = retry_after
        self.request_id = request_id
        #: The text that the spans point into.
        self.program = program
        self.uncertain = uncertain or type(self).uncertain

    def __str__(self) -> str:
        findings = self.diagnostics or (Diagnostic("error", self.code, self.message, self.help, self.span),)
        lines = [self.message]
        for number, finding in enumerate(findings):
            if number or finding.message != self.message:
                lines.append(f"{finding.severity}: {finding.message}")
            lines.extend(_excerpt(self.program, finding))
            if help_text := finding.help or (self.help if number == 0 else None):
                lines.append(f"  = help: {help_text}")
        return "\n".join(lines)


#: The help of every write whose end nobody saw.
LOOK_FIRST = "it was sent, and may have taken effect or not: look before you send it again"


class ConnectionLost(Error):
    """The connection is closed or could not be opened.

    `uncertain` tells whether a write was on its way: then it may have taken effect or not. Otherwise nothing
    was sent, or what was sent only reads.
    """

    codes = ("connection_lost",)


class SessionLost(ConnectionLost):
    """The client is connected again, but to a new session: facts and rules of the old one are gone.

    Nothing was sent. The next request goes to the new session.
    """

    codes = ("session_lost",)


class AuthError(Error):
    """The credentials are missing or not valid."""

    codes = ("auth_error",)


class InvalidMessage(Error):
    """The server did not accept the form of a message, or the client that of an answer."""

    codes = ("invalid_message",)


class ProgramError(Error):
    """The program cannot run as it is written."""


class ParseError(ProgramError):
    """The text is not a program."""

    codes = ("parse_error",)


class UnknownRelation(ProgramError):
    """A query names a relation that nobody has defined."""

    codes = ("unknown_relation",)


class UnknownFunction(ProgramError):
    """The program calls a function that does not exist."""

    codes = ("unknown_function",)


class ArityMismatch(ProgramError):
    """A relation is used with the wrong number of columns."""

    codes = ("arity_mismatch",)


class TypeMismatch(ProgramError):
    """A value does not have the type of its column."""

    codes = ("type_mismatch",)


class UnsafeRule(ProgramError):
    """A variable is not bound, so that some answer could be infinite."""

    codes = ("unsafe_rule",)


class Unstratifiable(ProgramError):
    """A relation depends on its own negation, or on an aggregate of itself."""

    codes = ("unstratifiable",)


class DerivedRelation(ProgramError):
    """Facts cannot be written into a relation that rules define."""

    codes = ("derived_relation",)


class InvalidParameter(ProgramError):
    """A parameter is missing, left over, or not a value that can be sent."""

    codes = ("invalid_parameter",)


class NotFound(Error):
    """A graph, rule, relation, index, user or key of this name does not exist."""

    codes = ("not_found",)


class AlreadyExists(Error):
    """The name is taken."""

    codes = ("already_exists",)


class AccessDenied(Error):
    """The user may not do this here."""

    codes = ("access_denied",)


class LimitExceeded(Error):
    """A limit of the server was reached; `limit` names it."""

    codes = ("limit_exceeded",)


class QueryTimeout(Error):
    """The request took longer than its time limit and was stopped."""

    codes = ("timeout",)


class Cancelled(Error):
    """The request was stopped on demand."""

    codes = ("cancelled",)


class Overloaded(Error):
    """The server has too much to do; `retry_after` says when to come back."""

    codes = ("overloaded",)


class StorageUnavailable(Error):
    """The server cannot write to, or read from, its disk."""

    codes = ("storage_unavailable",)


class NotLive(ProgramError):
    """What was subscribed to cannot be told live."""

    codes = ("not_live",)


class AttachedRelation(ProgramError):
    """Only questions read a relation whose rows are in attached files, and nobody writes it."""

    codes = ("attached_relation",)


class ClusterUnavailable(Error):
    """A question is to be evaluated by a cluster that the server does not have, or its graph does not use."""

    codes = ("cluster_unavailable",)


class FilesUnavailable(Error):
    """Files that were attached as a relation cannot be read, or have changed."""

    codes = ("files_unavailable",)


class OutcomeUnknown(Error):
    """The server cannot tell whether the write took effect."""

    codes = ("outcome_unknown",)
    uncertain = True


class Internal(Error):
    """A fault of the server; the message carries a reference into its log."""

    codes = ("internal",)


class NotOneRow(Error, ValueError):
    """`Result.one` or `Result.scalar` on a result of another shape."""

    codes = ("not_one_row",)


class FileError(Error, ValueError):
    """A file cannot be read or written; where it is known, `line` says in which line the fault is."""

    codes = ("file_error",)

    def __init__(
        self,
        file: str,
        problem: str,
        *,
        line: int | None = None,
        help: str | None = None,  # noqa: A002 - as for every error
    ) -> None:
        super().__init__(f"{file}:{line}: {problem}" if line is not None else f"{file}: {problem}", help=help)
        #: The file, as it was named.
        self.file = file
        #: The line, counted from 1.
        self.line = line
        #: What is wrong there.
        self.problem = problem


class FileWarning(UserWarning):
    """What is good to know about how a file was read; its facts are in the relation."""


class InsertWarning(UserWarning):
    """What is good to know about which values went to which columns; the facts are in the relation."""


class PrecisionWarning(UserWarning):
    """Times were cut to milliseconds, or decimals rounded to floats: as such they are in the relation."""


class PartlyInserted(Error):
    """An insert in parts (`commit_every`) failed after some of them were committed.

    `committed` says what is in the relation for good, `rows` how many rows of the data that was: those from
    there on are missing. What went wrong is the `__cause__`, whose code this error has too.
    """

    codes = ("partly_inserted",)

    def __init__(self, rows: int, committed: Inserted, cause: Exception) -> None:
        of_server = cause if isinstance(cause, Error) else None
        super().__init__(
            f"the first {rows:,} rows are committed, the rest is not: {cause}",
            code=of_server.code if of_server is not None else None,
            help=None,
            retry_after=of_server.retry_after if of_server is not None else None,
            request_id=of_server.request_id if of_server is not None else None,
            uncertain=of_server is not None and of_server.uncertain,
        )
        self.rows = rows
        self.committed = committed


def from_message(message: Mapping[str, Any], program: str | None = None) -> Error:
    """The exception for an `error` message of the server."""
    code = str(message.get("code", "error"))
    limit = message.get("limit")
    retry = message.get("retry_after_ms")
    return class_of(code)(
        str(message.get("message", "the server gave no reason")),
        code=code,
        help=message.get("help"),
        span=_span(message.get("span")),
        diagnostics=[diagnostic(item) for item in message.get("diagnostics") or ()],
        statement_index=message.get("statement_index"),
        limit=(str(limit["name"]), int(limit["value"])) if limit else None,
        retry_after=retry / 1000 if retry is not None else None,
        request_id=message.get("id"),
        program=program,
    )


def class_of(code: str) -> type[Error]:
    """The class that stands for a code."""
    return _CLASSES.get(code, Error)


def _leaves(root: type[Error]) -> dict[str, type[Error]]:
    found = dict.fromkeys(root.codes, root)
    for child in root.__subclasses__():
        found |= _leaves(child)
    return found


_CLASSES = _leaves(Error)


def _span(value: Mapping[str, int] | None) -> Span | None:
    if value is None:
        return None
    return Span(value["line"], value["column"], value["length"], value["offset"])


def diagnostic(value: Mapping[str, Any]) -> Diagnostic:
    """One of those that a message lists."""
    labels, fixes = (
        [(_span(item.get("span")), str(item.get("text", ""))) for item in value.get(name) or ()]
        for name in ("labels", "fixes")
    )
    return Diagnostic(
        severity=str(value.get("severity", "error")),
        code=str(value.get("code", "error")),
        message=str(value.get("message", "")),
        help=value.get("help"),
        span=_span(value.get("span")),
        labels=tuple(Label(span, text) for span, text in labels if span is not None),
        fixes=tuple(Replacement(span, text) for span, text in fixes if span is not None),
    )


def _excerpt(program: str | None, finding: Diagnostic) -> list[str]:
    """The lines that the finding points at, each with a mark under the place."""
    if program is None or finding.span is None:
        return []
    source = _discreet(program).split("\n")
    marks = [(finding.span, "^", "")] + [(label.span, "-", label.text) for label in finding.labels]
    if finding.labels and (own := next((m for m in marks[1:] if m[0] == finding.span), None)):
        marks = [(finding.span, "^", own[2])] + [mark for mark in marks[1:] if mark is not own]
    marks = [mark for mark in marks if 1 <= mark[0].line <= len(source)]
    if not marks:
        return []
    gutter = len(str(max(span.line for span, _, _ in marks)))
    lines = [f"{'':{gutter}}--> line {finding.span.line}, column {finding.span.column}", f"{'':{gutter}} |"]
    shown = 0
    for span, sign, text in sorted(marks, key=lambda mark: (mark[0].line, mark[1] != "^")):
        line = source[span.line - 1].rstrip("\r").replace("\t", " ")
        if span.line != shown:
            lines.append(f"{span.line:>{gutter}} | {line}")
            shown = span.line
        before, marked = line[: span.column - 1], line[span.column - 1 :][: _characters(program, span)]
        mark = " " * _width(before) + sign * max(1, _width(marked))
        lines.append(f"{'':{gutter}} | {mark} {text}".rstrip())
    return lines


#: A command with a password in it, the user's name, and the rest of its statement.
_SECRET = re.compile(r"(\.user\s+(create|password)\s+)(\S+)((?:[^\n]|\n[ \t])*)", re.IGNORECASE)


def _discreet(program: str) -> str:
    """The program with stars in place of passwords, character for character."""
    return _SECRET.sub(_starred, program)


def _starred(found: re.Match[str]) -> str:
    command, kind, name, rest = found.groups()
    # A password that stands alone is the user's own.
    if kind.lower() == "password" and not rest.strip():
        name = "*" * len(name)
    return command + name + re.sub(r"\S", "*", rest)


def _characters(program: str, span: Span) -> int:
    """How many characters a span's bytes are; the protocol gives the length in bytes."""
    data = program.encode()[span.offset : span.offset + span.length]
    return len(data.decode(errors="ignore"))


def _width(text: str) -> int:
    """Terminal columns that the text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
