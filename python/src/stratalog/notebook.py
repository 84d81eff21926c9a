"""Magic commands for IPython and Jupyter: `%load_ext stratalog`.

    %stratalog ws://127.0.0.1:8080 --user admin      connects
    %%stratalog --out paths                          runs the cell as a program
    ?path($start, X)
    %%stratalog --live                               shows the answer, and keeps it current
    ?path($start, X)

`$name` takes its value from the notebook's variable of that name.
"""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics as BaseMagics
from IPython.core.magic import line_cell_magic, magics_class

from . import errors
from .client import Client, connect
from .live import Live
from .live_display import end_with_cell
from .plan import Plan
from .programs import parameters
from .result import Result


class _Arguments(argparse.ArgumentParser):
    """Wrong use is told in the cell; nothing ends."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage()}")


def _parser() -> _Arguments:
    parser = _Arguments(prog="%stratalog", description=__doc__, add_help=False)
    parser.add_argument("url", nargs="?", help="where to connect to; else the environment says it")
    parser.add_argument(
        "--user", help="the user; the password comes from STRATALOG_PASSWORD, or is asked for"
    )
    parser.add_argument("--db", metavar="NAME", help="use the client in this variable")
    parser.add_argument("--kg", help="the knowledge graph")
    parser.add_argument("--out", metavar="NAME", help="put the answer in this variable, and do not show it")
    parser.add_argument(
        "--as", dest="form", choices=["result", "pandas", "polars", "arrow"], default="result"
    )
    parser.add_argument("--limit", type=int, metavar="ROWS", help="at most so many rows")
    parser.add_argument("--keep-rules", action="store_true", help="rules are added to those of the same head")
    parser.add_argument("--live", action="store_true", help="show the answer, and keep it current")
    parser.add_argument("--explain", action="store_true", help="show the plan, and run nothing")
    parser.add_argument("--profile", action="store_true", help="run, and show the plan with its times")
    return parser


@magics_class
class Magics(BaseMagics):
    """One magic, on a line or above a cell."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._client: Client | None = None

    @line_cell_magic
    def stratalog(self, line: str, cell: str | None = None) -> Any:
        """`%stratalog [URL] [--user NAME] [--db NAME] [--kg NAME]` connects; above a cell it runs a program.

        `%%stratalog [--kg NAME] [--out NAME] [--as result|pandas|polars|arrow] [--limit ROWS] [--keep-rules]
        [--live] [--explain] [--profile]`

        A cell that is changed and run again leaves none of its old rules: those of the same head that there
        were before go, unless `--keep-rules` says otherwise.

        `--live` shows the answer to a query as it changes, until the cell is run again or the `Live` that it
        gives is closed; with `--out` that is in a variable, and shown too.
        """
        arguments = _parser().parse_args(shlex.split(line))
        try:
            client = self._connected(arguments)
            if cell is None:
                return client
            run = self._run_live if arguments.live else self._run
            return run(client, cell, arguments)
        except errors.Error as problem:
            # The excerpt says where it is; a traceback through the client would only hide that.
            lines = [f"{type(problem).__name__}: {problem}"]
            problem._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
            raise

    def _run(self, client: Client, cell: str, arguments: argparse.Namespace) -> Any:
        params = {name: self._value(name) for name in parameters(cell)}
        if arguments.explain or arguments.profile:
            found: Result | Plan = client.explain(cell.strip(), params, profile=arguments.profile)
        else:
            replace = not arguments.keep_rules
            found = client.execute(cell, params, limit=arguments.limit, replace_rules=replace)
        shown = _in_form(found, arguments.form)
        if arguments.out is None:
            return shown
        self._variables[arguments.out] = shown
        return None

    def _run_live(self, client: Client, cell: str, arguments: argparse.Namespace) -> Live:
        given = {name: getattr(arguments, name) for name in ("limit", "keep_rules", "explain", "profile")}
        others = [name.replace("_", "-") for name, value in given.items() if value]
        if arguments.form != "result":
            others.append("as")
        if others:
            raise UsageError(f"--live shows a table of the whole answer, without --{', --'.join(others)}")
        live = client.live(cell.strip(), {name: self._value(name) for name in parameters(cell)})
        end_with_cell(self.shell, live)
        if arguments.out is not None:
            self._variables[arguments.out] = live
        return live

    @property
    def _variables(self) -> dict[str, Any]:
        """The notebook's."""
        assert self.shell is not None
        variables: dict[str, Any] = self.shell.user_ns
        return variables

    def _value(self, name: str) -> Any:
        try:
            return self._variables[name]
        except KeyError:
            raise UsageError(
                f"${name} takes its value from the variable {name}, which does not exist"
            ) from None

    def _connected(self, arguments: argparse.Namespace) -> Client:
        """The client to use: one that is given, a new one, or the one of last time."""
        if arguments.db is not None:
            self._client = self._variables.get(arguments.db)
            if not isinstance(self._client, Client):
                raise UsageError(f"{arguments.db} is no stratalog client")
        elif arguments.url is not None or arguments.user is not None or self._client is None:
            self._client = connect(
                arguments.url,
                user=arguments.user,
                password=_password(arguments),
                kg=arguments.kg or "default",
            )
        if arguments.kg is not None and self._client.kg != arguments.kg:
            self._client.use(arguments.kg)
        return self._client


def _password(arguments: argparse.Namespace) -> str | None:
    if arguments.user is None:
        return None
    import getpass
    import os

    return os.environ.get("STRATALOG_PASSWORD") or getpass.getpass(f"Password of {arguments.user}: ")


def _in_form(found: Result | Plan, form: str) -> Any:
    if isinstance(found, Plan) or form == "result":
        return found
    return getattr(found, f"to_{form}")()
