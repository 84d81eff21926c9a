"""What queries and rules are made of in Python: columns and variables, and what is computed of them.

For a type checker these are the values that they stand for: `Owns.share` is a float, `Owns.share > 0.5` a
bool, `count(Owns.owned)` an int. So it finds what does not fit, and knows the types of the answer. At run
time they are the objects of this module, which `statements.py` writes as a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast, overload

if TYPE_CHECKING:
    from .relation import Relation

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")


class Expression:
    """A value that the server works out."""

    __slots__ = ()
    __hash__ = object.__hash__
    __iter__ = None
    __contains__ = None

    def __eq__(self, other: object) -> Any:
        return Comparison("=", self, other)

    def __ne__(self, other: object) -> Any:
        return Comparison("!=", self, other)

    def __lt__(self, other: object) -> Comparison:
        return Comparison("<", self, other)

    def __le__(self, other: object) -> Comparison:
        return Comparison("<=", self, other)

    def __gt__(self, other: object) -> Comparison:
        return Comparison(">", self, other)

    def __ge__(self, other: object) -> Comparison:
        return Comparison(">=", self, other)

    def __add__(self, other: object) -> Operation:
        return Operation("+", self, other)

    def __radd__(self, other: object) -> Operation:
        return Operation("+", other, self)

    def __sub__(self, other: object) -> Operation:
        return Operation("-", self, other)

    def __rsub__(self, other: object) -> Operation:
        return Operation("-", other, self)

    def __mul__(self, other: object) -> Operation:
        return Operation("*", self, other)

    def __rmul__(self, other: object) -> Operation:
        return Operation("*", other, self)

    def __truediv__(self, other: object) -> Operation:
        return Operation("/", self, other)

    def __rtruediv__(self, other: object) -> Operation:
        return Operation("/", other, self)

    def __mod__(self, other: object) -> Operation:
        return Operation("%", self, other)

    def __rmod__(self, other: object) -> Operation:
        return Operation("%", other, self)

    def __neg__(self) -> Operation:
        return Operation("-", 0, self)

    def __bool__(self) -> NoReturn:
        _no_truth("an expression")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{self!r} has no {name}: it is a value that the server works out; stratalog.functions has what "
            "can be done with it there"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Expression):
    """A column of a relation, in one row of it."""

    relation: type[Relation]
    name: str

    def __repr__(self) -> str:
        return f"{self.relation.__name__}.{self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Variable(Expression):
    """A value that is the same wherever the variable stands."""

    identity: object = field(default_factory=object)


@dataclass(frozen=True, slots=True, eq=False)
class Operation(Expression):
    """Arithmetic."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expression):
    """A function of the language; one that gives a bool is a condition too."""

    function: str
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(Expression):
    """A value of all rows of a group."""

    function: str
    argument: object
    #: What stands beside the variable.
    option: float | str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ordered(Expression):
    """An expression by which rows are ordered."""

    expression: object
    descending: bool


class Condition:
    """What must hold."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        _no_truth("a condition")

    def __and__(self, other: object) -> NoReturn:
        raise TypeError("give several conditions, with commas in between: all of them must hold")

    def __or__(self, other: object) -> NoReturn:
        raise TypeError("for alternatives write a rule for each, with the same head")

    def __invert__(self) -> NoReturn:
        raise TypeError("write not_(condition)")

    __rand__ = __and__
    __ror__ = __or__


@dataclass(frozen=True, slots=True)
class Comparison(Condition):
    """Two values compared."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True, slots=True)
class Negation(Condition):
    """There is no such fact, or a function does not give true."""

    of: object


@dataclass(frozen=True, slots=True)
class IsNull(Condition):
    """A value is null, or is not."""

    value: object
    negated: bool = False


