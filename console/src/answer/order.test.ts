import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "@stratalog/client";
import { compare, orderOf, type Readable } from "./order.ts";

function answer(...columns: Value[][]): Readable {
  const first = columns[0] ?? [];
  return {
    rowCount: first.length,
    columns: columns.map((values, place) => ({ name: `c${place}`, get: (row) => values[row] ?? null })),
  };
}

const signal = new AbortController().signal;

test("rows as they came need no order", async () => {
  assert.equal(await orderOf(answer([3, 1, 2]), "", undefined, signal), undefined);
});

test("equal rows stay in their order, and nulls come last in both", async () => {
  const rows = answer([2, null, 1, 2, 1], ["a", "b", "c", "d", "e"]);
  const ascending = await orderOf(rows, "", { column: 0, descends: false }, signal);
  assert.deepEqual([...(ascending ?? [])], [2, 4, 0, 3, 1]);
  const descending = await orderOf(rows, "", { column: 0, descends: true }, signal);
  assert.deepEqual([...(descending ?? [])], [0, 3, 2, 4, 1]);
});

test("a filter looks into every column, in any case", async () => {
  const rows = answer([1, 22, 3], ["Ada", "bob", "cleo 2"]);
  assert.deepEqual([...((await orderOf(rows, "ADA", undefined, signal)) ?? [])], [0]);
  assert.deepEqual([...((await orderOf(rows, "2", undefined, signal)) ?? [])], [1, 2]);
});

test("many rows are sorted as few are", async () => {
  const values = Array.from({ length: 100_000 }, (_, n) => (n * 7919) % 10_007);
  const order = (await orderOf(answer(values), "", { column: 0, descends: false }, signal)) ?? [];
  const expected = values.map((_, row) => row).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b);
  assert.deepEqual([...order], expected);
});

test("integers beyond doubles, times and texts have an order of their own", () => {
  assert.ok(compare(2n ** 60n, 2n ** 60n + 1n, false) < 0);
  assert.ok(compare(5, 2n ** 60n, false) < 0);
  assert.ok(compare(new Date(1), new Date(2), true) > 0);
  assert.ok(compare(true, "a", false) < 0);
});
