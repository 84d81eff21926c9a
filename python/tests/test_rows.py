"""Rows with keys, attributes or neither: no value goes astray, and none becomes null by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

import stratalog


@dataclass
class Point:
    x: int
    y: int


def test_keys_that_are_numbers_keep_their_values(db: stratalog.Client) -> None:
    db.insert("t", [{0: 1, 1: "a"}, {1: "b", 0: 2}])
    assert sorted(db.query("?t(X, Y)")) == [(1, "a"), (2, "b")]
    db.insert("t", pd.DataFrame([[3, "c"]]).to_dict("records"))
    db.delete("t", [{0: 1, 1: "a"}])
    with db.transaction() as t:
        t.insert("new", [{0: 1, 1: 2}])
        t.delete("t", [{0: 2, 1: "b"}])
    assert db.query("?t(X, Y)").rows() == [(3, "c")]
    assert db.query("?new(X, Y)").rows() == [(1, 2)]
    assert db.insert("chosen", [{0: 1, "y": 2, 3.5: 4}], columns=["y", "0"]) == (1, 0)
    assert db.query("?chosen(X, Y)").rows() == [(2, 1)]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([{"x": 1, None: ["more"]}], "row 0 has the key None"),
        ([{1: "a", "1": "b"}], "row 0 has two keys that are both written as '1'"),
        ([{"x": 1, "y": 2}, {"x": 3}], "row 1 lacks the key 'y'"),
        ([{"x": 1}, {"x": 2, "y": 3}], "row 1 has the surplus key 'y'"),
        ([{"x": 1}, (2,)], r"row 1 is \(2,\)"),
        ([Point(1, 2), (3, 4)], r"row 1, \(3, 4\), has no 'x'"),
        (
            [{"x": n, "y": n} if n < 70_000 else {"x": n} for n in range(70_001)],
            "row 70000 lacks the key 'y'",
        ),
        ([{"x": n} if n < 70_000 else (n,) for n in range(70_001)], "row 70000 is"),
    ],
)
def test_what_does_not_fit_the_first_row_is_refused(db: stratalog.Client, data: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        db.insert("t", iter(data))
    assert db.column_types("t") is None


def test_columns_that_are_asked_for_have_to_be_there(db: stratalog.Client) -> None:
    rows = [{"x": 1, "y": "a"}, {"x": 2, "z": "b"}]
    assert db.insert("t", rows, columns=["x"]) == (2, 0)
    for write in (db.insert, db.delete):
        with pytest.raises(ValueError, match="row 0 lacks the key 'z'"):
            write("t", rows, columns=["x", "z"])
    with pytest.raises(ValueError, match=r"row 0, Point\(x=1, y=2\), has no 'z'"):
        db.insert("t", [Point(1, 2)], columns=["x", "z"])


def test_no_rows_have_no_columns(db: stratalog.Client) -> None:
    assert db.insert("t", [], columns=["x", "y"]) == (0, 0)
    assert db.insert("t", iter(()), columns=["x", "y"]) == (0, 0)
    assert db.delete("t", [], columns=["x", "y"]).messages == []
