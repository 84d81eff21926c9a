"""Writes the parts of the package that follow from others.

    python python/tools/generate.py          # writes them
    python python/tools/generate.py --check  # only says what is not as it would be written

`aio_admin.py` is `admin.py` for asyncio. `functions.py` is the server's list of functions, docs/functions.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[1]
PACKAGE = PYTHON / "src/stratalog"

#: The language's types, as a type checker shall see arguments and results.
ARGUMENTS = {
    "int": "int | None",
    "int or float": "float | None",
    "string": "str | None",
    "list": "Sequence[object] | None",
    "string or list": "str | Sequence[object] | None",
    "vector": "list[float] | None",
    "vector_int8": "list[int] | None",
    "timestamp or int": "datetime | int | None",
    "any": "object",
}
RESULTS = {
    "int": "int",
    "float": "float",
    "string": "str",
    "bool": "bool",
    "any": "Any",
    "list": "list[Any]",
    "vector": "list[float]",
    "vector_int8": "list[int]",
    "timestamp": "datetime",
}
_ROW = re.compile(r"^\| `(\w+)\(([^)]*)\)`(?:: ([^|]+?))? \| ([^|]+?) \| (.+) \|$")


def aio_admin() -> str:
    """The commands, to be awaited."""
    text = (PACKAGE / "admin.py").read_text()
    text = re.sub(
        r'^""".*?"""\n',
        '"""`admin.py` for asyncio. Made by tools/generate.py: change that file."""\n',
        text,
        count=1,
        flags=re.S,
    )
    classes = re.findall(r"^class (\w+)", text, flags=re.M)
    text = re.sub(rf"\b({'|'.join(classes)})\b(?=[:()\]]| =| ->)", lambda found: f"Async{found[1]}", text)
    text = re.sub(r"-> (" + "|".join(classes) + r"):", r"-> Async\1:", text)
    text = text.replace("Callable[[str, bool], Result]", "Callable[[str, bool], Awaitable[Result]]")
    text = text.replace("import Callable\n", "import Awaitable, Callable\n")
    text = re.sub(
        r"^    def (?!__init__)(?=\w+\((?:self, |\n        self,|self\) -> (?!Async)))",
        "    async def ",
        text,
        flags=re.M,
    )
    return re.sub(r"(?<!await )(self\._run\(|self\.all\(\)|self\.clauses\()", r"await \1", text)


def functions() -> str:
    """One Python function for each of the language's."""
    lines = (PYTHON.parent / "docs/functions.md").read_text().splitlines()
    rows = [found.groups() for line in lines if (found := _ROW.match(line)) is not None]
    return "\n\n".join([_FUNCTIONS_HEAD, *(_function(*row) for row in rows)])


def _function(name: str, arguments: str, takes: str | None, gives: str, doc: str) -> str:
    names = [each.strip() for each in arguments.split(",") if each.strip()]
    kinds = [kind.strip() for kind in (takes or "").split(";")]
    kinds += [kinds[-1]] * (len(names) - len(kinds))
    variadic = names[-1:] == [".."]
    names = names[:-1] if variadic else names
    same = gives == "as the arguments"
    spelled = [f"{arg}: {'T' if same else ARGUMENTS[kind]}" for arg, kind in zip(names, kinds, strict=False)]
    passed = [*names]
    if variadic:
        spelled.append(f"*more: {ARGUMENTS[kinds[-1]]}")
        passed.append("*more")
    result = "T" if same else RESULTS[gives]
    values = f"({', '.join(passed)}{',' if len(passed) == 1 else ''})"
    # The results of others are lists.
    called = "list_" if name == "list" else name
    return (
        f"\ndef {called}({', '.join(spelled)}) -> {result}:\n"
        f'    """{_docstring(doc)}"""\n'
        f'    return cast("{result}", Call("{name}", {values}))'
    )


def _docstring(doc: str) -> str:
    text = doc.replace("\\", "\\\\")
    words, lines, line = text.split(" "), [], ""
    for word in words:
        if len(line) + len(word) > 96:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return lines[0] if len(lines) == 1 else "\n    ".join(lines) + "\n    "


_FUNCTIONS_HEAD = '''"""The functions of the language, for composed queries and rules: `upper(Owns.owner)`.

Made from docs/functions.md by tools/generate.py. For a type checker they take and give values;
null, which most of them give for null, is left out of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from .expressions import Call

T = TypeVar("T")'''

MADE: dict[str, Callable[[], str]] = {"aio_admin.py": aio_admin, "functions.py": functions}


def main() -> int:
    """Writes, or compares; 1 if something is not as it would be written."""
    from subprocess import run

    stale = []
    for name, make in MADE.items():
        ruff = [sys.executable, "-m", "ruff", "format", "--config", str(PYTHON / "pyproject.toml"), "-"]
        text = run(ruff, input=make(), capture_output=True, text=True, check=True).stdout
        path = PACKAGE / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text)
    print("\n".join(f"{'is not' if '--check' in sys.argv else 'written'}: {name}" for name in stale))
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
