"""What the server's commands do, as methods: `db.graphs`, `db.rules`, `db.users` and so on.

tools/generate.py makes `aio_admin.py` of this file, so each method is little more than a command.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from .address import graph_name, word
from .listings import (
    Clause,
    Column,
    Grant,
    Graph,
    Index,
    IndexState,
    Key,
    KeyScope,
    Level,
    NewKey,
    OwnItem,
    RelationInfo,
    Request,
    Role,
    RuleInfo,
    Status,
    User,
    key_terms,
    secret,
)
from .result import Result
from .rule_graph import RuleGraph, rule_graph

#: Runs a command; the second argument says that it changes nothing.
Run = Callable[[str, bool], Result]


class Namespace:
    """Commands that belong together."""

    def __init__(self, run: Run) -> None:
        self._run = run


class Graphs(Namespace):
    """Knowledge graphs: `db.graphs`."""

    def all(self) -> list[Graph]:
        """The graphs that you may see."""
        return (self._run(".kg list", True)).objects(Graph)

    def create(self, name: str) -> None:
        """Creates a graph and switches to it."""
        self._run(f".kg create {graph_name(name)}", False)

    def use(self, name: str) -> None:
        """Switches to another graph; facts and rules of the session are dropped."""
        self._run(f".kg use {graph_name(name)}", False)

    def drop(self, name: str) -> None:
        """Drops a graph with all that is in it."""
        self._run(f".kg drop {graph_name(name)}", False)


class Relations(Namespace):
    """Relations and their schemas: `db.relations`."""

    def all(self) -> list[RelationInfo]:
        """The relations of the graph."""
        stored = (self._run(".rel", True)).objects(RelationInfo)
        derived = (self._run(".rel derived", True)).objects(RelationInfo)
        return sorted([*stored, *derived], key=lambda each: each.name)

    def columns(self, name: str) -> list[Column]:
        """The columns of a relation."""
        return (self._run(f".rel describe {word(name, 'of a relation')}", True)).objects(Column)

    def attach(self, name: str, place: str) -> str:
        """Makes a relation of Parquet files that stay where they are; what was found.

        `place` is a path on the server, `/folder/*.parquet`, or a part of a bucket, `s3://bucket/prefix/*.parquet`.
        """
        if '"' in place or not place.isprintable():
            raise ValueError(f"{place!r} is no place of files: it has quotes or signs that are not seen")
        command = f'.rel attach {word(name, "of a relation")} "{place}"'
        return "\n".join((self._run(command, False)).messages)

    def drop(self, name: str) -> None:
        """Drops a relation: facts, schema and rules."""
        self._run(f".rel drop {word(name, 'of a relation')}", False)

    def clear_prefix(self, prefix: str) -> dict[str, int]:
        """Deletes all facts of the relations whose names begin so; how many each."""
        rows = (self._run(f".clear prefix {word(prefix, 'of a relation')}", False)).dicts()
        return {str(row["relation"]): int(row["count"]) for row in rows if "relation" in row}


class Rules(Namespace):
    """Rules that are kept in the graph: `db.rules`. `db.define` adds some."""

    def all(self) -> list[RuleInfo]:
        """The derived relations."""
        return (self._run(".rule", True)).objects(RuleInfo)

    def clauses(self, name: str) -> list[str]:
        """The clauses of a derived relation."""
        found = (self._run(f".rule def {word(name, 'of a rule')}", True)).objects(Clause)
        return [each.clause for each in found]

    def drop(self, name: str) -> None:
        """Drops all clauses of a derived relation."""
        self._run(f".rule drop {word(name, 'of a rule')}", False)

    def drop_prefix(self, prefix: str) -> None:
        """Drops all clauses of the derived relations whose names begin so."""
        self._run(f".rule drop prefix {word(prefix, 'of a rule')}", False)

    def remove(self, name: str, number: int) -> None:
        """Drops one clause, counted from 1 as `clauses` lists them."""
        self._run(f".rule remove {word(name, 'of a rule')} {int(number)}", False)

    def clear(self, name: str) -> None:
        """Drops all clauses but keeps the name: an empty relation."""
        self._run(f".rule clear {word(name, 'of a rule')}", False)

    def graph(self) -> RuleGraph:
        """Which relation is derived from which; a notebook draws it."""
        names = [each.name for each in self.all()]
        clauses = {name: self.clauses(name) for name in names}
        stored = (self._run(".rel", True)).objects(RelationInfo)
        return rule_graph(clauses, [each.name for each in stored])


class Indexes(Namespace):
    """Indexes: `db.indexes`."""

    def all(self) -> list[Index]:
        """The indexes of the graph."""
        return (self._run(".index", True)).objects(Index)

    def create(
        self,
        name: str,
        relation: str,
        column: str,
        options: str = "",
        *,
        type: str | None = None,  # noqa: A002 - the language's word
        metric: str | None = None,
        language: str | None = None,
    ) -> None:
        """Creates an index on a column, which is then built in the background.

        It is for nearest vectors, by the `metric`: `cosine` if none of `l2`, `dot` and `l1` is given; or of
        another `type`: `text`, where words count by their stems in a `language` if one is given (`english`),
        `sorted` or `hash`. Options are words as `.index create` takes them: `m 16`.
        """
        where = f"{word(relation, 'of a relation')}({word(column, 'of a column')})"
        for option, value in (("type", type), ("metric", metric), ("language", language)):
            if value is not None:
                options += f" {option} {word(value, f'of a {option}')}"
        text = f".index create {word(name, 'of an index')} on {where} {' '.join(options.split())}"
        self._run(text.rstrip(), False)

    def state(self, name: str) -> IndexState:
        """How far an index is built."""
        return (self._run(f".index stats {word(name, 'of an index')}", True)).objects(IndexState)[0]

    def rebuild(self, name: str) -> None:
        """Builds an index anew, in the background; the old one serves until then."""
        self._run(f".index rebuild {word(name, 'of an index')}", False)

    def drop(self, name: str) -> None:
        """Drops an index."""
        self._run(f".index drop {word(name, 'of an index')}", False)


class Own(Namespace):
    """Facts and rules that belong to this session alone: `db.own`."""

    def all(self) -> list[OwnItem]:
        """The session's facts and clauses."""
        return (self._run(".session", True)).objects(OwnItem)

    def drop(self, which: str | int) -> None:
        """Drops the session's clause of this number, or all its clauses of this name."""
        self._run(f".session drop {word(str(which), 'of a rule')}", False)

    def forget(self, relation: str) -> None:
        """Drops the session's facts of this relation."""
        self._run(f".session forget {word(relation, 'of a relation')}", False)

    def clear(self) -> None:
        """Drops all facts and rules of the session."""
        self._run(".session clear", False)


