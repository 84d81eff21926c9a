"""One cell of a file as a value of its column's type. `ValueError` says why it is none."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Sequence
from datetime import datetime
from math import inf, isfinite, nan
from typing import Any

from .. import times
from ..times import CutTime, Time, time
from ..values import Elements
from .epoch import time_of_number
from .json_text import is_rounded, parsed, shortened
from .options import ReadOptions, parted

_INT = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ZONE = r" ?(?:[Zz]|[+-]\d\d(?::?\d\d)?)"
_TIME = re.compile(rf"\d{{4}}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:{_ZONE})?)?", re.ASCII)
_MOST = 1 << 63
#: What is not below becomes infinite as a float of 32 bits.
_BEYOND_32_BITS = 3.4028235677973366e38
_SPACE = re.compile(r"[^\S\x1c-\x1f]+")
_FINER = re.compile(r"[^.]*\.[0-9]{3}[0-9]*?[1-9]", re.DOTALL)

#: Reads a cell that is not null.
Read = Callable[[Any], Any]


class Quoted(str):
    """A field that stood in quotes: never null, and text in a column of any type."""

    __slots__ = ()


def text_reader(kind: str, options: ReadOptions) -> Read:
    """Reads the fields of a column from text. `kind` is the type in the words of the language."""
    word, _ = parted(kind)
    match word:
        case "string":
            return str
        case "vector" | "vector_int8":
            of_json = json_reader(kind, options)
            return lambda text: None if not text else of_json(_vector(text, kind))
        case "timestamp":
            return lambda text: _time(text.strip(), options) if text else None
        case "list":
            return lambda text: _list_of_text(text, kind) if text else None
        case "any":
            return lambda text: (
                str(text) if type(text) is Quoted else _any(guessed_any(text)) if text else None
            )
        case _:
            read: Read = {"int": _int, "float": _float, "bool": _bool}[word]
            return lambda text: read(text.strip()) if text else None


def json_reader(kind: str, options: ReadOptions) -> Read:
    """Reads the values of a column from JSON."""
    word, length = parted(kind)

    def vector(value: Any) -> Any:
        if not isinstance(value, list) or not all(map(_is_number, value)):
            raise _unlike(value, kind)
        whole = word == "vector_int8"
        if not whole:
            _in_32_bits(value)
        if (length not in (None, len(value))) or (whole and not all(map(_is_byte, value))):
            raise _unlike(value, kind)
        return [int(element) for element in value] if whole else value

    def plain(value: Any) -> Any:
        match word:
            case "int" if type(value) is int and -_MOST <= value < _MOST:
                return value
            case "float" if type(value) is int and int(float(value)) != value:
                raise _would_be_rounded(str(value))
            case "float" if _is_number(value):
                return float(value)
            case "string" if isinstance(value, str):
                return value
            case "bool" if isinstance(value, bool):
                return value
            case "timestamp" if type(value) is int and -_MOST <= value < _MOST:
                return _kept(time_of_number(value, options.epoch), options)
            case "timestamp" if isinstance(value, str) and (found := time_of(value)) is not None:
                return _kept(found, options)
        raise _unlike(value, kind)

    if word == "list":
        return lambda value: _list(value, kind)
    return _any if word == "any" else vector if word.startswith("vector") else plain


def guessed(text: str) -> Any:
    """What text is likely to be. What would lose something, as zeros of a postal code, stays text."""
    digits = text.removeprefix("-")
    leading_zero = len(digits) > 1 and digits.startswith("0") and not digits.startswith("0.")
    if digits[:1] in tuple("0123456789.") and not leading_zero and _FLOAT.fullmatch(text):
        if _INT.fullmatch(text):
            is_short = len(digits) <= len(str(_MOST))
            return number if is_short and -_MOST <= (number := int(text)) < _MOST else str(text)
        if isfinite(real := float(text)):
            return real
    if (word := text.lower()) in ("true", "false"):
        return word == "true"
    if text.startswith("["):
        try:
            found = parsed(text)
        except ValueError:
            return str(text)
        return found if all(map(_is_number, found)) else str(text)
    return str(text)


def guessed_any(text: str) -> Any:
    """The same in a column of any type, where spaces alone may part the numbers of a vector: `[1.0 2.0]`."""
    if text.startswith("[") and text.endswith("]"):
        found = guessed(f"[{','.join(filter(None, _SPACE.split(text[1:-1])))}]")
        if isinstance(found, list):
            return found
    return guessed(text)


def time_of(text: str) -> Time | None:
    """A date or a time, in UTC unless it names a zone; one that was finer than milliseconds is cut."""
    if _TIME.fullmatch(text) is None:
        return None
    is_before_1 = text.startswith("0000")
    iso = ("2000" + text[4:] if is_before_1 else text).upper()
    try:
        found = times.time_of(datetime.fromisoformat(iso[:11] + iso[11:].replace(" ", "")))
    except (ValueError, OverflowError):
        return None
    assert found is not None
    finer = shortened(text) if _FINER.match(text) is not None else None
    return time(found - times.TWO_THOUSAND_YEARS if is_before_1 else int(found), finer)


def _kept(found: Time, options: ReadOptions) -> Time:
    """The time, unless its last digits are to be kept."""
    if options.exact and isinstance(found, CutTime):
        raise ValueError(f"`{found.text}` is finer than milliseconds, which is what times are kept in")
    return found


def _int(text: str) -> int:
    if _INT.fullmatch(text) is None or not -_MOST <= (number := int(text)) < _MOST:
        raise _unlike_text(text, "int")
    return number


def _float(text: str) -> float:
    """A number or NaN, which will be null and is counted."""
    if _FLOAT.fullmatch(text) is not None and isfinite(number := float(text)):
        if is_rounded(text, number):
            raise _would_be_rounded(text)
        return number
    if text.lower() in ("nan", "+nan", "-nan"):
        return nan
    raise _unlike_text(text, "float")


def _bool(text: str) -> bool:
    word = text.lower()
    if word in ("true", "t", "1"):
        return True
    if word in ("false", "f", "0"):
        return False
    raise _unlike_text(text, "bool")


def _time(text: str, options: ReadOptions) -> Time:
    if (found := time_of(text)) is not None:
        return _kept(found, options)
    try:
        number = _int(text)
    except ValueError:
        raise _unlike_text(text, "timestamp") from None
    return _kept(time_of_number(number, options.epoch), options)


def _vector(text: str, kind: str) -> list[Any]:
    found = guessed_any(text.strip())
    if not isinstance(found, list):
        raise _unlike_text(text, kind)
    return found


def _list_of_text(text: str, kind: str) -> list[Any]:
    try:
        found = parsed(text.strip())
    except ValueError:
        raise _unlike_text(text, kind) from None
    if not isinstance(found, list):
        raise _unlike_text(text, kind)
    return _list(found, kind)


def _list(value: Any, kind: str) -> list[Any]:
    """A list in which numbers are what they are."""
    if not isinstance(value, list):
        raise _unlike(value, kind)
    if has_object(value):
        raise ValueError("an object is no value, nor is a list with one")
    return Elements(value)


def has_object(value: object) -> bool:
    """Whether it is an object, or a list with one."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(has_object, value)))


