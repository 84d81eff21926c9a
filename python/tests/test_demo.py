"""The demo's answers on a real server against an independent computation, row for row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import stratalog
from conftest import PASSWORD, executable
from expected import Expected, bound_packages
from local_server import LocalServer
from questions import BOUND, FALLS, PACKAGE, QUESTIONS, RULES, SCHEMAS, TAKEN, Question

DATA = Path(__file__).resolve().parents[2] / "demo" / "data"


@pytest.fixture(scope="module")
def expected() -> Expected:
    return Expected(DATA)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stratalog.Client]:
    """A server of its own with the whole package graph."""
    settings = {"SERVICE_LIMITS__QUERY_TIMEOUT_MS": "300000"}
    with (
        LocalServer(executable(), tmp_path_factory.mktemp("demo"), PASSWORD, settings) as server,
        stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=300) as db,
    ):
        for relation, schema in SCHEMAS.items():
            db.execute(schema)
            frame = pl.read_parquet(DATA / f"{relation}.parquet")
            assert db.insert(relation, frame) == (frame.height, 0)
        db.execute(RULES, atomic=True)
        yield db


def test_the_data_is_debians_main() -> None:
    counts = {path.stem: pl.read_parquet(path).height for path in sorted(DATA.glob("*.parquet"))}
    assert counts == {
        "conflicts": 18_091,
        "depends": 274_855,
        "essential": 23,
        "package": 63_436,
        "provides": 37_544,
        "recommends": 28_453,
        "suggests": 26_100,
    }


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_answer_row_for_row(graph: stratalog.Client, expected: Expected, question: Question) -> None:
    assert graph.query(question.program).rows() == expected.answers()[question.name]


def test_the_full_closure_pair_for_pair(graph: stratalog.Client, expected: Expected) -> None:
    found = graph.query("?needs(P, Q)").to_polars()
    assert found.height == 3_955_691
    assert found.sort("P", "Q").equals(expected.pairs())


def test_bound_questions(graph: stratalog.Client, expected: Expected) -> None:
    for package in bound_packages(expected.names)[:200]:
        rows = graph.query(BOUND, {"package": package}).rows()
        assert {row[1] for row in rows} == expected.needs(package)
        assert {row[0] for row in rows} <= {package}
        assert len(rows) == len(expected.needs(package))


def test_what_falls_with_a_package_is_told(graph: stratalog.Client, expected: Expected) -> None:
    graph.execute(FALLS, atomic=True)
    always = expected.falls()
    with graph.live("?falls(P)") as live:
        changes = iter(live)
        assert {row[0] for row in next(changes).added} == always
        for name in TAKEN:
            package = graph.query(f"?{PACKAGE}", {"name": name}).rows()
            graph.execute(f"-{PACKAGE} <- {PACKAGE}", {"name": name})
            change, fallen = next(changes), expected.falls(without=name)
            assert {row[0] for row in change.added} == fallen - always
            assert not change.removed
            assert {row[0] for row in live.rows} == fallen
            graph.insert("package", package)
            assert {row[0] for row in next(changes).removed} == fallen - always
            assert {row[0] for row in live.rows} == always
