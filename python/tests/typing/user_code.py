# pyright: strict
"""What users write, for `test_typing.py`: mypy --strict and pyright must find nothing here.

`assert_type` pins what is known of an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_type

import stratalog
from stratalog import ANY, Relation, Rows, count, desc, functions, known, not_, rule, select, sum_, variables


class Owns(Relation):
    owner: str
    owned: str
    share: float = 1.0
    since: datetime | None = None


class Controls(Relation, name="controls"):
    owner: str
    owned: str


@dataclass
class Edge:
    source: int
    target: int


def connected(url: str) -> None:
    with stratalog.connect(url, user="admin", password="secret", kg="lab", timeout=5, reconnect=0) as db:
        assert_type(db, stratalog.Client)
        name: str = db.kg
        with db.kg(name) as other:
            assert_type(other, stratalog.Client)
        result = db.query("?edge(X, Y)", {"x": 1}, limit=10)
        assert_type(result, stratalog.Result)
        for row in result:
            assert_type(row, tuple[Any, ...])
        assert_type(result.objects(Edge), list[Edge])
        for role in {user.role for user in db.users.all()}:
            assert role in ("admin", "editor", "viewer")
        db.users.create("ada", "password", "viewer")
        counts = db.insert("edge", [(1, 2), (2, 3)], progress=lambda rows, total: None)
        assert_type(counts.inserted, int)
        db.insert(Owns, [Owns("ada", "acme")])
        db.insert("edge", "edges.parquet")
        with db.transaction() as t:
            t.insert(Owns, [Owns("ada", "acme", 0.5)])
            t.execute("+p($x)", {"x": 1})
        with db.stream("?edge(X, Y)") as stream:
            for batch in stream:
                assert_type(batch, stratalog.Result)
        try:
            db.query("?nothing(X)")
        except stratalog.UnknownRelation as error:
            if error.span is not None:
                print(error.span.line, error.help)
        for event in db.events():
            match event:
                case stratalog.Gap():
                    break
                case stratalog.Event(type="persistent_update", name=relation):
                    print(relation.upper())
                case _:
                    pass


def composed(db: stratalog.Client) -> None:
    assert_type(Owns("ada", "acme").share, float)
    found = db.query(select(Owns).where(Owns.share > 0.5, Owns.owner == "ada").order_by(desc(Owns.share)))
    assert_type(found, Rows[Owns])
    assert_type(found[0].owner, str)
    assert_type(found.first(), Owns | None)
    totals = db.query(
        select(Owns.owner, sum_(Owns.share), count(Owns)).where(not_(Controls(ANY, Owns.owner)))
    )
    for owner, shares, companies in totals:
        assert_type((owner, shares, companies), tuple[str, float, int])
    assert_type(db.query(select(functions.upper(Owns.owner))).one(), tuple[str])
    db.query(select(Owns).where(known(Owns.since) > datetime(2020, 1, 1)))
    best = select(Owns.owner, Owns.share).top_k(3, desc(Owns.share), per=Owns.owner)
    assert_type(db.query(best).one(), tuple[str, float])
    assert_type(db.query(select(Owns).within_radius(0.5, Owns.share)), Rows[Owns])
    assert_type(rule(Controls(Owns.owner, Owns.owned)).top_k_threshold(1, 0.5, Owns.owned), stratalog.Rule)
    x, y, z = variables(str, str, str)
    assert_type(x, str)
    near = select(x).where(stratalog.hnsw_nearest("near", [0.5, 1], 10, x))
    assert_type(near, stratalog.Select[tuple[str]])
    db.declare(Owns, Controls)
    db.define(
        rule(Controls(x, y), Owns(x, y, ANY, ANY)),
        rule(Controls(x, z), Controls(x, y), Owns(y, z, ANY, ANY)),
        rule(Controls(Owns.owner, Owns.owned), Owns.share > 0.5),
    )
    db.execute(stratalog.delete(Owns).where(Owns.share < 0.1))
    db.execute(stratalog.update(Owns, share=Owns.share * 2).where(Owns.owner == "ada"))


async def asynchronous(url: str) -> None:
    async with await stratalog.connect_async(url, api_key="key") as db:
        assert_type(db, stratalog.AsyncClient)
        assert_type(await db.query(select(Owns)), Rows[Owns])
        assert_type(await db.query("?edge(X, Y)"), stratalog.Result)
        async with db.transaction() as t:
            await t.insert("edge", [(1, 2)])
        async with await db.stream("?edge(X, Y)") as stream:
            async for batch in stream:
                assert_type(batch, stratalog.Result)
        async with await db.kg("lab") as other:
            assert_type(other, stratalog.AsyncClient)
        async for event in db.events():
            print(event)
