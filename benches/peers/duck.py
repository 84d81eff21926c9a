"""One workload through DuckDB: `duck.py FOLDER SQL [TABLE=COLUMNS ...]`. Prints what it found as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import duckdb

#: The columns of tables whose columns have no other names.
COLUMNS = "x, y, w, v"


def main(folder: str, sql: str, *named: str) -> None:
    """Loads every file of the folder, and asks."""
    columns = dict(pair.split("=", 1) for pair in named)
    connection = duckdb.connect(config={"threads": 2})
    start = time.perf_counter()
    for path in sorted(Path(folder).glob("*.tsv")):
        with path.open() as file:
            width = file.readline().count("\t") + 1
        names = columns.get(path.stem, COLUMNS).split(", ")[:width]
        types = ", ".join(f"'{name}': 'BIGINT'" for name in names)
        connection.execute(
            f'CREATE TABLE "{path.stem}" AS '
            f"SELECT * FROM read_csv('{path}', delim='\t', header=false, columns={{{types}}})"
        )
    load = time.perf_counter() - start
    times = []
    answer = 0
    for _ in range(2):
        start = time.perf_counter()
        row = connection.execute(sql).fetchone()
        times.append(time.perf_counter() - start)
        answer = row[0] if row else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    told = {
        "answer": answer,
        "load_s": load,
        "evaluate_s": times[0],
        "again_s": times[1],
        "peak_mb": peak,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
