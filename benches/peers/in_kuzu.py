"""The programs in Cypher, for Kuzu, as far as they are paths and patterns in a graph.

Its shortest paths leave out those that come back to where they began, so a second question asks for these.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import kuzu
import polars as pl
from peer import FACTORS, MODULUS, THREADS, columns, relations, run

#: No path is longer than this.
FURTHEST = 1_000_000
PATH = f"[:E* SHORTEST 1..{FURTHEST}]"
CHEAPEST = f"[e:E* WSHORTEST(w) 1..{FURTHEST}]"


@dataclass
class Question:
    """A pattern, and the columns that it gives."""

    pattern: str
    columns: list[str]


TRIANGLES = "MATCH (a:N)-[:E]->(b:N)-[:E]->(c:N), (a)-[:E]->(c)"

#: A program is questions whose answers have no row in common.
PROGRAMS: dict[str, list[Question]] = {
    "closure": [
        Question(f"MATCH (a:N)-{PATH}->(b:N)", ["a.id", "b.id"]),
        Question(f"MATCH (a:N)-{PATH}->(b:N)-[:E]->(a) WITH DISTINCT a", ["a.id", "a.id"]),
    ],
    "bound": [
        Question(f"MATCH (a:N)-{PATH}->(b:N) WHERE a.start", ["b.id"]),
        Question(f"MATCH (a:N)-{PATH}->(b:N)-[:E]->(a) WHERE a.start WITH DISTINCT a", ["a.id"]),
    ],
    "reach": [
        Question(f"MATCH (a:N)-{PATH}->(b:N) WHERE a.start", ["b.id"]),
        Question("MATCH (a:N) WHERE a.start", ["a.id"]),
    ],
    "shortest-paths": [
        Question(f"MATCH (a:N {{id: 0}})-{CHEAPEST}->(b:N)", ["b.id", "cost(e)"]),
        Question(
            f"MATCH (a:N {{id: 0}})-{CHEAPEST}->(b:N)-[last:E]->(a) WITH a, min(cost(e) + last.w) AS least",
            ["a.id", "least"],
        ),
    ],
    "two-steps": [Question("MATCH (a:N)-[:E]->(:N)-[:E]->(b:N) WITH DISTINCT a, b", ["a.id", "b.id"])],
    "triangles": [Question(TRIANGLES, ["a.id", "b.id", "c.id"])],
    "triangles-counted": [Question(f"{TRIANGLES} WITH count(*) AS number", ["number"])],
}


def load(folder: Path) -> kuzu.Connection:
    files = relations(folder)
    edges = files.get("weighted") or files["edge"]
    edge = pl.read_csv(edges, separator="\t", has_header=False, new_columns=columns(edges))
    node = pl.concat([edge["x"], edge["y"]]).unique().sort().to_frame("id")
    started = pl.read_csv(files["start"], has_header=False).to_series().to_list() if "start" in files else []
    weight = ", w INT64" if "w" in edge.columns else ""
    connection = kuzu.Connection(kuzu.Database(":memory:"), num_threads=THREADS)
    connection.execute("CREATE NODE TABLE N(id INT64 PRIMARY KEY, start BOOL)")
    connection.execute(f"CREATE REL TABLE E(FROM N TO N{weight})")
    connection.execute("COPY N FROM $node", {"node": node.with_columns(start=pl.col("id").is_in(started))})
    connection.execute("COPY E FROM $edge", {"edge": edge})
    connection.execute(f"CALL var_length_extend_max_depth={FURTHEST}")
    return connection


def ask(connection: kuzu.Connection, questions: list[Question], what: str) -> int:
    total = 0
    for question in questions:
        share = " + ".join(
            f"CAST({column}, 'INT64') * {factor}" for column, factor in zip(question.columns, FACTORS, strict=False)
        )
        asked = connection.execute(f"{question.pattern} RETURN {what.format(share=share)}")
        assert isinstance(asked, kuzu.QueryResult)
        [number] = asked.get_next()
        total += int(number or 0)
    return total


def evaluate(connection: kuzu.Connection, questions: list[Question]) -> int:
    return ask(connection, questions, "count(*)")


def checksum(connection: kuzu.Connection, questions: list[Question]) -> int:
    return ask(connection, questions, f"sum(({{share}}) % {MODULUS})")


if __name__ == "__main__":
    run(PROGRAMS, load, evaluate, checksum)
