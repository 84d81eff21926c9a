"""The programs for Polars, which has joins and groups but no recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
from peer import FACTORS, MODULUS, columns, relations, run

Frames = Mapping[str, pl.LazyFrame]
Query = Callable[[Frames], pl.LazyFrame]


def triangles(of: Frames) -> pl.LazyFrame:
    edge = of["edge"]
    wedges = edge.join(edge.rename({"x": "y", "y": "z"}), on="y")
    return wedges.join(edge.rename({"y": "z"}), on=["x", "z"], how="semi")


def two_steps(of: Frames) -> pl.LazyFrame:
    edge = of["edge"]
    return edge.join(edge.rename({"x": "y", "y": "z"}), on="y").select("x", "z").unique()


def group_sum(of: Frames, *columns: str) -> pl.LazyFrame:
    return of["order"].group_by(columns).agg(pl.col("q").cast(pl.Int64).sum())


def star_sum(of: Frames) -> pl.LazyFrame:
    joined = of["order"].join(of["customer"], on="c").join(of["product"], on="p")
    return joined.group_by("r", "g").agg(pl.col("q").cast(pl.Int64).sum())


def bill_of_materials(of: Frames) -> pl.LazyFrame:
    uses = of["uses"].with_columns(pl.col("w").cast(pl.Int64))
    need = uses.join(of["bought"], left_on="y", right_on="x", how="semi")
    for _ in range(3):
        below = need.rename({"x": "y", "y": "p", "w": "m"})
        joined = uses.join(below, on="y").with_columns(pl.col("w") * pl.col("m"))
        need = joined.group_by("x", "p").agg(pl.col("w").sum()).rename({"p": "y"})
    return need


PROGRAMS: dict[str, Query] = {
    "triangles": triangles,
    "triangles-counted": lambda of: triangles(of).select(pl.len()),
    "two-steps": two_steps,
    "group-sum": lambda of: group_sum(of, "c"),
    "group-sum-fine": lambda of: group_sum(of, "c", "p"),
    "star-sum": star_sum,
    "difference": lambda of: of["left"].join(of["right"], on="x", how="anti"),
    "bill-of-materials": bill_of_materials,
}


def load(folder: Path) -> Frames:
    def read(path: Path) -> pl.LazyFrame:
        schema = dict.fromkeys(columns(path), pl.Int32)
        return pl.read_csv(path, separator="\t", has_header=False, schema=schema).lazy()

    return {relation: read(path) for relation, path in relations(folder).items()}


def evaluate(frames: Frames, query: Query) -> int:
    return query(frames).collect().height


def checksum(frames: Frames, query: Query) -> int:
    answer = query(frames)
    names = zip(answer.collect_schema().names(), FACTORS, strict=False)
    share = pl.sum_horizontal(pl.col(name).cast(pl.Int64) * factor for name, factor in names)
    return int(answer.select((share % MODULUS).sum()).collect().item())


if __name__ == "__main__":
    run(PROGRAMS, load, evaluate, checksum)