@dataclass(frozen=True, slots=True)
class OneOf(Condition):
    """A value is one of several."""

    value: object
    choices: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Search(Condition):
    """A row is one of the best that an index finds for a query."""

    #: The condition's name, and what it calls the measure that it binds.
    name: str
    measured: str
    index: str
    query: object
    k: int
    id: object
    measure: object
    rank: object
    candidates: int | None
    #: A search for each value of these, beside the values of the query.
    per: tuple[object, ...]


class _Anything:
    def __repr__(self) -> str:
        return "ANY"


#: In place of a value that does not matter: `Owns(owner, ANY, ANY)`.
ANY: Any = _Anything()

_OPPOSITES = {"=": "!=", "!=": "="}


def variable(kind: type[T]) -> T:
    """A value of this type that is the same wherever the variable stands."""
    return cast("T", Variable())


@overload
def variables(a: type[A], b: type[B], /) -> tuple[A, B]: ...
@overload
def variables(a: type[A], b: type[B], c: type[C], /) -> tuple[A, B, C]: ...
@overload
def variables(a: type[A], b: type[B], c: type[C], d: type[D], /) -> tuple[A, B, C, D]: ...
@overload
def variables(a: type[A], b: type[B], c: type[C], d: type[D], e: type[E], /) -> tuple[A, B, C, D, E]: ...
@overload
def variables(
    a: type[A], b: type[B], c: type[C], d: type[D], e: type[E], f: type[F], /
) -> tuple[A, B, C, D, E, F]: ...
def variables(*kinds: type[Any]) -> tuple[Any, ...]:
    """Several variables: `x, y = variables(str, int)`."""
    return tuple(Variable() for _ in kinds)


def not_(condition: bool | Relation) -> bool:
    """There is no such fact: `not_(Owns(owner, ANY, ANY))`. Or `==`, `is_null` or a function is not true."""
    found: object = condition
    match found:
        case Comparison(operator, left, right) if operator in _OPPOSITES:
            found = Comparison(_OPPOSITES[operator], left, right)
        case IsNull(value, negated):
            found = IsNull(value, not negated)
        case Comparison() | OneOf() | Negation():
            raise TypeError("not_ takes a fact, ==, !=, is_null or a function; write the opposite comparison")
        case _:
            found = Negation(found)
    return cast("bool", found)


def known(value: T | None) -> T:
    """The same value, for type checkers: of a column that may be null, `known(Owns.share) > 0.5` never is."""
    return cast("T", value)


def is_null(value: object) -> bool:
    """The value is null; `== None` never holds, as in the language."""
    return cast("bool", IsNull(value))


def is_in(value: T, choices: Iterable[T]) -> bool:
    """The value is one of these."""
    return cast("bool", OneOf(value, tuple(choices)))


def several(per: object) -> tuple[object, ...]:
    """What a group is of: one column, or a tuple or list of them."""
    return tuple(per) if isinstance(per, tuple | list) else (per,)


def hnsw_nearest(
    index: str,
    query: Sequence[float],
    k: int,
    id: object,  # noqa: A002 - the language's word
    distance: float | None = ANY,
    *,
    rank: int | None = ANY,
    per: object = (),
    candidates: int | None = None,
) -> bool:
    """A row is one of the `k` nearest to a vector: `hnsw_nearest("near_docs", [0, 1], 10, Doc.id, distance)`.

    `index` names an index of vectors, `id` is the first column of its relation, and `distance` a variable for
    how far the row is, `rank` one for which of the nearest it is, from 1. Whatever the query says of `id`
    counts before the nearest are chosen, what it says of distance and rank afterwards. `per` is a column or
    several: the `k` nearest for each of their values. `candidates` makes an approximate search more thorough.
    """
    found = (index, query, k, id, distance, rank, candidates, several(per))
    return cast("bool", Search("hnsw_nearest", "distance", *found))


