import assert from "node:assert/strict";
import { test } from "node:test";
import { parquetMetadata, parquetReadObjects, parquetSchema } from "hyparquet";
import { rowsOf } from "../testing.ts";
import { parquetOf } from "./parquet.ts";

/** The file alone: what was written stands at the beginning of a larger buffer. */
function fileOf(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer {
  return bytes.slice().buffer;
}

test("columns have the types that they have on the server", async () => {
  const rows = rowsOf({
    n: ["int", [2n, 9_223_372_036_854_775_807n, null]],
    share: ["float", [0.5, 2, null]],
    name: ["string", ["ada", "", null]],
    is: ["bool", [true, false, null]],
    at: ["timestamp", [0, 1_700_000_000_123, null]],
    mixed: ["any", ["1", '"a"', null]],
    list: ["list", ['[1, "a"]', "[]", null]],
    none: ["null", [null, null, null]],
  });
  const bytes = await parquetOf(rows);
  const schema = parquetSchema(parquetMetadata(fileOf(bytes)));
  assert.deepEqual(
    schema.children.map(({ element }) => [element.name, element.type, element.converted_type]),
    [
      ["n", "INT64", undefined],
      ["share", "DOUBLE", undefined],
      ["name", "BYTE_ARRAY", "UTF8"],
      ["is", "BOOLEAN", undefined],
      ["at", "INT64", "TIMESTAMP_MILLIS"],
      ["mixed", "BYTE_ARRAY", "UTF8"],
      ["list", "BYTE_ARRAY", "UTF8"],
      ["none", "BYTE_ARRAY", "UTF8"],
    ],
  );
  const read = await parquetReadObjects({ file: fileOf(bytes) });
  assert.deepEqual(read, [
    { n: 2n, share: 0.5, name: "ada", is: true, at: new Date(0), mixed: "1", list: '[1,"a"]', none: null },
    {
      n: 9_223_372_036_854_775_807n,
      share: 2,
      name: "",
      is: false,
      at: new Date(1_700_000_000_123),
      mixed: '"a"',
      list: "[]",
      none: null,
    },
    { n: null, share: null, name: null, is: null, at: null, mixed: null, list: null, none: null },
  ]);
});

test("rows of several groups come in the order that is asked for", async () => {
  const count = 110_000;
  const rows = rowsOf({ n: ["int", Array.from({ length: count }, (_, number) => BigInt(number))] });
  const order = Uint32Array.from({ length: count }, (_, place) => count - 1 - place);
  const told: number[] = [];
  const bytes = await parquetOf(rows, order, { onProgress: (done) => told.push(done) });
  assert.deepEqual(told, [50_000, 100_000, 110_000]);
  const read = await parquetReadObjects({ file: fileOf(bytes) });
  assert.equal(read.length, count);
  assert.deepEqual([read[0], read[50_000], read[109_999]], [{ n: 109_999n }, { n: 59_999n }, { n: 0n }]);
});

test("an answer without rows keeps its columns", async () => {
  const bytes = await parquetOf(rowsOf({ n: ["int", []], name: ["string", []] }));
  const schema = parquetSchema(parquetMetadata(fileOf(bytes)));
  assert.deepEqual(
    schema.children.map(({ element }) => element.name),
    ["n", "name"],
  );
  assert.deepEqual(await parquetReadObjects({ file: fileOf(bytes) }), []);
});

test("writing can be stopped", async () => {
  const stop = new AbortController();
  const rows = rowsOf({ n: ["int", Array.from({ length: 45_000 }, () => 1n)] });
  const work = parquetOf(rows, undefined, {
    signal: stop.signal,
    onProgress: () => stop.abort(new Error("enough")),
  });
  await assert.rejects(work, /enough/);
});
