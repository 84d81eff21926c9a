import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "@stratalog/client";
import { questionOf } from "../program/question.ts";
import { aboutFact, asWhy, factOf, queryOfRow } from "./question.ts";

/** The query of one row of which the columns have these types. */
function only(program: string, columns: readonly [type: string, value: Value][]): string | undefined {
  return queryOfRow(
    program,
    columns.map(([type]) => type),
    columns.map(([, value]) => value),
  );
}

test("why stands before the last query", () => {
  assert.equal(asWhy("?p(X)"), ".why ?p(X)");
  assert.equal(asWhy("?p(X)", "all"), ".why all ?p(X)");
  assert.equal(asWhy("r(X) <- p(X)\nf(1)\n?r(X),\n  X > 1"), "r(X) <- p(X)\nf(1)\n.why\n  ?r(X),\n  X > 1");
  assert.equal(asWhy(".why full ?p(X)"), ".why ?p(X)");
  assert.equal(asWhy("?a(X)\n+b(1)\n?c(X)\n+d(1)"), ".why ?c(X)");
});

test("a program without a query asks nothing", () => {
  for (const program of ["", "+p(1)", "p(1)", ".rel", "// ?p(X)"])
    assert.equal(asWhy(program), undefined, program);
});

test("whatever would write is left out", () => {
  const question = questionOf("+a(1)\n-b(1)\ntype T: int\n.kg drop x\nown(1)\ntype(1)\n?own(X)");
  assert.deepEqual(question, { own: ["own(1)", "type(1)"], query: "?own(X)", left: 4 });
  assert.equal(asWhy("\u00a0+a(1)\n\u0085+b(1)\n?p(X)"), ".why ?p(X)");
});

test("no line of a question begins a statement of its own", () => {
  const hostile = [
    '?p("\n+q(1)\n',
    "?p(X /* \n+q(1)\n",
    "?p(X,\n+q(1)",
    "?p(X,\n\u00a0+q(1)",
    "/**/ ?p(X)\n/**/ +q(1)",
  ];
  for (const program of hostile) {
    const lines = asWhy(program)?.split("\n") ?? [];
    assert.ok(
      lines.every((line) => /^(?:\.why| {2})/.test(line)),
      JSON.stringify(lines),
    );
  }
});

test("a row of a goal is the goal with its values", () => {
  const row: [string, Value][] = [
    ["string", "a"],
    ["int", 3],
  ];
  assert.equal(only("?p(X, Y)", row), '?p("a", 3)');
  assert.equal(only('?p("a", Y:desc)', row), '?p("a", 3)');
  assert.equal(only("?p(X:asc, _)", row), '?p("a", 3)');
  assert.equal(only("?p($who, Y)", row), '?p("a", 3)');
  assert.equal(only("?p($who, Y), Y > $least", row), '?p("a", Y), Y > $least, Y = 3');
  assert.equal(only("?p(X, Y), limit(1, 1)", row), '?p("a", 3)');
  assert.equal(only("r(X) <- q(X)\n+q(1)\n?p(X, Y)", row), 'r(X) <- q(X)\n?p("a", 3)');
});

test("a variable that conditions need stays, and is told what it is", () => {
  const row: [string, Value][] = [
    ["string", "a"],
    ["int", 3],
  ];
  assert.equal(only("?p(X, Y), Y > 1", row), '?p("a", Y), Y > 1, Y = 3');
  assert.equal(only("?p(X, Y), !q(X, _)", row), '?p(X, 3), !q(X, _), X = "a"');
  assert.equal(only("?p(X, Y), (q(X) or r(Y))", row), '?p(X, Y), (q(X) or r(Y)), X = "a", Y = 3');
  assert.equal(
    only("?p(X, X)", [
      ["int", 1],
      ["int", 1],
    ]),
    "?p(X, X), X = 1",
  );
});

test("columns behind those of the goal are its further variables", () => {
  const row: [string, Value][] = [
    ["int", 1],
    ["int", 2],
    ["int", 3],
    ["int", 4],
  ];
  assert.equal(
    only("?e(X, Y), e(Y, Z), S = X + Z", row),
    "?e(X, Y), e(Y, Z), S = X + Z, X = 1, Y = 2, Z = 3, S = 4",
  );
  assert.equal(only("?e(X, Y), e(Y, Z), !f(W)", row), undefined);
  assert.equal(only("?e(X, Y), (e(Y, Z), S = 1 or e(Z, Y), S = 2)", row), undefined);
});

