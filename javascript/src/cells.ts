// The cells of columns that travel as JSON: those of values of several types, and lists.
//
// Where an array would be read as something else it has a mark, which JSON takes for a blank: among values of several
// types, a list of numbers has a tab behind its bracket; in a list, a vector has one before its last bracket.

import { integer, isFloat, type Readers, readValue } from "./json.js";
import type { Value } from "./values.js";

/** What a column of JSON holds, by `stratalog.type` of its field. */
export type Mixture = "any" | "list";

/** Something like a number that is no number: see `keyOfCell`. */
type Key = string | boolean | null | Key[] | { [kind: string]: string | Key[] };

/** A cell as a value. */
export function readCell(text: string, mixture: Mixture): Value {
  return readValue<Value>(text, {
    number: integer,
    plain: (value) => value,
    array: (items, begins, ends) =>
      isVector(items, begins, ends, mixture, isNumber) ? Float32Array.from(items, Number) : items,
  });
}

/** What two cells share if and only if they are the same on the server, where 1 and 1.0 are two values. */
export function keyOfCell(text: string, mixture: Mixture): string {
  const readers: Readers<Key> = {
    number: (number) => (isFloat(number) ? { float: String(Number(number)) } : { int: number }),
    plain: (value) => value,
    array: (items, begins, ends) =>
      isVector(items, begins, ends, mixture, isNumericKey) ? { vector: items.map(floatOfKey) } : items,
  };
  return JSON.stringify(readValue(text, readers));
}

function isVector<T>(
  items: T[],
  begins: boolean,
  ends: boolean,
  mixture: Mixture,
  isNumeric: (item: T) => boolean,
): boolean {
  if (begins !== ends) return ends && items.every(isNumeric);
  return mixture === "any" && !(begins && items.length === 0) && items.every(isNumeric);
}

function isNumber(value: Value): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

function isNumericKey(key: Key): boolean {
  return key !== null && typeof key === "object" && ("float" in key || "int" in key);
}

function floatOfKey(key: Key): Key {
  const { float, int } = key as { float?: string; int?: string };
  return String(Math.fround(Number(float ?? int)));
}
