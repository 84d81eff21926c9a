"""How a file is to be read, as far as its name and the relation do not say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

#: What becomes of records that do not fit: they end the insert, or are left out and counted.
OnError = Literal["abort", "skip"]
#: The unit of numbers that become times, since 1970.
Epoch = Literal["s", "ms", "us", "ns"]

_TYPES = ("int", "float", "string", "bool", "timestamp", "vector", "vector_int8", "list", "any")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is to be read."""

    on_error: OnError = "abort"
    #: Types of some columns, by name: whatever is guessed of them, or known.
    types: Mapping[str, str] = field(default_factory=dict)
    epoch: Epoch | None = None
    #: How text is encoded, where it is not UTF-8.
    encoding: str | None = None
    #: Times finer than milliseconds, and decimals that no float holds, are refused.
    exact: bool = False

    def __post_init__(self) -> None:
        if self.on_error not in get_args(OnError):
            raise ValueError(f"on_error is 'abort' or 'skip', not {self.on_error!r}")
        if self.epoch is not None and self.epoch not in get_args(Epoch):
            raise ValueError(f"`{self.epoch}` is no unit of time: expected s, ms, us or ns")
        for kind in self.types.values():
            if parted(kind)[0] not in _TYPES:
                raise ValueError(f"`{kind}` is not a type: expected {', '.join(_TYPES[:-1])} or any")

    def refuse_for_memory(self) -> None:
        """Refuses what says something of files, as the data is none."""
        for name in ("on_error", "types", "epoch", "encoding"):
            if getattr(self, name) not in ("abort", None) and getattr(self, name) != {}:
                raise ValueError(f"{name} is for files: what is in memory can be looked at before")


def parted(kind: str) -> tuple[str, int | None]:
    """`vector[3]` or `vector(3)` as word and length."""
    word, _, rest = kind.replace("(", "[").partition("[")
    length = rest.strip(" ])")
    return word.strip(), int(length) if length.isdigit() else None
