"""What can be done with an answer."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pytest

import stratalog


@pytest.fixture
def people(db: stratalog.Client) -> stratalog.Client:
    db.execute("+person(name: string, age: int, height: float, member: bool)")
    db.insert("person", [("Ada", 36, 1.65, True), ("Blaise", 39, None, False), ("Élodie", 20, 1.8, None)])
    return db


ROWS = [("Ada", 36, 1.65, True), ("Blaise", 39, None, False), ("Élodie", 20, 1.8, None)]
QUERY = "?person(Name:asc, Age, Height, Member)"


def test_tuples_dicts_and_types(people: stratalog.Client) -> None:
    result = people.query(QUERY)
    assert result.columns == ["name", "age", "height", "member"]
    assert result.types == ["string", "int", "float", "bool"]
    assert (len(result), list(result), result.rows(), result[1]) == (3, ROWS, ROWS, ROWS[1])
    assert result.dicts()[0] == {"name": "Ada", "age": 36, "height": 1.65, "member": True}
    assert (result.row_count, result.total_count, result.truncated) == (3, 3, False)
    assert result.elapsed_ms >= 0
    assert result.messages == []


def test_no_two_columns_have_one_name(db: stratalog.Client) -> None:
    db.execute("+hop(origin: string, target: string, steps: int)")
    db.insert("hop", [("E7", "E8", 1), ("E7", "E7", 2)])
    db.insert("pair", [(1, 2), (1, 1)])
    found = db.query("?hop($e, X, D), X != $e", {"e": "E7"})
    assert found.dicts() == [{"origin": "E7", "target": "E8", "steps": 1}]
    for program, names in [
        ("?pair($a, $a)", ["A", "B"]),
        ("?pair(_, _)", ["A", "B"]),
        ("?pair(X, X)", ["X", "X_2"]),
        ("?pair($a, A)", ["A_2", "A"]),
        ('?hop("E7", X, D), Y = D + 1', ["origin", "X", "D", "Y"]),
        ("?X, X <- pair(X, _)", ["X", "X_2"]),
        ("?pair($a, X), X = 1", ["A", "X"]),
    ]:
        found = db.query(program, {"a": 1} if "$a" in program else None)
        assert found.columns == names, program
        assert found.to_polars().columns == names, program
        assert list(found.to_pandas().columns) == names, program
        assert list(found.dicts()[0]) == names, program


@dataclass
class Pair:
    c: int
    other: int
    more: int = 0


def test_fields_find_columns_by_all_names_or_by_none(db: stratalog.Client) -> None:
    db.execute("+par(p: int, c: int)\n+par(1, 2)\n+derived(X, Y) <- par(X, Y)")
    with pytest.raises(TypeError, match="has the fields c, other, more; the answer has the columns p, c"):
        db.query("?par(P, C)").objects(Pair)

    @dataclass
    class Same:
        c: int
        p: int

    assert db.query("?par(P, C)").objects(Same) == [Same(2, 1)]
    # Also but for capitals.
    assert db.query("?derived(P, C)").objects(Same) == [Same(2, 1)]
    assert db.query("?derived(X, Y)").objects(Same) == [Same(1, 2)]
    # A constant leaves a column without a name.
    assert db.query("?derived(1, P)").objects(Same) == [Same(1, 2)]
    assert db.query("?derived(Other, C)").objects(Pair) == [Pair(2, 1)]
    with pytest.raises(TypeError, match="the answer has the columns C, X"):
        db.query("?derived(C, X)").objects(Same)


def test_programs_replace_their_rules(db: stratalog.Client) -> None:
    db.execute("+n[1, 5, 9]\n+big(X) <- n(X), X > 1")
    changed = "+big(X) <- n(X), X > 5"
    assert "rule for big has `X > 1` instead" in db.execute(changed).warnings[0]
    assert db.query("?big(X:asc)").rows() == [(5,), (9,)]
    done = db.execute(changed, replace_rules=True)
    assert done.messages == ["registered a rule for big in place of 2 clauses"]
    assert (done.warnings, db.query("?big(X)").rows()) == ((), [(9,)])
    with pytest.raises(stratalog.Error):
        db.execute("+big(X) <- n(X), X = 1\n+big(Y) <- n(X)", replace_rules=True, atomic=True)
    assert db.query("?big(X)").rows() == [(9,)]


def test_one_and_scalar(people: stratalog.Client) -> None:
    assert people.query('?person("Ada", Age, H, M)').one() == ROWS[0]
    assert people.query("n(count<X>) <- person(X, _, _, _)\n?n(N)").scalar() == 3
    with pytest.raises(stratalog.NotOneRow, match="found 3"):
        people.query(QUERY).one()
    with pytest.raises(stratalog.NotOneRow, match="expected one column"):
        people.query('?person("Ada", Age, H, M)').scalar()


def test_limits_tell_what_they_left_out(people: stratalog.Client) -> None:
    result = people.query(QUERY, limit=2)
    assert result.rows() == ROWS[:2]
    assert (result.row_count, result.total_count, result.truncated) == (2, 3, True)


def test_data_frames(people: stratalog.Client) -> None:
    result = people.query(QUERY)
    assert result.to_polars().rows() == ROWS
    assert result.to_polars().dtypes == [pl.String, pl.Int64, pl.Float64, pl.Boolean]
    assert result.to_arrow().to_pylist() == result.dicts()
    assert pa.table(result).num_rows == 3
    frame = result.to_pandas()
    assert frame["name"].tolist() == ["Ada", "Blaise", "Élodie"]
    assert frame["age"].dtype == "int64"
    assert frame["height"].isna().tolist() == [False, True, False]


def test_mixed_columns_in_data_frames(db: stratalog.Client) -> None:
    db.insert("m", [(1, "x"), (2, 5), (3, None)])
    result = db.query("?m(N:asc, X)")
    assert result.types == ["int", "any"]
    assert result.to_pandas()["X"].tolist() == ["x", 5, None]
    assert result.to_polars()["X"].to_list() == ['"x"', "5", None]


def test_no_rows_keep_columns(people: stratalog.Client) -> None:
    result = people.query('?person("Nobody", A, H, M)')
    assert not result
    assert result.to_polars().shape == (0, 4)
    assert len(result.columns) == 4


def test_messages(db: stratalog.Client) -> None:
    result = db.execute("+p(1)\n+q(2)")
    assert len(result.messages) == 2
    assert result.columns == ["message"]
    assert result.to_polars().shape == (2, 1)


def test_more_than_a_frame(db: stratalog.Client) -> None:
    count = 60_000
    db.insert("big", [(n, f"{n:0100}") for n in range(count)])
    result = db.query("?big(N:asc, S)")
    rows = result.rows()
    assert len(rows) == count
    assert rows[-1] == (count - 1, f"{count - 1:0100}")


def test_repr_is_a_table(people: stratalog.Client) -> None:
    assert repr(people.query(QUERY)).splitlines() == [
        "name    age  height  member",
        "──────  ───  ──────  ──────",
        "Ada      36    1.65  true",
        "Blaise   39  null    false",
        "Élodie   20     1.8  null",
        "3 rows",
    ]


def test_html_is_escaped_and_counted(db: stratalog.Client) -> None:
    db.insert("t", [(f"<b>{n:03}</b>",) for n in range(60)])
    text = db.query("?t(X:asc)")._repr_html_()
    assert "&lt;b&gt;000&lt;/b&gt;" in text
    assert "<b>" not in text
    assert "50 of 60 rows" in text


def test_parameters_are_values_not_text(db: stratalog.Client) -> None:
    db.insert("t", [('a", "b',), ("other",)])
    assert db.query("?t($x)", {"x": 'a", "b'}).rows() == [('a", "b',)]
    with pytest.raises(stratalog.InvalidParameter):
        db.query("?t($x)")
    with pytest.raises(stratalog.InvalidParameter):
        db.query("?t(X)", {"surplus": 1})
    with pytest.raises(stratalog.InvalidParameter):
        db.query("?t($x)", {"x": {"no": "value"}})


def test_atomic_programs_undo_everything(db: stratalog.Client) -> None:
    db.execute("+p(x: int)")
    with pytest.raises(stratalog.TypeMismatch):
        db.execute('+q(1)\n+p("no number")', atomic=True)
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?q(X)")


def test_rules(db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2), (2, 3), (3, 1)])
    db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    assert len(db.query("?path(X, Y)")) == 9
    assert sorted(db.query("?path($from, Y)", {"from": 1})) == [(1, 1), (1, 2), (1, 3)]
