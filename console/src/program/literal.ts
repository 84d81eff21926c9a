// Values as programs have them.

import type { Value } from "@stratalog/client";

/** A value as a program would write it, such as `"ada"`, `2.0` or `t"2026-01-01T00:00:00Z"`. */
export function literal(value: Value, type = ""): string {
  if (value === null) return "null";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") {
    return type === "float" && Number.isInteger(value) ? value.toFixed(1) : String(value);
  }
  if (value instanceof Date) return `t"${value.toISOString()}"`;
  if (value instanceof Float32Array)
    return `[${Array.from(value, (each) => literal(each, "float")).join(", ")}]`;
  if (value instanceof Int8Array) return `[${value.join(", ")}]`;
  if (Array.isArray(value)) return `list(${value.map((each) => literal(each as Value)).join(", ")})`;
  return String(value);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};

function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to be written otherwise
  const escaped = text.replace(/["\\\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (sign) => {
    return ESCAPES[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}
