import assert from "node:assert/strict";
import { test } from "node:test";
import { setIn } from "../program/scan.ts";
import { bare, headOf, isName, programOf, unfit, variablesOf } from "./clauses.ts";

test("names have letters of any script, digits and underscores", () => {
  for (const name of ["edge", "Edge", "_seen", "größe", "a1"]) assert.ok(isName(name), name);
  for (const name of ["", "1a", "a b", "a-b", "a\n+b(1)", "*indexes"]) assert.ok(!isName(name), name);
});

test("further lines are set in, so that they begin no statement", () => {
  assert.equal(setIn("path(X, Y) <-\nedge(X, Y)"), "path(X, Y) <-\n  edge(X, Y)");
  assert.equal(setIn("path(X, Y) <- edge(X, Y)\n+other(1)"), "path(X, Y) <- edge(X, Y)\n  +other(1)");
});

test("line breaks inside of texts become escapes", () => {
  assert.equal(setIn('p(X) <- q(X, "a\nb")'), 'p(X) <- q(X, "a\\nb")');
});

test("a clause is the same with and without its plus", () => {
  assert.equal(bare(" + path(X, Y) <- edge(X, Y)\n"), "path(X, Y) <- edge(X, Y)");
  assert.equal(programOf(["p(X) <- q(X)", "+p(X) <- r(X)"]), "+p(X) <- q(X)\n+p(X) <- r(X)");
});

test("a head is told with its terms", () => {
  assert.deepEqual(headOf("+way(X, f(Y, 1)) <- road(X, Y)"), { relation: "way", terms: ["X", "f(Y, 1)"] });
  assert.deepEqual(headOf("flag() <- edge(1, _)"), { relation: "flag", terms: [] });
});

test("what has no body or two heads has no head that could be replaced", () => {
  assert.equal(headOf("edge(1, 2)"), undefined);
  assert.equal(headOf("a(X), b(X) <- c(X)"), undefined);
  assert.equal(headOf("// nothing"), undefined);
});

test("a clause of another relation does not fit", () => {
  assert.equal(unfit("path(X, Y) <- edge(X, Y)", "path"), undefined);
  assert.equal(unfit("way(X, Y) <- edge(X, Y)", "path"), "this is a rule of way, and not of path");
  assert.match(unfit("path(1, 2)", "path") ?? "", /one head and a body/);
  assert.equal(unfit("any(X) <- edge(X, _)"), undefined);
});

test("variables are called as columns, where that makes variables that differ", () => {
  assert.deepEqual(variablesOf(["from", "To", "größe"]), ["From", "To", "Größe"]);
  assert.deepEqual(variablesOf(["x", "X", "count<Y>", "_id", "1st", ""]), [
    "X",
    "V2",
    "V3",
    "V4",
    "V5",
    "V6",
  ]);
});
