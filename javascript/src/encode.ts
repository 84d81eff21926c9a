// Columns of JavaScript values as Arrow. A column has one type over all rows, as a stream has one schema.

import {
  Bool,
  type Data,
  type DataType,
  Field,
  Float32,
  Float64,
  Int8,
  Int64,
  List,
  makeBuilder,
  makeData,
  Null,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMillisecond,
  Utf8,
} from "apache-arrow";
import { type Kind, kindOf } from "./kinds.js";
import { Float, floatOf, integerOf, jsonOf, millisecondsOf, whole } from "./values.js";

/** Rows of a record batch. */
const BATCH_ROWS = 16_384;

/** How the values of a kind become those of an Arrow type. */
interface Encoding {
  type: DataType;
  encode: (value: unknown) => unknown;
  mixture?: "any" | "list";
}

const list = (item: DataType): DataType => new List(new Field("item", item, true));

const ENCODINGS: Readonly<Record<Kind, Encoding>> = {
  null: { type: new Null(), encode: () => null },
  bool: { type: new Bool(), encode: (value) => value },
  int: { type: new Int64(), encode: integerIn },
  float: { type: new Float64(), encode: floatIn },
  string: { type: new Utf8(), encode: (value) => whole(value as string) },
  timestamp: { type: new TimestampMillisecond("UTC"), encode: (value) => millisecondsOf(value as Date) },
  float32s: { type: list(new Float32()), encode: itemsIn(floatIn) },
  ints: { type: list(new Int64()), encode: itemsIn(integerIn) },
  floats: { type: list(new Float64()), encode: itemsIn(floatIn) },
  int8s: { type: list(new Int8()), encode: itemsIn((item) => item) },
  list: { type: new Utf8(), encode: (value) => jsonOf(value, "lists"), mixture: "list" },
  any: { type: new Utf8(), encode: mixedIn, mixture: "any" },
};

/** Rows as a table. */
export function tableOf(names: readonly string[], rows: readonly (readonly unknown[])[]): Table {
  const { schema, batches } = encoded(names, rows);
  return new Table(schema, [...batches()]);
}

/** The schema of rows, and record batches that are made one after the other, each time anew. */
export function encoded(
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
): { schema: Schema; batches: () => Iterable<RecordBatch> } {
  const encodings = names.map((name, place) => {
    const kind = at(name, undefined, () => kindOf(rows.map((row) => row[place])));
    return ENCODINGS[kind];
  });
  const fields = encodings.map(({ type, mixture }, place) => {
    const metadata = mixture === undefined ? undefined : new Map([["stratalog.type", mixture]]);
    return new Field(names[place] ?? "", type, true, metadata);
  });
  const schema = new Schema(fields);
  return { schema, batches: () => batchesOf(schema, encodings, names, rows) };
}

function* batchesOf(
  schema: Schema,
  encodings: readonly Encoding[],
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
): Iterable<RecordBatch> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const some = rows.slice(start, start + BATCH_ROWS);
    const children = encodings.map(({ type, encode }, place) => {
      const values = some.map((row, number) => {
        const value = row[place];
        if (value === null || value === undefined || Number.isNaN(value)) return null;
        return at(names[place] ?? "", start + number, () => encode(value));
      });
      return dataOf(type, values);
    });
    yield new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: some.length, children }),
    );
  }
}

/** Values as Arrow. Which are null is said here: told to find that out, a builder compiles code, which a strict page forbids. */
function dataOf(type: DataType, values: readonly unknown[]): Data {
  const builder = makeBuilder({ type, nullValues: [] });
  values.forEach((value, place) => {
    if (value === null) builder.setValid(place, false);
    else builder.set(place, value);
  });
  return builder.finish().flush();
}

/** Says where a value stands that cannot be stored. */
function at<T>(column: string, row: number | undefined, encode: () => T): T {
  try {
    return encode();
  } catch (problem) {
    if (!(problem instanceof TypeError || problem instanceof RangeError)) throw problem;
    const place = row === undefined ? `column ${column}` : `row ${row}, column ${column}`;
    problem.message = `${place}: ${problem.message}`;
    throw problem;
  }
}

function integerIn(value: unknown): bigint {
  return BigInt(typeof value === "bigint" ? integerOf(value) : jsonOf(value));
}

function floatIn(value: unknown): number | null {
  const number = value instanceof Float ? value.value : Number(value);
  return floatOf(number) === "null" ? null : number;
}

/** The elements of a vector or list, all of which are there. */
function itemsIn(encode: (item: unknown) => unknown): (value: unknown) => unknown[] {
  return (value) =>
    Array.from(value as ArrayLike<unknown>, (item) => {
      const found = encode(item);
      if (found === null) throw new RangeError("a vector holds finite numbers, not NaN");
      return found;
    });
}

function mixedIn(value: unknown): string {
  if (value instanceof Date) {
    throw new TypeError(
      'times beside values of other types have no form here: insert them by a program, as t"2026-01-01"',
    );
  }
  if (value instanceof Int8Array) {
    throw new TypeError("vectors of int8 beside values of other types have no form here");
  }
  return jsonOf(value, "vectors");
}
