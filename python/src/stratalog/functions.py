"""The functions of the language, for composed queries and rules: `upper(Owns.owner)`.

Made from docs/functions.md by tools/generate.py. For a type checker they take and give values;
null, which most of them give for null, is left out of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from .expressions import Call

T = TypeVar("T")


def abs(x: T) -> T:
    """The number without its sign. The smallest integer gives the largest one. `abs(-3)` is `3`."""
    return cast("T", Call("abs", (x,)))


def abs_int64(x: int | None) -> int:
    """The same for integers; a float gives null. `abs_int64(-3)` is `3`."""
    return cast("int", Call("abs_int64", (x,)))


def abs_float64(x: float | None) -> float:
    """The same as a float. `abs_float64(-3)` is `3.0`."""
    return cast("float", Call("abs_float64", (x,)))


def sqrt(x: float | None) -> float:
    """The square root; null below zero. `sqrt(16)` is `4.0`."""
    return cast("float", Call("sqrt", (x,)))


def pow(base: float | None, exponent: float | None) -> float:
    """The power of a number. `pow(2, 10)` is `1024.0`."""
    return cast("float", Call("pow", (base, exponent)))


def log(x: float | None) -> float:
    """The natural logarithm; null for zero and below. `log(1)` is `0.0`."""
    return cast("float", Call("log", (x,)))


def exp(x: float | None) -> float:
    """The power of e. `exp(0)` is `1.0`."""
    return cast("float", Call("exp", (x,)))


def sin(x: float | None) -> float:
    """The sine of an angle in radians. `sin(0)` is `0.0`."""
    return cast("float", Call("sin", (x,)))


def cos(x: float | None) -> float:
    """The cosine of an angle in radians. `cos(0)` is `1.0`."""
    return cast("float", Call("cos", (x,)))


def tan(x: float | None) -> float:
    """The tangent of an angle in radians. `tan(0)` is `0.0`."""
    return cast("float", Call("tan", (x,)))


def floor(x: float | None) -> int:
    """The largest integer that is not above the number. `floor(-2.5)` is `-3`."""
    return cast("int", Call("floor", (x,)))


def round(x: float | None) -> int:
    """The nearest integer; of two, the one farther from zero. `round_to` keeps decimals. `round(2.5)`
    is `3`.
    """
    return cast("int", Call("round", (x,)))


def round_to(x: float | None, digits: int | None) -> float:
    """The number with so many decimals; digits below zero round to tens, hundreds and so on.
    `round_to(2.345, 1)` is `2.3`.
    """
    return cast("float", Call("round_to", (x, digits)))


def coalesce(a: object, b: object, *more: object) -> Any:
    """The first of its arguments that is not null; null if all are. `coalesce(null, 0)` is `0`."""
    return cast("Any", Call("coalesce", (a, b, *more)))


def ceil(x: float | None) -> int:
    """The smallest integer that is not below the number. `ceil(2.1)` is `3`."""
    return cast("int", Call("ceil", (x,)))


def sign(x: float | None) -> int:
    """-1, 0 or 1, as the number is below, at or above zero. `sign(-2.5)` is `-1`."""
    return cast("int", Call("sign", (x,)))


def min_val(a: T, b: T) -> T:
    """The smaller of two numbers or of two strings; a float if one of the numbers is one. `min_val(2,
    3.5)` is `2.0`.
    """
    return cast("T", Call("min_val", (a, b)))


def max_val(a: T, b: T) -> T:
    """The larger of two numbers or of two strings; a float if one of the numbers is one. `max_val("a",
    "b")` is `"b"`.
    """
    return cast("T", Call("max_val", (a, b)))


def near(a: float | None, b: float | None, eps: float | None) -> bool:
    """Whether two numbers differ by no more than `eps`. `near(0.1 + 0.2, 0.3, 1e-9)` is `true`."""
    return cast("bool", Call("near", (a, b, eps)))


def to_float(x: object) -> float:
    """A number, or the number that a string spells, as a float; null for anything else. `to_float(3)`
    is `3.0`.
    """
    return cast("float", Call("to_float", (x,)))


def to_int(x: object) -> int:
    """A number, or the number that a string spells, without its fraction, towards zero; of a time, its
    milliseconds since 1970; null for anything else. `to_int(-2.9)` is `-2`.
    """
    return cast("int", Call("to_int", (x,)))


def len(s: str | Sequence[object] | None) -> int:
    """The length of a string in bytes of UTF-8, or of a list in elements. `len("größe")` is `7`."""
    return cast("int", Call("len", (s,)))


def upper(s: str | None) -> str:
    """All letters in upper case. `upper("straße")` is `"STRASSE"`."""
    return cast("str", Call("upper", (s,)))


def lower(s: str | None) -> str:
    """All letters in lower case. `lower("ÄB")` is `"äb"`."""
    return cast("str", Call("lower", (s,)))


def trim(s: str | None) -> str:
    """Without the white space at both ends. `trim("  a b ")` is `"a b"`."""
    return cast("str", Call("trim", (s,)))


def substr(s: str | None, start: int | None, length: int | None) -> str:
    """So many bytes from an offset, the first being 0. Both ends move on to the next character; nothing
    is there beyond the string or for negative numbers. `substr("hello", 1, 3)` is `"ell"`.
    """
    return cast("str", Call("substr", (s, start, length)))


def replace(s: str | None, find: str | None, by: str | None) -> str:
    """Every occurrence replaced. `replace("a-b-c", "-", "+")` is `"a+b+c"`."""
    return cast("str", Call("replace", (s, find, by)))


def regex_match(s: str | None, pattern: str | None) -> bool:
    """Whether the regular expression matches a part of the string; `^` and `$` are its ends.
    `regex_match("rosebud", "^r.*d$")` is `true`.
    """
    return cast("bool", Call("regex_match", (s, pattern)))


def regex_replace(s: str | None, pattern: str | None, by: str | None) -> str:
    """Every match replaced; `$1` is what the first group matched. `regex_replace("2024-03",
    "([0-9]+)-([0-9]+)", "$2/$1")` is `"03/2024"`.
    """
    return cast("str", Call("regex_replace", (s, pattern, by)))


def regex_extract(s: str | None, pattern: str | None, group: int | None) -> str:
    """What a group of the first match holds, 0 is the whole match; null if there is none.
    `regex_extract("rose no. 7", "no[.] ([0-9]+)", 1)` is `"7"`.
    """
    return cast("str", Call("regex_extract", (s, pattern, group)))


def split_part(s: str | None, separator: str | None, number: int | None) -> str:
    """The part of this number between separators, counted from 1; null if there are fewer.
    `split_part("a/b/c", "/", 2)` is `"b"`.
    """
    return cast("str", Call("split_part", (s, separator, number)))


def contains(s: str | Sequence[object] | None, part: object) -> bool:
    """Whether the part stands anywhere in the string, or an element of the list equals it.
    `contains("rosebud", "bud")` is `true`.
    """
    return cast("bool", Call("contains", (s, part)))


def starts_with(s: str | None, part: str | None) -> bool:
    """Whether the string begins with the part. `starts_with("rosebud", "rose")` is `true`."""
    return cast("bool", Call("starts_with", (s, part)))


def ends_with(s: str | None, part: str | None) -> bool:
    """Whether the string ends with the part. `ends_with("rosebud", "rose")` is `false`."""
    return cast("bool", Call("ends_with", (s, part)))


def index_of(s: str | Sequence[object] | None, part: object) -> int:
    """Where the part begins, in bytes from 0, as `substr` counts them, or the first element of the list
    that equals it; -1 where there is none. `index_of("größe", "ße")` is `4`.
    """
    return cast("int", Call("index_of", (s, part)))


def pad_left(s: str | None, length: int | None, filling: str | None) -> str:
    """The string with as much filling in front as makes it so many characters long. `pad_left("7", 3,
    "0")` is `"007"`.
    """
    return cast("str", Call("pad_left", (s, length, filling)))


def pad_right(s: str | None, length: int | None, filling: str | None) -> str:
    """The same with the filling behind. `pad_right("ab", 4, ".")` is `"ab.."`."""
    return cast("str", Call("pad_right", (s, length, filling)))


def to_string(x: object) -> str:
    """A value as `concat` writes it; null stays null. Times are milliseconds: `format_time` writes
    them. `to_string(4.5)` is `"4.5"`.
    """
    return cast("str", Call("to_string", (x,)))


def concat(a: object, b: object, *more: object) -> str:
    """Two or more values as one string. `4.0` is written `4`, null `NULL`, a vector `[1.0000, 2.0000]`.
    `concat("n = ", 4.0, "; ", null)` is `"n = 4; NULL"`.
    """
    return cast("str", Call("concat", (a, b, *more)))


def list_(x: object, *more: object) -> list[Any]:
    """The list of these values, of any kinds; `list()` is the empty one, and `["a", X]` another way to
    write `list("a", X)`. `list("a", 1, null)` is `list("a", 1, null)`.
    """
    return cast("list[Any]", Call("list", (x, *more)))


def each(xs: Sequence[object] | None) -> Any:
    """Every element in turn: `X = each(xs)`, also written `X in xs`, holds once for each that differs.
    It stands only there. `each(list(7))` is `7`.
    """
    return cast("Any", Call("each", (xs,)))


def has(xs: Sequence[object] | None, x: object) -> bool:
    """Whether an element equals the value, as `X in xs` asks where `X` has a value already.
    `has(list(1, 2), 2)` is `true`.
    """
    return cast("bool", Call("has", (xs, x)))


def append(xs: Sequence[object] | None, x: object) -> list[Any]:
    """The list with one more element at its end. `append(list("a"), "b")` is `list("a", "b")`."""
    return cast("list[Any]", Call("append", (xs, x)))


def extend(xs: Sequence[object] | None, ys: Sequence[object] | None) -> list[Any]:
    """The elements of the first, then those of the second. `extend(list(1), list(2, 3))` is `list(1, 2,
    3)`.
    """
    return cast("list[Any]", Call("extend", (xs, ys)))


def element(xs: Sequence[object] | None, at: int | None) -> Any:
    """The element at a place, the first being 0 and the last -1; null beyond. `element(list("a", "b"),
    -1)` is `"b"`.
    """
    return cast("Any", Call("element", (xs, at)))


def slice(xs: Sequence[object] | None, start: int | None, length: int | None) -> list[Any]:
    """So many elements from a place, the first being 0. `slice(list(1, 2, 3), 1, 2)` is `list(2, 3)`."""
    return cast("list[Any]", Call("slice", (xs, start, length)))


def sort(xs: Sequence[object] | None) -> list[Any]:
    """The elements in their order: null, booleans, numbers, strings, vectors, lists. `sort(list(3, 1,
    2))` is `list(1, 2, 3)`.
    """
    return cast("list[Any]", Call("sort", (xs,)))


def distinct(xs: Sequence[object] | None) -> list[Any]:
    """The elements without those that equal an earlier one. `distinct(list(1, 2, 1))` is `list(1, 2)`."""
    return cast("list[Any]", Call("distinct", (xs,)))


def reverse(xs: Sequence[object] | None) -> list[Any]:
    """The elements from the last to the first. `reverse(list(1, 2))` is `list(2, 1)`."""
    return cast("list[Any]", Call("reverse", (xs,)))


def join(xs: Sequence[object] | None, separator: str | None) -> str:
    """The elements as strings, with a separator between them. `join(list("a", 1), "-")` is `"a-1"`."""
    return cast("str", Call("join", (xs, separator)))


def split(s: str | None, separator: str | None) -> list[Any]:
    """What stands between the separators; null if that is empty. `W in split(S, " ")` gives a row for
    each. `split("a b", " ")` is `list("a", "b")`.
    """
    return cast("list[Any]", Call("split", (s, separator)))


def euclidean(v: list[float] | None, w: list[float] | None) -> float:
    """The distance; null if the lengths differ. `euclidean([1, 0], [0, 2])` is `2.23606797749979`."""
    return cast("float", Call("euclidean", (v, w)))


def manhattan(v: list[float] | None, w: list[float] | None) -> float:
    """The sum of the distances in each dimension; null if the lengths differ. `manhattan([1, 0], [0,
    2])` is `3.0`.
    """
    return cast("float", Call("manhattan", (v, w)))


def cosine(v: list[float] | None, w: list[float] | None) -> float:
    """One minus the cosine of the angle, from 0 to 2; 1 for a zero vector, null if the lengths differ.
    `cosine([3, 4], [1, 0])` is `0.4`.
    """
    return cast("float", Call("cosine", (v, w)))


def dot(v: list[float] | None, w: list[float] | None) -> float:
    """The inner product: a similarity, not a distance; 0 if the lengths differ. `dot([1, 2], [3, 4])`
    is `11.0`.
    """
    return cast("float", Call("dot", (v, w)))


def normalize(v: list[float] | None) -> list[float]:
    """The vector of length 1 in the same direction; a zero vector stays. `normalize([0, 5])` is `[0.0,
    1.0]`.
    """
    return cast("list[float]", Call("normalize", (v,)))


def vec_dim(v: list[float] | None) -> int:
    """The number of dimensions. `vec_dim([1, 2, 3])` is `3`."""
    return cast("int", Call("vec_dim", (v,)))


def vec_add(v: list[float] | None, w: list[float] | None) -> list[float]:
    """The sum; null if the lengths differ. `vec_add([1, 2], [3, 4])` is `[4.0, 6.0]`."""
    return cast("list[float]", Call("vec_add", (v, w)))


def vec_scale(v: list[float] | None, factor: float | None) -> list[float]:
    """Every element times a number. `vec_scale([1, 2], 2.5)` is `[2.5, 5.0]`."""
    return cast("list[float]", Call("vec_scale", (v, factor)))


def quantize_linear(v: list[float] | None) -> list[int]:
    """The smallest element becomes -128, the largest 127; all are 0 where they are equal.
    `quantize_linear([1, 2, 3])` is `[-128, -1, 127]`.
    """
    return cast("list[int]", Call("quantize_linear", (v,)))


def quantize_symmetric(v: list[float] | None) -> list[int]:
    """The element farthest from zero becomes 127 or -127, and 0 stays 0. `quantize_symmetric([1, 2,
    3])` is `[42, 85, 127]`.
    """
    return cast("list[int]", Call("quantize_symmetric", (v,)))


def dequantize(q: list[int] | None) -> list[float]:
    """The integers as floats. `dequantize(quantize_symmetric([1, 2, 3]))` is `[42.0, 85.0, 127.0]`."""
    return cast("list[float]", Call("dequantize", (q,)))


def dequantize_scaled(q: list[int] | None, scale: float | None) -> list[float]:
    """The integers times a number. `dequantize_scaled(quantize_symmetric([1, -1]), 0.5)` is `[63.5,
    -63.5]`.
    """
    return cast("list[float]", Call("dequantize_scaled", (q, scale)))


def euclidean_int8(q: list[int] | None, r: list[int] | None) -> float:
    """The distance; null if the lengths differ. `euclidean_int8(quantize_symmetric([3, 0]),
    quantize_symmetric([0, 3]))` is `179.60512242138307`.
    """
    return cast("float", Call("euclidean_int8", (q, r)))


def manhattan_int8(q: list[int] | None, r: list[int] | None) -> float:
    """The sum of the distances in each dimension; null if the lengths differ.
    `manhattan_int8(quantize_symmetric([3, 0]), quantize_symmetric([0, 3]))` is `254.0`.
    """
    return cast("float", Call("manhattan_int8", (q, r)))


def dot_int8(q: list[int] | None, r: list[int] | None) -> float:
    """The inner product; 0 if the lengths differ. `dot_int8(quantize_symmetric([1, 2, 3]),
    quantize_symmetric([1, 0, 0]))` is `5334.0`.
    """
    return cast("float", Call("dot_int8", (q, r)))


def cosine_int8(q: list[int] | None, r: list[int] | None) -> float:
    """One minus the cosine of the angle; 1 for a zero vector, null if the lengths differ.
    `cosine_int8(quantize_symmetric([1, 0]), quantize_symmetric([0, 1]))` is `1.0`.
    """
    return cast("float", Call("cosine_int8", (q, r)))


def lsh_bucket(v: list[float] | None, table: int | None, planes: int | None) -> int:
    """The bucket of a vector: bit h is set if it lies above plane h of the table. At most 62 planes.
    `lsh_bucket([3, 4], 0, 8)` is `136`.
    """
    return cast("int", Call("lsh_bucket", (v, table, planes)))


def lsh_probes(bucket: int | None, planes: int | None, count: int | None) -> list[float]:
    """A bucket and its neighbours, as many as asked for: first those that differ in one bit, then in
    two, then in three. `lsh_probes(5, 3, 4)` is `[5.0, 4.0, 7.0, 1.0]`.
    """
    return cast("list[float]", Call("lsh_probes", (bucket, planes, count)))


def lsh_multi_probe(
    v: list[float] | None, table: int | None, planes: int | None, count: int | None
) -> list[float]:
    """The bucket of a vector and its neighbours; bits of planes that lie near the vector change first.
    `lsh_multi_probe([3, 4], 0, 8, 1)` is `[136.0]`.
    """
    return cast("list[float]", Call("lsh_multi_probe", (v, table, planes, count)))


def time_now() -> datetime:
    """The time at which the request began, the same wherever it is asked for. `time_after(time_now(),
    "2024-01-05")` is `true`.
    """
    return cast("datetime", Call("time_now", ()))


def time_diff(a: datetime | int | None, b: datetime | int | None) -> int:
    """Milliseconds from the second to the first. `time_diff(t"2024-01-05T00:00:03", t"2024-01-05")` is
    `3000`.
    """
    return cast("int", Call("time_diff", (a, b)))


def time_add(t: datetime | int | None, ms: datetime | int | None) -> datetime:
    """So much later. `time_add(t"2024-01-05", hours(2))` is `t"2024-01-05T02:00:00Z"`."""
    return cast("datetime", Call("time_add", (t, ms)))


def time_sub(t: datetime | int | None, ms: datetime | int | None) -> datetime:
    """So much earlier. `time_sub(t"2024-01-05", 500)` is `t"2024-01-04T23:59:59.500Z"`."""
    return cast("datetime", Call("time_sub", (t, ms)))


def time_decay(
    t: datetime | int | None, now: datetime | int | None, half_life: datetime | int | None
) -> float:
    """A weight that halves with every half-life of age: 1 for now and later; 0 for the past if the
    half-life is not positive. `time_decay(1000, 2000, 1000)` is `0.5`.
    """
    return cast("float", Call("time_decay", (t, now, half_life)))


def time_decay_linear(
    t: datetime | int | None, now: datetime | int | None, max_age: datetime | int | None
) -> float:
    """A weight that falls evenly from 1 now to 0 at the greatest age; 0 for the past if that is not
    positive. `time_decay_linear(1500, 2000, 1000)` is `0.5`.
    """
    return cast("float", Call("time_decay_linear", (t, now, max_age)))


def time_before(a: datetime | int | None, b: datetime | int | None) -> bool:
    """Whether the first is earlier. `time_before(1, 2)` is `true`."""
    return cast("bool", Call("time_before", (a, b)))


def time_after(a: datetime | int | None, b: datetime | int | None) -> bool:
    """Whether the first is later. `time_after(1, 2)` is `false`."""
    return cast("bool", Call("time_after", (a, b)))


def time_between(t: datetime | int | None, start: datetime | int | None, end: datetime | int | None) -> bool:
    """Whether it lies in the interval, both ends included. `time_between(2, 1, 2)` is `true`."""
    return cast("bool", Call("time_between", (t, start, end)))


def point_in_interval(
    t: datetime | int | None, start: datetime | int | None, end: datetime | int | None
) -> bool:
    """The same as `time_between`. `point_in_interval(3, 1, 2)` is `false`."""
    return cast("bool", Call("point_in_interval", (t, start, end)))


def within_last(t: datetime | int | None, now: datetime | int | None, ms: datetime | int | None) -> bool:
    """Whether it is past, and by no more than so much. `within_last(900, 1000, 100)` is `true`."""
    return cast("bool", Call("within_last", (t, now, ms)))


def intervals_overlap(
    start1: datetime | int | None,
    end1: datetime | int | None,
    start2: datetime | int | None,
    end2: datetime | int | None,
) -> bool:
    """Whether two intervals share a point; ends belong to them. `intervals_overlap(1, 5, 5, 9)` is
    `true`.
    """
    return cast("bool", Call("intervals_overlap", (start1, end1, start2, end2)))


def interval_contains(
    start1: datetime | int | None,
    end1: datetime | int | None,
    start2: datetime | int | None,
    end2: datetime | int | None,
) -> bool:
    """Whether the second interval lies in the first. `interval_contains(1, 9, 2, 8)` is `true`."""
    return cast("bool", Call("interval_contains", (start1, end1, start2, end2)))


def interval_duration(start: datetime | int | None, end: datetime | int | None) -> int:
    """Milliseconds from start to end; negative if the end comes first. `interval_duration(1000, 4000)`
    is `3000`.
    """
    return cast("int", Call("interval_duration", (start, end)))


def year(t: datetime | int | None) -> int:
    """The year. `year(t"2024-02-29T13:45:06.789Z")` is `2024`."""
    return cast("int", Call("year", (t,)))


def quarter(t: datetime | int | None) -> int:
    """The quarter of the year, from 1. `quarter(t"2024-02-29T13:45:06.789Z")` is `1`."""
    return cast("int", Call("quarter", (t,)))


def month(t: datetime | int | None) -> int:
    """The month, from 1. `month(t"2024-02-29T13:45:06.789Z")` is `2`."""
    return cast("int", Call("month", (t,)))


def week(t: datetime | int | None) -> int:
    """The week of the year as ISO 8601 counts: weeks begin on Mondays, and the first has the first
    Thursday. `week(t"2024-02-29T13:45:06.789Z")` is `9`.
    """
    return cast("int", Call("week", (t,)))


def day(t: datetime | int | None) -> int:
    """The day of the month, from 1. `day(t"2024-02-29T13:45:06.789Z")` is `29`."""
    return cast("int", Call("day", (t,)))


def day_of_year(t: datetime | int | None) -> int:
    """The day of the year, from 1. `day_of_year(t"2024-02-29T13:45:06.789Z")` is `60`."""
    return cast("int", Call("day_of_year", (t,)))


def weekday(t: datetime | int | None) -> int:
    """The day of the week: 1 is Monday, 7 is Sunday. `weekday(t"2024-02-29T13:45:06.789Z")` is `4`."""
    return cast("int", Call("weekday", (t,)))


def hour(t: datetime | int | None) -> int:
    """The hour, from 0. `hour(t"2024-02-29T13:45:06.789Z")` is `13`."""
    return cast("int", Call("hour", (t,)))


def minute(t: datetime | int | None) -> int:
    """The minute of the hour. `minute(t"2024-02-29T13:45:06.789Z")` is `45`."""
    return cast("int", Call("minute", (t,)))


def second(t: datetime | int | None) -> int:
    """The second of the minute. `second(t"2024-02-29T13:45:06.789Z")` is `6`."""
    return cast("int", Call("second", (t,)))


def millisecond(t: datetime | int | None) -> int:
    """The millisecond of the second. `millisecond(t"2024-02-29T13:45:06.789Z")` is `789`."""
    return cast("int", Call("millisecond", (t,)))


def weeks(n: float | None) -> int:
    """So many weeks in milliseconds, as `time_add` and differences of times have them. `weeks(2)` is
    `1209600000`.
    """
    return cast("int", Call("weeks", (n,)))


def days(n: float | None) -> int:
    """So many days in milliseconds, as `time_add` and differences of times have them. `days(2)` is
    `172800000`.
    """
    return cast("int", Call("days", (n,)))


def hours(n: float | None) -> int:
    """So many hours in milliseconds, as `time_add` and differences of times have them. `hours(2)` is
    `7200000`.
    """
    return cast("int", Call("hours", (n,)))


def minutes(n: float | None) -> int:
    """So many minutes in milliseconds, as `time_add` and differences of times have them. `minutes(2)`
    is `120000`.
    """
    return cast("int", Call("minutes", (n,)))


def seconds(n: float | None) -> int:
    """So many seconds in milliseconds, as `time_add` and differences of times have them. `seconds(2)`
    is `2000`.
    """
    return cast("int", Call("seconds", (n,)))


def add_months(t: datetime | int | None, months: int | None) -> datetime:
    """So many months later, on the last day of a month that is too short. `add_months(t"2024-01-31",
    1)` is `t"2024-02-29T00:00:00Z"`.
    """
    return cast("datetime", Call("add_months", (t, months)))


def date_trunc(unit: str | None, t: datetime | int | None) -> datetime:
    """The beginning of the year, quarter, month, week (Monday), day, hour, minute or second in which a
    time lies. `date_trunc("month", t"2024-02-29T13:45:06.789Z")` is `t"2024-02-01T00:00:00Z"`.
    """
    return cast("datetime", Call("date_trunc", (unit, t)))


def format_time(t: datetime | int | None, pattern: str | None) -> str:
    """A time as text, with the letters of `strftime`: `%Y-%m-%d %H:%M:%S`.
    `format_time(t"2024-02-29T13:45:06.789Z", "%d.%m.%Y")` is `"29.02.2024"`.
    """
    return cast("str", Call("format_time", (t, pattern)))


def parse_time(s: str | None, pattern: str | None) -> datetime:
    """The time that text stands for, in the letters of `strftime`: in UTC unless `%z` reads its zone,
    at midnight if there is only a date; null if the text is another. `parse_time("5/1/2024",
    "%d/%m/%Y")` is `t"2024-01-05T00:00:00Z"`.
    """
    return cast("datetime", Call("parse_time", (s, pattern)))


def to_time(x: object) -> datetime:
    """The time that text stands for as `2024-01-05`, `2024-01-05T10:00:00` or
    `2024-01-05T10:00:00+02:00`, or that an integer counts in milliseconds since 1970; null for
    anything else. `to_time("2024-01-05T10:00:00+02:00")` is `t"2024-01-05T08:00:00Z"`.
    """
    return cast("datetime", Call("to_time", (x,)))


def local_time(t: datetime | int | None, zone: str | None) -> datetime:
    """What the clock shows in a zone of the IANA database, as a time whose parts can be taken.
    `local_time(t"2024-07-01", "Europe/Berlin")` is `t"2024-07-01T02:00:00Z"`.
    """
    return cast("datetime", Call("local_time", (t, zone)))


def utc_time(t: datetime | int | None, zone: str | None) -> datetime:
    """When the clock of a zone shows this: the first time if it does so twice, null if it never does.
    `utc_time(t"2024-07-01T02:00:00", "Europe/Berlin")` is `t"2024-07-01T00:00:00Z"`.
    """
    return cast("datetime", Call("utc_time", (t, zone)))
