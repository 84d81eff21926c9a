"""Points in time in whole milliseconds since 1970, which is what the server keeps."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The calendar of Python begins with the year 1; any calendar repeats itself after 400 years.
TWO_THOUSAND_YEARS = 5 * 146_097 * 86_400_000
#: When these years begin. That of 0 is not in the calendar of Python.
_YEAR_0, _YEAR_1, _YEAR_10_000 = -62_167_219_200_000, -62_135_596_800_000, 253_402_300_800_000


class Time(int):
    """Milliseconds since 1970."""

    __slots__ = ()


class CutTime(Time):
    """A time that was finer, and what it was."""

    text: str


def time(milliseconds: int, finer: str | None = None) -> Time:
    """A time that was finer where there is a text of it."""
    if finer is None:
        return Time(milliseconds)
    cut = CutTime(milliseconds)
    cut.text = finer
    return cut


def time_of(value: date) -> Time | None:
    """A date or time, which counts as UTC without a zone; None is no time at all (NaT)."""
    if value != value:
        return None
    if not isinstance(value, datetime):
        return Time((value.toordinal() - EPOCH.toordinal()) * 86_400_000)
    # pandas has nanoseconds.
    to_python = getattr(value, "to_pydatetime", None)
    python: datetime = value if to_python is None else to_python(warn=False)
    since = (python if python.tzinfo is not None else python.replace(tzinfo=UTC)) - EPOCH
    is_finer = since.microseconds % 1000 != 0 or bool(getattr(value, "nanosecond", 0))
    # Towards the past, also before 1970.
    milliseconds = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    return time(milliseconds, value.isoformat() if is_finer else None)


def time_of_numpy(value: Any) -> Time | None:
    """A `datetime64`, in any unit."""
    whole = value.astype("datetime64[ms]")
    if whole != whole:
        return None
    # A unit that is coarser has no more digits; NumPy compares in the finer one of both.
    return time(int(whole.astype("int64")), None if whole == value else str(value))


def time_text(milliseconds: int) -> str | None:
    """`2026-11-21T18:30:00Z`, with a fraction where there is one; None in a year that has not four digits."""
    if not _YEAR_0 <= milliseconds < _YEAR_10_000:
        return None
    before_1 = milliseconds < _YEAR_1
    seconds, fraction = divmod(milliseconds + TWO_THOUSAND_YEARS * before_1, 1000)
    moment = datetime.fromordinal(719_163 + seconds // 86_400)
    hours, rest = divmod(seconds % 86_400, 3600)
    year = 0 if before_1 else moment.year
    text = f"{year:04}-{moment:%m-%d}T{hours:02}:{rest // 60:02}:{rest % 60:02}"
    return f"{text}.{fraction:03}Z" if fraction else f"{text}Z"


def written(value: datetime) -> str:
    """The same of a time of Python, which has no others."""
    return str(time_text(time_of(value) or 0))


def time_literal(milliseconds: int) -> str:
    """The time as it stands in a program."""
    return f't"{time_text(milliseconds) or f"@{milliseconds}"}"'
