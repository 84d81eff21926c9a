// Which relations follow from which: what `.rule graph` tells, and what can be reached in it.

/** In which way rules read a relation. */
export type How = "positive" | "negated" | "aggregated";

/** That the rules of one relation read another one. */
export interface Reading {
  /** What is derived. */
  readonly relation: string;
  /** What its rules read. */
  readonly reads: string;
  /** In which ways, each once. */
  readonly hows: readonly How[];
  /** Whether both follow from each other. */
  readonly isRecursive: boolean;
}

export interface Dependencies {
  /** Of derived relations, in which stratum they are. */
  readonly strata: ReadonlyMap<string, number>;
  readonly readings: readonly Reading[];
}

/** A row of `.rule graph`. */
export interface GraphRow {
  readonly relation: unknown;
  readonly reads: unknown;
  readonly how: unknown;
  readonly stratum: unknown;
  readonly recursive: unknown;
}

/** The order in which ways are told. */
const HOWS: readonly How[] = ["positive", "negated", "aggregated"];

/** Puts the rows together: one reading for each two relations. */
export function dependenciesOf(rows: Iterable<GraphRow>): Dependencies {
  const strata = new Map<string, number>();
  const pairs = new Map<string, Map<string, { hows: Set<string>; isRecursive: boolean }>>();
  for (const { relation, reads, how, stratum, recursive } of rows) {
    const name = String(relation);
    strata.set(name, Number(stratum));
    if (typeof reads !== "string") continue;
    const readByName = pairs.get(name) ?? new Map();
    pairs.set(name, readByName);
    const pair = readByName.get(reads) ?? { hows: new Set<string>(), isRecursive: false };
    readByName.set(reads, pair);
    pair.hows.add(String(how));
    pair.isRecursive ||= recursive === true;
  }
  const readings: Reading[] = [];
  for (const [relation, readByName] of pairs) {
    for (const [reads, { hows, isRecursive }] of readByName) {
      readings.push({ relation, reads, hows: HOWS.filter((how) => hows.has(how)), isRecursive });
    }
  }
  return { strata, readings };
}

/** Which relations are looked for: those that one follows from, those that follow from it, or both. */
export type Way = "below" | "above" | "both";

/** What can be reached from a relation, itself among it. */
export function reachable({ readings }: Dependencies, name: string, way: Way): ReadonlySet<string> {
  const below = new Map<string, string[]>();
  const above = new Map<string, string[]>();
  for (const { relation, reads } of readings) {
    below.set(relation, [...(below.get(relation) ?? []), reads]);
    above.set(reads, [...(above.get(reads) ?? []), relation]);
  }
  const found = new Set([name]);
  if (way !== "above") walk(below, name, found);
  // What is below may lead up elsewhere, which is not asked for.
  const foundAbove = new Set([name]);
  if (way !== "below") walk(above, name, foundAbove);
  for (const each of foundAbove) found.add(each);
  return found;
}

function walk(next: ReadonlyMap<string, readonly string[]>, start: string, found: Set<string>): void {
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const each of next.get(name) ?? []) {
      if (found.has(each)) continue;
      found.add(each);
      open.push(each);
    }
  }
}

/** How a reading is told in a word or two; nothing where it only is positive. */
export function howText(hows: readonly How[]): string {
  const special = hows
    .filter((how) => how !== "positive")
    .map((how) => (how === "negated" ? "not" : "aggregate"));
  if (special.length === 0) return "";
  return hows.includes("positive") ? `also ${special.join(", ")}` : special.join(", ");
}
