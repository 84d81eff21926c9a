"""The programs in SQL, for DuckDB: recursive common table expressions, with keys where rows are replaced."""

from __future__ import annotations

from pathlib import Path

import duckdb
from peer import FACTORS, MODULUS, THREADS, columns, relations, run

REACHED = """
    WITH RECURSIVE reached(x) AS (
        SELECT x FROM start UNION SELECT edge.y FROM reached JOIN edge ON edge.x = reached.x
    )"""
TRIANGLES = """
    SELECT {answer} FROM edge a JOIN edge b ON b.x = a.y JOIN edge c ON c.x = a.x AND c.y = b.y"""

PROGRAMS = {
    "closure": """
        WITH RECURSIVE reach(x, y) AS (
            SELECT x, y FROM edge
            UNION SELECT reach.x, edge.y FROM reach JOIN edge ON edge.x = reach.y
        ) SELECT x, y FROM reach""",
    "same-generation": """
        WITH RECURSIVE same(x, y) AS (
            SELECT a.x, b.x FROM parent a JOIN parent b ON a.y = b.y WHERE a.x <> b.x
            UNION SELECT a.x, b.x FROM same JOIN parent a ON a.y = same.x JOIN parent b ON b.y = same.y
        ) SELECT x, y FROM same""",
    # All columns are the key, so that `recurring.pt` is all that is known: loads and stores join new rows with it.
    "points-to": """
        WITH RECURSIVE pt(y, x) USING KEY (y, x) AS (
            SELECT x, y FROM new
            UNION SELECT y, x FROM (
                SELECT assign.x, pt.x FROM pt JOIN assign ON assign.y = pt.y
                UNION SELECT load.x, r.x FROM pt JOIN load ON load.y = pt.y JOIN recurring.pt r ON r.y = pt.x
                UNION SELECT load.x, pt.x FROM pt JOIN recurring.pt r ON r.x = pt.y JOIN load ON load.y = r.y
                UNION SELECT pt.x, r.x FROM pt JOIN store ON store.x = pt.y JOIN recurring.pt r ON r.y = store.y
                UNION SELECT r.x, pt.x FROM pt JOIN store ON store.y = pt.y JOIN recurring.pt r ON r.y = store.x
            ) found(y, x) WHERE NOT EXISTS (FROM recurring.pt r WHERE r.y = found.y AND r.x = found.x)
        ) SELECT y, x FROM pt""",
    "reach": f"{REACHED} SELECT x FROM reached",
    "unreachable": f"{REACHED} SELECT x FROM node ANTI JOIN reached USING (x)",
    "components": """
        WITH RECURSIVE both_ways AS MATERIALIZED (
            SELECT x, y FROM edge UNION ALL SELECT y, x FROM edge
        ), label(x, l) USING KEY (x) AS (
            SELECT x, min(y) FROM both_ways GROUP BY x
            UNION SELECT both_ways.y, min(label.l)
            FROM label JOIN both_ways ON both_ways.x = label.x JOIN recurring.label old ON old.x = both_ways.y
            WHERE label.l < old.l GROUP BY both_ways.y
        ) SELECT x, l FROM label""",
    "shortest-paths": """
        WITH RECURSIVE distance(x, d) USING KEY (x) AS (
            SELECT y, min(w) FROM weighted WHERE x = 0 GROUP BY y
            UNION SELECT weighted.y, min(distance.d + weighted.w)
            FROM distance JOIN weighted ON weighted.x = distance.x
            LEFT JOIN recurring.distance old ON old.x = weighted.y
            WHERE old.d IS NULL OR distance.d + weighted.w < old.d GROUP BY weighted.y
        ) SELECT x, d FROM distance""",
    "triangles": TRIANGLES.format(answer="a.x, a.y, b.y AS z"),
    "triangles-counted": TRIANGLES.format(answer="count(*) AS n"),
    "two-steps": "SELECT DISTINCT a.x, b.y FROM edge a JOIN edge b ON b.x = a.y",
    "group-sum": 'SELECT c, sum(q) AS s FROM "order" GROUP BY c',
    "group-sum-fine": 'SELECT c, p, sum(q) AS s FROM "order" GROUP BY c, p',
    "star-sum": """
        SELECT r, g, sum(q) AS s FROM "order" JOIN customer USING (c) JOIN product USING (p) GROUP BY ALL""",
    "difference": 'SELECT x FROM "left" ANTI JOIN "right" USING (x)',
    "bound": """
        WITH RECURSIVE reached(x) AS (
            SELECT edge.y FROM start JOIN edge USING (x)
            UNION SELECT edge.y FROM reached JOIN edge ON edge.x = reached.x
        ) SELECT x FROM reached""",
    # As in points-to: pairs that are known stand in `recurring.flow`.
    "dyck": """
        WITH RECURSIVE flow(x, y) USING KEY (x, y) AS (
            SELECT * FROM (
                SELECT x, y FROM plain
                UNION SELECT opens.x, closes.y FROM opens JOIN closes ON closes.x = opens.y AND closes.w = opens.w
            )
            UNION SELECT x, y FROM (
                SELECT opens.x, closes.y FROM flow
                JOIN opens ON opens.y = flow.x JOIN closes ON closes.x = flow.y AND closes.w = opens.w
                UNION SELECT flow.x, r.y FROM flow JOIN recurring.flow r ON r.x = flow.y
                UNION SELECT r.x, flow.y FROM flow JOIN recurring.flow r ON r.y = flow.x
            ) found(x, y) WHERE NOT EXISTS (FROM recurring.flow r WHERE r.x = found.x AND r.y = found.y)
        ) SELECT x, y FROM flow""",
    "access-control": """
        WITH RECURSIVE belongs(u, g) AS (
            SELECT x, y FROM member UNION SELECT u, within.y FROM belongs JOIN within ON within.x = g
        ), allowed(u, d, a) AS (
            SELECT u, d, a FROM belongs JOIN granted USING (g) JOIN clearance ON clearance.x = u AND clearance.y >= n
            UNION SELECT u, inside.x, a FROM allowed JOIN inside ON inside.y = d
        ), refused(u, d, a) AS (
            SELECT u, denied.y, denied.w FROM belongs JOIN denied ON denied.x = g
            UNION SELECT u, inside.x, a FROM refused JOIN inside ON inside.y = d
        )
        SELECT u, d, a FROM allowed ANTI JOIN refused USING (u, d, a)
        JOIN classified ON classified.x = d JOIN clearance ON clearance.x = u AND clearance.y >= classified.y""",
    "timed-paths": """
        WITH RECURSIVE reached(s, x, t) AS (
            SELECT x, x, y FROM origin
            UNION SELECT s, c.y, c.a FROM reached r JOIN connection c ON c.x = r.x AND c.d BETWEEN r.t AND r.t + 30
        ) SELECT s, x, t FROM reached""",
    "earliest-arrival": """
        WITH RECURSIVE reached(s, x, t) USING KEY (s, x) AS (
            SELECT x, x, y FROM origin
            UNION SELECT r.s, c.y, min(c.a) FROM reached r JOIN connection c ON c.x = r.x AND c.d >= r.t
            LEFT JOIN recurring.reached old ON old.s = r.s AND old.x = c.y
            WHERE old.t IS NULL OR c.a < old.t GROUP BY r.s, c.y
        ) SELECT s, x, t FROM reached""",
    "bill-of-materials": """
        WITH need1(b, p, m) AS (SELECT uses.x, uses.y, uses.w FROM uses JOIN bought ON bought.x = uses.y),
        need2(b, p, m) AS (SELECT x, p, sum(w * m) FROM uses JOIN need1 ON b = y GROUP BY x, p),
        need3(b, p, m) AS (SELECT x, p, sum(w * m) FROM uses JOIN need2 ON b = y GROUP BY x, p)
        SELECT x, p, sum(w * m) AS s FROM uses JOIN need3 ON b = y GROUP BY x, p""",
}


def load(folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": THREADS})
    for relation, path in relations(folder).items():
        types = dict.fromkeys(columns(path), "INTEGER")
        read = f"read_csv('{path}', delim = '\t', header = false, columns = {types})"
        connection.execute(f'CREATE TABLE "{relation}" AS FROM {read}')
    return connection


def ask(connection: duckdb.DuckDBPyConnection, what: str, program: str) -> int:
    row = connection.execute(f"SELECT {what} FROM ({program})").fetchone()
    assert row is not None
    return int(row[0])


def evaluate(connection: duckdb.DuckDBPyConnection, program: str) -> int:
    """Counts the rows; the maximum of each column has it computed without keeping it."""
    return ask(connection, "count(*), max(COLUMNS(*))", program)


def checksum(connection: duckdb.DuckDBPyConnection, program: str) -> int:
    answer = connection.sql(program).columns
    share = " + ".join(f"{column}::BIGINT * {factor}" for column, factor in zip(answer, FACTORS, strict=False))
    return ask(connection, f"sum(({share}) % {MODULUS})", program)


if __name__ == "__main__":
    run(PROGRAMS, load, evaluate, checksum)
