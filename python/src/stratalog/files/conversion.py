"""Columns of Arrow data into the types of the language.

What is lost on the way is told, or refused where that is wanted; what would become another number is always
refused, with its row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from math import isfinite
from typing import Any

from ..arrow import ANY, ANY_KEY, LIST
from ..losses import Losses
from ..times import EPOCH, CutTime
from ..values import is_int, is_rounded
from .cells import text_reader
from .epoch import time_of_number
from .formats import pyarrow
from .options import ReadOptions, parted

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class Fault(Exception):
    """Why a column cannot be taken, and in which of its rows, counted from 0."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


class Conversion:
    """What becomes of a column; `ValueError` says that nothing can become of it."""

    def __init__(self, field: Any, wanted: str | None, options: ReadOptions) -> None:
        self._options = options
        plain = _plain(field)
        found = word_of(plain)
        self._text_as: str | None = None
        #: The field as it travels.
        self.target = plain
        #: Values that were NaN.
        self.not_numbers = 0
        if wanted is None or found == "any":
            return
        word, _ = parted(wanted)
        match word, found:
            case ("any", _):
                pass
            case (("vector" | "vector_int8"), "vector") | ("list", "vector"):
                pass
            case _ if word == found:
                pass
            case ("list", "string"):
                self.target, self._text_as = plain.with_metadata({ANY_KEY: LIST}), wanted
            case (_, "string"):
                self.target, self._text_as = plain.with_type(_type(word)), wanted
            case (
                ("string", "int" | "float" | "bool" | "timestamp")
                | ("int", "float")
                | ("float" | "timestamp", "int")
            ):
                self.target = plain.with_type(_type(word))
            case _:
                raise ValueError(f"the column `{field.name}` is of type {found}, which is no {wanted}")

    def apply(self, column: Any, losses: Losses) -> Any:
        """The column in the type of the target. What is no number becomes null, and is counted."""
        pa, target = pyarrow(), self.target.type
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self._text_as is not None:
            return self._finite(self._read(column, self._text_as, losses))
        if column.type == target:
            return self._finite(column)
        if pa.types.is_string(target):
            return pa.array(_texts(column), target)
        if pa.types.is_decimal(column.type):
            return pa.array(self._of_decimals(column, losses), target)
        if pa.types.is_timestamp(target) and pa.types.is_integer(column.type):
            return self._of_numbers(column, losses)
        if pa.types.is_timestamp(target) and pa.types.is_timestamp(column.type):
            return self._in_milliseconds(column, losses)
        return self._finite(_cast(column, target))

    def _in_milliseconds(self, column: Any, losses: Losses) -> Any:
        """Times, cut to milliseconds towards the past."""
        pa, compute = pyarrow(), pyarrow("pyarrow.compute")
        # Integers are divided towards zero.
        parts = _PER_SECOND[column.type.unit] // 1000
        if parts <= 1:
            return _cast(column, self.target.type)
        numbers = column.cast(pa.int64())
        whole = compute.divide(numbers, parts)
        finer = compute.not_equal(compute.multiply(whole, parts), numbers)
        if count := compute.sum(finer).as_py():
            row = compute.index(finer, pa.scalar(True)).as_py()
            if self._options.exact:
                raise _lossy(column, row, self.target.type)
            # In UTC: a zone is no part of a value.
            plain = column.slice(row, 1).cast(pa.timestamp(column.type.unit))
            losses.note("times", self.target.name, str(_texts(plain)[0]), count)
            is_before = compute.and_(finer, compute.less(numbers, 0))
            whole = compute.if_else(is_before, compute.subtract(whole, 1), whole)
        return whole.cast(pa.timestamp("ms")).cast(self.target.type)

    def _of_numbers(self, column: Any, losses: Losses) -> Any:
        """Integers as times."""
        pa = pyarrow()
        found: list[Any] = []
        for row, number in enumerate(_cast(column, pa.int64()).to_pylist()):
            try:
                time = None if number is None else time_of_number(number, self._options.epoch)
            except ValueError as problem:
                raise Fault(row, str(problem)) from None
            if isinstance(time, CutTime) and self._options.exact:
                raise _lossy(column, row, self.target.type)
            found.append(time)
        losses.note_times(self.target.name, found)
        return pa.array(found, pa.int64()).cast(self.target.type)

    def _of_decimals(self, column: Any, losses: Losses) -> list[Any]:
        """Decimals as integers, or as the floats that are nearest to them."""
        target, scale = self.target.type, column.type.scale
        found: list[Any] = []
        rounded: list[str] = []
        for row, value in enumerate(column.to_pylist()):
            number: Any = None
            if value is not None and pyarrow().types.is_integer(target):
                if not is_int(number := int(value)) or number != value:
                    raise _lossy(column, row, target)
            elif value is not None:
                number = float(value)
                if is_rounded(number, int(f"{value:f}".replace(".", "")), scale):
                    if self._options.exact:
                        raise _lossy(column, row, target)
                    rounded.append(f"{value:f}")
            found.append(number)
        if rounded:
            losses.note("decimals", self.target.name, rounded[0], len(rounded))
        return found

    def _read(self, column: Any, kind: str, losses: Losses) -> Any:
        """Text as it would be read in CSV."""
        read = text_reader(kind, self._options)
        found: list[Any] = []
        for row, text in enumerate(column.to_pylist()):
            try:
                found.append(None if text is None else read(text or " "))
            except ValueError as problem:
                raise Fault(row, str(problem)) from None
        losses.note_times(self.target.name, found)
        if kind == "list":
            found = [None if value is None else json.dumps(value, ensure_ascii=False) for value in found]
        return pyarrow().array(found, self.target.type)

    def _finite(self, column: Any) -> Any:
        """NaN, with which many programs say that there is nothing, becomes null. An infinity is a mistake."""
        pa, compute = pyarrow(), pyarrow("pyarrow.compute")
        if pa.types.is_float64(column.type):
            if compute.all(compute.is_finite(column)).as_py() is not False:
                return column
            infinite = compute.index(compute.is_inf(column), pa.scalar(True)).as_py()
            if infinite >= 0:
                raise Fault(infinite, "an infinite number cannot be stored")
            is_nan = compute.is_nan(column)
            self.not_numbers += compute.sum(is_nan).as_py()
            return compute.if_else(is_nan, pa.scalar(None, pa.float64()), column)
        is_list = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
        is_list = is_list or pa.types.is_fixed_size_list(column.type)
        if is_list and pa.types.is_floating(column.type.value_type):
            # Of a list that is null, the elements do not count.
            elements = column.flatten().cast(pa.float32(), safe=False)
            if elements.null_count or compute.all(compute.is_finite(elements)).as_py() is False:
                for row, vector in enumerate(column):
                    some = vector.values.cast(pa.float32(), safe=False) if vector.is_valid else None
                    if some is not None and not all(x is not None and isfinite(x) for x in some.to_pylist()):
                        raise Fault(row, "a vector has a number that is no 32-bit float")
        return column


