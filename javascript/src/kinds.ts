// What a column of JavaScript values is on the server, decided over all of its values.

import { Float, isNumber } from "./values.js";

/** How a column travels. */
export type Kind =
  | "null"
  | "bool"
  | "int"
  | "float"
  | "string"
  | "timestamp"
  | "float32s"
  | "ints"
  | "floats"
  | "int8s"
  | "list"
  | "any";

/** What one value may be a part of. */
type Shape =
  | "null"
  | "bool"
  | "integral"
  | "bigint"
  | "fraction"
  | "string"
  | "timestamp"
  | "float32s"
  | "floats"
  | "int8s"
  | "integrals"
  | "list"
  | "empty";

/** Sets of shapes that one kind of column holds; the first that fits counts. */
const KINDS: readonly (readonly [Kind, readonly Shape[]])[] = [
  ["null", []],
  ["bool", ["bool"]],
  ["int", ["integral", "bigint"]],
  ["float", ["integral", "fraction"]],
  ["string", ["string"]],
  ["timestamp", ["timestamp"]],
  ["float32s", ["float32s"]],
  ["int8s", ["int8s"]],
  ["ints", ["integrals", "empty"]],
  ["floats", ["integrals", "floats", "float32s", "empty"]],
  ["list", ["list", "integrals", "floats", "empty"]],
];

/** The kind of a column; `any` where its values have several types. */
export function kindOf(values: Iterable<unknown>): Kind {
  const shapes = new Set<Shape>();
  for (const value of values) shapes.add(shapeOf(value));
  shapes.delete("null");
  const found = KINDS.find(([, allowed]) => [...shapes].every((shape) => allowed.includes(shape)));
  return found?.[0] ?? "any";
}

function shapeOf(value: unknown): Shape {
  switch (typeof value) {
    case "undefined":
      return "null";
    case "boolean":
      return "bool";
    case "bigint":
      return "bigint";
    case "number":
      return Number.isInteger(value) ? "integral" : Number.isNaN(value) ? "null" : "fraction";
    case "string":
      return "string";
    case "object":
      return value === null ? "null" : shapeOfObject(value);
    default:
      throw new TypeError(`a value of type ${typeof value} cannot be stored`);
  }
}

function shapeOfObject(value: object): Shape {
  if (value instanceof Float) return Number.isNaN(value.value) ? "null" : "fraction";
  if (value instanceof Date) return "timestamp";
  if (value instanceof Float32Array) return "float32s";
  if (value instanceof Float64Array) return "floats";
  if (value instanceof Int8Array) return "int8s";
  if (Array.isArray(value)) return shapeOfArray(value);
  const name = value.constructor?.name ?? "Object";
  throw new TypeError(`a value of type ${name} cannot be stored: give text, a number, a Date or an array`);
}

function shapeOfArray(value: readonly unknown[]): Shape {
  if (value.length === 0) return "empty";
  if (!value.every(isNumber)) return "list";
  return value.every((item) => typeof item === "bigint" || Number.isInteger(item)) ? "integrals" : "floats";
}
