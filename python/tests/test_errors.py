"""Refused programs: the class, the place, and the picture."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from pathlib import Path

import pytest
import yaml

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("?edge(X", stratalog.ParseError),
        ("?edgs(X, Y)", stratalog.UnknownRelation),
        ("?edge(X)", stratalog.ArityMismatch),
        ('+edge(1, "two")', stratalog.TypeMismatch),
        ("+r(X, Y) <- edge(X, _)", stratalog.UnsafeRule),
        ("+r(X) <- edge(X, _), !s(X)\n+s(X) <- edge(X, _), !r(X)", stratalog.Unstratifiable),
        ("+path(9, 9)", stratalog.DerivedRelation),
        ("+r(Y) <- edge(X, _), Y = no_such_function(X)", stratalog.UnknownFunction),
        (".rule drop nothing", stratalog.NotFound),
        (".cluster ?edge(X, Y)", stratalog.ClusterUnavailable),
    ],
)
def test_each_fault_has_its_class(db: stratalog.Client, program: str, kind: type[stratalog.Error]) -> None:
    db.execute("+edge(x: int, y: int)")
    db.insert("edge", [(1, 2)])
    db.execute("+path(X, Y) <- edge(X, Y)")
    with pytest.raises(stratalog.Error) as caught:
        db.execute(program)
    assert type(caught.value) is kind
    assert caught.value.code == kind.codes[0]
    assert db.query("?edge(X, Y)").rows() == [(1, 2)]


def test_a_place_goes_with_a_question(server: LocalServer, db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2)])
    for place in ("auto", "here"):
        assert db.query("?edge(X, Y)", place=place).rows() == [(1, 2)]
        assert db.execute("?edge(X, Y)", place=place).rows() == [(1, 2)]
        with db.stream("?edge(X, Y)", place=place) as stream:
            assert list(stream.rows()) == [(1, 2)]
    with pytest.raises(stratalog.ClusterUnavailable, match="this server has none"):
        db.query("?edge(X, Y)", place="cluster")
    with pytest.raises(stratalog.ClusterUnavailable), db.stream("?edge(X, Y)", place="cluster") as stream:
        list(stream.rows())

    async def ask() -> None:
        async with await stratalog.connect_async(
            server.url, user="admin", password=PASSWORD, kg=str(db.kg)
        ) as other:
            assert (await other.query("?edge(X, Y)", place="here")).rows() == [(1, 2)]
            with pytest.raises(stratalog.ClusterUnavailable):
                await other.execute("?edge(X, Y)", place="cluster")

    asyncio.run(ask())


def test_the_place_is_shown_with_a_caret(db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2)])
    with pytest.raises(stratalog.UnknownRelation) as caught:
        db.query('// é\n?edge(X, Y), edgs(Y, "漢")')
    error = caught.value
    assert error.span is not None
    assert (error.span.line, error.span.column) == (2, 14)
    lines = str(error).splitlines()
    assert '2 | ?edge(X, Y), edgs(Y, "漢")' in lines
    caret = lines[lines.index('2 | ?edge(X, Y), edgs(Y, "漢")') + 1]
    assert caret.index("^") == len("2 | ?edge(X, Y), ")
    assert "edge" in (error.help or "") + str(error)


def test_every_fault_of_a_program_is_reported(db: stratalog.Client) -> None:
    with pytest.raises(stratalog.ParseError) as caught:
        db.execute("+p(1\n+q(2)\n?r(X,")
    assert caught.value.diagnostics
    assert caught.value.program is not None


def test_a_refusal_shows_what_the_terminal_shows(db: stratalog.Client) -> None:
    """The program of `tests/clients/check.rs`, which compares the socket and the terminal."""
    program = (Path(__file__).resolve().parents[2] / "tests/check/misspelt.dl").read_text(encoding="utf-8")
    with pytest.raises(stratalog.UnknownRelation) as caught:
        db.execute(program)
    assert str(caught.value).splitlines() == [
        "there is no relation `edgs`",
        " --> line 3, column 14",
        "  |",
        '3 | ?edge(X, Y), edgs(Y, "漢"), Z = sqr(X)',
        "  |              ^^^^",
        "  = help: did you mean `edge`?",
        "error: there is no function `sqr`",
        " --> line 3, column 32",
        "  |",
        '3 | ?edge(X, Y), edgs(Y, "漢"), Z = sqr(X)',
        "  |                                 ^^^",
        "  = help: did you mean `sqrt`?",
    ]


WARNINGS = {
    "unused_variable",
    "cross_product",
    "rule_differs_only_in",
    "never_true",
    "precision_lost",
    "year_beside_times",
    "unanswered_query",
}


def test_every_code_of_the_server_has_a_class(server: LocalServer, db: stratalog.Client) -> None:
    key = db.keys.create("codes")
    request = urllib.request.Request(
        server.url.replace("ws://", "http://") + "/api/asyncapi.yaml",
        headers={"Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(request) as response:
        document = yaml.safe_load(response.read())
    served = {each["const"] for each in document["components"]["schemas"]["Code"]["oneOf"]} - WARNINGS
    manual = set(re.findall(r"^## `(\w+)`$", (DOCS / "errors.md").read_text(), flags=re.MULTILINE)) - WARNINGS
    own = {"auth_error", "connection_lost", "session_lost", "not_one_row", "file_error", "partly_inserted"}
    assert served == manual == set(stratalog.errors._CLASSES) - own
    for code in served:
        kind = stratalog.errors.class_of(code)
        assert (kind.codes, getattr(stratalog, kind.__name__)) == ((code,), kind)
        assert kind.__name__ in stratalog.__all__
        assert kind.__doc__


def test_errors_that_leave_it_open_say_so() -> None:
    assert stratalog.OutcomeUnknown("m").uncertain
    assert not stratalog.QueryTimeout("m").uncertain
    assert stratalog.ConnectionLost("m", uncertain=True).uncertain


def test_a_program_is_checked_without_being_run(db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2)])
    assert db.check("+edge(3, 4)\n?edge(X, $y)") == []
    (found,) = db.check("?edgee(X, Y)")
    assert (found.severity, found.code, found.help) == ("error", "unknown_relation", "did you mean `edge`?")
    assert found.span == stratalog.Span(line=1, column=2, length=5, offset=1)
    assert [(fix.span, fix.text) for fix in found.fixes] == [(found.span, "edge")]
    (odd,) = db.check("+p(X) <- edge(X, Y)")
    assert (odd.severity, odd.code) == ("warning", "unused_variable")
    assert db.query("?edge(X, Y)").rows() == [(1, 2)]
    # An error that is raised has them too.
    with pytest.raises(stratalog.UnknownRelation) as refused:
        db.query("?edgee(X, Y)")
    assert refused.value.diagnostics == (found,)
