"""What the server keeps can be read by others: sealed runs and exports are plain Parquet."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import polars
import pyarrow as pa

import stratalog
from conftest import PASSWORD, executable
from local_server import LocalServer


def ask_duckdb(question: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(question).fetchall()


def fill(server: LocalServer) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.execute("+city(name: string, people: int, area: float, founded: timestamp)")
        db.execute(
            '+city[("Kraków", 800000, 326.8, 0), ("Łódź", 670000, 293.0, 1), (null, null, null, null)]'
        )
        db.execute('+mixed[(1, 1.5), (2, "two"), (3, true)]')
        db.execute("+place(1, [0.5, 1.5])")
        db.execute("+big(N, M) <- city(_, N, _, _), M = N * 2")
        db.insert("edge", pa.table({"a": range(100_000), "b": range(1, 100_001)}))


def test_sealed_runs_are_parquet_for_duckdb_and_polars(own_server: LocalServer, tmp_path: Path) -> None:
    fill(own_server)
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        db.execute(".compact")
    runs = next((tmp_path / "data" / "graphs").glob("default-*")) / "runs"
    city = ask_duckdb(f"select name, people, area from '{runs}/city-*.parquet' order by people")
    assert city == [
        ("Łódź", 670000, 293.0),
        ("Kraków", 800000, 326.8),
        (None, None, None),
    ]
    assert polars.read_parquet(f"{runs}/edge-*.parquet").select(polars.col("b").sum()).item() == 5_000_050_000
    mixed = polars.read_parquet(f"{runs}/mixed-*.parquet").sort("A")
    assert mixed.rows() == [(1, "1.5", 3), (2, '"two"', 5), (3, "true", 1)]
    assert ask_duckdb(f"select B from '{runs}/place-*.parquet'") == [([0.5, 1.5],)]


def test_backup_restore_export_and_import_by_command_line(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    backup = tmp_path / "backups" / "monday"
    settings = {"SERVICE_STORAGE__BACKUP_DIR": str(backup.parent)}
    with LocalServer(executable(), first, PASSWORD, settings) as server:
        fill(server)
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
            db.execute(".backup monday")
            db.execute("+later(1)")

    def run(*arguments: object, code: int = 0) -> str:
        done = subprocess.run(
            [str(executable()), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == code, done.stderr
        return done.stderr

    second = tmp_path / "second"
    second.mkdir()
    assert "restored 1 knowledge graphs" in run("restore", backup, "--data-dir", second / "data")
    assert "not empty" in run("restore", backup, "--data-dir", second / "data", code=1)
    run("export", "default", tmp_path / "out", "--data-dir", second / "data")
    run("import", "copy", tmp_path / "out", "--data-dir", second / "data")
    assert (tmp_path / "out" / "program.dl").read_text().startswith("+city(name: string")
    run("backup", tmp_path / "tuesday", "--data-dir", second / "data")
    with LocalServer(executable(), second, PASSWORD) as server:
        assert "in use by another server" in run(
            "backup", tmp_path / "x", "--data-dir", second / "data", code=1
        )
        for graph in ("default", "copy"):
            with stratalog.connect(server.url, user="admin", password=PASSWORD, kg=graph) as db:
                assert db.query("?city(A, B, C, D)").row_count == 3
                assert db.query("?edge(A, B)").row_count == 100_000
                assert db.query("?big(1600000, M)").rows() == []
                assert db.query("?big(800000, M)").rows() == [(800000, 1600000)]
                assert set(db.query("?mixed(A, B)").rows()) == {(1, 1.5), (2, "two"), (3, True)}
    damaged = next((tmp_path / "tuesday").rglob("graph.redb"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert "graph.redb" in run("restore", tmp_path / "tuesday", "--data-dir", tmp_path / "z", code=1)
