"""The server's commands as methods, of both clients."""

from __future__ import annotations

import asyncio
import itertools
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import stratalog
from conftest import PASSWORD, executable
from local_server import LocalServer
from stratalog import listings

_numbers = itertools.count()


def test_graphs(db: stratalog.Client) -> None:
    first, second = str(db.kg), f"{db.kg}_b"
    db.graphs.create(second)
    assert db.kg == second
    db.graphs.use(first)
    assert {graph.name: graph.current for graph in db.graphs.all()}[first]
    with db.kg(second) as other:
        assert (other.kg, db.kg) == (second, first)
        other.insert("p", [1])
    db.graphs.drop(second)
    assert second not in {graph.name for graph in db.graphs.all()}


def test_relations_and_rules(db: stratalog.Client) -> None:
    db.execute("+edge(source: int, target: int)")
    db.insert("edge", [(1, 2), (2, 3)])
    db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    assert db.relations.all() == [
        listings.RelationInfo("edge", 2, 2, "source: int, target: int", "base"),
        listings.RelationInfo("path", None, 2, "A, B", "derived"),
    ]
    assert db.relations.columns("edge") == [
        listings.Column("source", "int"),
        listings.Column("target", "int"),
    ]
    assert db.rules.all() == [listings.RuleInfo("path", 2)]
    assert db.rules.clauses("path") == ["path(X, Y) <- edge(X, Y)", "path(X, Z) <- path(X, Y), edge(Y, Z)"]
    db.rules.remove("path", 2)
    assert len(db.query("?path(X, Y)")) == 2
    db.rules.clear("path")
    assert len(db.query("?path(X, Y)")) == 0
    db.execute("+other(X) <- edge(X, _)")
    db.rules.drop("other")
    db.execute("+pa(X) <- edge(X, _)\n+pb(X) <- edge(X, _)")
    db.rules.drop_prefix("p")
    assert db.rules.all() == []
    assert db.relations.clear_prefix("ed") == {"edge": 2}
    db.relations.drop("edge")
    assert db.relations.all() == []


def test_what_belongs_to_the_session(db: stratalog.Client) -> None:
    db.insert("mine", [1], scope="session")
    db.execute("also(X) <- mine(X)")
    assert [(item.kind, item.relation) for item in db.own.all()] == [("rule", "also"), ("fact", "mine")]
    db.own.drop("also")
    assert [item.relation for item in db.own.all()] == ["mine"]
    db.own.clear()
    assert db.own.all() == []


def test_indexes(db: stratalog.Client) -> None:
    db.execute("+doc(id: int, v: vector(2))\n+doc[(1, [1.0, 0.0]), (2, [0.0, 1.0])]")
    db.indexes.create("near_docs", "doc", "v", "metric cosine  m 16")
    db.indexes.create("by_id", "doc", "id", "type sorted")
    found = [(index.name, index.type, index.metric, index.row_count) for index in db.indexes.all()]
    assert found == [("by_id", "sorted", None, 2), ("near_docs", "hnsw", "cosine", 2)]
    db.indexes.rebuild("near_docs")
    db.indexes.create("dot_docs", "doc", "v", metric="dot")
    assert db.indexes.state("dot_docs").metric == "dot"
    db.indexes.drop("dot_docs")
    state = db.indexes.state("near_docs")
    assert (state.relation, state.column, state.m, state.row_count) == ("doc", "v", 16, 2)
    assert db.indexes.state("by_id").vectors is None
    for index in db.indexes.all():
        db.indexes.drop(index.name)
    assert db.indexes.all() == []


def test_users_keys_and_access(server: LocalServer, db: stratalog.Client) -> None:
    name, label = f"ada_{next(_numbers)}", f"nightly_{next(_numbers)}"
    db.users.create(name, "analytical")
    assert listings.User(name, "viewer") in db.users.all()
    db.users.set_role(name, "editor")
    assert listings.User(name, "editor") in db.users.all()
    db.access.grant(db.kg, name, "editor")
    assert listings.Grant(name, "editor") in db.access.all()
    assert db.access.all(db.kg) == db.access.all()
    with stratalog.connect(server.url, user=name, password="analytical", kg=db.kg) as hers:
        hers.insert("p", [1])
        with pytest.raises(stratalog.AccessDenied):
            hers.users.all()
    db.access.revoke(db.kg, name)
    with pytest.raises(stratalog.NotFound):
        stratalog.connect(server.url, user=name, password="analytical", kg=db.kg)
    db.users.set_password(name, "difference")
    with pytest.raises(stratalog.AuthError):
        stratalog.connect(server.url, user=name, password="analytical")
    db.users.drop(name)
    key = db.keys.create(label)
    with stratalog.connect(server.url, api_key=key) as robot:
        assert robot.session.role == "admin"
    assert [(each.label, each.owner) for each in db.keys.all() if each.label == label] == [(label, "admin")]
    db.keys.revoke(label)
    with pytest.raises(stratalog.AuthError):
        stratalog.connect(server.url, api_key=key)


