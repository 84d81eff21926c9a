// An answer as CSV: UTF-8, a line of names, commas, quotes where a value needs them.
//
// Nulls are empty, an empty text is `""`. Lists and vectors are JSON.

import type { ColumnType, Rows, Value } from "@stratalog/client";
import { csvFormatValue } from "d3-dsv";
import { jsonValue } from "./json.ts";
import { inSlices, Pieces, type Run, rowAt, rowsOf } from "./slices.ts";

/** The rows of an answer, in an order, as pieces of a text. */
export async function csvOf(rows: Rows, order?: Uint32Array, run?: Run): Promise<string[]> {
  const pieces = new Pieces();
  const at = rowAt(order);
  pieces.add(`${rows.names.map((name) => csvValue(name)).join(",")}\n`);
  await inSlices(
    rowsOf(rows.rowCount, order),
    (place) => {
      const row = at(place);
      pieces.add(`${rows.columns.map((column) => csvValue(column.get(row), column.type)).join(",")}\n`);
    },
    run,
  );
  return pieces.end();
}

/** A value as a field of a line. */
export function csvValue(value: Value, type?: ColumnType): string {
  if (value === null) return "";
  if (value === "") return '""';
  if (typeof value === "string") return csvFormatValue(value);
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? csvFormatValue(jsonValue(value)) : jsonValue(value, type);
}
