"""Every example in Python of the manual, of the README files and of docstrings."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import itertools
import os
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs/python.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
_numbers = itertools.count()


@pytest.fixture
def place(tmp_path: Path, own_server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and an environment that names a fresh server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SERVICE_API_KEY", raising=False)
    monkeypatch.setenv("STRATALOG_URL", own_server.url)
    monkeypatch.setenv("STRATALOG_PASSWORD", PASSWORD)


def run(code: str, variables: dict[str, Any]) -> str:
    """What a piece of code prints, and the value of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<example>", "exec", dont_inherit=True), variables)
        if isinstance(last, ast.Expr):
            expression = ast.Expression(last.value)
            value = eval(compile(expression, "<example>", "eval", dont_inherit=True), variables)
            if value is not None:
                print(value if hasattr(value, "columns") else repr(value))
    return printed.getvalue()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "path", [PAGE, REPOSITORY / "docs/embedded.md", REPOSITORY / "docs/agents.md"], ids=lambda path: path.name
)
def test_the_manual_prints_what_it_says(path: Path) -> None:
    """`UPDATE_GOLDEN=1` writes what is printed; the diff is the review."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    page = path.read_text()
    new = page
    for block in _BLOCK.finditer(page):
        code, expected = block.groups(default="")
        printed = run(code, variables)
        if os.environ.get("UPDATE_GOLDEN"):
            shown = f"```text\n{printed}```\n" if printed else ""
            new = new.replace(block[0], f"```python\n{code}```\n{shown}")
        else:
            assert printed == expected, code
    if new != page:
        path.write_text(new)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_readme_files_run(page: str, own_server: LocalServer) -> None:
    for code, _ in _BLOCK.findall((REPOSITORY / page).read_text()):
        code = code.replace("ws://127.0.0.1:8080", own_server.url)
        code = re.sub(r'password="[^"]*"', f'password="{PASSWORD}"', code)
        assert run(code, {})


_README_LINE = re.compile(r"^default> (.*)$", re.MULTILINE)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_all_pages_run_on_one_server_in_any_order(order: tuple[int, ...], own_server: LocalServer) -> None:
    pages = [REPOSITORY / "README.md", REPOSITORY / "python/README.md", PAGE]
    made: list[set[str]] = []
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        for page in (pages[number] for number in order):
            text = page.read_text()
            before = _relations(db)
            for line in _README_LINE.findall(text):
                db.execute(line)
            variables: dict[str, Any] = {"__name__": "__main__"}
            blocks = _BLOCK.findall(text)
            for code, expected in blocks:
                if page == PAGE and code == blocks[-1][0]:
                    # The last one drops the graph of the manual's examples.
                    with db.kg("lab") as lab:
                        made.append(_relations(lab))
                code = code.replace("ws://127.0.0.1:8080", own_server.url)
                code = re.sub(r'password="[^"]*"', f'password="{PASSWORD}"', code)
                printed = run(code, variables)
                if page == PAGE:
                    assert printed == expected, code
                else:
                    assert printed
            if page != PAGE:
                made.append(_relations(db) - before)
    # Also for somebody who leaves the graph of the manual's examples out: no name stands for two things.
    names = [name for each in made for name in each]
    assert len(made) == len(pages)
    assert all(len(each) > 1 for each in made)
    assert sorted(names) == sorted(set(names))


def _relations(db: stratalog.Client) -> set[str]:
    """The names of a graph's relations, also of those that rules make."""
    return {relation.name for relation in db.relations.all()} | {rule.name for rule in db.rules.all()}


def test_examples_in_docstrings(server: LocalServer) -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    tried = 0
    for module in pkgutil.iter_modules(stratalog.__path__):
        loaded = importlib.import_module(f"stratalog.{module.name}")
        for test in finder.find(loaded):
            if not test.examples:
                continue
            with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
                db.create_kg(f"docstring_{next(_numbers)}")
                test.globs |= {"db": db, "url": server.url, "password": PASSWORD, **vars(stratalog)}
                runner.run(test)
            tried += 1
    assert runner.summarize(verbose=False).failed == 0
    assert tried > 5


def test_everything_public_has_a_docstring() -> None:
    for name in stratalog.__all__:
        found = getattr(stratalog, name)
        if name in ("ANY", "Row"):
            continue
        assert found.__doc__, name
        if isinstance(found, type):
            for member, value in vars(found).items():
                if not member.startswith("_") and callable(value):
                    assert value.__doc__, f"{name}.{member}"
