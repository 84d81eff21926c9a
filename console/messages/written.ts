// JSON whose numbers stay as they were written: `2.0` is not `2`, and 64-bit integers are not rounded.

import { parseNumbers } from "#client/json.ts";

/** A number that JavaScript would write otherwise, as it was written. */
export class Written {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** Like JSON.parse, but with `Written` for the numbers that would not stay as they are. */
export function parseWritten(text: string): unknown {
  return parseNumbers(text, (number) =>
    String(Number(number)) === number ? undefined : new Written(number),
  );
}

export function isNumber(value: unknown): value is number | Written {
  return typeof value === "number" || value instanceof Written;
}

/** The text of a value that `parseWritten` gave, on one line and without blanks. */
export function lineOf(value: unknown): string {
  return flat(value, "");
}

/** The same for people: on several lines, as far as they would be long. */
export function textOf(value: unknown, indent = ""): string {
  const short = flat(value, " ");
  const isPlain = value instanceof Written || value === null || typeof value !== "object";
  if (isPlain || (short.length + indent.length <= 60 && !short.includes("\n"))) return short;
  const deeper = `${indent}  `;
  const [open, close, parts] = partsOf(value, (each) => textOf(each, deeper), " ");
  return `${open}\n${parts.map((part) => deeper + part).join(",\n")}\n${indent}${close}`;
}

function flat(value: unknown, blank: string): string {
  if (value instanceof Written) return value.source;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const [open, close, parts] = partsOf(value, (each) => flat(each, blank), blank);
  return open + parts.join(`,${blank}`) + close;
}

/** The brackets of an array or object, and what stands between its commas. */
function partsOf(value: object, text: (part: unknown) => string, blank: string): [string, string, string[]] {
  if (Array.isArray(value)) return ["[", "]", value.map(text)];
  const parts = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${blank}${text(each)}`);
  return ["{", "}", parts];
}
