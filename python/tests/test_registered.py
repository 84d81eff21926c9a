"""Relations that are there for one client: frames and files beside the graph."""

from __future__ import annotations

import asyncio
from pathlib import Path

import polars as pl
import pytest

import stratalog


@pytest.fixture
def prices() -> pl.DataFrame:
    """What somebody has at hand."""
    return pl.DataFrame({"item": ["nut", "bolt", "nail"], "cents": [3, 12, None]})


def test_a_frame_is_joined_with_what_is_stored_and_nothing_is_kept(
    db: stratalog.Client, prices: pl.DataFrame
) -> None:
    db.insert("stock", [("nut", 100), ("bolt", 5)])
    assert db.register("price", prices) == (3, 0)
    worth = db.query("?Item, W <- stock(Item, N), price(Item, C), W = N * C")
    assert sorted(worth) == [("bolt", 60), ("nut", 300)]
    assert {relation.name for relation in db.relations.all()} == {"stock"}
    with db.kg(str(db.kg)) as other, pytest.raises(stratalog.UnknownRelation):
        other.query("?price(Item, C)")
    db.unregister("price")
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?price(Item, C)")
    db.unregister("price")


def test_a_name_that_is_registered_again_has_the_new_rows(db: stratalog.Client, prices: pl.DataFrame) -> None:
    db.register("price", prices)
    # With other columns, too.
    db.register("price", [("nut", 4, "EUR")])
    assert db.query("?price(Item, C, Currency)").rows() == [("nut", 4, "EUR")]
    db.register("price", prices.filter(pl.col("cents") > 100))
    assert db.query("?price(Item, C)").rows() == []


def test_rules_of_the_session_read_it(db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2), (2, 3)])
    db.register("start", [2])
    for rule in ("near(Y) <- start(X), edge(X, Y)", "near(Y) <- near(X), edge(X, Y)"):
        db.execute(rule)
    assert db.query("?near(X)").rows() == [(3,)]
    db.register("start", [1])
    assert sorted(db.query("?near(X)")) == [(2,), (3,)]


def test_columns_are_chosen_and_ordered(db: stratalog.Client, prices: pl.DataFrame) -> None:
    db.register("price", prices, columns=["cents", "item"])
    assert sorted(db.query("?price(C, Item), C > 0")) == [(3, "nut"), (12, "bolt")]


def test_a_file_is_registered_as_a_frame_is(
    db: stratalog.Client, prices: pl.DataFrame, tmp_path: Path
) -> None:
    prices.write_parquet(tmp_path / "price.parquet")
    prices.write_csv(tmp_path / "price.csv")
    for file in ("price.parquet", "price.csv"):
        db.register("price", tmp_path / file)
        assert sorted(db.query("?price(Item, C), C > 0")) == [("bolt", 12), ("nut", 3)]
    assert db.relations.all() == []


def test_a_relation_of_the_graph_is_never_mixed_with_it(db: stratalog.Client) -> None:
    db.insert("price", [("nut", 1)])
    db.execute("+cheap(X) <- price(X, C), C < 5")
    for name in ("price", "cheap"):
        with pytest.raises(stratalog.AlreadyExists, match="one relation"):
            db.register(name, [("bolt", 12)])
    assert db.query("?price(X, C)").rows() == [("nut", 1)]
    # Nor is anything of the session lost by it.
    db.insert("price", [("own", 2)], scope="session")
    with pytest.raises(stratalog.AlreadyExists):
        db.register("price", [("bolt", 12)])
    assert sorted(db.query("?price(X, C)")) == [("nut", 1), ("own", 2)]


def test_what_is_no_name_is_refused(db: stratalog.Client) -> None:
    with pytest.raises(ValueError):
        db.register("no name", [1])


def test_it_ends_with_the_graph_that_it_was_beside(db: stratalog.Client) -> None:
    home = str(db.kg)
    db.register("price", [("nut", 3)])
    db.create_kg(f"{home}_other")
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?price(X, C)")
    db.use(home)
    db.graphs.drop(f"{home}_other")


def test_asyncio_has_it_too() -> None:
    async def main() -> None:
        async with await stratalog.open_async() as db:
            await db.register("price", [("nut", 3)])
            await db.register("price", [("nut", 4)])
            assert (await db.query("?price(X, C)")).rows() == [("nut", 4)]
            await db.unregister("price")
            with pytest.raises(stratalog.UnknownRelation):
                await db.query("?price(X, C)")

    asyncio.run(main())
