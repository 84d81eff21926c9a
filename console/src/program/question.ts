// What a program asks, and what of the session stands by it.

import { statementsOf } from "./scan.ts";

/** What a program asks, and what of the session stands by it. */
export interface Question {
  /** Facts, schemas and rules of the session: they serve this program only. */
  readonly own: readonly string[];
  /** The last query, with its question mark. */
  readonly query: string;
  /** How many statements are left out: whoever explains an answer writes nothing. */
  readonly left: number;
}

/** A query that is explained already. */
const EXPLAINED = /^\.why(?:\s+(?:full|all))?\s+(?=\?)/i;
/** A statement of the session. What begins with `type` and goes on with a name is one of the graph. */
const OWN = /^(?!type(?![\p{L}\p{N}_([]))[\p{Alphabetic}_]/u;

/** What a program asks; undefined if it asks nothing. */
export function questionOf(program: string): Question | undefined {
  const statements = statementsOf(program).map((statement) => statement.replace(EXPLAINED, ""));
  const queries = statements.filter((statement) => statement.startsWith("?"));
  const query = queries.at(-1);
  if (query === undefined) return undefined;
  const own = statements.filter((statement) => OWN.test(statement));
  return { own, query, left: statements.length - queries.length - own.length };
}
