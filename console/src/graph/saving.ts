// Writes clauses. Those of a relation are replaced as a whole, in one step, and only as long as they are what
// was looked at.

import type { Client, Result } from "@stratalog/client";
import { bare, programOf, unfit } from "./clauses.ts";
import { readClauses } from "./details.ts";

/** Gives a relation `after` in place of `before`, which is what it had when somebody looked. */
export async function replaceClauses(
  client: Client,
  name: string,
  before: readonly string[],
  after: readonly string[],
): Promise<Result> {
  for (const clause of after) check(clause, name);
  await stillThere(client, name, before);
  if (after.length === 0) return client.execute(`-${name}`);
  return client.execute(programOf(after), { replaceRules: true, atomic: true });
}

/** Drops the clause of this number, counted from 1. */
export async function removeClause(
  client: Client,
  name: string,
  before: readonly string[],
  number: number,
): Promise<Result> {
  await stillThere(client, name, before);
  return client.execute(`.rule remove ${name} ${number}`);
}

/** Adds a clause to those that there are. */
export async function addClause(client: Client, clause: string, name?: string): Promise<Result> {
  check(clause, name);
  return client.execute(`+${bare(clause)}`);
}

/** Whether these are the same clauses, in the same order. */
export function isSame(clauses: readonly string[], others: readonly string[]): boolean {
  return clauses.length === others.length && clauses.every((clause, place) => clause === others[place]);
}

function check(clause: string, name: string | undefined): void {
  const why = unfit(clause, name);
  if (why !== undefined) throw new TypeError(why);
}

/** Numbers and texts of clauses mean something only as long as nobody else has changed them. */
async function stillThere(client: Client, name: string, before: readonly string[]): Promise<void> {
  const now = await readClauses(client, name);
  if (!isSame(now, before))
    throw new Error(`somebody has changed the rules of ${name} since they were shown; look at them again`);
}
