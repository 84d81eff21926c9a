// What a program asks, and the same asked of one row only.
//
// Whatever is not understood is left as it is: then all rows are explained, and the one that is meant is
// found by its place.

import type { ColumnType, Value } from "@stratalog/client";
import { goalOf } from "../program/goal.ts";
import { literal } from "../program/literal.ts";
import { questionOf } from "../program/question.ts";
import {
  arrowOf,
  IN_HEADS,
  isVariable,
  masked,
  outer,
  parametersOf,
  split,
  variablesOf,
} from "../program/scan.ts";

/** What is asked for: the smallest proof, the same with all inputs of aggregates, or several proofs. */
export type How = "" | "full" | "all";

/**
 * The program with `.why` before its last query, and without what it writes; undefined if it asks nothing.
 */
export function asWhy(program: string, how: How = ""): string | undefined {
  const question = questionOf(program);
  if (question === undefined) return undefined;
  const { own, query } = question;
  // On a line of its own the client sees that it is a query, and that the facts before it do not stay in
  // the session.
  return [...own, `.why${how === "" ? "" : ` ${how}`}${own.length > 0 ? "\n  " : " "}${query}`].join("\n");
}

/** The program that asks for a fact beside what of the session stands by another one. */
export function aboutFact(program: string, fact: string): string {
  return [...(questionOf(program)?.own ?? []), `?${fact}`].join("\n");
}

/** The fact that a program asks for, as `.why_not` takes it; undefined if it asks for anything else. */
export function factOf(program: string): string | undefined {
  const query = questionOf(program)?.query;
  if (query === undefined || arrowOf(query) !== undefined) return undefined;
  const goal = goalOf(query);
  if (goal === undefined || goal.rest.trim() !== "" || parametersOf(query).length > 0) return undefined;
  return `${goal.relation}(${goal.terms
    .map(unmarked)
    .filter((term) => term !== "")
    .join(", ")})`;
}

/**
 * A program whose last query asks for one row of the answer only; undefined where that cannot be told.
 * `types` and `values` are those of the row, a column each.
 */
export function queryOfRow(
  program: string,
  types: readonly (ColumnType | string)[],
  values: readonly Value[],
): string | undefined {
  const question = questionOf(program);
  if (question === undefined || SEARCH.test(masked(question.query))) return undefined;
  const literals = values.map((value, column) => exact(value, types[column] ?? "any"));
  const { own, query } = question;
  const narrowed =
    arrowOf(query) === undefined ? goalOfRow(query, literals) : projectionOfRow(query, literals);
  return narrowed === undefined ? undefined : [...own, narrowed].join("\n");
}

/** Conditions on what a search finds count before the nearest are chosen: other rows would be found. */
const SEARCH = /(?:hnsw_nearest|text_search)(?:_each)?\s*\(/;

/** A value as it finds itself alone; undefined where it would find others, too. */
function exact(value: Value, type: string): string | undefined {
  if (value === null) return NULL;
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "bigint")
    return literal(value);
  // In a column of several types, the integer and the float are two rows, and look the same here.
  if (typeof value === "number") {
    if (type === "timestamp" || (type !== "int" && type !== "float" && Number.isInteger(value)))
      return undefined;
    // The zero below zero is another row, and equals it.
    return value === 0 && type === "float" ? undefined : literal(value, type);
  }
  if (value instanceof Date)
    return value.getUTCFullYear() >= 0 && value.getUTCFullYear() <= 9999 ? literal(value) : undefined;
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => exact(item, "any"));
  return items.includes(undefined) || items.includes(NULL) ? undefined : `list(${items.join(", ")})`;
}

/** As an argument it finds nulls, but it equals nothing. */
const NULL = "null";

/** What a value is written as; undefined where that would not find it. */
type Written = string | undefined;

