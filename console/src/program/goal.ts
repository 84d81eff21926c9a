// The head of a query that asks for one relation, as far as that can be told without understanding the program.

import { outer, split } from "./scan.ts";

/** The text of a query between its outermost brackets, cut at the commas, and what surrounds it. */
export interface Goal {
  readonly relation: string;
  readonly terms: readonly string[];
  /** What follows, such as `, X > 1` or ` <- …`. */
  readonly rest: string;
}

/** The head of a query of the form `?relation(terms) …`. */
export function goalOf(query: string): Goal | undefined {
  const head = /^\?\s*([\p{L}_][\p{L}\p{N}_]*)\s*\(/u.exec(query);
  if (head === null) return undefined;
  const open = head[0].length - 1;
  for (const { at, sign } of outer(query.slice(open))) {
    if (sign !== ")") continue;
    const terms = split(query.slice(open + 1, open + at));
    return { relation: head[1] ?? "", terms, rest: query.slice(open + at + 1) };
  }
  return undefined;
}
