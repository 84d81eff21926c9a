"""Transactions, and deletes by value."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime

import polars as pl
import pyarrow as pa
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog.programs import Program, join

_numbers = itertools.count()


def test_all_of_it_takes_effect_together(db: stratalog.Client) -> None:
    with db.events() as events:
        with db.transaction() as t:
            t.insert("account", [("a", 10), ("b", 20)])
            for name in ("a", "b"):
                t.execute("+open($who)", {"who": name})
            t.delete("account", [("b", 20)])
            with pytest.raises(stratalog.UnknownRelation):
                db.query("?account(X, Y)")
            with pytest.raises(RuntimeError, match="not over"):
                t.result.messages  # noqa: B018 - the access raises
        assert t.result.messages == [
            "inserted 2 facts into account",
            "inserted 1 fact into open",
            "inserted 1 fact into open",
            "deleted 1 fact from account",
        ]
        assert db.query("?account(X, Y)").rows() == [("a", 10)]
        assert sorted(db.query("?open(X)")) == [("a",), ("b",)]
        assert events.next(timeout=120) is not None


def test_a_block_that_raises_sends_nothing(db: stratalog.Client) -> None:
    with pytest.raises(ZeroDivisionError), db.transaction() as t:  # noqa: PT012 - the block is what is tested
        t.insert("p", [1])
        raise ZeroDivisionError
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?p(X)")


def test_a_refusal_undoes_everything(db: stratalog.Client) -> None:
    db.execute("+typed(x: int)")
    with pytest.raises(stratalog.TypeMismatch), db.transaction() as t:  # noqa: PT012 - as above
        t.insert("p", [1])
        t.insert("typed", ["text"])
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?p(X)")
    with pytest.raises(stratalog.ParseError, match="command"), db.transaction() as t:
        t.execute(".kg create another")
    with pytest.raises(stratalog.TypeMismatch), db.transaction() as t:  # noqa: PT012 - as above
        t.execute(".rel rename typed x y")
        t.insert("typed", ["text"])
    assert db.query(".rel describe typed").rows() == [("x", "int")]
    with db.transaction() as t:
        pass
    with pytest.raises(RuntimeError):
        t.result.rows()


def test_a_query_sees_what_the_transaction_has_done(db: stratalog.Client) -> None:
    db.insert("p", [1])
    with db.transaction() as t:
        t.insert("p", [2])
        t.execute("?p(X:asc)")
    assert t.result.rows() == [(1,), (2,)]


def test_named_values_find_their_columns(db: stratalog.Client) -> None:
    db.execute("+owns(owner: string, owned: string)")
    with db.transaction() as t:
        t.insert("owns", [{"owned": "acme", "owner": "ada"}])
        t.insert("owns", pl.DataFrame({"owned": ["bolts"], "owner": ["acme"]}))
        t.insert("owns", [("x", "y")], columns=["owned", "owner"])
    assert sorted(db.query("?owns(X, Y)")) == [("acme", "bolts"), ("ada", "acme"), ("y", "x")]
    db.delete("owns", [{"owned": "acme", "owner": "ada"}])
    db.delete("owns", pl.DataFrame({"owned": ["bolts"], "owner": ["acme"]}))
    assert db.query("?owns(X, Y)").rows() == [("y", "x")]
    with pytest.raises(ValueError, match="has the columns owner; the relation has owner, owned"):
        db.delete("owns", [{"owner": "ada"}])


def test_a_relation_that_is_new_in_a_transaction_has_names(db: stratalog.Client) -> None:
    with db.transaction() as t:
        t.insert("owns", pl.DataFrame({"the owner": ["ada"], "share": [0.5]}))
        t.insert("owns", [{"share": 1, "the owner": "bob"}])
        t.delete("owns", [{"share": 0.5, "the owner": "ada"}])
        t.execute("+declared(x: int, y: int)")
        with pytest.raises(ValueError, match="declare the relation before"):
            t.insert("declared", [{"y": 2, "x": 1}])
    assert db.column_types("owns") == {"the_owner": "string", "share": "float"}
    assert db.query("?owns(O, S)").rows() == [("bob", 1.0)]


def test_values_of_every_type_are_deleted(db: stratalog.Client) -> None:
    db.execute("+t(a: int, b: float, c: string, d: bool, e: timestamp, f: vector)")
    rows = [
        (1, 0.5, 'say "hi"\n+t(', True, datetime(2020, 1, 1, tzinfo=UTC), [1.0, 2.0]),
        (None, None, None, None, None, None),
        (2, 2.0, "", False, datetime(1960, 1, 1, tzinfo=UTC), [0.0]),
    ]
    db.insert("t", rows)
    assert db.delete("t", rows[:2]).messages == ["deleted 2 facts from t"]
    assert db.query("?t(A, B, C, D, E, F)").rows() == rows[2:]
    assert db.delete("t", []).messages == []


def test_many_facts_are_deleted(db: stratalog.Client) -> None:
    rows = [(n, f"name {n}") for n in range(50_000)]
    db.insert("many", rows)
    db.delete("many", rows[1:])
    assert db.query("?many(N, S)").rows() == rows[:1]


def test_parameters_of_one_name_keep_their_values() -> None:
    joined = join(
        [
            Program('+p($x) // not $x\n+q("$x", $x)', {"x": 1}),
            Program('+p($x)\n+q("$x", $xy)', {"x": 2, "xy": 3}),
            Program("+p($x)", {"x": 1}),
            Program("+p($x)", {"x": True}),
        ]
    )
    assert joined.text == ('+p($x) // not $x\n+q("$x", $x)\n+p($x_2)\n+q("$x", $xy)\n+p($x)\n+p($x_3)')
    assert joined.params == {"x": 1, "x_2": 2, "xy": 3, "x_3": True}
    commented = "/* $x /* $x */ $x */ +p($x)\n  % $x\n/* $x"
    joined = join([Program("+p($x)", {"x": 1}), Program(commented, {"x": 2})])
    assert joined.text == "+p($x)\n" + commented.replace("p($x)", "p($x_2)")
    assert joined.params == {"x": 1, "x_2": 2}


def test_asyncio(server: LocalServer) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.create_kg(f"transactions_{next(_numbers)}")
            async with db.transaction() as t:
                await t.insert("p", [1, 2])
                await t.delete("p", [1])
            assert t.result.messages == ["inserted 2 facts into p", "deleted 1 fact from p"]

    asyncio.run(main())


def test_slices_of_structs_end_their_facts_alone(db: stratalog.Client) -> None:
    db.insert("n", range(5))
    data = pa.chunked_array([pa.array([{"n": n} for n in range(5)]).slice(1, 2)])
    db.delete("n", data)
    assert sorted(db.query("?n(X)")) == [(0,), (3,), (4,)]


def test_new_columns_have_the_types_that_an_insert_gives_them(db: stratalog.Client) -> None:
    columns: list[tuple[list[object], str]] = [
        ([["a", "b"], None], "list"),
        ([[1, "b"]], "list"),
        ([[[1]]], "list"),
        ([["a"], "b"], "any"),
        ([None], "any"),
        ([{1, 2}], "vector"),
        ([datetime(2020, 1, 1)], "timestamp"),
    ]
    with db.transaction() as t:
        for number, (values, _) in enumerate(columns):
            t.insert(f"t{number}", [{"x": value} for value in values])
        t.insert("frame", pl.DataFrame({"x": [["a"]]}))
    found = [db.column_types(f"t{number}") for number in range(len(columns))]
    assert found == [{"x": kind} for _, kind in columns]
    assert db.query("?frame(X)").rows() == [(["a"],)]
