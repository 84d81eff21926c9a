import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "@stratalog/client";
import { float } from "@stratalog/client";
import type { Catalog, Relation } from "../../session/catalog.ts";
import { rowsOf } from "../testing.ts";
import { neighbourQuery, neighbours, originOf } from "./expand.ts";
import { networkOf } from "./network.ts";

const relation: Relation = {
  name: "owns",
  rows: 3,
  isAttached: false,
  columns: [],
  isDerived: false,
  clauses: 0,
};
const catalog: Catalog = { relations: new Map([["owns", relation]]), isKnown: true };
const ends = { from: 0, to: 1, label: 2 };

test("a goal of a relation that there is can be asked on", () => {
  const owns = { relation: "owns", columns: 3 };
  assert.deepEqual(originOf("?owns(X, Y, Z)", ends, catalog), owns);
  assert.deepEqual(originOf('+p(X) <- q(X)\n?owns(X:asc, "a, b", $s), X != "c"', ends, catalog), owns);
});

test("whatever else a query is cannot", () => {
  assert.equal(originOf("?controls(X, Y)", ends, catalog), undefined);
  assert.equal(originOf("?owns(X, Y) <- other(X, Y)", ends, catalog), undefined);
  assert.equal(originOf("?count<X> <- owns(X, _, _)", ends, catalog), undefined);
  assert.equal(originOf("+owns(1, 2, 3)", ends, catalog), undefined);
  // An end that is not a column of the relation, but of what the query has beside it.
  assert.equal(originOf("?owns(X, Y, _), S = 1", { from: 0, to: 3, label: undefined }, catalog), undefined);
});

test("values are parameters and never part of the text", () => {
  assert.equal(neighbourQuery({ relation: "owns", columns: 3 }, 1), "?owns(V0, $node, V2)");
});

test("both directions are asked, with a limit, and what is beyond is counted", async () => {
  const asked: unknown[] = [];
  const answer = Object.assign(rowsOf({ a: ["string", ["x"]], b: ["string", ["y"]] }), { totalCount: 8 });
  const client = {
    query: async (program: string, { params, limit }: { params: unknown; limit: number }) => {
      asked.push([program, params, limit]);
      return answer;
    },
  } as unknown as Client;
  const network = networkOf(
    rowsOf({ a: ["any", ["2.0"]], b: ["any", ["2"]] }),
    { ...ends, label: undefined },
    10,
  );
  const [node] = network.nodes;
  assert.ok(node !== undefined);
  const origin = { relation: "owns", columns: 2 };
  const found = await neighbours(client, origin, ends, node, 50, new AbortController().signal);
  assert.deepEqual(asked, [
    ["?owns($node, V1)", { node: float(2) }, 50],
    ["?owns(V0, $node)", { node: float(2) }, 50],
  ]);
  assert.equal(found.further, 14);
  assert.equal(found.answers.length, 2);
});
