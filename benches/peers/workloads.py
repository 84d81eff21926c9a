"""What every engine is asked: the facts, the rules in our language, and the same in SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import generate
from generate import Table

CLOSURE = """
+reach(X, Y) <- edge(X, Y)
+reach(X, Z) <- reach(X, Y), edge(Y, Z)
"""
CLOSURE_SQL = """
WITH RECURSIVE reach(x, y) AS (
  SELECT * FROM edge UNION SELECT reach.x, edge.y FROM reach JOIN edge ON reach.y = edge.x
) SELECT count(*) FROM reach
"""
SAME_GENERATION = """
+same(X, Y) <- parent(X, P), parent(Y, P), X != Y
+same(X, Y) <- parent(X, A), same(A, B), parent(Y, B)
"""
SAME_GENERATION_SQL = """
WITH RECURSIVE same(x, y) AS (
  SELECT a.x, b.x FROM parent a JOIN parent b ON a.y = b.y WHERE a.x <> b.x
  UNION
  SELECT a.x, b.x FROM same JOIN parent a ON a.y = same.x JOIN parent b ON b.y = same.y
) SELECT count(*) FROM same
"""
POINTS_TO = """
+pt(Y, X) <- new(Y, X)
+pt(Y, W) <- assign(Y, Z), pt(Z, W)
+pt(Y, W) <- load(Y, X), pt(X, Z), pt(Z, W)
+pt(Z, W) <- store(X, Y), pt(X, Z), pt(Y, W)
"""
VALUE_FLOW = """
+flow(Y, X) <- assign(Y, X)
+flow(X, X) <- assign(X, _)
+flow(X, X) <- assign(_, X)
+flow(X, Y) <- flow(X, Z), flow(Z, Y)
+flow(X, Y) <- assign(X, Z), memory(Z, Y)
+memory(X, W) <- dereference(Y, X), alias(Y, Z), dereference(Z, W)
+memory(X, X) <- assign(_, X)
+memory(X, X) <- assign(X, _)
+alias(X, Y) <- flow(Z, X), flow(Z, Y)
+alias(X, Y) <- flow(Z, X), memory(Z, W), flow(W, Y)
"""
REACHED = """
+reached(X) <- start(X)
+reached(Y) <- reached(X), edge(X, Y)
"""
COMPONENTS = """
+label(X, min<Y>) <- edge(X, Y)
+label(Y, min<X>) <- edge(X, Y)
+label(Y, min<L>) <- label(X, L), edge(X, Y)
+label(X, min<L>) <- label(Y, L), edge(X, Y)
"""
TRIANGLES = "+triangle(X, Y, Z) <- edge(X, Y), edge(Y, Z), edge(X, Z)\n"
STAR = "+total(R, G, sum<Q>) <- order(I, C, P, Q), customer(C, R), product(P, G)\n"


@dataclass(frozen=True)
class Workload:
    """One line of the table."""

    name: str
    facts: Callable[[], dict[str, Table]]
    rules: str
    question: str
    sql: str | None = None
    #: The goal: our time of evaluation as a share of the best peer's.
    goal: float = 1.0
    schema: dict[str, str] = field(default_factory=dict)


def closure(name: str, facts: Callable[[], dict[str, Table]], goal: float) -> Workload:
    return Workload(name, facts, CLOSURE, "?reach(X, Y)", CLOSURE_SQL, goal)


WORKLOADS = [
    closure("closure-2000-4000", lambda: generate.random_graph(2_000, 4_000), 0.05),
    closure("closure-1000-10000", lambda: generate.random_graph(1_000, 10_000), 0.05),
    closure("closure-10000-30000", lambda: generate.random_graph(10_000, 30_000), 0.02),
    closure("closure-dag", lambda: generate.scale_free_dag(50_000, 150_000), 0.1),
    closure("closure-chain", lambda: generate.chain(3_000), 0.1),
    Workload(
        "same-generation-graph",
        lambda: generate.generations(2_000, 6_000),
        SAME_GENERATION,
        "?same(X, Y)",
        SAME_GENERATION_SQL,
        0.1,
    ),
    Workload(
        "same-generation-tree",
        lambda: generate.tree(8_000),
        SAME_GENERATION,
        "?same(X, Y)",
        SAME_GENERATION_SQL,
        0.15,
    ),
    Workload(
        "points-to",
        lambda: generate.points_to(180_000),
        POINTS_TO,
        "?pt(X, Y)",
        goal=0.2,
    ),
    Workload(
        "value-flow",
        lambda: generate.value_flow(156_000),
        VALUE_FLOW,
        "?alias(X, Y)",
        goal=0.2,
    ),
    Workload(
        "reach",
        lambda: generate.reachable(1_000_000, 5_000_000),
        REACHED,
        "?reached(X)",
        """WITH RECURSIVE reached(x) AS (
             SELECT x FROM start UNION SELECT edge.y FROM reached JOIN edge ON reached.x = edge.x
           ) SELECT count(*) FROM reached""",
        0.33,
    ),
    Workload(
        "unreachable",
        lambda: generate.reachable(1_000_000, 5_000_000),
        REACHED + "+unreached(X) <- node(X), !reached(X)\n",
        "?unreached(X)",
        """WITH RECURSIVE reached(x) AS (
             SELECT x FROM start UNION SELECT edge.y FROM reached JOIN edge ON reached.x = edge.x
           ) SELECT count(*) FROM node WHERE x NOT IN (SELECT x FROM reached)""",
        0.33,
    ),
    Workload(
        "components",
        lambda: generate.weighted_graph(200_000, 1_000_000),
        COMPONENTS,
        "?label(X, L)",
        """WITH RECURSIVE label(x, l) USING KEY (x) AS (
             SELECT x, min(y) FROM (SELECT x, y FROM edge UNION ALL SELECT y, x FROM edge) GROUP BY x
             UNION
             SELECT both.y, min(label.l)
             FROM label JOIN (SELECT x, y FROM edge UNION ALL SELECT y, x FROM edge) both ON both.x = label.x
             JOIN recurring.label old ON old.x = both.y
             WHERE label.l < old.l GROUP BY both.y
           ) SELECT count(*) FROM label""",
        0.5,
    ),
    Workload(
        "shortest-paths",
        lambda: generate.weighted_graph(200_000, 1_000_000),
        """
