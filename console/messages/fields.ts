// The fields of a message, made from its schema. What is typed into them becomes JSON text, so that numbers travel as they
// were typed, and what is wrong on purpose is sent as it is.

import type { Protocol, RequestKind, Schema } from "./asyncapi.ts";
import { lineOf } from "./written.ts";

export type FieldKind =
  | "choice"
  | "flag"
  | "program"
  | "line"
  | "secret"
  | "integer"
  | "text-or-number"
  | "json";

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  /** Whether it stands among those that are seldom needed. */
  readonly isFolded: boolean;
  readonly about: string;
  /** What can be chosen. */
  readonly choices: readonly string[];
  /** What an empty field shows. */
  readonly placeholder: string;
}

/** What is typed into the fields, by their names; of a flag, `true` or nothing. */
export type Typed = Readonly<Record<string, string>>;

/** The fields that are given, as JSON texts. */
export type Given = ReadonlyMap<string, string>;

/** Fields that need not be given, and often are. */
const OFTEN = new Set(["params", "rows"]);

/** The fields of a type of message. */
export function fieldsOf({ payload }: RequestKind, protocol: Protocol): Field[] {
  const required = new Set(payload.required ?? []);
  return Object.entries(payload.properties ?? {})
    .filter(([name]) => name !== "type")
    .map(([name, reference]) => {
      const schema = protocol.resolved(reference);
      const isRequired = required.has(name);
      return {
        name,
        kind: kindOf(schema),
        isRequired,
        isFolded: !isRequired && !OFTEN.has(name),
        about: schema.description ?? "",
        choices: (schema.oneOf ?? []).flatMap((option) => option.const ?? []),
        placeholder: kindOf(schema) !== "json" ? "" : schema.type === "array" ? "[]" : "{}",
      };
    });
}

function kindOf(schema: Schema): FieldKind {
  if (schema.oneOf?.every((option) => option.const !== undefined)) return "choice";
  if (schema.type === "boolean") return "flag";
  if (schema.type === "string" && schema.contentMediaType !== undefined) return "program";
  if (schema.type === "string") return schema.format === "password" ? "secret" : "line";
  if (schema.type === "integer") return "integer";
  return schema.anyOf === undefined ? "json" : "text-or-number";
}

/** What is typed for a value; undefined stands for none. */
export function typedOf(field: Field, value: unknown): string {
  if (value === undefined) return field.kind === "choice" && field.isRequired ? (field.choices[0] ?? "") : "";
  if (field.kind === "flag") return value === true ? "true" : "";
  return typeof value === "string" && field.kind !== "json" ? value : lineOf(value);
}

/** The JSON text of what is typed; undefined where nothing is given. Throws for what is no such value. */
export function jsonOf(kind: FieldKind, typed: string): string | undefined {
  const text = typed.trim();
  switch (kind) {
    case "program":
    case "line":
    case "secret":
      return JSON.stringify(typed);
    case "choice":
      return typed === "" ? undefined : JSON.stringify(typed);
    case "flag":
      return typed === "true" ? typed : undefined;
    case "integer":
      if (text === "") return undefined;
      if (!/^\d+$/.test(text)) throw new Error("a whole number is needed");
      return text;
    case "text-or-number":
      if (text === "") return undefined;
      return /^(0|-?[1-9]\d*)$/.test(text) ? text : JSON.stringify(text);
    case "json":
      return text === "" ? undefined : onOneLine(text);
  }
}

function onOneLine(text: string): string {
  try {
    JSON.parse(text);
  } catch (problem) {
    throw new Error(`this is not JSON: ${problem instanceof Error ? problem.message : problem}`);
  }
  return text.replace(/\s*\n\s*/g, " ");
}

/** What the fields give, and what is wrong with them by their names, in their order. */
export interface Reading {
  readonly given: Given;
  readonly problems: ReadonlyMap<string, string>;
}

export function reading(kind: string, fields: readonly Field[], typed: Typed): Reading {
  const given = new Map([["type", JSON.stringify(kind)]]);
  const problems = new Map<string, string>();
  for (const field of fields) {
    try {
      const text = jsonOf(field.kind, typed[field.name] ?? "");
      if (text !== undefined) given.set(field.name, text);
      else if (field.isRequired) problems.set(field.name, "this is needed");
    } catch (problem) {
      problems.set(field.name, problem instanceof Error ? problem.message : String(problem));
    }
  }
  return { given, problems };
}

/** The JSON text of a message. */
export function messageText(given: Given): string {
  return `{${[...given].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}
