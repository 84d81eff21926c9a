"""Numbers as times: of which unit, since 1970.

A number of nine or ten digits is one of 1970 in milliseconds, and almost always meant in seconds; so nobody
guesses, and the unit has to be named.
"""

from __future__ import annotations

from ..times import Time, time
from ..values import is_int
from .options import Epoch

_UNCLEAR = range(100_000_000, 10_000_000_000)
_IN_ONE_MILLISECOND = {"us": 1_000, "ns": 1_000_000}


def time_of_number(number: int, epoch: Epoch | None) -> Time:
    """The time of a number; where no unit is named, it has to be one that can only be in milliseconds."""
    if epoch is None and abs(number) in _UNCLEAR:
        raise ValueError(
            f"`{number}` is a time of 1970 in milliseconds, and another one in seconds: say which by "
            '`epoch`, "s", "ms", "us" or "ns"'
        )
    if epoch == "s":
        if not is_int(number * 1000):
            raise ValueError(f"`{number}` seconds are beyond all times")
        return Time(number * 1000)
    whole, rest = divmod(number, _IN_ONE_MILLISECOND.get(epoch or "ms", 1))
    return time(whole, str(number) if rest else None)
