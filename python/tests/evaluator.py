"""The language a second time, naively, and written from the manual alone: the server has to answer the same.

A program is facts and rules over tuples; `evaluate` finds what follows, `rule_text` writes it down. Nothing
here is shared with the engine or with the oracle of the Rust tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

Value = int | float | str | bool | None
Row = tuple[Value, ...]
INT_MIN, INT_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class Op:
    symbol: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Placeholder:
    """Any value."""


@dataclass(frozen=True)
class Const:
    value: Value


Expr = Var | Const | Op
Term = Expr | Placeholder


@dataclass(frozen=True)
class Atom:
    relation: str
    terms: tuple[Term, ...]
    negated: bool = False


@dataclass(frozen=True)
class Compare:
    left: Expr
    symbol: str
    right: Expr


@dataclass(frozen=True)
class Aggregate:
    name: str
    variable: str


@dataclass(frozen=True)
class Rule:
    head: str
    terms: tuple[Expr | Aggregate, ...]
    body: tuple[Atom | Compare, ...]


Env = dict[str, Value]
Key = tuple[tuple[str, str], ...]
# Rows by their identity: `1`, `1.0` and `True` are one to Python's sets, and three values here.
Facts = dict[str, dict[Key, Row]]


def is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def identity(value: Value) -> tuple[str, str]:
    """The same for the same value of the same type, and for nothing else."""
    return (type(value).__name__, repr(value))


def distinct(rows: Iterable[Row]) -> dict[Key, Row]:
    return {tuple(map(identity, row)): row for row in rows}


def equal(a: Value, b: Value) -> bool:
    """By value: numbers exactly, whatever their types."""
    return a == b if is_number(a) and is_number(b) else identity(a) == identity(b)


def compare(a: Value, symbol: str, b: Value, by_identity: bool) -> bool:
    if symbol in ("=", "!="):
        same = identity(a) == identity(b) if by_identity else equal(a, b)
        return same == (symbol == "=")
    for kind in (is_number, lambda v: isinstance(v, str), lambda v: isinstance(v, bool)):
        if kind(a) and kind(b):
            less, more = a < b, a > b  # type: ignore[operator]
            return {"<": less, ">": more, "<=": not more, ">=": not less}[symbol]
    return False


def holds(condition: Compare, env: Env, by_identity: bool) -> bool:
    """The literal `null` equals nothing in a comparison."""
    if Const(None) in (condition.left, condition.right):
        return condition.symbol == "!="
    a, b = value_of(condition.left, env), value_of(condition.right, env)
    return compare(a, condition.symbol, b, by_identity)


def compute(symbol: str, a: Value, b: Value) -> Value:
    # A boolean is an integer to Python, and no number here.
    if (
        not isinstance(a, int | float)
        or not isinstance(b, int | float)
        or not (is_number(a) and is_number(b))
    ):
        return None
    if isinstance(a, int) and isinstance(b, int) and symbol != "/":
        if symbol == "%":
            return None if b == 0 else abs(a) % abs(b) * (1 if a >= 0 else -1)
        exact = {"+": a + b, "-": a - b, "*": a * b}[symbol]
        return max(INT_MIN, min(INT_MAX, exact))
    x, y = float(a), float(b)
    try:
        result = {
            "+": lambda: x + y,
            "-": lambda: x - y,
            "*": lambda: x * y,
            "/": lambda: x / y,
            "%": lambda: math.fmod(x, y),
        }[symbol]()
    except (ZeroDivisionError, ValueError):
        return None
    return result if math.isfinite(result) else None


def value_of(expression: Expr, env: Env) -> Value:
    match expression:
        case Var(name):
            return env[name]
        case Const(value):
            return value
        case Op(symbol, left, right):
            return compute(symbol, value_of(left, env), value_of(right, env))


def variables(expression: Term) -> set[str]:
    match expression:
        case Var(name):
            return {name}
        case Op(_, left, right):
            return variables(left) | variables(right)
        case _:
            return set()


STORED, COMPUTED, WRITTEN = range(3)


def origin_of(expression: Expr, origins: dict[str, int]) -> int:
    match expression:
        case Var(name):
            return origins[name]
        case Op():
            return COMPUTED
        case Const():
            return WRITTEN


def solutions(body: Sequence[Atom | Compare], facts: Facts) -> Iterator[tuple[tuple[Row, ...], Env]]:
    """Every choice of a row for each atom, with the values of all variables, that fulfils the body."""
    atoms = [part for part in body if isinstance(part, Atom) and not part.negated]
    stored = {term.name for atom in atoms for term in atom.terms if isinstance(term, Var)}
    # The equality that gives a variable its value: one with what is stored, else with what is computed, else
    # with a constant; among those the first by its text. One with null would be no condition that ever holds.
    origins = dict.fromkeys(stored, STORED)
    conditions = [part for part in body if part not in atoms]
    assignments: list[tuple[str, Expr]] = []
    while True:
        candidates = [
            (other != Const(None), origin_of(other, origins), written(other), part, one.name, other)
            for part in conditions
            if isinstance(part, Compare) and part.symbol == "="
            for one, other in ((part.left, part.right), (part.right, part.left))
            if isinstance(one, Var) and one.name not in origins and variables(other) <= origins.keys()
        ]
        if not candidates:
            break
        _, origin, _, part, name, expression = min(candidates, key=lambda candidate: candidate[:3])
        conditions.remove(part)
        assignments.append((name, expression))
        origins[name] = origin

    def is_stored(term: Term) -> bool:
        return isinstance(term, Var) and origins[term.name] == STORED

    def fits(atom: Atom, row: Row, env: Env) -> bool:
        for term, value in zip(atom.terms, row, strict=True):
            if isinstance(term, Placeholder):
                continue
            if not compare(value, "=", value_of(term, env), is_stored(term)):
                return False
        return True

    def choose(at: int, rows: tuple[Row, ...], env: Env) -> Iterator[tuple[tuple[Row, ...], Env]]:
        if at == len(atoms):
            yield rows, env
            return
        for row in facts.get(atoms[at].relation, {}).values():
            bound = dict(env)
            pairs = list(zip(atoms[at].terms, row, strict=True))
            if all(
                identity(bound.setdefault(term.name, value)) == identity(value)
                for term, value in pairs
                if isinstance(term, Var)
            ):
                yield from choose(at + 1, (*rows, row), bound)

    for rows, env in choose(0, (), {}):
        for name, expression in assignments:
            env[name] = value_of(expression, env)
        if not all(fits(atom, row, env) for atom, row in zip(atoms, rows, strict=True)):
            continue
        if all(
            not any(fits(part, row, env) for row in facts.get(part.relation, {}).values())
            if isinstance(part, Atom)
            else holds(part, env, is_stored(part.left) and is_stored(part.right))
            for part in conditions
        ):
            yield rows, env


def rank(value: Value) -> tuple[object, ...]:
    """The order of `min` and `max`: numbers by value, an integer before the float of its value."""
    if isinstance(value, bool):
        return (0, value)
    if is_number(value):
        return (1, Fraction(value), isinstance(value, float), math.copysign(1, value))  # type: ignore[arg-type]
    return (2, value)


def aggregate(name: str, values: list[Value]) -> Value:
    if name == "count":
        return len(values)
    if name == "count_distinct":
        return len({identity(value) for value in values})
    if name in ("min", "max"):
        known = [value for value in values if value is not None]
        return ({"min": min, "max": max}[name])(known, key=rank) if known else None
    numbers = [value for value in values if is_number(value)]
    if not numbers:
        return None
    total = sum((Fraction(number) for number in numbers), Fraction(0))  # type: ignore[arg-type]
    if name == "sum" and all(isinstance(number, int) for number in numbers):
        return max(INT_MIN, min(INT_MAX, int(total)))
    try:
        return float(total) if name == "sum" else float(total) / len(numbers)
    except OverflowError:
        return None if name == "sum" else float(total / 2**64) / len(numbers) * 2.0**64


def derived(rule: Rule, facts: Facts) -> dict[Key, Row]:
    """The rows of a rule; an aggregate is of the distinct solutions."""
    found: dict[tuple[Key, ...], Env] = {}
    for rows, env in solutions(rule.body, facts):
        found[tuple(tuple(map(identity, row)) for row in rows)] = env
    groups: dict[Key, tuple[list[Value], list[Env]]] = {}
    for env in found.values():
        plain = [value_of(term, env) for term in rule.terms if not isinstance(term, Aggregate)]
        groups.setdefault(tuple(map(identity, plain)), (plain, []))[1].append(env)
    result = []
    for plain, envs in groups.values():
        column = iter(plain)
        result.append(
            tuple(
                aggregate(term.name, [env[term.variable] for env in envs])
                if isinstance(term, Aggregate)
                else next(column)
                for term in rule.terms
            )
        )
    return distinct(result)


def evaluate(rules: Sequence[Rule], facts: Facts) -> Facts:
    """All that follows. A rule reads what stands before it, and may read its own head."""
    known = {relation: dict(rows) for relation, rows in facts.items()}
    for head in dict.fromkeys(rule.head for rule in rules):
        rows = known.setdefault(head, {})
        size = -1
        while size != len(rows):
            size = len(rows)
            for rule in rules:
                if rule.head == head:
                    rows.update(derived(rule, known))
    return known


def written(value: Expr | Value | Aggregate | Placeholder) -> str:
    """As the language writes it, without blanks."""
    match value:
        case Var(name):
            return name
        case Placeholder():
            return "_"
        case Const(inner):
            return written(inner)
        case Op(symbol, left, right):
            return f"{operand(left)}{symbol}{operand(right)}"
        case Aggregate(name, variable):
            return f"{name}<{variable}>"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case _:
            return repr(value)


def operand(expression: Expr) -> str:
    return f"({written(expression)})" if isinstance(expression, Op) else written(expression)


def literal(part: Atom | Compare) -> str:
    if isinstance(part, Compare):
        return f"{written(part.left)} {part.symbol} {written(part.right)}"
    return f"{'!' if part.negated else ''}{part.relation}({', '.join(map(written, part.terms))})"


def rule_text(rule: Rule) -> str:
    return f"{rule.head}({', '.join(map(written, rule.terms))}) <- {', '.join(map(literal, rule.body))}"
