// What is supposed before something is dropped or changed: the program that asks for the impact, and its
// answer.

import type { Result } from "@stratalog/client";
import { setIn } from "../program/scan.ts";
import { bare } from "./clauses.ts";

/** A relation that would have other rows. */
export interface Change {
  readonly relation: string;
  readonly removed: number;
  readonly added: number;
  /** The first of them, as facts. */
  readonly firstRemoved: readonly string[];
  readonly firstAdded: readonly string[];
}

/** The command that supposes changes, each of which begins a line that is set in. */
export function impactOf(changes: readonly string[]): string {
  return [".impact", ...changes.map((change) => `  ${setIn(change)}`)].join("\n");
}

/** What it means to drop a relation: its stored facts go, and its rules. */
export function withoutRelation(
  name: string,
  arity: number,
  isStored: boolean,
  isDerived: boolean,
): string[] {
  const variables = Array.from({ length: arity }, (_, place) => `V${place + 1}`).join(", ");
  const facts = arity === 0 ? `-${name}()` : `-${name}(${variables}) <- ${name}(${variables})`;
  return [...(isStored ? [facts] : []), ...(isDerived ? [`-${name}`] : [])];
}

/** What it means that a relation has these clauses instead of all that it has. */
export function withClauses(name: string, clauses: readonly string[]): string[] {
  return [`-${name}`, ...clauses.map((clause) => `+${bare(clause)}`)];
}

/** What the answer says, relations with the most changes first. */
export function changesOf(result: Result): Change[] {
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  const changes = result.objects().map((row) => ({
    relation: String(row["relation"]),
    removed: Number(row["removed"]),
    added: Number(row["added"]),
    firstRemoved: texts(row["first_removed"]),
    firstAdded: texts(row["first_added"]),
  }));
  return changes.sort((a, b) => b.removed + b.added - (a.removed + a.added));
}
