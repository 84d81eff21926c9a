import assert from "node:assert/strict";
import test from "node:test";
import { excerpt, markedLines } from "../dist/excerpt.js";

/** A place in a text, by what stands there. */
function place(program: string, part: string) {
  const at = program.indexOf(part);
  const before = program.slice(0, at);
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  const line = before.split("\n").length;
  const column = [...(before.split("\n").at(-1) ?? "")].length + 1;
  return { line, column, offset: bytes(before), length: bytes(part) };
}

const finding = { severity: "error", code: "type_mismatch", message: "no" } as const;

test("a line is what stands before a place, at it and behind it", () => {
  const program = '+a(1)\n\t?w("ö😀"), lenn("ö")\r\n';
  const span = place(program, '"ö😀"');
  assert.deepEqual(markedLines(program, { ...finding, span }), [
    { line: 2, before: " ?w(", at: '"ö😀"', after: '), lenn("ö")', isCause: true, text: "" },
  ]);
});

test("causes stand before further places of their line, and lines in the order of the text", () => {
  const program = "+a(1)\n?a(X), b(X)";
  const labels = ["+a", "?a"].map((part) => ({ span: place(program, part), text: `see ${part}` }));
  const found = { ...finding, span: place(program, "b(X)"), labels };
  assert.deepEqual(
    markedLines(program, found).map(({ at, isCause, text }) => [at, isCause, text]),
    [
      ["+a", false, "see +a"],
      ["b(X)", true, ""],
      ["?a", false, "see ?a"],
    ],
  );
  assert.deepEqual(excerpt(program, found), [
    " --> line 2, column 8",
    "  |",
    "1 | +a(1)",
    "  | -- see +a",
    "2 | ?a(X), b(X)",
    "  |        ^^^^",
    "  | -- see ?a",
  ]);
});

test("a place of several lines is marked to the end of its first, and the end of a text is one, too", () => {
  const program = "?a(X,\n  Y)";
  const long = { ...finding, span: place(program, "(X,\n  Y)") };
  assert.deepEqual(
    markedLines(program, long).map(({ before, at, after }) => [before, at, after]),
    [["?a", "(X,", ""]],
  );
  const end = { ...finding, span: { line: 2, column: 5, offset: 10, length: 0 } };
  assert.deepEqual(excerpt(program, end).slice(2), ["2 |   Y)", "  |     ^"]);
});

test("passwords are stars, and a place that is not known has no lines", () => {
  const program = ".user create bob s3cret nonsense";
  const [line] = markedLines(program, { ...finding, span: place(program, "nonsense") });
  assert.deepEqual([line?.before, line?.at], [".user create bob ****** ", "********"]);
  assert.deepEqual(markedLines(program, finding), []);
  assert.deepEqual(markedLines(undefined, { ...finding, span: place(program, "bob") }), []);
});
