// A column of an answer, whose cells become values of JavaScript when somebody looks at them.

import { DataType, type Field, Int64, TimeUnit, Type, Vector } from "apache-arrow";
import { keyOfCell, type Mixture, readCell } from "./cells.js";
import type { Value } from "./values.js";

/** What a column holds; `any` is values of several types, `null` nothing but nulls. */
export type ColumnType =
  | "int"
  | "float"
  | "string"
  | "bool"
  | "timestamp"
  | "vector"
  | "vector_int8"
  | "list"
  | "any"
  | "null";

/** The times that a Date can hold. */
const MOST_MILLISECONDS = 8_640_000_000_000_000n;

export class Column implements Iterable<Value> {
  /** Its name. */
  readonly name: string;
  readonly type: ColumnType;
  /** The Arrow column, as it came. */
  readonly vector: Vector;
  readonly #cells: Vector;

  constructor(field: Field, vector: Vector) {
    this.name = field.name;
    this.type = typeOf(field);
    this.vector = vector;
    this.#cells = this.type === "timestamp" ? integersOf(vector) : vector;
  }

  get length(): number {
    return this.vector.length;
  }

  /** The value in a row. */
  get(row: number): Value {
    const raw = this.#cells.get(row);
    if (raw === null || raw === undefined) return null;
    switch (this.type) {
      case "int":
        return exact(BigInt(raw as bigint));
      case "timestamp":
        return timeOf(raw as bigint);
      case "vector":
        return (raw as Vector).toArray().slice() as Float32Array;
      case "vector_int8":
        return (raw as Vector).toArray().slice() as Int8Array;
      case "any":
      case "list":
        return readCell(raw as string, this.type);
      default:
        return raw as Value;
    }
  }

  /** What two values share if and only if they are the same on the server, also in columns of different types. */
  key(row: number): string {
    const raw = this.#cells.get(row);
    if (raw === null || raw === undefined) return "null";
    switch (this.type) {
      case "int":
        return `{"int":"${raw}"}`;
      case "float":
        return `{"float":"${raw}"}`;
      case "timestamp":
        return `{"int":"${raw}"}`;
      case "vector":
      case "vector_int8":
        return JSON.stringify({ vector: Array.from((raw as Vector).toArray() as Float32Array, String) });
      case "any":
      case "list":
        return keyOfCell(raw as string, this.type);
      default:
        return JSON.stringify(raw);
    }
  }

  /** Every value. */
  toArray(): Value[] {
    return [...this];
  }

  *[Symbol.iterator](): IterableIterator<Value> {
    for (let row = 0; row < this.length; row += 1) yield this.get(row);
  }
}

/** Times as integers: Arrow's own reading refuses those that are not exact as numbers. */
function integersOf(vector: Vector): Vector {
  return new Vector(vector.data.map((data) => data.clone(new Int64())));
}

/** A number where that is exact. */
export function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A time; beyond what a Date can hold, its milliseconds. */
function timeOf(milliseconds: bigint): Date | number | bigint {
  const isDate = milliseconds >= -MOST_MILLISECONDS && milliseconds <= MOST_MILLISECONDS;
  return isDate ? new Date(Number(milliseconds)) : exact(milliseconds);
}

function typeOf(field: Field): ColumnType {
  const mixture = field.metadata.get("stratalog.type") as Mixture | undefined;
  if (mixture !== undefined) return mixture;
  const type: DataType = field.type;
  if (DataType.isInt(type)) return "int";
  if (DataType.isFloat(type)) return "float";
  if (DataType.isUtf8(type)) return "string";
  if (DataType.isBool(type)) return "bool";
  if (DataType.isNull(type)) return "null";
  if (DataType.isTimestamp(type) && type.unit === TimeUnit.MILLISECOND) return "timestamp";
  if (DataType.isFixedSizeList(type) || DataType.isList(type)) {
    const item: DataType = type.children[0]?.type ?? type;
    if (DataType.isFloat(item)) return "vector";
    if (DataType.isInt(item)) return "vector_int8";
  }
  throw new TypeError(
    `the column ${field.name} has the Arrow type ${Type[type.typeId]}, which the server does not send`,
  );
}
