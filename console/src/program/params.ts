// The parameters of a program as they stand in an address: as JSON, where `2` is an integer and `2.0` a
// float.

import { Float, float, type Input, type Params } from "@stratalog/client";
import { meaningOf } from "./parameters.ts";
import { parametersOf } from "./scan.ts";

const WORDS = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Stands for a number, so that its text is not lost; no parameter is called so. */
const NUMBER = "\u0000number";

/** The values of those parameters that a program has. Throws what is no JSON object of values. */
export function paramsFor(program: string, text: string | undefined): Params {
  if (text === undefined || text === "") return {};
  const marked = text.replace(WORDS, (word) => {
    return word.startsWith('"') ? word : `{${JSON.stringify(NUMBER)}:"${word}"}`;
  });
  const values: unknown = JSON.parse(marked, (_, value) => numberIn(value) ?? value);
  if (typeof values !== "object" || values === null || Array.isArray(values) || values instanceof Float) {
    throw new TypeError("the parameters are a JSON object");
  }
  const named = new Map(Object.entries(values));
  const used = parametersOf(program).filter((name) => named.has(name));
  return Object.fromEntries(used.map((name) => [name, named.get(name) as Input]));
}

function numberIn(value: unknown): Input | undefined {
  if (typeof value !== "object" || value === null || !(NUMBER in value)) return undefined;
  const text = String(value[NUMBER]);
  if (/[.eE]/.test(text)) return float(Number(text));
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}

/** Parameters as they stand in an address; nothing if there are none. */
export function textOfParams(params: Params): string | undefined {
  const named = Object.entries(params).map(([name, value]) => `${JSON.stringify(name)}: ${textOf(value)}`);
  return named.length === 0 ? undefined : `{${named.join(", ")}}`;
}

function textOf(value: Input): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === "number" && !Number.isInteger(value)) return floatText(value);
  if (value instanceof Date) return String(value.getTime());
  if (value instanceof Float32Array || value instanceof Float64Array) {
    return `[${Array.from(value, floatText).join(", ")}]`;
  }
  if (value instanceof Int8Array) return `[${value.join(", ")}]`;
  if (typeof value === "object" && value !== null) return `[${value.map(textOf).join(", ")}]`;
  return String(value);
}

function floatText(value: number): string {
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** What somebody would type for a parameter. */
export function typedOf(value: Input | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" && meaningOf(value) === value ? value : textOf(value);
}
