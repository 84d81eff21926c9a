import assert from "node:assert/strict";
import { test } from "node:test";
import { impact, whatIf, whyNot } from "./suppose.ts";

test("changes and the query after them are lines of one command", () => {
  assert.equal(
    whatIf("-edge(1, 2)\n// not any more\n+edge(1, 3)", "?path(1, X)"),
    ".what_if\n  -edge(1, 2)\n  +edge(1, 3)\n  ?path(1, X)",
  );
  assert.equal(whatIf("+a(1)", "r(X) <- a(X)\n?r(X)"), ".what_if\n  +a(1)\n  r(X) <- a(X)\n  ?r(X)");
  assert.equal(whatIf("+a(1)", "a(X)"), undefined);
});

test("nothing to suppose is nothing to ask", () => {
  assert.equal(impact("  \n// nothing"), undefined);
  assert.equal(impact("-needs"), ".impact\n  -needs");
});

test("a fact is one line", () => {
  assert.equal(whyNot('p("a\nb",\n 1) // why'), '.why_not p("a\\nb", 1)');
  assert.equal(whyNot(" "), undefined);
});

test("no line of what is sent begins a statement of its own", () => {
  const hostile = [
    "-a(1)\n.kg drop x",
    '-a("\n+b(1)',
    "-a(1) /*\n*/ +b(1)\n*/\n+c(1)",
    "-a(1)\r+b(1)\r\n+c(1)",
  ];
  for (const changes of hostile) {
    for (const program of [whatIf(changes, "?p(X)"), impact(changes), whyNot(changes)]) {
      const [, ...further] = (program ?? "").split("\n");
      assert.ok(
        further.every((line) => line.startsWith("  ")),
        JSON.stringify(program),
      );
    }
  }
});
