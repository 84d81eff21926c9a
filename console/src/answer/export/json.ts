// An answer as JSON: an array of objects, one a line.
//
// Integers are written with all their digits, floats with a point, times as ISO 8601. Whoever reads integers beyond 2^53
// with JavaScript's own reader gets them rounded; they are exact in the file.

import type { ColumnType, Rows, Value } from "@stratalog/client";
import { inSlices, Pieces, type Run, rowAt, rowsOf } from "./slices.ts";

/** The rows of an answer, in an order, as pieces of a text. */
export async function jsonOf(rows: Rows, order?: Uint32Array, run?: Run): Promise<string[]> {
  const pieces = new Pieces();
  const names = rows.names.map((name) => `${JSON.stringify(name)}:`);
  const at = rowAt(order);
  pieces.add("[");
  await inSlices(
    rowsOf(rows.rowCount, order),
    (place) => {
      const row = at(place);
      const cells = rows.columns.map(
        (column, number) => names[number] + jsonValue(column.get(row), column.type),
      );
      pieces.add(`${place === 0 ? "\n" : ",\n"}{${cells.join(",")}}`);
    },
    run,
  );
  pieces.add("\n]\n");
  return pieces.end();
}

/** A value as JSON. */
export function jsonValue(value: Value, type?: ColumnType): string {
  switch (typeof value) {
    case "bigint":
    case "boolean":
      return String(value);
    case "string":
      return JSON.stringify(value);
    case "number":
      return type === "float" ? floatText(value) : String(value);
    case "object":
      if (value === null) return "null";
      if (value instanceof Date) return JSON.stringify(value);
      if (value instanceof Float32Array) return `[${Array.from(value, floatText).join(",")}]`;
      if (value instanceof Int8Array) return `[${value.join(",")}]`;
      return `[${value.map((each) => jsonValue(each)).join(",")}]`;
  }
}

/** A float is told from an integer by its point. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return "null";
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
