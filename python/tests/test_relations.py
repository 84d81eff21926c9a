"""Typed relations, and queries and rules composed in Python: their program and its answer."""

from __future__ import annotations

import asyncio
import itertools
import statistics
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime
from typing import Annotated, Any

import numpy as np
import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog import (
    ANY,
    Relation,
    asc,
    avg,
    collect,
    count,
    count_distinct,
    delete,
    desc,
    first,
    functions,
    is_in,
    is_null,
    known,
    last,
    max_,
    median,
    min_,
    not_,
    quantile,
    rule,
    select,
    stddev,
    string_agg,
    sum_,
    update,
    variable,
    variables,
)
from stratalog.relation import schema

_numbers = itertools.count()


class Owns(Relation):
    owner: str
    owned: str
    share: float | None = 1.0


class Person(Relation, name="people"):
    name: str
    born: date | None


class Controls(Relation):
    owner: str
    owned: str


class Total(Relation):
    owner: str
    shares: float | None
    companies: int


class Everything(Relation):
    a: int
    b: float
    c: str
    d: bool
    e: datetime
    f: date
    g: list[float]
    h: Annotated[list[float], stratalog.Vector(2)]
    i: Any
    j: int | str | None


OWNS = [
    Owns("ada", "acme", 0.6),
    Owns("acme", "bolts", 0.9),
    Owns("bob", "bolts", 0.1),
    Owns("bolts", "nuts"),
    Owns("eve", "void", None),
]


@pytest.fixture
def owns(db: stratalog.Client) -> stratalog.Client:
    db.declare(Owns, Person, Controls)
    assert db.insert(Owns, OWNS).inserted == 5
    db.insert(Person, [Person("ada", date(1815, 12, 10)), Person("bob", None)])
    return db


def test_objects_go_in_and_come_out(owns: stratalog.Client) -> None:
    assert sorted(owns.query(select(Owns)), key=str) == sorted(OWNS, key=str)
    assert owns.query("?owns(A, B, C)").objects(Owns)[0] in OWNS
    assert sorted(owns.query(select(Person)), key=str) == [
        Person("ada", date(1815, 12, 10)),
        Person("bob", None),
    ]
    assert [(column.column, column.type) for column in owns.relations.columns("people")] == [
        ("name", "string"),
        ("born", "timestamp"),
    ]


def test_an_object_is_a_frozen_dataclass() -> None:
    assert Owns("ada", "acme") == Owns(owner="ada", owned="acme", share=1.0)
    assert repr(Owns("a", "b")) == "Owns(owner='a', owned='b', share=1.0)"
    assert len({Owns("a", "b"), Owns("a", "b")}) == 1
    assert Owns("a", "b").owner == "a"
    with pytest.raises(FrozenInstanceError):
        Owns("a", "b").owner = "c"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Owns("a")  # type: ignore[call-arg]


def test_every_type_has_its_column(db: stratalog.Client) -> None:
    assert schema(Everything) == {
        "a": "int",
        "b": "float",
        "c": "string",
        "d": "bool",
        "e": "timestamp",
        "f": "timestamp",
        "g": "vector",
        "h": "vector[2]",
        "i": "any",
        "j": "any",
    }
    db.declare(Everything)
    row = Everything(
        1,
        0.5,
        "x",
        True,
        datetime(2020, 1, 1, tzinfo=UTC),
        date(2021, 2, 3),
        [1.0, 2.5],
        [0.0, 1.0],
        "any",
        7,
    )
    db.insert(Everything, [row])
    assert db.query(select(Everything)).one() == row

    class Wrong(Relation):
        x: dict[str, int]

    with pytest.raises(TypeError, match=r"Wrong\.x has the type dict"):
        db.declare(Wrong)


def test_names(db: stratalog.Client) -> None:
    class HTTPServerLog(Relation):
        line: str

    class Sub(Owns):
        since: int = 0

    assert HTTPServerLog.__relation__ == "http_server_log"
    assert Sub("a", "b").share == 1.0
    assert list(schema(Sub)) == ["owner", "owned", "share", "since"]


# Queries


