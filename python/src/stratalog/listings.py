"""What the server's listings are made of: one class a listing, its fields named as the columns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from .address import word

#: What a user may do on the server.
Role = Literal["admin", "editor", "viewer"]
#: What a user may do on a graph.
Level = Literal["viewer", "editor", "owner"]
#: What an API key opens.
KeyScope = Literal["all", "write", "read", "metrics"]


@dataclass(frozen=True, slots=True)
class Graph:
    """A knowledge graph."""

    name: str
    #: Whether the session is bound to it.
    current: bool


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """A relation, and how much there is of it."""

    name: str
    #: How many facts are stored; None for one that is only derived.
    tuples: int | None
    arity: int
    #: Names and types, in one text.
    columns: str
    #: `base` or `derived`.
    kind: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation."""

    column: str
    type: str


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A derived relation."""

    name: str
    #: How many clauses it has.
    clauses: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a rule, as text, and its number."""

    clause: str
    number: int


@dataclass(frozen=True, slots=True)
class Index:
    """An index."""

    name: str
    relation: str
    column: str
    #: How distances are measured, where it finds what is near.
    metric: str | None
    row_count: int
    #: `hnsw`, `text`, `sorted` or `hash`.
    type: str
    #: Whether nothing waits to be taken in.
    valid: bool


@dataclass(frozen=True, slots=True)
class IndexState:
    """How an index is set up, and how far it is built; None is what its type does not have."""

    name: str
    relation: str
    column: str
    type: str
    metric: str | None
    row_count: int
    memory_bytes: int
    valid: bool
    #: Of vectors: layers of the graph, how many are in it, are deleted, and wait to be taken in.
    layers: int | None
    vectors: int | None
    tombstones: int | None
    waiting: int | None
    dimension: int | None
    m: int | None
    ef_construction: int | None
    ef_search: int | None
    #: Which part of the nearest it finds, as measured when it was built.
    recall: float | None
    #: Of texts: whose stems their words have.
    language: str | None


@dataclass(frozen=True, slots=True)
class OwnItem:
    """A fact or clause of the session."""

    #: `fact` or `rule`.
    kind: str
    number: int
    relation: str
    text: str


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a password."""

    username: str
    role: Role


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, without what is secret of it."""

    label: str
    owner: str
    created: datetime
    #: When it opens nothing any more.
    expires: datetime | None = None
    #: What it opens: all, write, read or metrics.
    scope: KeyScope = "all"


@dataclass(frozen=True, slots=True)
class NewKey:
    """An API key, this once."""

    api_key: str
    label: str


@dataclass(frozen=True, slots=True)
class Grant:
    """An access entry of a graph."""

    username: str
    level: Level


@dataclass(frozen=True, slots=True)
class Request:
    """A request that waits or runs."""

    id: int
    user: str
    knowledge_graph: str
    session: str
    state: str
    started: datetime
    elapsed_ms: int
    program: str
    #: Rounds of recursions that are done, and rows that rules have found so far.
    rounds: int
    rows: int
    #: What it holds now.
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """The server, and what it stores as far as you may see it."""

    version: str
    knowledge_graph: str
    knowledge_graphs: int
    relations: int
    views: int
    tuples: int
    memory_bytes: int


def key_terms(user: str | None, expires: str | datetime | timedelta | None, scope: KeyScope) -> str:
    """What follows the label of a new key."""
    text = f" for {word(user, 'of a user')}" if user is not None else ""
    if isinstance(expires, timedelta):
        expires = datetime.now(UTC) + expires
    if isinstance(expires, datetime):
        if expires.tzinfo is None:
            raise ValueError("when a key expires must have a time zone: datetime.now(timezone.utc) + ...")
        expires = expires.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if expires is not None:
        text += f" expires {word(expires, 'of a time')}"
    return text if scope == "all" else f"{text} {word(scope, 'of a scope')}"


def secret(password: str) -> str:
    """A password as a word of a command; the error does not repeat it."""
    if not password or any(char.isspace() or not char.isprintable() for char in password):
        raise ValueError("a password must not be empty or hold blanks")
    return password
