import assert from "node:assert/strict";
import { test } from "node:test";
import {
  arrowOf,
  IN_HEADS,
  masked,
  parametersOf,
  pieces,
  plain,
  split,
  statementsOf,
  variablesOf,
} from "./scan.ts";

test("the pieces of a program are the program", () => {
  const program = '% all\n?p("a // b", X) // c\n  /* d /* e */ */ , X % 2 = 0\n"never closed';
  const found = [...pieces(program)];
  assert.equal(found.map(({ text }) => text).join(""), program);
  assert.deepEqual(
    found.filter(({ kind }) => kind !== "code").map(({ kind, text }) => [kind, text]),
    [
      ["comment", "% all"],
      ["text", '"a // b"'],
      ["comment", "// c"],
      ["comment", "/* d /* e */ */"],
      ["text", '"never closed'],
    ],
  );
});

test("a percent sign begins a comment at the beginning of a line only", () => {
  assert.equal(plain("% all\nX % 2"), "\nX % 2");
  assert.deepEqual(statementsOf("/* a */ % all\nX"), ["X"]);
});

test("what follows a comment that begins a line begins that line", () => {
  assert.deepEqual(statementsOf("p(1)\n/* about */ /* it */ ?p(X)"), ["p(1)", "?p(X)"]);
  assert.deepEqual(statementsOf("p(1) /* goes\n*/ , q"), ["p(1)   , q"]);
});

test("a line break in a text is an escape", () => {
  assert.equal(plain('p("a\nb")'), 'p("a\\nb")');
  assert.equal(plain('p("a\\\nb")'), 'p("a\\\\\\nb")');
  assert.equal(plain('p("a\\\\\nb")'), 'p("a\\\\\\nb")');
  assert.deepEqual(statementsOf('p("a\n+q(1)")'), ['p("a\\n+q(1)")']);
});

test("a statement goes on where the server lets it", () => {
  assert.deepEqual(statementsOf("+r(X) <-\np(X),\nq(X)\n?r(X)"), ["+r(X) <-\n  p(X),\n  q(X)", "?r(X)"]);
  assert.deepEqual(statementsOf("+e[\n(1, 2),\n]\n?e(X,\n  Y)"), ["+e[\n  (1, 2),\n  ]", "?e(X,\n  Y)"]);
  assert.deepEqual(statementsOf("p(X) <- q(X), // the last\n?p(X)"), ["p(X) <- q(X),", "?p(X)"]);
  assert.deepEqual(statementsOf("  ?p(X)\n\t, X > 1"), ["?p(X)\n  , X > 1"]);
});

test("a line that begins with another blank begins a statement all the same", () => {
  assert.deepEqual(statementsOf("?p(X)\n\u00a0+q(1)\r\n\r+q(2)"), ["?p(X)", "+q(1)", "+q(2)"]);
});

test("parts are cut at the commas that stand in no brackets", () => {
  assert.deepEqual(split('X, f(Y, 1), "a, b", [1, 2],'), ["X", "f(Y, 1)", '"a, b"', "[1, 2]"]);
  assert.deepEqual(split("R, top_k<1, Id, A:desc>", IN_HEADS), ["R", "top_k<1, Id, A:desc>"]);
  assert.deepEqual(split(""), []);
});

test("an arrow is not followed by a number", () => {
  assert.equal(arrowOf("?X <- p(X)"), 3);
  assert.equal(arrowOf("?p(X), X <-5"), undefined);
  assert.equal(arrowOf('?p("<- q")'), undefined);
});

test("variables are neither relations nor parameters nor inside of texts", () => {
  assert.deepEqual(variablesOf('Edge(X, _, $Who, "Y"), _rest = X + Größe'), ["X", "_rest", "X", "Größe"]);
  assert.deepEqual(parametersOf('?p($who, "$no", $who) // $nor'), ["who"]);
});

test("a mask has the length of the text", () => {
  assert.equal(masked('p("a", 1)'), 'p(""", 1)');
});