def _any(value: Any) -> Any:
    if isinstance(value, dict):
        raise ValueError("an object is no value")
    if has_object(value):
        raise ValueError("an object is no value, nor is a list with one")
    if isinstance(value, list):
        if not all(map(_is_number, value)):
            return Elements(map(_any, value))
        _in_32_bits(value)
    if type(value) is int and not -_MOST <= value < _MOST:
        raise ValueError(f"`{value}` is beyond 64 bits with sign")
    return value


def has_rounded(elements: Sequence[object]) -> bool:
    """Whether an integer would be rounded in a vector, whose elements are floats of 32 bits."""
    return any(type(element) is int and _as_float(element) != element for element in elements)


def _as_float(number: int) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except (OverflowError, struct.error):
        return inf


def _in_32_bits(elements: Sequence[float]) -> None:
    """The elements of vectors have 32 bits."""
    if has_rounded(elements):
        raise ValueError(
            f"`{_shown(elements)}` has an integer that a 32-bit float would round: declare a list"
        )
    if not all(abs(element) < _BEYOND_32_BITS for element in elements):
        raise ValueError(f"`{_shown(elements)}` has a number that is beyond 32-bit floats")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_byte(value: Any) -> bool:
    """`1.0` is one, as it is written."""
    return bool(-128 <= value < 128 and value == int(value))


def _shown(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _unlike(value: object, kind: str) -> ValueError:
    return _unlike_text(_shown(value), kind)


def _unlike_text(text: str, kind: str) -> ValueError:
    return ValueError(f"`{shortened(text)}` is no {kind.replace('[', '(').replace(']', ')')}")


def _would_be_rounded(text: str) -> ValueError:
    return ValueError(f"`{shortened(text)}` would be rounded to a float")
