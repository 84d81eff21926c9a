// The parameters of a program: `$names`, each a field, and what the text in a field means.

import { float, type Input } from "@stratalog/client";

/** A parameter with what was typed for it. */
export interface Field {
  readonly name: string;
  readonly text: string;
}

/** The values of fields, by name. */
export function parameterValues(fields: readonly Field[]): Record<string, Input> {
  return Object.fromEntries(fields.map(({ name, text }) => [name, meaningOf(text)]));
}

/**
 * What is meant by the text of a field: `12` an integer, `1.5` a float, `true`, `null`, `[1, 2]` a vector or list, `"12"` a
 * text; anything else is a text as it stands.
 */
export function meaningOf(text: string): Input {
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) {
    const integer = BigInt(trimmed);
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  }
  if (/^[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?$/.test(trimmed)) return float(Number(trimmed));
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  if (trimmed === "null") return null;
  if (/^(?:"[\s\S]*"|\[[\s\S]*\])$/.test(trimmed)) {
    try {
      const value: unknown = JSON.parse(trimmed);
      return isInput(value) ? value : text;
    } catch {
      return text;
    }
  }
  return text;
}

/** Objects are no values. */
function isInput(value: unknown): value is Input {
  return Array.isArray(value) ? value.every(isInput) : typeof value !== "object" || value === null;
}

/** The type of what is meant, in a word. */
export function typeOf(text: string): string {
  const value = meaningOf(text);
  if (value === null) return "null";
  if (typeof value === "number" || typeof value === "bigint") return "int";
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "list" : "float";
}
