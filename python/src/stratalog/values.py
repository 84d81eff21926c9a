"""Python values as the server stores them: what fits, and how it is written in JSON."""

from __future__ import annotations

import math
import sys
import warnings
from datetime import UTC, date, datetime
from typing import Any

from .errors import PrecisionWarning

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT = range(-(1 << 63), 1 << 63)


def plain(value: Any) -> Any:
    """One value as JSON; times become milliseconds since 1970."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if value not in _INT:
            raise ValueError(f"{value} does not fit in 64 bits")
        return int(value)
    if isinstance(value, float):
        return _finite(float(value))
    if isinstance(value, date):
        return milliseconds(value)
    if isinstance(value, list | tuple):
        return [_number(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(unboxed(value))
    raise TypeError(f"a value of type {type(value).__name__} cannot be stored: {value!r}")


def unboxed(value: Any) -> Any:
    """A scalar or vector of numpy, pandas or their like as Python has it."""
    if getattr(getattr(value, "dtype", None), "kind", "") != "M":
        return value.tolist()
    # Of itself, a time in nanoseconds would be an integer.
    whole = value.astype("datetime64[us]")
    if (time := whole.tolist()) is not None and not isinstance(time, list) and whole != value:
        _warn(value)
    return time


def milliseconds(value: date) -> int:
    """Milliseconds since 1970 in UTC; a time without a zone counts as UTC.

    Digits after them are cut off, with a warning: the clock of Python has more, and few mean them.
    """
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    elif value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    if value.microsecond % 1000 or getattr(value, "nanosecond", 0):
        _warn(value)
    since = value - EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def _warn(value: Any) -> None:
    # Where the client was called.
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("stratalog."):
        frame, level = frame.f_back, level + 1
    warnings.warn(
        f"{value} is finer than milliseconds, which is what times are kept in: what comes after is cut off",
        PrecisionWarning,
        stacklevel=level,
    )


def _finite(value: float) -> float | None:
    """NaN is how many libraries write a missing value; an infinity is a mistake."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise ValueError("infinite numbers cannot be stored")
    return value


def _number(value: Any) -> float:
    if hasattr(value, "tolist"):
        value = unboxed(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"a vector holds finite numbers, not {value!r}")
    return float(value)