class Users(Namespace):
    """Users, for administrators: `db.users`."""

    def all(self) -> list[User]:
        """All users."""
        return (self._run(".user list", True)).objects(User)

    def create(self, username: str, password: str, role: Role = "viewer") -> None:
        """Creates a user."""
        self._run(f".user create {word(username, 'of a user')} {secret(password)} {role}", False)

    def drop(self, username: str) -> None:
        """Drops a user with keys and access entries, and ends the user's sessions."""
        self._run(f".user drop {word(username, 'of a user')}", False)

    def set_password(self, username: str, password: str) -> None:
        """Changes a password, and ends the user's other sessions."""
        self._run(f".user password {word(username, 'of a user')} {secret(password)}", False)

    def set_own_password(self, password: str) -> None:
        """Changes your own password, and ends your other sessions. Everybody may."""
        self._run(f".user password {secret(password)}", False)

    def set_role(self, username: str, role: Role) -> None:
        """Changes the role of a user."""
        self._run(f".user role {word(username, 'of a user')} {role}", False)


class Keys(Namespace):
    """API keys, for administrators: `db.keys`."""

    def all(self) -> list[Key]:
        """All keys, without what is secret of them."""
        return (self._run(".apikey list", True)).objects(Key)

    def create(
        self,
        label: str,
        *,
        user: str | None = None,
        expires: str | datetime | timedelta | None = None,
        scope: KeyScope = "all",
    ) -> str:
        """Creates a key with your rights, or those of another user. It is told this once, and kept nowhere.

        It expires at a time, or after a while such as `"30d"` or a `timedelta`. It opens no more than its
        scope: `metrics`, `read`, `write`, or all that its owner may do.
        """
        text = f".apikey create {word(label, 'of a key')}{key_terms(user, expires, scope)}"
        return (self._run(text, False)).objects(NewKey)[0].api_key

    def revoke(self, label: str) -> None:
        """Revokes a key, and ends the sessions that it opened."""
        self._run(f".apikey revoke {word(label, 'of a key')}", False)


