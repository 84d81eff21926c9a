"""The table of `make vectors`: nearest vectors by ours, usearch, hnswlib and NumPy, of vectors of 128 floats.

Vectors lie around a thousand centres, with noise as large as the distance between these; queries are drawn alike. What
is found is compared with what NumPy computes from all vectors. Every engine builds with two threads and is asked one
question after the other; the time of a recall is read off a line between the measured numbers of candidates.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from peer import THREADS

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

ROOT = Path(__file__).parent.parent.parent
TARGET = ROOT / "target"
OURS = TARGET / "release" / "examples" / "nearest"
DATA = TARGET / "peers" / "vectors"

DIMENSION = 128
NEAREST = 10
QUERIES = 500
#: Of these, so many row by row.
EXACT = 20
#: Candidates of a search.
CANDIDATES = (10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 600)
RECALLS = (0.95, 0.99)
#: Neighbours of a vector, candidates while one is put in.
M, CONSTRUCTION = 16, 200


@dataclass(frozen=True)
class Measured:
    """What one engine needs."""

    name: str
    build_s: float
    #: Beside the vectors as they came.
    memory_mb: float
    #: (recall, seconds a question)
    searches: list[tuple[float, float]]

    def at(self, recall: float) -> float | None:
        """Seconds a question at a recall, between two measurements."""
        for (below, fast), (above, slow) in zip(self.searches, self.searches[1:], strict=False):
            if below < recall <= above:
                return fast + (slow - fast) * (recall - below) / (above - below)
        return self.searches[0][1] if self.searches and self.searches[0][0] >= recall else None


def rss_mb() -> float:
    status = Path("/proc/self/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def data(count: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([20_261_121, count])
    centres = rng.standard_normal((1_000, DIMENSION), dtype=np.float32)

    def around(rows: int) -> Floats:
        chosen = centres[rng.integers(0, len(centres), rows)]
        return np.asarray(chosen + rng.standard_normal((rows, DIMENSION), dtype=np.float32), dtype=np.float32)

    return around(count), around(QUERIES)


def exact(rows: Floats, queries: Floats) -> tuple[Ids, float]:
    """The nearest of each query, and the seconds that one takes."""
    squares = np.einsum("ij,ij->i", rows, rows)
    found = []
    start = time.perf_counter()
    for query in queries:
        distances = squares - 2 * (rows @ query)
        nearest = np.argpartition(distances, NEAREST)[:NEAREST]
        found.append(nearest[np.argsort(distances[nearest])])
    return np.array(found, dtype=np.int64), (time.perf_counter() - start) / len(queries)


def recall(found: Sequence[Sequence[int] | Ids], nearest: Ids) -> float:
    hits = sum(len(set(map(int, ours)) & set(map(int, real))) for ours, real in zip(found, nearest, strict=False))
    return hits / (len(found) * NEAREST)


def asked(ask: Callable[[Floats], Ids], queries: Floats, nearest: Ids) -> tuple[float, float]:
    ask(queries[0])
    start = time.perf_counter()
    found = [ask(query) for query in queries]
    seconds = (time.perf_counter() - start) / len(queries)
    return recall(found, nearest), seconds


def in_usearch(rows: Floats, queries: Floats, nearest: Ids) -> Measured:
    from usearch.index import Index

    before, start = rss_mb(), time.perf_counter()
    index = Index(ndim=DIMENSION, metric="l2sq", dtype="f32", connectivity=M, expansion_add=CONSTRUCTION)
    index.add(np.arange(len(rows)), rows, threads=THREADS)
    build_s, memory_mb = time.perf_counter() - start, rss_mb() - before
    searches = []
    for candidates in CANDIDATES:
        index.expansion_search = candidates
        searches.append(asked(lambda query: index.search(query, NEAREST, threads=1).keys, queries, nearest))
    return Measured("usearch", build_s, memory_mb, searches)


def in_hnswlib(rows: Floats, queries: Floats, nearest: Ids) -> Measured:
    import hnswlib

    before, start = rss_mb(), time.perf_counter()
    index = hnswlib.Index(space="l2", dim=DIMENSION)
    index.init_index(max_elements=len(rows), M=M, ef_construction=CONSTRUCTION)
    index.add_items(rows, num_threads=THREADS)
    build_s, memory_mb = time.perf_counter() - start, rss_mb() - before
    index.set_num_threads(1)
    searches = []
    for candidates in CANDIDATES:
        index.set_ef(candidates)
        searches.append(asked(lambda query: index.knn_query(query, k=NEAREST)[0][0], queries, nearest))
    return Measured("hnswlib", build_s, memory_mb, searches)


def ours(rows: Floats, queries: Floats, nearest: Ids, candidates: Sequence[int]) -> tuple[Measured, float, int | None]:
    """What ours needs, the seconds of an exact question, and the number of candidates that it chose itself."""
    DATA.mkdir(parents=True, exist_ok=True)
    files = [DATA / "rows.f32", DATA / "queries.f32"]
    for file, values in zip(files, (rows, queries), strict=True):
        values.tofile(file)
    command = [str(OURS), *map(str, files), str(DIMENSION), "l2", *map(str, candidates)]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(THREADS)}
    found = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    for file in files:
        file.unlink()
    assert recall(found["exact_ids"], nearest[:EXACT]) == 1.0, "an exact search overlooks nothing"
    searches = [(recall(s["ids"], nearest), s["seconds"] / len(queries)) for s in found["searches"]]
    memory_mb = found.get("built_mb", found["loaded_mb"]) - found["loaded_mb"]
    return Measured("ours", found.get("build_s", 0.0), memory_mb, searches), found["exact_s"], found.get("ef")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[100_000])
    parser.add_argument("--exact", action="store_true", help="row by row only, without any index")
    arguments = parser.parse_args()
    build = ["cargo", "build", "--release", "--locked", "-p", "stratalog-benches", "--example", "nearest"]
    if not OURS.exists():
        subprocess.run(build, check=True, cwd=ROOT)
    for count in arguments.sizes:
        rows, queries = data(count)
        nearest, numpy_s = exact(rows, queries[:EXACT] if arguments.exact else queries)
        own, exact_s, ef = ours(rows, queries, nearest, () if arguments.exact else CANDIDATES)
        print(f"\n{count:,} x {DIMENSION}, l2")
        for name, seconds in (("ours, row by row", exact_s), ("NumPy, row by row", numpy_s)):
            print(f"{name}: {1e3 * seconds:.2f} ms, {rows.nbytes / seconds / 1e9:.1f} GB/s", flush=True)
        if arguments.exact:
            continue
        print("\nSeconds of building, MB beside the vectors as they came, questions a second at recall 0.95 and 0.99\n")
        print("| engine | build | memory | 0.95 | 0.99 |\n|---|--:|--:|--:|--:|")
        for measured in (own, in_usearch(rows, queries, nearest), in_hnswlib(rows, queries, nearest)):
            times = [measured.at(recall) for recall in RECALLS]
            shown = ["-" if seconds is None else f"{1 / seconds:,.0f}" for seconds in times]
            print(f"| {measured.name} | {measured.build_s:.1f} | {measured.memory_mb:,.0f} | {' | '.join(shown)} |")
            curve = ", ".join(f"{found:.3f} in {1e6 * seconds:.0f} µs" for found, seconds in measured.searches)
            print(f"  {measured.name}: {curve}", file=sys.stderr)
        print(f"ours takes {ef} candidates of its own accord", flush=True)


if __name__ == "__main__":
    main()
