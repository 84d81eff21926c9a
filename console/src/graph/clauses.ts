// Clauses as text: what their head is, and how they stand in programs.

import { goalOf } from "../program/goal.ts";
import { setIn } from "../program/scan.ts";

/** Whether a text is a name that a relation may have. */
export function isName(text: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text);
}

/** A clause without the `+` that keeps it in the graph, on lines that are set in. */
export function bare(clause: string): string {
  return setIn(clause.trim().replace(/^\+\s*/, ""));
}

/** A head: of which relation it is, and what stands in its columns. */
export interface Head {
  readonly relation: string;
  readonly terms: readonly string[];
}

/**
 * The head of a clause with a body, if it has one head and is written so that this can be told without a
 * parser.
 */
export function headOf(clause: string): Head | undefined {
  const goal = goalOf(`?${bare(clause)}`);
  if (goal === undefined || !goal.rest.trimStart().startsWith("<-")) return undefined;
  return { relation: goal.relation, terms: goal.terms.filter((term) => term !== "") };
}

/** What is wrong with a clause as one of this relation; nothing if it can be sent. */
export function unfit(clause: string, relation?: string): string | undefined {
  const head = headOf(clause);
  const name = relation ?? "name";
  if (head === undefined) return `a rule has one head and a body, as in ${name}(X, Y) <- edge(X, Y)`;
  if (relation === undefined || head.relation === relation) return undefined;
  return `this is a rule of ${head.relation}, and not of ${relation}`;
}

/** The program that gives a relation these clauses, with `replaceRules`. */
export function programOf(clauses: readonly string[]): string {
  return clauses.map((clause) => `+${bare(clause)}`).join("\n");
}

/** Variables for columns: their names with a capital, as far as that makes variables that differ. */
export function variablesOf(columns: readonly string[]): string[] {
  const given = new Set<string>();
  return columns.map((column, place) => {
    const name = column.slice(0, 1).toUpperCase() + column.slice(1);
    const variable = /^\p{Lu}[\p{L}\p{N}_]*$/u.test(name) && !given.has(name) ? name : `V${place + 1}`;
    given.add(variable);
    return variable;
  });
}
