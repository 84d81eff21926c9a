"""Libraries that are used where they are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Says of a library that is needed here and is not there with which extra of this package it comes."""
    try:
        yield
    except ImportError as problem:
        # pandas says it in words of its own, of what it has not found itself.
        missing = problem.name or getattr(problem.__cause__, "name", None) or name
        raise ImportError(
            f"{missing} is needed for that: pip install 'stratalog[{name}]'", name=missing
        ) from None
