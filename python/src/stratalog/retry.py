"""When a request may be sent again, and after how long.

Only what reads is ever repeated. Everything else is sent once, and an error says whether it may have
happened.
"""

from __future__ import annotations

import random
import re
import time

from . import errors

#: The first pause is at most so long, and each further one at most twice as long as the one before.
_FIRST_SECONDS = 0.05
_LONGEST_SECONDS = 5.0

#: A statement that writes, a command, or a comment that may hide either.
_MAY_WRITE = re.compile(r"^\s*(?:[-+./*]|type\b)|/\*|\r(?!\n)", re.MULTILINE)
_LINE_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
#: A statement of the session, which is kept where it is the only one.
_OF_THE_SESSION = re.compile(r"^(?!type\s)\w", re.MULTILINE)
_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_QUERY = re.compile(r"^\s*\?", re.MULTILINE)


class Retry:
    """Pauses with full jitter, until so many seconds are over."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._most = _FIRST_SECONDS

    def pause(self, at_least: float | None = None) -> float | None:
        """Seconds to wait before the next attempt; None if there is to be none."""
        pause = (at_least or 0.0) + random.uniform(0, self._most)
        self._most = min(self._most * 2, _LONGEST_SECONDS)
        return pause if time.monotonic() + pause < self._until else None

    def after(self, outcome: object) -> float | None:
        """Seconds to wait after a request that ended so and only reads; None if it is not to be repeated."""
        match outcome:
            case errors.SessionLost():
                return None
            case errors.ConnectionLost():
                return self.pause()
            case errors.Overloaded(retry_after=float(hint)) | errors.LimitExceeded(retry_after=float(hint)):
                return self.pause(hint)
            case _:
                return None


def only_reads(program: str) -> bool:
    """Whether a program changes nothing, so that running it twice is running it once. In doubt it does."""
    text = _LINE_COMMENT.sub("", program)
    return _MAY_WRITE.search(text) is None and _QUERY.search(text) is not None


def touches_session(program: str) -> bool:
    """Whether a program may leave facts or rules in the session. In doubt it does.

    In a program of several statements they serve that program only, and a query shows that it is one.
    """
    text = _TEXT.sub('""', program)
    several = "/*" not in text and _QUERY.search(text) is not None
    return _OF_THE_SESSION.search(text) is not None and not several
