// Values of JavaScript as the server takes them.
//
// JavaScript has one type of numbers, the server has two. A number without a fraction travels as an integer; `float(2)`
// is the float. An integer beyond 2^53 must be a bigint, as a number is not exact there.

/** A value as it comes from the server. */
export type Value = null | boolean | number | bigint | string | Date | Float32Array | Int8Array | Value[];

/** What a parameter may be, and a cell that is inserted. Numbers in an array are a vector where no list is expected. */
export type Input =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Float
  | Float32Array
  | Float64Array
  | Int8Array
  | readonly Input[];

/** A float, also where the number has no fraction. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** The number as a float: `float(2)` is 2.0 on the server. */
export function float(value: number): Float {
  return new Float(value);
}

const BEYOND = 1n << 63n;
/** Half of a character, which is no text. */
const HALF = /\p{Surrogate}/u;

/** How arrays of numbers are written: without a mark, or so that a column of several types keeps them apart. */
export type Marks = "none" | "vectors" | "lists";

/** A value as JSON. Throws a TypeError or RangeError for what cannot be stored. */
export function jsonOf(value: unknown, marks: Marks = "none", depth = 0): string {
  switch (typeof value) {
    case "boolean":
      return String(value);
    case "number":
      return numberOf(value);
    case "bigint":
      return integerOf(value);
    case "string":
      return JSON.stringify(whole(value));
    case "object":
      return value === null ? "null" : objectOf(value, marks, depth);
    default:
      throw new TypeError(`a value of type ${typeof value} cannot be stored`);
  }
}

function objectOf(value: object, marks: Marks, depth: number): string {
  if (value instanceof Float) return floatOf(value.value);
  if (value instanceof Date) return String(millisecondsOf(value));
  if (value instanceof Float32Array || value instanceof Float64Array || value instanceof Int8Array) {
    const items = [...value].map((item) => (Number.isFinite(item) ? floatOf(item) : notFinite(item)));
    return `[${items.join(", ")}${marks === "lists" && items.length > 0 ? "\t" : ""}]`;
  }
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => jsonOf(item === undefined ? null : item, marks, depth + 1));
    // A list in a list stays one, whatever it holds.
    const begin = marks === "vectors" && depth > 0 && value.every(isNumber) ? "[\t" : "[";
    return `${begin}${items.join(", ")}]`;
  }
  const name = value.constructor?.name ?? "Object";
  throw new TypeError(`a value of type ${name} cannot be stored: give text, a number, a Date or an array`);
}

function numberOf(value: number): string {
  if (!Number.isInteger(value)) return floatOf(value);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `${value} is beyond 2^53, where numbers are not exact: give a bigint, or float(${value})`,
    );
  }
  return String(value);
}

/** An integer of 64 bits. */
export function integerOf(value: bigint): string {
  if (value < -BEYOND || value >= BEYOND) throw new RangeError(`${value} does not fit in 64 bits`);
  return String(value);
}

/** NaN is how a missing value is often written; an infinity is a mistake. */
export function floatOf(value: number): string {
  if (Number.isNaN(value)) return "null";
  if (!Number.isFinite(value)) return notFinite(value);
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function notFinite(value: number): never {
  throw new RangeError(`${value} cannot be stored: numbers are finite`);
}

/** A time as the server keeps it. */
export function millisecondsOf(value: Date): number {
  const milliseconds = value.getTime();
  if (Number.isNaN(milliseconds)) throw new RangeError("an invalid Date cannot be stored: give null");
  return milliseconds;
}

/** Text that can be sent: UTF-8 has nothing for half of a character. */
export function whole(text: string): string {
  const half = HALF.exec(text);
  if (half !== null) {
    throw new RangeError(
      `${JSON.stringify(half[0])} is half of a character (a lone surrogate), which is no text`,
    );
  }
  return text;
}

/** Whether an element of an array is a number of any kind. */
export function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint" || value instanceof Float;
}