+distance(Y, min<D>) <- weighted(0, Y, D)
+distance(Y, min<D>) <- distance(X, E), weighted(X, Y, W), D = E + W
""",
        "?distance(X, D)",
        """WITH RECURSIVE distance(x, d) USING KEY (x) AS (
             SELECT y, min(w) FROM weighted WHERE x = 0 GROUP BY y
             UNION
             SELECT weighted.y, min(distance.d + weighted.w)
             FROM distance JOIN weighted ON weighted.x = distance.x
             LEFT JOIN recurring.distance old ON old.x = weighted.y
             WHERE old.d IS NULL OR distance.d + weighted.w < old.d GROUP BY weighted.y
           ) SELECT count(*) FROM distance""",
        0.5,
    ),
    Workload(
        "triangles",
        lambda: generate.power_law(100_000, 1_000_000),
        TRIANGLES,
        "?triangle(X, Y, Z)",
        """SELECT count(*) FROM (SELECT a.x, a.y, b.y AS z FROM edge a JOIN edge b ON a.y = b.x
           JOIN edge c ON c.x = a.x AND c.y = b.y)""",
        0.33,
    ),
    Workload(
        "star-sum",
        lambda: generate.orders(10_000_000),
        STAR,
        "?total(R, G, Q)",
        """SELECT count(*) FROM (SELECT customer.y, product.y, sum("order".q) FROM "order"
           JOIN customer ON customer.x = "order".c JOIN product ON product.x = "order".p
           GROUP BY customer.y, product.y)""",
        1.0,
        {"order": "x, c, p, q"},
    ),
    Workload(
        "difference",
        lambda: generate.two_sets(1_000_000),
        "+rest(X) <- left(X), !right(X)\n",
        "?rest(X)",
        'SELECT count(*) FROM (SELECT x FROM "left" EXCEPT SELECT x FROM "right")',
        0.5,
    ),
    Workload(
        "bound-2000-4000",
        lambda: generate.random_graph(2_000, 4_000),
        CLOSURE,
        "?reach(7, Y)",
        """WITH RECURSIVE reach(y) AS (
             SELECT y FROM edge WHERE x = 7 UNION SELECT edge.y FROM reach JOIN edge ON reach.y = edge.x
           ) SELECT count(*) FROM reach""",
        0.25,
    ),
    Workload(
        "bound-dag",
        lambda: generate.scale_free_dag(50_000, 150_000),
        CLOSURE,
        "?reach(49999, Y)",
        """WITH RECURSIVE reach(y) AS (
             SELECT y FROM edge WHERE x = 49999 UNION SELECT edge.y FROM reach JOIN edge ON reach.y = edge.x
           ) SELECT count(*) FROM reach""",
        0.25,
    ),
]