test("a projection has its columns as conditions", () => {
  const row: [string, Value][] = [
    ["string", "n"],
    ["int", 30],
  ];
  assert.equal(only("?R, A <- sale(R, _, A), limit(5)", row), '?R, A <- sale(R, _, A), R = "n", A = 30');
  assert.equal(only("?R, sum<A>:desc <- sale(R, _, A)", row), '?R, sum<A> <- sale(R, _, A), R = "n"');
  assert.equal(only("?R, A <- a(R, A) or b(R, A)", row), '?R, A <- (a(R, A) or b(R, A)), R = "n", A = 30');
  assert.equal(only("?R, A <- a(R, A) or b(R, A), limit(1)", row), undefined);
  assert.equal(only("?R, A + 1 <- sale(R, _, A)", row), undefined);
  assert.equal(only("?upper(R), A <- sale(R, _, A)", row), undefined);
  assert.equal(only("?R, top_k<1, A> <- sale(R, _, A)", row), undefined);
  assert.equal(
    only("?R, sum<A> <- sale(R, _, A)", [
      ["string", "w"],
      ["int", null],
    ]),
    '?R, sum<A> <- sale(R, _, A), R = "w"',
  );
});

test("values are written so that they find themselves alone", () => {
  const value = (type: string, found: Value) => only("?p(X)", [[type, found]]);
  assert.equal(value("float", 2), "?p(2.0)");
  assert.equal(value("float", 1e21), "?p(1e+21)");
  assert.equal(value("int", 2n ** 62n), "?p(4611686018427387904)");
  assert.equal(value("bool", true), "?p(true)");
  assert.equal(value("timestamp", new Date(0)), '?p(t"1970-01-01T00:00:00.000Z")');
  assert.equal(value("string", 'a"\n\u202e'), '?p("a\\"\\n\\u202e")');
  assert.equal(value("list", ["a", true]), '?p(list("a", true))');
  assert.equal(value("any", 0.5), "?p(0.5)");
  assert.equal(value("string", null), "?p(null)");
});

test("what would find others too, or nothing, is not asked for", () => {
  const value = (type: string, found: Value) => only("?p(X)", [[type, found]]);
  assert.equal(only("?p(X), X != 1", [["int", null]]), undefined);
  assert.equal(only("?X <- p(X)", [["int", null]]), undefined);
  assert.equal(value("list", [null]), undefined);
  assert.equal(value("vector", Float32Array.of(1)), undefined);
  assert.equal(value("any", 2), undefined);
  assert.equal(value("float", 0), undefined);
  assert.equal(value("float", -0), undefined);
  assert.equal(value("int", 0), "?p(0)");
  assert.equal(value("list", [2]), undefined);
  assert.equal(value("timestamp", 9e15), undefined);
  assert.equal(value("timestamp", new Date(8e14)), undefined);
});

test("a search is not narrowed: other rows would be the nearest", () => {
  const row: [string, Value][] = [
    ["string", "i"],
    ["string", "q"],
    ["int", 2],
    ["int", 1],
    ["float", 0.5],
  ];
  assert.equal(only('?text_search("i", "q", 2, Id, S)', row), undefined);
});

test("what is not understood is not guessed", () => {
  const row: [string, Value][] = [["int", 1]];
  for (const program of ["?", "?p", "?p(X", "?p(X) q", "?p(X, Y)", "+p(1)"]) {
    assert.equal(only(program, row), undefined, program);
  }
});

test("a fact is asked about beside what of the session stands by the program", () => {
  assert.equal(aboutFact("r(X) <- p(X)\n+q(1)\n?r(X)", "p(1)"), "r(X) <- p(X)\n?p(1)");
  assert.equal(aboutFact("", "p(1)"), "?p(1)");
});

test("a query that is one goal is a fact that may not hold", () => {
  assert.equal(factOf('?p("a", X:asc)'), 'p("a", X)');
  assert.equal(factOf("?p(X), X > 1"), undefined);
  assert.equal(factOf("?X <- p(X)"), undefined);
  assert.equal(factOf("?p($x)"), undefined);
});
