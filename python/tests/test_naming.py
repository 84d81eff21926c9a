"""Columns find their places by one rule: in inserts, in transactions, and in deletes."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pandas as pd
import polars as pl
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog.naming import are_letters, matched


def by_insert(db: stratalog.Client, name: str, data: Any) -> None:
    db.insert(name, data)


def by_transaction(db: stratalog.Client, name: str, data: Any) -> None:
    with db.transaction() as t:
        t.insert(name, data)


def by_delete(db: stratalog.Client, name: str, data: Any) -> None:
    """What is left over of all facts that could be meant is the one that is."""
    width = len(db.column_types(name) or {})
    before = db.query(f"?{name}({', '.join('V' + str(place) for place in range(width))})").rows()
    values = ("aa", "bb")
    both = [(one, other) for one in values for other in values if one != other]
    with db.transaction() as t:
        t.insert(name, both)
    db.delete(name, data)
    left = set(db.query(f"?{name}(X, Y)").rows()) - set(before)
    with db.transaction() as t:
        t.delete(name, list(left))
        t.insert(name, [row for row in both if row not in left])


WAYS = [by_insert, by_transaction, by_delete]

#: Statements, the columns of the data, and what is in the relation then.
CASES: dict[str, tuple[str, list[str], tuple[str, str]]] = {
    "letters that are declared": ("+t(B: string, A: string)", ["A", "B"], ("bb", "aa")),
    "letters in order that are declared": ("+t(A: string, B: string)", ["B", "A"], ("bb", "aa")),
    "letters of their own": ("+t(x: string, y: string)", ["A", "B"], ("aa", "bb")),
    "letters that nobody has given": ('+t("0", "1")\n-t("0", "1")', ["B", "A"], ("aa", "bb")),
    "a letter that nobody has given": ('+t("0", "1")\n-t("0", "1")', ["x", "A"], ("aa", "bb")),
    "capitals": ("+t(id: string, name: string)", ["NAME", "ID"], ("bb", "aa")),
    "what is spelled so comes first": ("+t(Name: string, name: string)", ["name", "Name"], ("bb", "aa")),
    "names that cannot be declared": (
        "+t(zip_code: string, town: string)",
        ["Town", "zip code"],
        ("bb", "aa"),
    ),
    "places": ("+t(x: string, y: string)", ["1", "0"], ("aa", "bb")),
}


@pytest.mark.parametrize("case", sorted(CASES))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("library", ["polars", "dicts", "columns"])
def test_one_rule_everywhere(db: stratalog.Client, way: Any, case: str, library: str) -> None:
    statements, names, expected = CASES[case]
    db.execute(statements)
    row = dict(zip(names, ("aa", "bb"), strict=True))
    way(db, "t", pl.DataFrame(row, orient="row") if library == "polars" else [row])
    assert db.query("?t(X, Y)").rows() == [expected]


@pytest.mark.parametrize("way", WAYS)
def test_names_that_fit_in_part_are_refused(db: stratalog.Client, way: Any) -> None:
    db.execute("+t(x: string, y: string)")
    for names in (["x", "z"], ["X", "x"], ["y", "z"]):
        with pytest.raises(
            (ValueError, stratalog.Error), match=r"has the columns x, y|the relation has x, y"
        ):
            way(db, "t", pd.DataFrame([("aa", "bb")], columns=names))


def test_other_names_go_by_position_with_a_warning(db: stratalog.Client) -> None:
    db.execute("+t(x: string, y: string)")
    for write in (db.insert, db.delete, db.transaction().insert, db.transaction().delete):
        with pytest.warns(stratalog.InsertWarning, match="went by position") as caught:
            write("t", pl.DataFrame({"n": ["a"], "m": ["b"]}))
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for write in (db.insert, db.delete, db.transaction().insert):
            write("t", pl.DataFrame({"A": ["a"], "B": ["b"]}))


def test_the_first_names_are_those_of_the_relation(db: stratalog.Client) -> None:
    db.insert("known", [("k", "l")])
    with db.transaction() as t:
        for name in ("known", "new"):
            t.insert(name, [("1", "2")])
            t.insert(name, [{"y": "3", "x": "4"}])
            t.insert(name, [{"x": "6", "y": "5"}])
    for name in ("known", "new"):
        assert {("1", "2"), ("3", "4"), ("5", "6")} <= set(db.query(f"?{name}(X, Y)"))


def test_letters_are_not_guessed_in_a_transaction(db: stratalog.Client) -> None:
    with db.transaction() as t:
        t.execute("+t(B: string, A: string)")
        with pytest.raises(ValueError, match="declare the relation before"):
            t.insert("t", [{"A": "aa", "B": "bb"}])
        t.insert("u", [{"A": "aa", "B": "bb"}])
    assert db.query("?u(X, Y)").rows() == [("aa", "bb")]


def test_asyncio(server: LocalServer, db: stratalog.Client) -> None:
    db.execute("+t(B: string, A: string)")
    data = pl.DataFrame({"A": ["aa", "a"], "B": ["bb", "b"]})

    async def main() -> None:
        client = await stratalog.connect_async(server.url, user="admin", password=PASSWORD, kg=str(db.kg))
        async with client, client.transaction() as t:
            await t.insert("t", data)
        async with await stratalog.connect_async(
            server.url, user="admin", password=PASSWORD, kg=str(db.kg)
        ) as client:
            await client.delete("t", data[:1])

    asyncio.run(main())
    assert db.query("?t(X, Y)").rows() == [("b", "a")]


def test_places_are_those_that_the_server_finds() -> None:
    assert matched(["a", "b"], ["b", "a"]) == [1, 0]
    assert matched(["company_name", "id"], ["ID", "company name"]) == [1, 0]
    assert matched(["x", "X"], ["x", "y"]) == [0, None]
    assert matched(["id", "n"], ["Id", "iD"]) == [None, None]
    assert matched(["a", "b"], ["a", "a"]) == [0, None]
    assert matched(["a", "b"], ["0", "1"]) == [None, None]
    letters = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A1", "B1"]
    assert are_letters(letters)
    assert not are_letters([*letters, "D1"])
