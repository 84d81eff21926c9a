"""Rankings and searches composed in Python: their program and its answer."""

from __future__ import annotations

import pytest

import stratalog
from stratalog import (
    ANY,
    Relation,
    asc,
    count,
    desc,
    functions,
    hnsw_nearest,
    is_in,
    known,
    rule,
    select,
    variable,
    variables,
)


class Sale(Relation):
    region: str
    id: int
    amount: int | None


class Best(Relation):
    region: str
    id: int
    amount: int


class Doc(Relation):
    id: int
    title: str
    v: list[float]


class Visible(Relation):
    user: str
    id: int


SALES = [Sale("n", 1, 10), Sale("n", 2, 20), Sale("s", 3, 5), Sale("s", 4, 7), Sale("w", 5, None)]


@pytest.fixture
def sales(db: stratalog.Client) -> stratalog.Client:
    db.declare(Sale, Best)
    db.insert(Sale, SALES)
    return db


def test_the_best_come_first(sales: stratalog.Client) -> None:
    query = select(Sale).top_k(3, desc(Sale.amount))
    assert str(query) == (
        "ranked_1(top_k<$p1, Region, Id, Amount:desc>) <- sale(Region, Id, Amount)\n"
        "?Region, Id, Amount:desc <- ranked_1(Region, Id, Amount)"
    )
    assert list(sales.query(query)) == [Sale("n", 2, 20), Sale("n", 1, 10), Sale("s", 4, 7)]
    # The largest are the best if nothing is said.
    assert sorted(sales.query(select(Sale.id).where(Sale.region == "n"))) == [(1,), (2,)]
    assert list(sales.query(select(Sale.id, Sale.amount).top_k(1, Sale.amount))) == [(2, 20)]
    assert list(sales.query(select(Sale.id, Sale.amount).top_k(1, asc(Sale.amount)))) == [(3, 5)]
    assert list(sales.query(select(Sale).top_k(0, Sale.amount))) == []


def test_the_best_of_each_group(sales: stratalog.Client) -> None:
    best = select(Sale.amount, Sale.region, Sale.id).top_k(1, desc(Sale.amount), per=Sale.region)
    assert list(sales.query(best)) == [(20, "n", 2), (7, "s", 4)]
    assert list(sales.query(best.order_by(asc(Sale.amount)))) == [(7, "s", 4), (20, "n", 2)]
    assert list(sales.query(best.order_by(desc(Sale.region)).limit(1))) == [(7, "s", 4)]
    assert sales.query(best).columns == ["amount", "region", "id"]
    assert list(sales.query(best.where(known(Sale.amount) < 20))) == [(10, "n", 1), (7, "s", 4)]
    both = select(Sale).top_k(1, Sale.amount, per=[Sale.region, Sale.id])
    assert len(sales.query(both)) == 4
    with sales.stream(select(Sale).top_k(1, Sale.amount, per=Sale.region)) as stream:
        assert list(stream.objects(Sale)) == [Sale("n", 2, 20), Sale("s", 4, 7)]


def test_thresholds_and_radius(sales: stratalog.Client) -> None:
    query = select(Sale.id, Sale.amount)
    assert list(sales.query(query.top_k_threshold(5, 7, Sale.amount))) == [(2, 20), (1, 10), (4, 7)]
    assert list(sales.query(query.top_k_threshold(1, 7.5, asc(Sale.amount)))) == [(3, 5)]
    assert list(sales.query(query.within_radius(7.5, Sale.amount))) == [(3, 5), (4, 7)]
    assert list(sales.query(query.within_radius(7.5, desc(Sale.amount)))) == [(3, 5), (4, 7)]


def test_what_is_computed_can_rank(sales: stratalog.Client) -> None:
    far = functions.abs(known(Sale.amount) - 9)
    query = select(Sale.id, far).where(is_in(Sale.region, ["n", "s"])).top_k(2, asc(far))
    assert list(sales.query(query)) == [(1, 1), (4, 2)]


