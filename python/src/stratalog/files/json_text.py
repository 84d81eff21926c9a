"""JSON of which nothing is lost: no key comes twice, and no integer is rounded without a word."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, NoReturn

_MOST = 1 << 63
_LONGEST_SHOWN = 40


class Rounded(float):
    """An integer beyond 64 bits, which no float is equal to."""

    __slots__ = ("text",)
    text: str


def parsed(text: str) -> Any:
    """The value of a text; `ValueError` says why it has none. Integers beyond 64 bits are floats."""
    return _DECODER.decode(text)


def shortened(text: str) -> str:
    """At most forty characters, for messages."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def is_rounded(text: str, real: float) -> bool:
    """Whether text is an integer, and this float, which it was read as, is another one."""
    digits = text.lstrip("+-")
    # Up to fifteen digits are always exact.
    return len(digits) > 15 and digits.isascii() and digits.isdigit() and int(text) != int(real)


def _integer(text: str) -> int | float:
    if -_MOST <= (number := int(text)) < 2 * _MOST:
        return number
    real = _real(text)
    if not is_rounded(text, real):
        return real
    rounded = Rounded(real)
    rounded.text = text
    return rounded


def _real(text: str) -> float:
    if not isfinite(real := float(text)):
        raise ValueError(f"`{shortened(text)}` is no value")
    return real


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"the key `{shortened(twice)}` comes twice")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is no value of JSON")


_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_real, parse_constant=_no_number, object_pairs_hook=_object
)