class Access(Namespace):
    """Who may do what on which graph: `db.access`."""

    def all(self, kg: str | None = None) -> list[Grant]:
        """Who has an entry for a graph; without a name, for the one in use."""
        return (self._run(f".kg acl list {graph_name(kg) if kg else ''}".rstrip(), True)).objects(Grant)

    def grant(self, kg: str, username: str, level: Level) -> None:
        """Gives a user a level on a graph, in place of any before."""
        self._run(f".kg acl grant {graph_name(kg)} {word(username, 'of a user')} {level}", False)

    def revoke(self, kg: str, username: str) -> None:
        """Takes a user's level on a graph away."""
        self._run(f".kg acl revoke {graph_name(kg)} {word(username, 'of a user')}", False)


class Requests(Namespace):
    """What runs on the server, for administrators: `db.requests`."""

    def all(self) -> list[Request]:
        """The requests that wait or run, this one among them."""
        return (self._run(".query list", True)).objects(Request)

    def kill(self, id: int) -> None:  # noqa: A002 - the name that the server uses
        """Stops a request; its user gets `Cancelled`."""
        self._run(f".query kill {int(id)}", False)


class Server(Namespace):
    """The server itself: `db.server`."""

    def status(self) -> Status:
        """The version, and what is stored in the graphs that you may see."""
        return (self._run(".status", True)).objects(Status)[0]

    def backup(self, name: str) -> None:
        """Copies all graphs and accounts to a new folder of this name in the server's backup folder."""
        self._run(f".backup {word(name, 'of a backup')}", False)

    def compact(self) -> None:
        """Rewrites what the graph stores without the rows that were deleted."""
        self._run(".compact", False)

    def help(self, topic: str = "") -> Result:
        """Lists the commands; with a topic, what is known of the commands that begin so, or of a function."""
        return self._run(f".help {' '.join(topic.split())}".rstrip(), True)


class Commands:
    """The namespaces of a client."""

    def _command(self, text: str, reads: bool) -> Result:
        raise NotImplementedError

    @property
    def graphs(self) -> Graphs:
        """Knowledge graphs."""
        return Graphs(self._command)

    @property
    def relations(self) -> Relations:
        """Relations and their schemas."""
        return Relations(self._command)

    @property
    def rules(self) -> Rules:
        """Rules that are kept in the graph."""
        return Rules(self._command)

    @property
    def indexes(self) -> Indexes:
        """Indexes."""
        return Indexes(self._command)

    @property
    def own(self) -> Own:
        """Facts and rules that belong to this session alone."""
        return Own(self._command)

    @property
    def users(self) -> Users:
        """Users, for administrators."""
        return Users(self._command)

    @property
    def keys(self) -> Keys:
        """API keys, for administrators."""
        return Keys(self._command)

    @property
    def access(self) -> Access:
        """Who may do what on which graph."""
        return Access(self._command)

    @property
    def requests(self) -> Requests:
        """What runs on the server, for administrators."""
        return Requests(self._command)

    @property
    def server(self) -> Server:
        """The server itself."""
        return Server(self._command)
