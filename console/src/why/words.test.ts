import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProofNode } from "@stratalog/client";
import {
  aggregated,
  argument,
  factText,
  foundText,
  limitText,
  otherWays,
  replacedText,
  titleOf,
} from "./words.ts";

const node = (about: Partial<ProofNode>): ProofNode => ({
  kind: "fact",
  conclusion: { pred: "p", args: [1] },
  height: 0,
  ...about,
});

test("facts are told as in a terminal", () => {
  assert.equal(
    titleOf(node({ conclusion: { pred: "p", args: ["a", null, true] } }), [], []),
    'p("a", null, true)',
  );
  assert.equal(titleOf(node({ kind: "negation", negation: { pattern: "!s(1)" } }), [], []), "no s(1)");
  assert.equal(
    titleOf(node({ conclusion: { pred: "?", args: [1, "x"] } }), [], ["X"]),
    'X = 1, column 2 = "x"',
  );
});

test("values are of the type of their column", () => {
  assert.equal(argument(2, "float"), "2.0");
  assert.equal(argument(0, "timestamp"), 't"1970-01-01T00:00:00.000Z"');
  assert.equal(factText({ pred: "p", args: [[1, 2]] }, ["vector[2]"]), "p([1.0, 2.0])");
  assert.equal(factText({ pred: "p", args: [[1, 2]] }, ["vector_int8"]), "p([1, 2])");
  assert.equal(factText({ pred: "p", args: [[1, "a"]] }, []), 'p(list(1, "a"))');
  assert.equal(factText({ pred: "p", args: [null] }, [], true), "p(_)");
  assert.equal(factText({ pred: "p", args: [null] }), "p(null)");
});

test("reasons are told as in a terminal", () => {
  const rule = node({ kind: "rule", rule_id: "p(X) <- q(X)" });
  assert.equal(otherWays({ ...rule, alternatives: 2 }), " (and 2 other ways)");
  assert.equal(otherWays({ ...rule, alternatives: 1 }), " (and 1 other way)");
  assert.equal(otherWays(rule), "");
  assert.equal(replacedText({ ...rule, replaced_by: 7 }), "; replaced by 7 later");
  const found = node({ kind: "vector_search", vector_search: { index_name: "near", distance: 0.5 } });
  assert.equal(foundText(found), "found by near at 0.5");
  const cut = node({ kind: "truncated", truncated: { depth_limit: 250 } });
  assert.equal(limitText(cut), "proofs are told down to 250 levels");
});

test("aggregates are told with their first inputs", () => {
  const aggregate = {
    fn: "sum",
    value_var: "N",
    result: 15,
    contributing_count: 5,
    input_columns: ["K", "N"],
    sample_inputs: [1, 2, 3, 4, 5].map((n) => ["k", n]),
  };
  assert.equal(aggregated(aggregate), "sum<N> = 15 of 5: 1, 2, 3, 4, …");
});