def test_rules_rank(sales: stratalog.Client) -> None:
    sold = rule(Best(Sale.region, Sale.id, known(Sale.amount)), Sale)
    best = sold.top_k(1, desc(Sale.amount), per=Sale.region)
    assert str(best) == "+best(Region, top_k<$p1, Id, Amount:desc>) <- sale(Region, Id, Amount)"
    sales.define(best)
    assert sales.rules.clauses("best") == [
        "best(Region, top_k<1, Id, Amount:desc>) <- sale(Region, Id, Amount)"
    ]
    assert sorted(sales.query(select(Best)), key=str) == [Best("n", 2, 20), Best("s", 4, 7)]


def test_what_makes_no_ranking_is_told(sales: stratalog.Client) -> None:
    with pytest.raises(ValueError, match=r"Sale.amount is none of the columns"):
        str(select(Sale.id).top_k(1, Sale.amount))
    with pytest.raises(ValueError, match=r"Sale.region is none of the columns"):
        str(select(Sale.id).top_k(1, Sale.id, per=Sale.region))
    with pytest.raises(ValueError, match="ranks nothing"):
        str(select(Sale).top_k(1, Sale.region, per=Sale.region))
    with pytest.raises(TypeError, match="stands alone"):
        str(select(Sale.region, count(Sale)).top_k(1, count(Sale)))
    x, y, z = variables(str, int, int)
    with pytest.raises(TypeError, match="cannot stand between"):
        str(rule(Best(x, y, z), Sale(x, y, z)).top_k(1, z, per=y))
    for k in (-1, True, 1.5):
        with pytest.raises(ValueError, match="number of rows"):
            select(Sale).top_k(k, Sale.amount)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a number"):
        select(Sale).within_radius("far", Sale.amount)  # type: ignore[arg-type]


@pytest.fixture
def docs(db: stratalog.Client) -> stratalog.Client:
    db.declare(Doc, Visible)
    db.insert(
        Doc,
        [Doc(1, "origin", [0, 0]), Doc(2, "east", [1, 0]), Doc(3, "north", [0, 2]), Doc(4, "far", [9, 9])],
    )
    db.insert(Visible, [Visible("ann", 3), Visible("ann", 4), Visible("bob", 1)])
    db.execute(".index create near_docs on doc(v) type hnsw metric l2")
    return db


def test_the_nearest_rows(docs: stratalog.Client) -> None:
    distance = variable(float)
    query = select(Doc.title, distance).where(hnsw_nearest("near_docs", [0, 0], 2, Doc.id, distance))
    assert str(query) == ("?Title, Distance <- doc(Id, Title, _), hnsw_nearest($p1, $p2, $p3, Id, Distance)")
    assert sorted(docs.query(query)) == [("east", 1.0), ("origin", 0.0)]
    # Facts about what is found count before the nearest are chosen.
    mine = select(Doc.title).where(
        hnsw_nearest("near_docs", [0, 0], 1, Doc.id, candidates=50), Visible("ann", Doc.id)
    )
    assert list(docs.query(mine)) == [("north",)]
    user, found = variables(str, int)
    each = select(user, found).where(
        hnsw_nearest("near_docs", [0, 0], 1, found, per=user), Visible(user, found)
    )
    assert "hnsw_nearest_each(X, $p1" in str(each)
    assert sorted(docs.query(each)) == [("ann", 3), ("bob", 1)]
    # Of all together, wherever it says who.
    together = select(user, found).where(
        Visible(user, ANY), hnsw_nearest("near_docs", [0, 0], 1, found), Visible(user, found)
    )
    assert sorted(docs.query(together)) == [("bob", 1)]
    with pytest.raises(TypeError, match="per column or variable"):
        str(select(Doc.id).where(hnsw_nearest("near_docs", [0, 0], 1, Doc.id, per="ann")))
    assert list(docs.query(query.order_by(desc(distance)))) == [("east", 1.0), ("origin", 0.0)]
    with pytest.raises(TypeError, match="binds columns and variables"):
        str(select(Doc.id).where(hnsw_nearest("near_docs", [0, 0], 1, Doc.id, 0.5)))


def test_without_an_index_distances_rank(docs: stratalog.Client) -> None:
    far = functions.euclidean(Doc.v, [0, 0])
    query = select(Doc.title, far).top_k(2, asc(far))
    assert list(docs.query(query)) == [("origin", 0.0), ("east", 1.0)]
    assert list(docs.query(select(Doc.title, far).within_radius(1, far))) == [("origin", 0.0), ("east", 1.0)]
