"""The language server, through a real client of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

import stratalog
from conftest import PASSWORD, cli
from local_server import LocalServer

URI = "file:///nowhere/program.dl"
PROGRAM = """\
// Who owns whom.
+owns(owner: string, owned: string, share: float)
+owns[("ada", "lab", 0.6), ("lab", "shop", 1.0)]

// In the end, over any number of steps.
+controls(Owner, Owned) <- owns(Owner, Owned, Share), Share > 0.5
+controls(Owner, Owned) <- owns(Owner, Middle, Share), Share > 0.5, controls(Middle, Owned)

?controls("ada", Owned)
"""


@asynccontextmanager
async def editor(
    *arguments: str, folder: Path | None = None, capabilities: str = "visual-studio-code"
) -> AsyncIterator[LanguageClient]:
    """An editor that has started the server."""
    client: LanguageClient = make_test_lsp_client()
    await client.start_io(str(cli()), "lsp", *arguments)
    folders = [lsp.WorkspaceFolder(folder.as_uri(), folder.name)] if folder else None
    params = lsp.InitializeParams(
        capabilities=client_capabilities(capabilities),
        process_id=None,
        root_uri=None,
        workspace_folders=folders,
    )
    await client.initialize_session(params)
    try:
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]


async def open_text(client: LanguageClient, text: str, uri: str = URI) -> list[lsp.Diagnostic]:
    """Opens a program and waits for what is wrong with it."""
    item = lsp.TextDocumentItem(uri, "stratalog", 1, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    # Of others something may be told before.
    while uri not in client.diagnostics:
        await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


def at(text: str, part: str, which: int = 0, inside: int = 0) -> lsp.Position:
    """Where a part of a text begins, or so many characters behind that."""
    offset = -1
    for _ in range(which + 1):
        offset = text.index(part, offset + 1)
    before = text[: offset + inside]
    line = before.rsplit("\n", 1)[-1]
    return lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    """A text with edits done."""
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]

    def offset(position: lsp.Position) -> int:
        line = lines[position.line] if position.line < len(lines) else ""
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return starts[position.line] + index
            units += len(character.encode("utf-16-le")) // 2
        return min(starts[position.line] + len(line), len(text))

    places = [(offset(edit.range.start), offset(edit.range.end), edit.new_text) for edit in edits]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def document(uri: str = URI) -> lsp.TextDocumentIdentifier:
    return lsp.TextDocumentIdentifier(uri)


def test_errors_are_told_as_one_types() -> None:
    async def main() -> None:
        async with editor() as client:
            assert await open_text(client, PROGRAM) == []
            broken = PROGRAM.replace("?controls", "?contrls")
            change = lsp.TextDocumentContentChangePartial(
                range=lsp.Range(at(PROGRAM, "?controls", inside=1), at(PROGRAM, "?controls", inside=9)),
                text="contrls",
            )
            client.text_document_did_change(
                lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(2, URI), [change])
            )
            await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            (found,) = client.diagnostics[URI]
            assert (found.code, found.source, found.severity) == (
                "unknown_relation",
                "stratalog",
                lsp.DiagnosticSeverity.Error,
            )
            assert found.range == lsp.Range(
                at(broken, "?contrls", inside=1), at(broken, "?contrls", inside=len("?contrls"))
            )
            assert "did you mean `controls`?" in found.message
            # The one way out mends it.
            actions = await client.text_document_code_action_async(
                lsp.CodeActionParams(document(), found.range, lsp.CodeActionContext([found]))
            )
            assert actions is not None
            (action,) = actions
            assert isinstance(action, lsp.CodeAction)
            assert action.title == "Write `controls`"
            assert action.edit is not None
            assert action.edit.changes is not None
            assert applied(broken, list(action.edit.changes[URI])) == PROGRAM
            # A program that is closed has no errors.
            client.text_document_did_close(lsp.DidCloseTextDocumentParams(document()))
            await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            assert list(client.diagnostics[URI]) == []

    asyncio.run(main())


@pytest.mark.parametrize(
    ("program", "fixes"),
    [
        ("+p(X) :- q(X)\n", ["+p(X) <- q(X)\n"]),
        ("+q(1)\n?q(X), X == 1\n", ["+q(1)\n?q(X), X = 1\n"]),
        ("+q(1).\n", ["+q(1)\n"]),
        ("+q('a')\n", ['+q("a")\n']),
        ("+q(ada)\n", ['+q("ada")\n']),
        ("+q(a: text)\n", ["+q(a: string)\n"]),
        ("+q(1, 2)\n+p(X) <- q(X, Y)\n", ["+q(1, 2)\n+p(X) <- q(X, _)\n", "+q(1, 2)\n+p(X) <- q(X, _Y)\n"]),
        ("+q(1)\n?q(X), X <> 1\n", ["+q(1)\n?q(X), X != 1\n"]),
        ("+q(1)\n?q(X), Y = uper(X)\n", ["+q(1)\n?q(X), Y = upper(X)\n"]),
        (".rle\n", [".rel\n", ".rule\n"]),
    ],
)
def test_what_could_be_written_instead_can_be_chosen(program: str, fixes: list[str]) -> None:
    async def main() -> None:
        async with editor() as client:
            (found, *_) = await open_text(client, program)
            actions = await client.text_document_code_action_async(
                lsp.CodeActionParams(document(), found.range, lsp.CodeActionContext([found]))
            )
            mended = []
            for action in actions or []:
                assert isinstance(action, lsp.CodeAction)
                assert action.edit is not None
                assert action.edit.changes is not None
                mended.append(applied(program, list(action.edit.changes[URI])))
            assert mended == fixes, found.message

    asyncio.run(main())


def test_a_name_says_what_it_is() -> None:
    async def main() -> None:
        async with editor() as client:
            await open_text(client, PROGRAM)

            async def hover(part: str, which: int = 0, inside: int = 1) -> str:
                found = await client.text_document_hover_async(
                    lsp.HoverParams(document(), at(PROGRAM, part, which, inside))
                )
                assert found is not None
                assert isinstance(found.contents, lsp.MarkupContent)
                return found.contents.value

            relation = await hover("owns(Owner")
            assert "owns(owner: string, owned: string, share: float)" in relation
            assert "Who owns whom." in relation
            derived = await hover("?controls", inside=3)
            assert "controls(Owner: string, Owned: string)" in derived
            assert "Derived by 2 rules" in derived
            assert "In the end, over any number of steps." in derived
            assert "Share: float" in await hover("Share), Share")

    asyncio.run(main())


def test_names_are_found_and_changed_everywhere(tmp_path: Path) -> None:
    (tmp_path / "rules.dl").write_text("+far(X, Y) <- near(X, Y)\n+far(X, Z) <- near(X, Y), far(Y, Z)\n")
    (tmp_path / "facts.dl").write_text("+near(from: string, to: string)\n")
    program = '?far("a", To), near("a", To)\n'
    (tmp_path / "ask.dl").write_text(program)
    uri = (tmp_path / "ask.dl").as_uri()
    rules, facts = (tmp_path / "rules.dl").as_uri(), (tmp_path / "facts.dl").as_uri()

    async def main() -> None:
        async with editor(folder=tmp_path) as client:
            # What other files define is known, with its types.
            assert await open_text(client, program, uri) == []
            hover = await client.text_document_hover_async(lsp.HoverParams(document(uri), lsp.Position(0, 2)))
            assert hover is not None
            assert isinstance(hover.contents, lsp.MarkupContent)
            assert "far(X: string, Y: string)" in hover.contents.value
            found = await client.text_document_definition_async(
                lsp.DefinitionParams(document(uri), lsp.Position(0, 2))
            )
            assert isinstance(found, list)
            places = [(each.uri, each.range.start.line) for each in found if isinstance(each, lsp.Location)]
            assert places == [(rules, 0), (rules, 1)]
            uses = await client.text_document_references_async(
                lsp.ReferenceParams(lsp.ReferenceContext(True), document(uri), lsp.Position(0, 2))
            )
            assert {(each.uri, each.range.start.line, each.range.start.character) for each in uses or []} == {
                (uri, 0, 1),
                (rules, 0, 1),
                (rules, 1, 1),
                (rules, 1, 26),
            }
            # There is a function `near`, too, and the rules are not open.
            renamed = await client.text_document_rename_async(
                lsp.RenameParams(document(uri), at(program, "near"), "close_to")
            )
            assert renamed is not None
            assert renamed.changes is not None
            assert {
                address: applied(Path(address.removeprefix("file://")).read_text(), list(edits))
                for address, edits in renamed.changes.items()
            } == {
                uri: '?far("a", To), close_to("a", To)\n',
                rules: "+far(X, Y) <- close_to(X, Y)\n+far(X, Z) <- close_to(X, Y), far(Y, Z)\n",
                facts: "+close_to(from: string, to: string)\n",
            }
            await open_text(client, (tmp_path / "rules.dl").read_text(), rules)
            for name, problem in [("far", "means something else"), ("2far", "cannot stand here")]:
                with pytest.raises(Exception, match=problem):
                    await client.text_document_rename_async(
                        lsp.RenameParams(document(rules), lsp.Position(0, 15), name)
                    )
            # A variable has its name in its statement alone.
            renamed = await client.text_document_rename_async(
                lsp.RenameParams(document(rules), lsp.Position(0, 5), "From")
            )
            assert renamed is not None
            assert renamed.changes is not None
            assert len(renamed.changes[rules]) == 2

    asyncio.run(main())


def test_files_that_change_outside_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "facts.dl").write_text("+near(1, 2)\n")
    facts = (tmp_path / "facts.dl").as_uri()

    async def main() -> None:
        async with editor(folder=tmp_path) as client:
            assert await open_text(client, "?near(X, Y)\n") == []
            for text, kind, codes in [
                ("+near(1, 2, 3)\n", lsp.FileChangeType.Changed, ["arity_mismatch"]),
                (None, lsp.FileChangeType.Deleted, ["unknown_relation"]),
                ("+near(3, 4)\n", lsp.FileChangeType.Created, []),
            ]:
                if text is None:
                    (tmp_path / "facts.dl").unlink()
                else:
                    (tmp_path / "facts.dl").write_text(text)
                client.workspace_did_change_watched_files(
                    lsp.DidChangeWatchedFilesParams([lsp.FileEvent(facts, kind)])
                )
                await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
                assert [found.code for found in client.diagnostics[URI]] == codes

    asyncio.run(main())


def test_what_may_stand_here_is_offered() -> None:
    async def main() -> None:
        async with editor() as client:
            await open_text(client, PROGRAM + "\n?co\n?owns(\n.rel d\n?owns(Owner, Owned, Share), O\n")
            first = PROGRAM.count("\n") + 1

            async def offered(line: int, character: int) -> list[str]:
                found = await client.text_document_completion_async(
                    lsp.CompletionParams(document(), lsp.Position(first + line, character))
                )
                assert isinstance(found, list)
                return [item.label for item in found]

            assert (await offered(0, 3))[0] == "controls("
            assert "Owner" in await offered(1, 6)
            assert "describe" in await offered(2, 6)
            assert {"Owner", "Owned"} <= set(await offered(3, 29))

    asyncio.run(main())


def test_outline_colours_and_layout() -> None:
    async def main() -> None:
        async with editor() as client:
            await open_text(client, PROGRAM.replace("owns[(", "owns[ ("))
            outline = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document()))
            assert outline is not None
            found = [each for each in outline if isinstance(each, lsp.DocumentSymbol)]
            lines = [(each.name, each.range.start.line, each.range.end.line) for each in found]
            assert lines == [("owns", 1, 1), ("controls", 5, 6)]
            colours = await client.text_document_semantic_tokens_full_async(
                lsp.SemanticTokensParams(document())
            )
            assert colours is not None
            assert len(colours.data) % 5 == 0
            assert len(colours.data) // 5 == 40
            # The first is the comment, the second the relation that is declared.
            assert list(colours.data[:10]) == [0, 0, 17, 10, 0, 1, 1, 4, 0, 1]
            edits = await client.text_document_formatting_async(
                lsp.DocumentFormattingParams(document(), lsp.FormattingOptions(4, True))
            )
            assert edits is not None
            assert applied(PROGRAM.replace("owns[(", "owns[ ("), list(edits)) == PROGRAM
            symbols = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("ctl"))
            assert [symbol.name for symbol in symbols or []] == ["controls"]

    asyncio.run(main())


def test_nothing_is_wrong_before_anything_is_written() -> None:
    async def main() -> None:
        async with editor() as client:
            for number, text in enumerate(["", "// to be done\n", "\n\n% nothing"]):
                assert await open_text(client, text, f"file:///nowhere/{number}.dl") == []

    asyncio.run(main())


def test_places_count_as_the_editor_counts() -> None:
    text = '+name("🦀", 1)\n?name("🦀", N), N = wrong\n'

    async def main() -> None:
        async with editor() as client:
            (found,) = await open_text(client, text)
            assert found.range.start == at(text, "wrong")

    asyncio.run(main())


def test_relations_of_a_database_are_known(server: LocalServer, tmp_path: Path) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        name = "of_an_editor"
        db.create_kg(name)
        db.use(name)
        db.execute('+owns(owner: string, owned: string)\n+owns("a", "b")\n+rich(X) <- owns(X, _)')
    password = tmp_path / "password"
    password.write_text(PASSWORD)
    given = ("--url", server.url, "--kg", name, "--user", "admin", "--password-file", str(password))

    async def main() -> None:
        async with editor(*given) as client:
            assert await open_text(client, "?rich(X), owns(X, Y)\n") == []
            (found,) = await open_text(client, "?owns(X, 1)\n", "file:///nowhere/other.dl")
            assert found.code == "type_mismatch"
        # A server that is not there is told, and all else works.
        async with editor(
            "--url", "ws://127.0.0.1:1", "--user", "a", "--password-file", str(password)
        ) as client:
            assert await open_text(client, PROGRAM) == []
            assert any("not known" in message.message for message in client.messages)

    asyncio.run(main())
