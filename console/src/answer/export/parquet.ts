// An answer as Parquet, with the types that its columns have. What writes the format is loaded when somebody wants it.
//
// Lists, vectors and columns of several types are text: JSON.

import type { Column, ColumnType, Rows } from "@stratalog/client";
import type { BasicType } from "hyparquet-writer";
import { jsonValue } from "./json.ts";
import { breath, inSlices, type Run, rowAt, rowsOf } from "./slices.ts";

/** Values that are written at once: enough to be read well, and few enough that the page does not wait for them. */
const VALUES = 80_000;
const MOST_ROWS = 50_000;
const LEAST_ROWS = 2_000;

const TYPES: Readonly<Record<ColumnType, BasicType>> = {
  int: "INT64",
  float: "DOUBLE",
  string: "STRING",
  bool: "BOOLEAN",
  timestamp: "TIMESTAMP",
  vector: "STRING",
  vector_int8: "STRING",
  list: "STRING",
  any: "STRING",
  null: "STRING",
};

/** What the writer takes as a value. */
type Field = bigint | number | string | boolean | null;

/** The rows of an answer, in an order, as a file. There is no file without columns. */
export async function parquetOf(
  rows: Rows,
  order?: Uint32Array,
  run: Run = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { ByteWriter, ParquetWriter, schemaFromColumnData } = await import("hyparquet-writer");
  const columns = rows.columns.map(({ name, type }) => ({ name, type: TYPES[type] }));
  const empty = columns.map((column) => ({ ...column, data: [] }));
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({ columnData: empty });
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: "stratalog console" });
  const at = rowAt(order);
  const count = rowsOf(rows.rowCount, order);
  const group = Math.max(LEAST_ROWS, Math.min(MOST_ROWS, Math.floor(VALUES / Math.max(1, columns.length))));
  for (let first = 0; first < count; first += group) {
    const size = Math.min(group, count - first);
    const data = rows.columns.map(() => new Array<Field>(size));
    await inSlices(
      size,
      (place) => {
        const row = at(first + place);
        rows.columns.forEach((column, number) => {
          (data[number] as Field[])[place] = fieldOf(column, row);
        });
      },
      run.signal === undefined ? {} : { signal: run.signal },
    );
    writer.write({
      columnData: columns.map((column, number) => ({ ...column, data: data[number] ?? [] })),
      rowGroupSize: size,
    });
    run.onProgress?.(first + size);
    await breath();
    run.signal?.throwIfAborted();
  }
  writer.finish();
  return bytes.getBytes();
}

/** A value as its column's type has it. */
export function fieldOf(column: Column, row: number): Field {
  const value = column.get(row);
  if (value === null) return null;
  switch (column.type) {
    case "int":
      return BigInt(value as number | bigint);
    case "timestamp":
      return value instanceof Date ? BigInt(value.getTime()) : BigInt(value as number | bigint);
    case "float":
    case "string":
    case "bool":
      return value as number | string | boolean;
    case "vector":
    case "vector_int8":
    case "list":
    case "any":
    case "null":
      return jsonValue(value);
  }
}