def text_search(
    index: str,
    query: str,
    k: int,
    id: object,  # noqa: A002 - the language's word
    score: float | None = ANY,
    *,
    rank: int | None = ANY,
    per: object = (),
) -> bool:
    """A row is one of the `k` that answer a query best: `text_search("about", "cats", 10, Doc.id, score)`.

    `index` names an index of texts, and `score` is a variable for how well a row answers (BM25). A query is
    words, "phrases" in double quotes, and of both those that +have to or -must not be there. The rest is as
    for `hnsw_nearest`.
    """
    found = (index, query, k, id, score, rank, None, several(per))
    return cast("bool", Search("text_search", "score", *found))


def asc(value: T) -> T:
    """For `order_by`: the smallest first."""
    return cast("T", Ordered(value, descending=False))


def desc(value: T) -> T:
    """For `order_by`: the largest first."""
    return cast("T", Ordered(value, descending=True))


def count(value: object) -> int:
    """How many solutions a group has; of a relation, how many rows."""
    return cast("int", Aggregate("count", value))


def count_distinct(value: object) -> int:
    """How many different values there are."""
    return cast("int", Aggregate("count_distinct", value))


def sum_(value: T) -> T:
    """The sum over the solutions of a group."""
    return cast("T", Aggregate("sum", value))


def min_(value: T) -> T:
    """The smallest value."""
    return cast("T", Aggregate("min", value))


def max_(value: T) -> T:
    """The largest value."""
    return cast("T", Aggregate("max", value))


def first(value: T) -> T:
    """The first value in the order of all values; of a group whose values are all the same, that one."""
    return cast("T", Aggregate("first", value))


def last(value: T) -> T:
    """The last value in the order of all values."""
    return cast("T", Aggregate("last", value))


def collect(value: T) -> list[T]:
    """A list of all values, in their order."""
    return cast("list[T]", Aggregate("collect", value))


def avg(value: float | None) -> float:
    """The mean."""
    return cast("float", Aggregate("avg", value))


def median(value: float | None) -> float:
    """The number in the middle, or between the two that are."""
    return cast("float", Aggregate("median", value))


def quantile(value: float | None, portion: float) -> float:
    """The number below which this portion of all lies: 0.9 for nine tenths."""
    if isinstance(portion, bool) or not isinstance(portion, int | float) or not 0 <= portion <= 1:
        raise ValueError(f"a portion is a number from 0 to 1, not {portion!r}")
    return cast("float", Aggregate("quantile", value, float(portion)))


def stddev(value: float | None) -> float:
    """The standard deviation of a sample; None of fewer than two numbers."""
    return cast("float", Aggregate("stddev", value))


def string_agg(value: str | None, separator: str = ", ") -> str:
    """All strings in their order, with the separator in between."""
    if not isinstance(separator, str):
        raise TypeError(f"a separator is a string, not {separator!r}")
    return cast("str", Aggregate("string_agg", value, separator))


def rrf(rank: int | None, k: float = 60) -> float:
    """Reciprocal rank fusion: the sum of 1/(k + rank) over the ranks of a group, which count from 1."""
    if isinstance(k, bool) or not isinstance(k, int | float) or not k >= 0:
        raise ValueError(f"what is added to ranks is a number from 0, not {k!r}")
    return cast("float", Aggregate("rrf", rank, None if k == 60 else k))


def key(value: object) -> object:
    """Equal for expressions that say the same."""
    match value:
        case Column(relation, name):
            return (relation, name)
        case Operation(operator, left, right):
            return (operator, key(left), key(right))
        case Call(function, arguments):
            return (function, *map(key, arguments))
        case Aggregate(function, argument, option):
            return (function, "of", key(argument), option)
        case Expression():
            return id(value)
        case _:
            return (type(value), repr(value))


def _no_truth(what: str) -> NoReturn:
    raise TypeError(
        f"{what} is worked out by the server and has no truth value here: `and`, `or`, `not`, `in` and "
        "chained comparisons do not work on it; give several conditions, and see not_ and is_in"
    )
