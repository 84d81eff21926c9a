"""What retrievers ask, and what they make of the answer, whatever framework they are for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .result import Result

Embed = Callable[[str], Sequence[float]]


@dataclass(frozen=True)
class Passage:
    """A row of an answer: its text, and everything else by the names of the columns."""

    text: str
    values: dict[str, Any]

    @property
    def id(self) -> str | None:
        """What the column `Id` has, if there is one."""
        found = next((value for name, value in self.values.items() if name.lower() == "id"), None)
        return None if found is None else str(found)


@dataclass(frozen=True)
class Passages:
    """A query that finds passages.

    Where it says `$question` stands what is asked, where it says `$vector` the vector of that; `params` are
    its other parameters. `content` is the column with the text.
    """

    program: str
    content: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self, question: str, embed: Embed | None) -> dict[str, Any]:
        """The parameters of one question. A vector is made only for a query that reads it."""
        read = set(re.findall(r"\$(\w+)", self.program))
        found = dict(self.params)
        if "question" in read:
            found["question"] = question
        if "vector" in read and "vector" not in found:
            if embed is None:
                raise ValueError("the query reads $vector, so a model that makes vectors of texts is needed")
            # Numbers of NumPy, as some models answer, are taken for what they are.
            found["vector"] = [float(number) for number in embed(question)]
        return found

    def read(self, result: Result) -> Iterator[Passage]:
        """The passages of an answer, in its order."""
        content = column_of(result, self.content, "text")
        for values in result.dicts():
            text = values.pop(content)
            if text is None:
                continue
            yield Passage(text if isinstance(text, str) else str(text), values)


def column_of(result: Result, name: str, what: str) -> str:
    """The column that is to be something of a passage, in capitals or not: raises if there is none."""
    found = [column for column in result.columns if column.lower() == name.lower()]
    if name in found:
        return name
    if len(found) != 1:
        there = ", ".join(result.columns)
        raise ValueError(f"the query has no column {name!r} for the {what}: there are {there}")
    return found[0]
