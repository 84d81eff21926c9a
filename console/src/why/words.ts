// Proofs in words: the same ones that a terminal and a notebook have for them.

import type { Cell, Conclusion, messages, ProofNode, Value } from "@stratalog/client";
import { textOf } from "../parts/text.ts";
import { literal } from "../program/literal.ts";
import type { Catalog } from "../session/catalog.ts";

/** So many inputs of an aggregate stand in a line. */
const INPUTS = 4;
/** Of a long value, so many signs stand in a line. */
const SHORT = 120;
/** A Date holds no more milliseconds. */
const MOST_MILLISECONDS = 8.64e15;

/** The types of a relation's columns, as far as they are known. */
export function typesOf(catalog: Catalog, relation: string): readonly string[] {
  return catalog.relations.get(relation)?.columns.map(({ type }) => type) ?? [];
}

/** A value of a proof, which travels without its type. */
export function fromWire(cell: Cell, type = ""): Value {
  if (type === "timestamp" && typeof cell === "number" && Math.abs(cell) <= MOST_MILLISECONDS)
    return new Date(cell);
  if (!Array.isArray(cell)) return cell;
  const isVector =
    type.startsWith("vector") || (type !== "list" && cell.every((item) => typeof item === "number"));
  return isVector ? Float32Array.from(cell, Number) : cell.map((item) => fromWire(item));
}

/** A value in a line. */
export function argument(cell: Cell, type = ""): string {
  const value = fromWire(cell, type);
  if (Array.isArray(value) || value instanceof Float32Array) return textOf(value, SHORT);
  const text = literal(value, type);
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

/** A fact as a program would write it. Null is itself, or where something is missing any value. */
export function factText(
  { pred, args }: Conclusion,
  types: readonly string[] = [],
  isPattern = false,
): string {
  const written = args.map((cell, column) => {
    if (cell === null && isPattern) return "_";
    const type = types[column] ?? "";
    const value = fromWire(cell, type);
    return type.startsWith("vector_int8") && value instanceof Float32Array
      ? `[${value.join(", ")}]`
      : literal(value, type);
  });
  return `${pred}(${written.join(", ")})`;
}

/** A fact in a line: of the query itself, its columns. */
export function titleOf(node: ProofNode, types: readonly string[], columns: readonly string[]): string {
  const { pred, args } = node.conclusion;
  if (node.kind === "negation") return `no ${patternOf(node)}`;
  const values = args.map((cell, column) => argument(cell, types[column]));
  if (pred !== "?") return `${pred}(${values.join(", ")})`;
  return values.map((value, column) => `${columns[column] ?? `column ${column + 1}`} = ${value}`).join(", ");
}

/** What is not there, without the sign of negation. */
export function patternOf(node: ProofNode): string {
  return (node.negation?.pattern ?? "").replace(/^!/, "");
}

/** All that a node aggregates. */
export function aggregatesOf({ aggregate, aggregates = [] }: ProofNode): readonly messages.AggregateProof[] {
  if (aggregates.length > 0) return aggregates;
  return aggregate === undefined ? [] : [aggregate];
}

/** `sum<N> = 7 of 3: 1, 2, 4` */
export function aggregated(proof: messages.AggregateProof): string {
  const { fn, value_var: variable, result, contributing_count: count } = proof;
  const place = proof.input_columns.indexOf(variable);
  const inputs =
    place < 0 ? [] : proof.sample_inputs.slice(0, INPUTS).map((input) => argument(input[place] ?? null));
  const more = count > inputs.length ? ", …" : "";
  const of = inputs.length === 0 ? "" : `: ${inputs.join(", ")}${more}`;
  return `${fn}<${variable}> = ${argument(result)} of ${count}${of}`;
}

/** By which index something was found, and how near it is. */
export function foundText({ vector_search: search }: ProofNode): string {
  return search === undefined
    ? "found by a search"
    : `found by ${search.index_name} at ${argument(search.distance)}`;
}

/** Of what was the best for a while only. */
export function replacedText({ replaced_by: value }: ProofNode): string {
  return value === undefined ? "" : `; replaced by ${argument(value)} later`;
}

/** How else rules derive the same. */
export function otherWays({ alternatives = 0 }: ProofNode): string {
  return alternatives === 0 ? "" : ` (and ${alternatives} other ${alternatives === 1 ? "way" : "ways"})`;
}

/** Why a proof goes no further. */
export function limitText({ truncated }: ProofNode): string {
  if (truncated?.depth_limit !== undefined) return `proofs are told down to ${truncated.depth_limit} levels`;
  if (truncated?.node_limit !== undefined) return `no more than ${truncated.node_limit} facts are told`;
  return "";
}
