"""Python values as the server stores them: what fits, and how it is written in JSON."""

from __future__ import annotations

import math
import sys
from datetime import date
from decimal import Decimal
from typing import Any

from .times import Time, time_of, time_of_numpy

_BEYOND = 1 << 63


def is_int(value: int) -> bool:
    """Whether it has 64 bits. (A range would look for an integer of a class of ours one by one.)"""
    return -_BEYOND <= value < _BEYOND


def plain(value: Any) -> Any:
    """One value as JSON; times become milliseconds since 1970. A decimal is none: see `number_of`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if value.isascii() else whole_text(value)
    if isinstance(value, int):
        if not is_int(value):
            raise ValueError(f"{value} does not fit in 64 bits")
        return int(value)
    if isinstance(value, float):
        return _finite(float(value))
    if isinstance(value, list | tuple):
        return _elements(value)
    if isinstance(value, set | frozenset):
        return _elements(sorted(value, key=repr))
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if _is_missing(value):
        return None
    raise TypeError(f"a value of type {type(value).__name__} cannot be stored: {value!r}")


def whole_text(value: str) -> str:
    """Text that can be sent: UTF-8 has nothing for half of a character."""
    try:
        value.encode()
    except UnicodeEncodeError as problem:
        half, shown = value[problem.start], value[max(0, problem.start - 20) : problem.start + 20]
        raise ValueError(
            f"{half!r} in {shown!r} is half of a character (a lone surrogate), which is no text"
        ) from None
    return value


class Elements(list[Any]):
    """A list that is no vector: it holds something else than numbers."""


def _elements(value: list[Any] | tuple[Any, ...]) -> list[Any]:
    """A vector, if it holds numbers alone; they are sent as they are."""
    items = [item.tolist() if hasattr(item, "tolist") else item for item in value]
    if all(isinstance(item, int | float | Decimal) and not isinstance(item, bool) for item in items):
        return [_number(item) for item in items]
    if times := [item for item in items if isinstance(item, date)]:
        raise TypeError(f"a list holds no times: write {times[0]!r} as text, or in milliseconds")
    return Elements(plain(item) for item in items)


def timed(value: Any) -> Any:
    """A time as `Time`, a scalar of NumPy or its like as Python has it; anything else as it is."""
    if isinstance(value, date):
        return time_of(value)
    if hasattr(value, "tolist"):
        if getattr(getattr(value, "dtype", None), "kind", "") == "M" and not getattr(value, "ndim", 0):
            return time_of_numpy(value[()] if hasattr(value, "ndim") else value)
        return value.tolist()
    return value


def typed(value: Any) -> Any:
    """A value for a column: as in JSON, but times are known as such, and decimals are left."""
    value = timed(value)
    if isinstance(value, Time):
        return value
    if isinstance(value, Decimal):
        return value if type(value) is Decimal else Decimal(value)
    return plain(value)


def has_scale(value: Decimal) -> bool:
    """Whether a decimal has digits after its point, be they zeros."""
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent < 0


def number_of(value: Decimal, is_whole: bool) -> tuple[int | float | None, bool]:
    """A decimal as an integer, or as the float that is nearest to it; and whether that is another number."""
    if value.is_nan():
        return None, False
    if value.is_infinite():
        raise ValueError("infinite numbers cannot be stored")
    if is_whole:
        if value.adjusted() > 18 or not is_int(int(value)):
            raise ValueError(f"{value} does not fit in 64 bits")
        return int(value), False
    real = _finite(float(value))
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    return real, real is not None and is_rounded(real, unscaled, -int(exponent))


def is_rounded(real: float, unscaled: int, scale: int) -> bool:
    """Whether a float would not come back as a decimal: its digits, and how many are after the point."""
    try:
        return round(real * 10.0**scale) != unscaled
    except OverflowError:
        return True


def _is_missing(value: Any) -> bool:
    """Whether this is what pandas has for nothing."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and value is getattr(pandas, "NA", None)


def _finite(value: float) -> float | None:
    """NaN is how many libraries write a missing value; an infinity is a mistake."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise ValueError("infinite numbers cannot be stored")
    return value


def _number(value: float | Decimal) -> float:
    if not math.isfinite(value):
        raise TypeError(f"a vector holds finite numbers, not {value!r}")
    return value if isinstance(value, int) and is_int(value) else float(value)
