"""RDF in and out: the rows that the command line makes of a file, and its triples of rows."""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

XSD = "http://www.w3.org/2001/XMLSchema#"
OBJECTS = [
    "<http://e/b>",
    "_:node",
    '"text"',
    '"<not an IRI>"',
    '"_:not a node"',
    '"\\"quoted\\""',
    '"two\\nlines\\tand a tab \\\\ é 𝄞"',
    '"chat"@fr',
    '"chat"@FR-be',
    f'"7"^^<{XSD}integer>',
    f'"+7"^^<{XSD}int>',
    f'"-9223372036854775808"^^<{XSD}long>',
    f'"9223372036854775808"^^<{XSD}integer>',
    f'"1_0"^^<{XSD}integer>',
    f'"٣"^^<{XSD}integer>',
    f'" 7"^^<{XSD}integer>',
    f'"1"^^<{XSD}unsignedInt>',
    f'"2.0"^^<{XSD}double>',
    f'"1e400"^^<{XSD}double>',
    f'"1e300"^^<{XSD}double>',
    f'".5"^^<{XSD}decimal>',
    f'"5."^^<{XSD}float>',
    f'"INF"^^<{XSD}double>',
    f'"NaN"^^<{XSD}double>',
    f'"true"^^<{XSD}boolean>',
    f'"0"^^<{XSD}boolean>',
    f'"TRUE"^^<{XSD}boolean>',
    f'"2025-11-21"^^<{XSD}date>',
    f'"2025-11-21T10:00:00Z"^^<{XSD}dateTime>',
    '"x"^^<http://e/own>',
    '""',
]
NT = "".join(f"<http://e/a> <http://e/p{n}> {value} .\n" for n, value in enumerate(OBJECTS))
TTL = """@prefix e: <http://e/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:ada a e:Person ; e:name "Ada", "Ada"@en ; e:age 36 ; e:height 1.75 ; e:alive false ;
  e:born "1815-12-10"^^xsd:date ; e:knows _:x .
_:x e:name "Bob" ; e:age "forty" .
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Blank nodes are marked with the name of their file, as it was given."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "text"), [("all.nt", NT), ("people.ttl", TTL)])
def test_a_file_has_the_same_rows_as_on_the_command_line(
    db: stratalog.Client, command_line: Callable[..., str], folder: Path, name: str, text: str
) -> None:
    Path(name).write_text(text)
    command_line("import", "theirs", name)
    inserted = db.insert("ours", name)
    rows = db.query("?theirs(S, P, O)").rows()
    assert inserted == (len(rows), 0)
    assert sorted(db.query("?ours(S, P, O)").rows(), key=repr) == sorted(rows, key=repr)
    assert db.relations.columns("ours") == db.relations.columns("theirs")


@pytest.mark.parametrize("kind", ["nt", "ttl"])
def test_rows_are_the_same_triples_as_on_the_command_line(
    db: stratalog.Client, command_line: Callable[..., str], folder: Path, kind: str
) -> None:
    Path("all.nt").write_text(NT)
    db.insert("triple", "all.nt")
    query = "?triple(S:asc, P:asc, O)"
    assert db.stream(query).write(f"ours.{kind}") == len(OBJECTS)
    command_line("export", query, f"theirs.{kind}")
    assert Path(f"ours.{kind}").read_text() == Path(f"theirs.{kind}").read_text()
    # What is written is read as it was.
    db.insert("again", f"ours.{kind}")
    left, right = (db.query(f"?{name}(S:asc, P:asc, O)").rows() for name in ("triple", "again"))
    # The one blank node of a file is no node of another.
    assert [row for row in left if row[1] != "<http://e/p1>"] == [
        row for row in right if row[1] != "<http://e/p1>"
    ]


def test_predicates_are_the_same_relations(
    db: stratalog.Client, command_line: Callable[..., str], folder: Path, server: LocalServer
) -> None:
    Path("people.ttl").write_text(TTL)
    command_line("import", "t_*", "people.ttl")
    found = db.insert_predicates("o_*", "people.ttl")
    assert found["o_name"] == (3, 0)
    relations = {info.name: info for info in db.relations.all()}
    assert {name[2:] for name in relations if name[:2] == "o_"} == {
        "age", "alive", "born", "height", "knows", "name", "type",
    }  # fmt: skip
    for name in found:
        theirs = f"t_{name[2:]}"
        assert db.relations.columns(name) == db.relations.columns(theirs)
        assert db.query(f"?{name}(S:asc, O:asc)").rows() == db.query(f"?{theirs}(S:asc, O:asc)").rows()
    assert db.query("?o_born(S, O)").rows() == [("<http://e/ada>", datetime(1815, 12, 10, tzinfo=UTC))]
    Path("same.nt").write_text("<a:a> <a:x/p> <a:b> .\n<a:a> <a:y/p> <a:b> .\n")
    with pytest.raises(stratalog.FileError, match="would both be the relation `p`"):
        db.insert_predicates("*", "same.nt")
    with pytest.raises(stratalog.FileError, match="only triples of RDF have predicates"):
        db.insert_predicates("*", "people.csv")

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as other:
            await other.use(str(db.kg))
            assert (await other.insert_predicates("o_*", "people.ttl"))["o_name"] == (0, 3)

    asyncio.run(main())


def test_a_fault_has_its_line_and_nothing_is_inserted(db: stratalog.Client, folder: Path) -> None:
    Path("wrong.nt").write_text(
        '<http://e/a> <http://e/p> "x" .\n<a b> oops\n<http://e/a> <http://e/p> "x"@en--ltr .\n'
        '<http://e/a> <http://e/p> <<( <a:a> <a:p> "x" )>> .\n<http://e/a> <http://e/q> "y" .\n'
    )
    with pytest.raises(stratalog.FileError, match=r"^wrong.nt:2: Invalid IRI code point ' '$") as caught:
        db.insert("t", "wrong.nt")
    assert (caught.value.file, caught.value.line) == ("wrong.nt", 2)
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?t(S, P, O)")
    with pytest.raises(stratalog.FileError):
        db.insert_predicates("*", "wrong.nt")
    found = db.insert("t", "wrong.nt", on_error="skip")
    assert (found, found.skipped, [each.line for each in found.problems]) == ((2, 0), 3, [2, 3, 4])
    assert repr(found) == "Inserted(inserted=2, duplicates=0, skipped=3)"
    assert db.insert_predicates("r_*", "wrong.nt", on_error="skip")["r_p"].skipped == 3


def test_rows_that_are_no_triples_are_refused(db: stratalog.Client, folder: Path) -> None:
    db.insert("t", [("ada", "<a:p>", 1)])
    with pytest.raises(stratalog.FileError, match='"ada" is no subject: IRIs stand in angle brackets'):
        db.stream("?t(A, B, C)").write("t.nt")
    db.insert("u", [("<a:a>", "_:p", 1)])
    with pytest.raises(stratalog.FileError, match="is no predicate"):
        db.stream("?u(A, B, C)").write("t.ttl")
    db.insert("v", [("<a:a>", "<a:p>", None)])
    with pytest.raises(stratalog.FileError, match="null is no object"):
        db.stream("?v(A, B, C)").write("t.nt")
    with pytest.raises(stratalog.FileError, match="three columns, found 2"):
        db.stream("?v(A, B, C), A = A").write("t.nt") if False else db.stream("?A, B <- v(A, B, _)").write(
            "t.nt"
        )
    assert list(folder.iterdir()) == []
    assert db.query("?t(A, B, C)").row_count == 1


def test_times_go_out_as_text_and_compressed_triples_come_in(db: stratalog.Client, folder: Path) -> None:
    db.insert("t", [("<a:a>", "<a:p>", datetime(815, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC))] * 1000)
    assert db.stream("?t(A, B, C)").write("t.nt.gz") == 1
    assert gzip.decompress(Path("t.nt.gz").read_bytes()) == b'<a:a> <a:p> "0815-01-02T03:04:05.250Z" .\n'
    assert db.insert("back", "t.nt.gz") == (1, 0)


def test_blank_nodes_are_of_a_file_as_it_is(
    db: stratalog.Client, command_line: Callable[..., str], folder: Path
) -> None:
    Path("people.ttl").write_text(TTL)
    Path("link.ttl").symlink_to("people.ttl")
    db.insert("ours", "people.ttl")
    # However it is named, and by whichever program it is read.
    assert db.insert("ours", folder / "link.ttl").inserted == 0
    command_line("import", "ours", "./people.ttl")
    assert db.query("?ours(S, P, O)").row_count == 10
    found = db.query('?ours(S, "<http://e/age>", "forty")').rows()
    assert len(found) == 1
    assert re.fullmatch("_:f[0-9a-f]{16}-x", found[0][0])
    Path("people.ttl").write_text(f"{TTL}\n")
    assert db.insert("ours", "people.ttl").inserted == 3
    # What is no regular file is another one each time.
    os.mkfifo("pipe.nt")
    for _ in range(2):
        writer = threading.Thread(target=Path("pipe.nt").write_text, args=("_:a <a:p> _:a .\n",))
        writer.start()
        assert db.insert("piped", "pipe.nt").inserted == 1
        writer.join()


def test_a_mark_of_utf_8_may_stand_before_triples(db: stratalog.Client, folder: Path) -> None:
    Path("x.nt").write_text('\ufeff<a:a> <a:p> "x" .\n<a:a> oops\n')
    found = db.insert("t", "x.nt", on_error="skip")
    assert (found, [each.line for each in found.problems]) == ((1, 0), [2])
    Path("x.ttl").write_text("\ufeff")
    assert db.insert("t", "x.ttl") == (0, 0)


def test_a_pattern_is_checked_against_relations_before_anything_is_sent(
    server: LocalServer, db: stratalog.Client, folder: Path
) -> None:
    Path("x.nt").write_text(
        f'<a:a> <a:n> "1"^^<{XSD}integer> .\n<a:a> <a:z> "Ada" .\n<a:a> <a:z> "2020-01-01"^^<{XSD}date> .\n'
    )
    db.execute("+p_n(who: string, n: float)")
    db.execute("+p_z(who: any, at: timestamp)")
    with pytest.raises(stratalog.FileError, match=r"^x.nt: an object of `p_z`: `\"Ada\"` is no timestamp$"):
        db.insert_predicates("p_*", "x.nt")
    assert db.query("?p_n(A, B)").rows() == []

    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as other:
            await other.use(str(db.kg))
            with pytest.raises(stratalog.FileError, match="an object of `p_z`"):
                await other.insert_predicates("p_*", "x.nt")

    asyncio.run(main())
    Path("x.nt").write_text(Path("x.nt").read_text().replace('"Ada" .', f'"2020-01-02"^^<{XSD}date> .'))
    assert {name: found.inserted for name, found in db.insert_predicates("p_*", "x.nt").items()} == {
        "p_n": 1,
        "p_z": 2,
    }
    assert db.query("?p_n(A, B)").rows() == [("<a:a>", 1.0)]
    db.execute("+q_n(a: int, b: int)")
    with pytest.raises(stratalog.FileError, match="subjects are strings, and `a` of `q_n` is of type int"):
        db.insert_predicates("q_*", "x.nt")
    db.execute("+r_z(a: string, b: any, c: int)")
    with pytest.raises(stratalog.FileError, match="`r_z` has 3 columns, and a predicate has 2"):
        db.insert_predicates("r_*", "x.nt")
    os.mkfifo("pipe.nt")
    with pytest.raises(stratalog.FileError, match="it is read more than once"):
        db.insert_predicates("p_*", "pipe.nt")


def test_without_pyoxigraph_an_error_names_the_extra(folder: Path) -> None:
    Path("x.nt").write_text("")
    script = (
        "import sys; sys.modules['pyoxigraph'] = None\n"
        "from stratalog.files import opened\n"
        "with opened('x.nt', None) as file: list(file.batches())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: RDF is read and written by pyoxigraph: pip install 'stratalog[rdf]'" in done.stderr