def test_where_order_and_limit(owns: stratalog.Client) -> None:
    query = (
        select(Owns)
        .where(known(Owns.share) > 0.5, Owns.owner != "nobody")
        .order_by(desc(Owns.share), Owns.owner)
        .limit(2)
    )
    assert str(query) == (
        "?Share:desc, Owner:asc, Owned <- owns(Owner, Owned, Share), Share > $p1, Owner != $p2, limit(2, 0)"
    )
    assert list(owns.query(query)) == [Owns("bolts", "nuts", 1.0), Owns("acme", "bolts", 0.9)]
    assert owns.query(query.limit(1, 2)).first() == Owns("ada", "acme", 0.6)
    found = owns.query(query)
    assert (found.columns, len(found), found[0].owner) == (["owner", "owned", "share"], 2, "bolts")
    assert found.to_polars().rows() == [("bolts", "nuts", 1.0), ("acme", "bolts", 0.9)]
    assert found.to_polars().columns == found.to_arrow().column_names == list(found.to_pandas().columns)
    assert owns.query(select(Owns).where(Owns.owner == "nobody")).first() is None
    with pytest.raises(stratalog.NotOneRow):
        owns.query(select(Owns)).one()


def test_values_are_never_text(owns: stratalog.Client) -> None:
    evil = '"), owns(X, Y, Z)\n-owns(X, Y, Z) <- owns(X, Y, Z'
    owns.insert(Owns, [Owns(evil, "x")])
    assert owns.query(select(Owns.owned).where(Owns.owner == evil)).one() == ("x",)
    assert evil not in select(Owns.owned).where(Owns.owner == evil).program.text


def test_columns_expressions_and_functions(owns: stratalog.Client) -> None:
    query = select(functions.upper(Owns.owner), known(Owns.share) * 100 - 1, 2 - known(Owns.share)).where(
        Owns.owned == "acme"
    )
    assert owns.query(query).one() == ("ADA", 59.0, 1.4)
    assert query.names == ["upper", "column_2", "column_3"]
    assert owns.query(
        select(functions.concat(Owns.owner, " > ", Owns.owned)).where(Owns.share == 0.1)
    ).one() == ("bob > bolts",)


def test_joins(owns: stratalog.Client) -> None:
    query = select(Person.name, Owns.owned).where(Person.name == Owns.owner).order_by(Owns.owned)
    assert str(query) == "?Name, Owned:asc <- people(Name, _), owns(Name, Owned, _)"
    assert list(owns.query(query)) == [("ada", "acme"), ("bob", "bolts")]
    x, y, z = variables(str, str, str)
    two_steps = select(x, z).where(Owns(x, y, ANY), Owns(y, z, ANY)).order_by(x)
    assert str(two_steps) == "?Owner:asc, Owned2 <- owns(Owner, Owned, _), owns(Owned, Owned2, _)"
    assert list(owns.query(two_steps)) == [("acme", "nuts"), ("ada", "bolts"), ("bob", "nuts")]
    assert list(owns.query(select(y).where(Owns("ada", y, ANY)))) == [("acme",)]


def test_aggregates(owns: stratalog.Client) -> None:
    assert owns.query(select(count(Owns))).one() == (5,)
    assert owns.query(select(count_distinct(Owns.owned), min_(Owns.share), max_(Owns.share))).one() == (
        4,
        0.1,
        1.0,
    )
    by_owned = select(Owns.owned, sum_(known(Owns.share) * 10), count(Owns.owner)).order_by(
        desc(sum_(known(Owns.share) * 10)), asc(Owns.owned)
    )
    assert by_owned.names == ["owned", "sum", "count_owner"]
    assert list(owns.query(by_owned)) == [
        ("bolts", 10.0, 2),
        ("nuts", 10.0, 1),
        ("acme", 6.0, 1),
        ("void", None, 1),
    ]
    assert owns.query(select(avg(Owns.share)).where(Owns.owned == "bolts")).one() == (0.5,)
    spread = select(median(Owns.share), quantile(Owns.share, 0.25), stddev(Owns.share))
    shares = [share for (_, _, share) in owns.query("?O, W, S <- owns(O, W, S)").rows() if share is not None]
    assert owns.query(spread).one() == pytest.approx(
        (statistics.median(shares), float(np.quantile(shares, 0.25)), statistics.stdev(shares))
    )
    bolts = select(string_agg(Owns.owner, "/")).where(Owns.owned == "bolts")
    owners = sorted(owner for (owner,) in owns.query('?O <- owns(O, "bolts", _)').rows())
    assert owns.query(bolts).one() == ("/".join(owners),)
    ends = select(first(Owns.owner), last(Owns.owner), collect(Owns.owner)).where(Owns.owned == "bolts")
    assert owns.query(ends).one() == (owners[0], owners[-1], owners)
    with pytest.raises(ValueError, match="from 0 to 1"):
        quantile(Owns.share, 90)


