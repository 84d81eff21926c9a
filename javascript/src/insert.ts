// What may be inserted, and how it travels: as one Arrow IPC stream, made batch by batch while it is sent.

import { RecordBatch, type Schema, Table, tableToIPC } from "apache-arrow";
import { encoded } from "./encode.js";
import { Rows } from "./rows.js";
import { Float, type Input } from "./values.js";

/**
 * What `insert` takes: rows as arrays, rows as objects with the names of columns, or scalars for a relation of one column; an
 * Arrow table or record batch; an answer.
 */
export type Data =
  | Iterable<readonly (Input | undefined)[]>
  | Iterable<object>
  | Iterable<Exclude<Input, readonly Input[]>>
  | Table
  | RecordBatch
  | Rows;

/** What became of the rows of an insert. */
export interface Inserted {
  readonly inserted: number;
  /** Rows that were there already, or came twice. */
  readonly duplicates: number;
  /** The version of the graph from which on all of them are there. */
  readonly version: number | undefined;
  /** What is good to know about which values went where. */
  readonly warnings: readonly string[];
}

/** Makes the Arrow stream without its end, in pieces, each time that it is called. */
export type Pieces = () => Iterable<Uint8Array<ArrayBuffer>>;

/** Looks at the data. Throws for what cannot be stored, before anything is sent. */
export function piecesOf(data: Data, columns?: readonly string[]): Pieces {
  const table = arrowOf(data);
  if (table !== undefined) {
    if (columns !== undefined)
      throw new TypeError("an Arrow table has names of its own: select its columns instead");
    return () => serialized(table.schema, table.batches);
  }
  const { names, rows } = rowsOf(data as Iterable<unknown>, columns);
  const { schema, batches } = encoded(names, rows);
  return () => serialized(schema, batches());
}

function arrowOf(data: unknown): { schema: Schema; batches: readonly RecordBatch[] } | undefined {
  if (data instanceof Rows) return data.table;
  if (RecordBatch.isRecordBatch(data)) return new Table([data]);
  return Table.isTable(data) ? data : undefined;
}

function* serialized(schema: Schema, batches: Iterable<RecordBatch>): Iterable<Uint8Array<ArrayBuffer>> {
  let isFirst = true;
  for (const batch of batches) {
    const bytes = streamOf(new Table(schema, [batch]));
    yield bytes.subarray(isFirst ? 0 : firstMessage(bytes), bytes.length - END_BYTES);
    isFirst = false;
  }
  if (isFirst) {
    const bytes = streamOf(new Table(schema, []));
    yield bytes.subarray(0, firstMessage(bytes));
  }
}

const END_BYTES = 8;

function streamOf(table: Table): Uint8Array<ArrayBuffer> {
  return tableToIPC(table, "stream") as Uint8Array<ArrayBuffer>;
}

/** Where the schema ends, which has no body: behind a marker, its length and that many bytes. */
function firstMessage(bytes: Uint8Array): number {
  return 8 + new DataView(bytes.buffer, bytes.byteOffset).getInt32(4, true);
}

/** Names and rows. Columns without names have numbers, which the server takes for none. */
function rowsOf(
  data: Iterable<unknown>,
  columns?: readonly string[],
): { names: readonly string[]; rows: unknown[][] } {
  if (typeof data !== "object" || data === null || !(Symbol.iterator in data)) {
    throw new TypeError(
      "cannot insert this: expected rows (arrays, objects or scalars), an Arrow table or an answer",
    );
  }
  const items = [...data];
  const first = items[0];
  if (isNamed(first)) {
    const names = columns ?? Object.keys(first);
    if (names.length === 0) throw new TypeError("row 0 has no names");
    return { names, rows: items.map((item, number) => namedRow(item, names, number, columns !== undefined)) };
  }
  const rows = items.map((item) => (Array.isArray(item) ? item : [item]));
  const width = columns?.length ?? rows[0]?.length ?? 0;
  rows.forEach((row, number) => {
    if (row.length !== width) {
      const others = columns === undefined ? "the first" : "there are names of columns";
      throw new TypeError(`row ${number} has ${row.length} values, ${others} ${width}`);
    }
  });
  return { names: columns ?? Array.from({ length: width }, (_, place) => String(place)), rows };
}

/** The values of a row in the order of the names. What is missing is null; what is too much is a mistake. */
function namedRow(item: unknown, names: readonly string[], number: number, isChoice: boolean): unknown[] {
  if (!isNamed(item)) throw new TypeError(`row ${number} is no object with names, as the first row is`);
  const surplus = isChoice ? undefined : Object.keys(item).find((key) => !names.includes(key));
  if (surplus !== undefined) throw new TypeError(`row ${number} has ${surplus}, which the first row has not`);
  return names.map((name) => item[name]);
}

/** Whether a row is an object with names, and no value. */
function isNamed(item: unknown): item is Readonly<Record<string, unknown>> {
  if (typeof item !== "object" || item === null) return false;
  return !(Array.isArray(item) || ArrayBuffer.isView(item) || item instanceof Date || item instanceof Float);
}
