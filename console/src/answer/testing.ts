// Answers for tests, made as those of the server are: Arrow columns with the types that it sends.

import { type ColumnType, Rows } from "@stratalog/client";
import {
  Bool,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int64,
  Null,
  Schema,
  Table,
  TimestampMillisecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";

/** The Arrow type of a column. Values of several types, and lists, travel as JSON. */
function arrowType(type: ColumnType): DataType {
  switch (type) {
    case "int":
      return new Int64();
    case "float":
      return new Float64();
    case "bool":
      return new Bool();
    case "timestamp":
      return new TimestampMillisecond("UTC");
    case "vector":
      return new FixedSizeList(2, new Field("item", new Float32(), true));
    case "null":
      return new Null();
    default:
      return new Utf8();
  }
}

/** Rows of columns, each a type and its cells. Integers are bigints, cells of `any` and `list` JSON. */
export function rowsOf(columns: Readonly<Record<string, readonly [ColumnType, readonly unknown[]]>>): Rows {
  const fields: Field[] = [];
  const vectors: Record<string, Vector> = {};
  for (const [name, [type, cells]] of Object.entries(columns)) {
    const metadata = new Map(type === "any" || type === "list" ? [["stratalog.type", type]] : []);
    fields.push(new Field(name, arrowType(type), true, metadata));
    vectors[name] = vectorFromArray(cells as unknown[], arrowType(type));
  }
  return new Rows(new Table(new Schema(fields), vectors));
}

/** Text columns of so many rows. */
export function namesOf(columns: Readonly<Record<string, readonly (string | null)[]>>): Rows {
  return rowsOf(
    Object.fromEntries(Object.entries(columns).map(([name, cells]) => [name, ["string", cells]])),
  );
}
