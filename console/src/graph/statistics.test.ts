import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result, Value } from "@stratalog/client";
import { MOST_COLUMNS, statisticsOf, statisticsQuery } from "./statistics.ts";

function answer(...rows: Value[][]): Result {
  return { rowCount: rows.length, row: (place: number) => rows[place] ?? [] } as unknown as Result;
}

test("one query asks for all columns", () => {
  assert.equal(
    statisticsQuery("edge", ["int", "string"]),
    "?count<V1>, count_distinct<V1>, sum<N1>, first<V1>, last<V1>, " +
      "count_distinct<V2>, sum<N2>, first<V2>, last<V2> <- " +
      "edge(V1, V2), N1 = index_of(list(null), V1), N2 = index_of(list(null), V2)",
  );
});

test("vectors and lists have no smallest value", () => {
  const query = statisticsQuery("doc", ["vector[2]", "list"]);
  assert.ok(!query.includes("first<"));
});

test("no more columns are asked for than can be shown", () => {
  const query = statisticsQuery(
    "wide",
    Array.from({ length: MOST_COLUMNS + 5 }, () => "int"),
  );
  assert.ok(query.includes(`last<V${MOST_COLUMNS}>`));
  assert.ok(!query.includes(`last<V${MOST_COLUMNS + 1}>`));
  assert.ok(query.includes(`V${MOST_COLUMNS + 5})`));
});

test("null is no value of its own among those that differ", () => {
  // Four rows: 1, 1, 2 and null.
  assert.deepEqual(statisticsOf(answer([4, 3, -3, 1, 2]), ["int"]), {
    rows: 4,
    columns: [{ distinct: 2, nulls: 1, least: 1, greatest: 2 }],
  });
});

test("columns of vectors take no cells for values that were not asked for", () => {
  assert.deepEqual(statisticsOf(answer([2, 2, -2, 1, -2, "a", "a"]), ["vector", "string"]).columns, [
    { distinct: 2, nulls: 0, least: undefined, greatest: undefined },
    { distinct: 1, nulls: 0, least: "a", greatest: "a" },
  ]);
});

test("an empty relation gives no row", () => {
  assert.deepEqual(statisticsOf(answer(), ["int"]), {
    rows: 0,
    columns: [{ distinct: 0, nulls: 0, least: undefined, greatest: undefined }],
  });
});