def test_keys_open_no_more_than_they_are_for(server: LocalServer, db: stratalog.Client) -> None:
    name, label = f"ada_{os.getpid()}", f"reader-{os.getpid()}"
    db.users.create(name, "analytical")
    db.access.grant(db.kg, name, "editor")
    key = db.keys.create(label, user=name, expires=timedelta(hours=1), scope="read")
    (listed,) = [each for each in db.keys.all() if each.label == label]
    assert (listed.owner, listed.scope) == (name, "read")
    assert listed.expires is not None
    assert timedelta(minutes=59) < listed.expires - datetime.now(UTC) <= timedelta(hours=1)
    with stratalog.connect(server.url, api_key=key, kg=db.kg) as robot, pytest.raises(stratalog.AccessDenied):
        robot.insert("p", [1])
    db.keys.revoke(label)
    until = datetime(2100, 1, 31, 12, tzinfo=UTC)
    for expires in ("2100-01-31T12:00:00Z", until):
        db.keys.create(label, expires=expires)
        assert [each.expires for each in db.keys.all() if each.label == label] == [until]
        db.keys.revoke(label)
    with pytest.raises(ValueError, match="time zone"):
        db.keys.create(label, expires=datetime(2100, 1, 31))
    with stratalog.connect(server.url, user=name, password="analytical", kg=db.kg) as hers:
        hers.users.set_own_password("difference")
    with stratalog.connect(server.url, user=name, password="difference", kg=db.kg):
        pass
    db.users.drop(name)


def test_a_word_cannot_carry_a_command(db: stratalog.Client) -> None:
    for name in ("", "a b", "a\n.kg drop default"):
        with pytest.raises(ValueError, match="cannot be the name"):
            db.relations.drop(name)
    with pytest.raises(ValueError, match="a password must not") as caught:
        db.users.create("eve", "two words")
    assert "two words" not in str(caught.value)


def test_requests(server: LocalServer, db: stratalog.Client) -> None:
    (own,) = [each for each in db.requests.all() if each.session == db.session.session_id]
    assert (own.user, own.knowledge_graph, own.state) == ("admin", db.kg, "running")
    with pytest.raises(stratalog.NotFound):
        db.requests.kill(1)


def test_the_server(tmp_path: Path) -> None:
    settings = {"SERVICE_STORAGE__BACKUP_DIR": str(tmp_path / "backups")}
    with (
        LocalServer(executable(), tmp_path / "server", PASSWORD, settings) as server,
        stratalog.connect(server.url, user="admin", password=PASSWORD) as db,
    ):
        db.insert("p", range(100))
        assert (db.server.status().knowledge_graph, db.server.status().tuples) == ("default", 100)
        db.server.compact()
        db.server.backup("monday")
        assert (tmp_path / "backups/monday").is_dir()
        assert "upper" in str(db.server.help("upper").rows())
        assert len(db.server.help()) > 30


def test_asyncio_has_the_same(server: LocalServer) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            name = f"admin_{next(_numbers)}"
            await db.graphs.create(name)
            await db.insert("edge", [(1, 2), (2, 3)])
            await db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
            assert [each.name for each in await db.relations.all()] == ["edge", "path"]
            assert (await db.rules.graph()).recursive("path")
            assert (await db.server.status()).knowledge_graph == name
            async with await db.kg("default") as other:
                assert (str(other.kg), str(db.kg)) == ("default", name)
            await db.delete("edge", [{"from": 1, "to": 2}])
            assert (await db.query("?edge(X, Y)")).rows() == [(2, 3)]

    asyncio.run(main())
