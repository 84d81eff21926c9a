import assert from "node:assert/strict";
import { test } from "node:test";
import type { Relation } from "../session/catalog.ts";
import { filtered, kindText, orderOf, type RelationRow, sorted } from "./relationRows.ts";

function row(name: string, rows: number | undefined, columns: string[] = [], clauses = 0): RelationRow {
  const relation: Relation = {
    name,
    rows,
    isAttached: false,
    columns: columns.map((column) => ({ name: column, type: "string" })),
    isDerived: clauses > 0,
    clauses,
  };
  return { relation, view: undefined };
}

const rows = [row("edge", 4, ["from", "to"]), row("Person", 10, ["name"]), row("path", undefined, [], 2)];
const names = (list: readonly RelationRow[]) => list.map(({ relation }) => relation.name);

test("a filter looks at names and columns, each word by itself", () => {
  assert.deepEqual(names(filtered(rows, "PERSON")), ["Person"]);
  assert.deepEqual(names(filtered(rows, "to edge")), ["edge"]);
  assert.deepEqual(names(filtered(rows, " ")), ["edge", "Person", "path"]);
  assert.deepEqual(names(filtered(rows, "nothing")), []);
});

test("names are sorted in capitals or not", () => {
  assert.deepEqual(names(sorted(rows, "name", false)), ["edge", "path", "Person"]);
  assert.deepEqual(names(sorted(rows, "name", true)), ["Person", "path", "edge"]);
});

test("rows that nobody has counted come last in both directions", () => {
  assert.deepEqual(names(sorted(rows, "rows", false)), ["edge", "Person", "path"]);
  assert.deepEqual(names(sorted(rows, "rows", true)), ["Person", "edge", "path"]);
});

test("an order that there is not is that of names", () => {
  assert.equal(orderOf("rows"), "rows");
  assert.equal(orderOf("colour"), "name");
  assert.equal(orderOf(undefined), "name");
});

test("a relation is stored, derived, both or only declared", () => {
  assert.equal(kindText(row("a", undefined).relation), "declared");
  assert.equal(kindText(row("a", 1).relation), "stored");
  assert.equal(kindText({ ...row("a", 1).relation, isAttached: true }), "in files");
  assert.equal(kindText(row("a", undefined, [], 1).relation), "derived");
  assert.equal(kindText(row("a", 1, [], 1).relation), "stored and derived");
});
