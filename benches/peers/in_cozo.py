"""The programs in CozoScript, for CozoDB: Datalog, evaluated semi-naively, with magic sets and recursive minima."""

from __future__ import annotations

import csv
from pathlib import Path

from peer import columns, relations, run
from pycozo.client import Client

REACHED = """
    reached[x] := *start[x]
    reached[y] := reached[x], *edge[x, y]
"""
TRIANGLES = "triangle[x, y, z] := *edge[x, y], *edge[y, z], *edge[x, z]\n"

#: Rules, and the body whose solutions are the answer.
PROGRAMS = {
    "closure": (
        """
        reach[x, y] := *edge[x, y]
        reach[x, z] := reach[x, y], *edge[y, z]
        """,
        "reach[x, y]",
    ),
    "same-generation": (
        """
        same[x, y] := *parent[x, p], *parent[y, p], x != y
        same[x, y] := *parent[x, a], same[a, b], *parent[y, b]
        """,
        "same[x, y]",
    ),
    "points-to": (
        """
        pt[y, x] := *new[y, x]
        pt[y, w] := *assign[y, z], pt[z, w]
        pt[y, w] := *load[y, x], pt[x, z], pt[z, w]
        pt[z, w] := *store[x, y], pt[x, z], pt[y, w]
        """,
        "pt[x, y]",
    ),
    "value-flow": (
        """
        flow[y, x] := *assign[y, x]
        flow[x, x] := *assign[x, _]
        flow[x, x] := *assign[_, x]
        flow[x, y] := flow[x, z], flow[z, y]
        flow[x, y] := *assign[x, z], memory[z, y]
        memory[x, w] := *dereference[y, x], alias[y, z], *dereference[z, w]
        memory[x, x] := *assign[_, x]
        memory[x, x] := *assign[x, _]
        alias[x, y] := flow[z, x], flow[z, y]
        alias[x, y] := flow[z, x], memory[z, w], flow[w, y]
        """,
        "alias[x, y]",
    ),
    "reach": (REACHED, "reached[x]"),
    "unreachable": (REACHED, "*node[x], not reached[x]"),
    "components": (
        """
        label[x, min(y)] := *edge[x, y]
        label[y, min(x)] := *edge[x, y]
        label[y, min(l)] := label[x, l], *edge[x, y]
        label[x, min(l)] := label[y, l], *edge[x, y]
        """,
        "label[x, _]",
    ),
    "shortest-paths": (
        """
        distance[y, min(w)] := *weighted[0, y, w]
        distance[y, min(d)] := distance[x, e], *weighted[x, y, w], d = e + w
        """,
        "distance[x, _]",
    ),
    "triangles": (TRIANGLES, "triangle[x, y, z]"),
    "triangles-counted": (
        TRIANGLES + "counted[count(x)] := triangle[x, y, z]\n",
        "counted[x]",
    ),
    "two-steps": ("two[x, z] := *edge[x, y], *edge[y, z]\n", "two[x, z]"),
    "group-sum": ("total[c, sum(q)] := *order[i, c, p, q]\n", "total[x, _]"),
    "group-sum-fine": ("total[c, p, sum(q)] := *order[i, c, p, q]\n", "total[x, _, _]"),
    "star-sum": (
        "total[r, g, sum(q)] := *order[i, c, p, q], *customer[c, r], *product[p, g]\n",
        "total[x, _, _]",
    ),
    "difference": ("", "*left[x], not *right[x]"),
    "bound": (
        """
        reach[x, y] := *edge[x, y]
        reach[x, z] := reach[x, y], *edge[y, z]
        """,
        "*start[s], reach[s, x]",
    ),
}


def load(folder: Path) -> Client:
    client = Client("mem", "", dataframe=False)
    for relation, path in relations(folder).items():
        names = columns(path)
        client.run(f":create {relation} {{{', '.join(names)}}}")
        with path.open(newline="") as file:
            rows = [[int(field) for field in line] for line in csv.reader(file, delimiter="\t")]
        client.import_relations({relation: {"headers": list(names), "rows": rows}})
    return client


def evaluate(client: Client, program: tuple[str, str]) -> int:
    rules, answer = program
    told = client.run(f"{rules}\n?[count(x)] := {answer}")
    return int(told["rows"][0][0])


if __name__ == "__main__":
    run(PROGRAMS, load, evaluate)