def test_negation_and_null(owns: stratalog.Client) -> None:
    def owners(*conditions: bool) -> list[str]:
        return [name for (name,) in owns.query(select(Owns.owner).where(*conditions).order_by(Owns.owner))]

    assert owners(not_(Person(Owns.owner, ANY))) == ["acme", "bolts", "eve"]
    assert owners(is_null(Owns.share)) == ["eve"]
    assert owners(not_(is_null(Owns.share))) == ["acme", "ada", "bob", "bolts"]
    assert owners(not_(Owns.share == 1.0), not_(is_null(Owns.share))) == ["acme", "ada", "bob"]
    assert [name for (name,) in owns.query(select(Person.name).where(Person(Person.name, None)))] == ["bob"]
    assert owners(Owns.share == None) == []  # noqa: E711 - what it means is what is tested


def test_one_of_several(owns: stratalog.Client) -> None:
    query = select(Owns.owned).where(is_in(Owns.owner, ["ada", "bob", "x"])).order_by(Owns.owned)
    assert list(owns.query(query)) == [("acme",), ("bolts",)]
    # Numbers by value, as with ==.
    assert list(owns.query(select(Owns.owner).where(is_in(Owns.share, [1, 0.1])).order_by(Owns.owner))) == [
        ("bob",),
        ("bolts",),
    ]
    assert list(owns.query(select(Owns.owner).where(is_in(Owns.owner, [])))) == []
    with pytest.raises(TypeError, match="not both"):
        owns.query(select(Owns.owner).where(is_in(Owns.owner, ["a", 1])))


def test_times_are_compared(owns: stratalog.Client) -> None:
    query = select(Person.name).where(Person.born < date(1900, 1, 1))  # type: ignore[operator]
    assert owns.query(query).one() == ("ada",)


# Rules


def test_recursion_with_variables(owns: stratalog.Client) -> None:
    x, y, z = variables(str, str, str)
    share = variable(float)
    owns.define(
        rule(Controls(x, y), Owns(x, y, share), share > 0.5),
        rule(Controls(x, z), Controls(x, y), Owns(y, z, share), share > 0.5),
    )
    assert owns.rules.clauses("controls") == [
        "controls(Owner, Owned) <- owns(Owner, Owned, Share), Share > 0.5",
        "controls(Owner, Owned) <- controls(Owner, Owned2), owns(Owned2, Owned, Share), Share > 0.5",
    ]
    assert list(
        owns.query(select(Controls.owned).where(Controls.owner == "ada").order_by(Controls.owned))
    ) == [
        ("acme",),
        ("bolts",),
        ("nuts",),
    ]
    assert owns.rules.graph().recursive("controls")


def test_recursion_with_columns(owns: stratalog.Client) -> None:
    owns.define(
        rule(Controls(Owns.owner, Owns.owned), known(Owns.share) > 0.5),
        rule(Controls(Controls.owner, Owns.owned), Controls.owned == Owns.owner, known(Owns.share) > 0.5),
        scope="session",
    )
    assert owns.rules.all() == []
    assert owns.query(select(count(Controls))).one() == (6,)


def test_rules_with_aggregates_negation_and_constants(owns: stratalog.Client) -> None:
    class Alone(Relation):
        owner: str
        why: str

    owns.define(
        rule(Total(Owns.owner, sum_(Owns.share), count(Owns.owned)), Owns),
        rule(Alone(Owns.owner, 'nobody "owns" it'), not_(Owns(ANY, Owns.owner, ANY))),
    )
    assert owns.query(select(Total).where(Total.owner == "ada")).one() == Total("ada", 0.6, 1)
    assert {found.owner for found in owns.query(select(Alone))} == {"ada", "bob", "eve"}
    assert owns.query(select(Alone.why).limit(1)).one() == ('nobody "owns" it',)


def test_rules_are_defined_together_or_not_at_all(owns: stratalog.Client) -> None:
    x, y = variables(str, str)
    with pytest.raises(stratalog.ProgramError):
        owns.define(
            rule(Controls(x, y), Owns(x, y, ANY)),
            rule(Controls(x, y), Owns(x, ANY, ANY), not_(Owns(y, x, ANY))),
        )
    assert owns.rules.all() == []