/** `?relation(terms), conditions` with the values of a row. */
function goalOfRow(query: string, literals: readonly Written[]): string | undefined {
  const goal = goalOf(query);
  if (goal === undefined || literals.includes(undefined)) return undefined;
  const rest = goal.rest.trim();
  if (rest !== "" && !rest.startsWith(",")) return undefined;
  const terms = goal.terms.map(unmarked);
  if (terms.at(-1) === "") terms.pop();
  const conditions = split(rest.slice(1)).filter((condition) => !LIMIT.test(condition));
  const further = literals.length === terms.length ? [] : furtherVariables(terms, conditions);
  if (further === undefined || literals.length !== terms.length + further.length) return undefined;

  const used = variablesOf([...terms, ...conditions].join(", "));
  const equalities = new Map<string, string>();
  const written = terms.map((term, column) => {
    const value = literals[column] ?? "_";
    if (term === "_" || term.startsWith("$")) return value;
    if (!isVariable(term)) return term;
    if (used.indexOf(term) === used.lastIndexOf(term)) return value;
    if (!equalities.has(term)) equalities.set(term, value);
    return term;
  });
  for (const [place, name] of further.entries()) equalities.set(name, literals[terms.length + place] ?? "_");
  if ([...equalities.values()].includes(NULL)) return undefined;
  const equal = [...equalities].map(([name, value]) => `${name} = ${value}`);
  return `?${[`${goal.relation}(${written.join(", ")})`, ...conditions, ...equal].join(", ")}`;
}

/** `limit` is one of the query, not of what it means. */
const LIMIT = /^limit\s*\(/;

/** The variables that have columns behind those of the goal; undefined where that takes more than reading. */
function furtherVariables(terms: readonly string[], conditions: readonly string[]): string[] | undefined {
  if (conditions.some((condition) => condition.startsWith("("))) return undefined;
  const known = new Set(terms);
  const further = new Set<string>();
  for (const condition of conditions.filter((each) => !each.startsWith("!"))) {
    for (const name of variablesOf(condition)) if (!known.has(name)) further.add(name);
  }
  return [...further];
}

/** Aggregates that keep whole rows: a group has several of them. */
const RANKING = /^(?:top_k|top_k_threshold|within_radius)\s*</;
const AGGREGATE = /^[\p{L}_]+\s*<.*>$/su;

/**
 * `?columns <- conditions` with the values of a row. The columns that are no aggregates tell which row it
 * is.
 */
function projectionOfRow(query: string, literals: readonly Written[]): string | undefined {
  const arrow = arrowOf(query) ?? query.length;
  const head = query.slice(1, arrow);
  const items = split(head, IN_HEADS).map(unmarked);
  if (items.length !== literals.length) return undefined;
  const equalities = new Map<string, string>();
  for (const [column, item] of items.entries()) {
    const value = literals[column];
    if (isVariable(item) && value !== undefined && value !== NULL) equalities.set(item, value);
    else if (!AGGREGATE.test(item) || RANKING.test(item)) return undefined;
  }
  const body = bodyOf(query.slice(arrow + 2));
  if (body === undefined) return undefined;
  const equal = [...equalities].map(([name, value]) => `${name} = ${value}`);
  return `?${items.join(", ")} <- ${[...body, ...equal].join(", ")}`;
}

/** The conditions of a body, to which others can be added; undefined where they cannot. */
function bodyOf(text: string): string[] | undefined {
  const conditions = split(text);
  const mask = [...outer(text)].map(({ sign }) => sign).join("");
  if (!/(?<![\p{L}\p{N}_])or(?![\p{L}\p{N}_])/iu.test(mask)) {
    return conditions.filter((condition) => !LIMIT.test(condition));
  }
  // Commas bind tighter than `or`.
  const isLimited = conditions.some((condition) => /(?<![\p{L}\p{N}_])limit\s*\(/u.test(masked(condition)));
  return isLimited ? undefined : [`(${conditions.join(", ")})`];
}

/** A term without its order mark. */
function unmarked(term: string): string {
  return term.replace(/\s*:\s*(?:asc|desc)$/i, "").trim();
}