def word_of(field: Any) -> str:
    """The type that a relation would have for a field of Arrow, without a length."""
    types, kind = pyarrow("pyarrow.types"), field.type
    if (mark := (field.metadata or {}).get(ANY_KEY)) in (ANY, LIST):
        return str(mark, "ascii")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "string"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        item = kind.value_type
        is_number = types.is_integer(item) or types.is_floating(item) or types.is_null(item)
        return "vector" if is_number else "list"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "timestamp"
    if types.is_boolean(kind):
        return "bool"
    return "int" if types.is_integer(kind) else "float" if types.is_floating(kind) else "any"


def _type(word: str) -> Any:
    """The type of Arrow in which values of a type travel."""
    pa = pyarrow()
    return {
        "int": pa.int64(),
        "float": pa.float64(),
        "string": pa.string(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("ms", "UTC"),
        "vector": pa.list_(pa.float32()),
        "vector_int8": pa.list_(pa.int8()),
    }[word]


def _plain(field: Any) -> Any:
    """The field as it travels: without dictionaries, decimals as numbers, times in milliseconds."""
    pa, kind = pyarrow(), field.type
    if pa.types.is_dictionary(kind):
        return _plain(field.with_type(kind.value_type))
    if pa.types.is_decimal(kind):
        kind = pa.float64() if kind.scale else pa.int64()
    elif pa.types.is_floating(kind):
        kind = pa.float64()
    elif kind == pa.uint64():
        kind = pa.int64()
    elif pa.types.is_date64(kind):
        kind = pa.timestamp("ms")
    elif pa.types.is_timestamp(kind):
        kind = pa.timestamp("ms", kind.tz)
    mark = (field.metadata or {}).get(ANY_KEY)
    return pa.field(field.name, kind, metadata={ANY_KEY: mark} if mark in (ANY, LIST) else None)


def _cast(column: Any, target: Any) -> Any:
    """The same values in another type, or the first of them that would be another one."""
    pa, compute = pyarrow(), pyarrow("pyarrow.compute")
    if pa.types.is_integer(column.type) and pa.types.is_float64(target):
        # By itself, the library refuses all that is beyond 53 bits.
        converted = column.cast(target, safe=False)
        lost = compute.not_equal(converted.cast(column.type, safe=False), column)
        if (row := compute.index(lost, pa.scalar(True)).as_py()) >= 0:
            raise _lossy(column, row, target)
        return converted
    try:
        return column.cast(target)
    except pa.ArrowInvalid:
        raise _lossy(column, _first_fault(column, target), target) from None


def _first_fault(column: Any, target: Any) -> int:
    """The first row that cannot be cast."""
    good, bad = 0, len(column)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            column.slice(good, middle - good).cast(target)
            good = middle
        except pyarrow().ArrowInvalid:
            bad = middle
    return good


def _lossy(column: Any, row: int, target: Any) -> Fault:
    types = pyarrow("pyarrow.types")
    value = _texts(column.slice(row, 1))[0]
    if types.is_timestamp(target):
        return Fault(row, f"`{value}` is no time in milliseconds, which is what times are kept in")
    if types.is_integer(target):
        return Fault(row, f"`{value}` is no integer of 64 bits with sign")
    return Fault(row, f"`{value}` would be rounded to a float")


def _texts(column: Any) -> list[str | None]:
    """What the values are as text; times in UTC, as their zone is no part of their value."""
    pa = pyarrow()
    show: Callable[[Any], str]
    if pa.types.is_timestamp(column.type):
        per_second, zone = _PER_SECOND[column.type.unit], "" if column.type.tz is None else "Z"
        digits = len(str(per_second)) - 1
        show = lambda value: _time_text(value, per_second, digits, zone)  # noqa: E731
        column = column.cast(pa.int64())
    elif pa.types.is_decimal(column.type):
        show = lambda value: format(value, "f")  # noqa: E731
    elif pa.types.is_floating(column.type):
        show = _real_text
    elif pa.types.is_boolean(column.type):
        show = lambda value: str(value).lower()  # noqa: E731
    else:
        show = str
    return [None if value is None else show(value) for value in column.to_pylist()]


def _time_text(value: int, per_second: int, digits: int, zone: str) -> str:
    seconds, fraction = divmod(value, per_second)
    try:
        text = (EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
    except OverflowError:
        return str(value)
    rest = f"{fraction:0{digits}}" if fraction else ""
    while rest.endswith("000"):
        rest = rest[:-3]
    return f"{text}.{rest}{zone}" if rest else f"{text}{zone}"


def _real_text(value: float) -> str:
    digits, exponent, power = repr(float(value)).partition("e")
    return f"{digits}e{int(power)}" if exponent else digits