# Changes


def test_delete_and_update(owns: stratalog.Client) -> None:
    assert owns.execute(delete(Owns).where(known(Owns.share) < 0.2)).messages == ["deleted 1 fact from owns"]
    owns.execute(update(Owns, share=known(Owns.share) / 2).where(Owns.owner == "ada"))
    assert owns.query(select(Owns.share).where(Owns.owner == "ada")).one() == (0.3,)
    owns.execute(update(Owns, owned="sold", share=None).where(Person(Owns.owner, ANY)))
    assert owns.query(select(Owns).where(Owns.owned == "sold")).one() == Owns("ada", "sold", None)
    owns.delete(Owns, [Owns("ada", "sold", None)])
    owns.execute(delete(Owns).where(Owns))
    assert len(owns.query(select(Owns))) == 0
    with owns.transaction() as t:
        t.declare(Total)
        t.insert(Owns, OWNS)
        t.execute(delete(Owns).where(Owns.owner == "ada"))
        t.execute(delete(Owns).where(Owns.owner == "bob"))
        t.define(rule(Total(Owns.owner, sum_(Owns.share), count(Owns.owned)), Owns))
    assert {each.owner for each in owns.query(select(Total))} == {"acme", "bolts", "eve"}


# What is refused


def test_mistakes_are_found_in_python() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(Owns.share)
    with pytest.raises(TypeError, match="no truth value"):
        0 < Owns.share < 1  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError, match="commas in between"):
        (Owns.owner == "a") & (Owns.owner == "b")
    with pytest.raises(TypeError, match="a rule for each"):
        (Owns.owner == "a") | (Owns.owner == "b")
    with pytest.raises(AttributeError, match=r"Owns\.owner has no upper.*stratalog\.functions"):
        Owns.owner.upper()
    with pytest.raises(TypeError, match="worked out in Python"):
        str(select(Owns).where(False))
    with pytest.raises(ValueError, match="cannot be ordered"):
        select(Owns.owner).order_by(Owns.share)
    with pytest.raises(TypeError, match="is a fact"):
        rule(Controls("a", "b"))
    with pytest.raises(TypeError, match="write the opposite"):
        not_(Owns.share > 1)  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"where\(Owns\)"):
        str(delete(Owns))
    with pytest.raises(TypeError, match="no column prize"):
        update(Owns, prize=1)
    with pytest.raises(TypeError, match="cannot hold is_in"):
        str(rule(Controls(Owns.owner, Owns.owned), is_in(Owns.owner, ["a"])))
    with pytest.raises(TypeError, match="an aggregate is a column"):
        str(select(Owns.owner).where(count(Owns.owned) > 1))
    with pytest.raises(TypeError, match="takes no params"):
        stratalog.client.parts(select(Owns), {"x": 1})


def test_streams_and_plans_of_composed_queries(owns: stratalog.Client) -> None:
    with owns.stream(select(Owns.owner, Owns.share).where(known(Owns.share) > 0.5)) as stream:
        assert sorted(stream.rows()) == [("acme", 0.9), ("ada", 0.6), ("bolts", 1.0)]
    ordered = select(Owns).where(known(Owns.share) > 0.5).order_by(desc(Owns.share))
    assert str(ordered) == "?Owner, Owned, Share:desc <- owns(Owner, Owned, Share), Share > $p1"
    with owns.stream(ordered) as stream:
        assert stream.columns == ["owner", "owned", "share"]
        assert [found.owner for found in stream.objects(Owns)] == ["bolts", "acme", "ada"]
    with pytest.raises(ValueError, match="select them so"):
        owns.stream(select(Owns).order_by(Owns.share, Owns.owner))
    assert "owns" in str(owns.explain(select(Owns)))
    assert "choice_1" in str(owns.explain(select(Owns).where(is_in(Owns.owner, ["ada"])), profile=True))


def test_asyncio(server: LocalServer) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.create_kg(f"relations_{next(_numbers)}")
            await db.declare(Owns, Controls)
            await db.insert(Owns, OWNS)
            x, y = variables(str, str)
            await db.define(rule(Controls(x, y), Owns(x, y, ANY)))
            found = await db.query(select(Controls).where(Controls.owner == "ada"))
            assert found.one() == Controls("ada", "acme")

    asyncio.run(main())
