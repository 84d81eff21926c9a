// The neighbours of a node, asked of the relation that the answer is of.

import type { Client, Input, Result } from "@stratalog/client";
import { float } from "@stratalog/client";
import { goalOf } from "../../program/goal.ts";
import { questionOf } from "../../program/question.ts";
import type { Catalog } from "../../session/catalog.ts";
import type { Ends, Node } from "./network.ts";

/** A relation of the catalog of which the first columns of an answer are. */
export interface Origin {
  readonly relation: string;
  readonly columns: number;
}

/** The relation that a program's last query is about, if that is a goal of one and both ends are among its columns. */
export function originOf(program: string, ends: Ends, catalog: Catalog): Origin | undefined {
  const query = questionOf(program)?.query;
  const goal = query === undefined ? undefined : goalOf(query);
  if (goal === undefined || goal.rest.includes("<-") || !catalog.relations.has(goal.relation))
    return undefined;
  const columns = goal.terms.length;
  return ends.from < columns && ends.to < columns ? { relation: goal.relation, columns } : undefined;
}

/** The goal of all facts of a relation that have the parameter `$node` in a column. */
export function neighbourQuery({ relation, columns }: Origin, at: number): string {
  const terms = Array.from({ length: columns }, (_, place) => (place === at ? "$node" : `V${place}`));
  return `?${relation}(${terms.join(", ")})`;
}

/** What came of it. */
export interface Found {
  /** Rows of the relation's columns. */
  readonly answers: readonly Result[];
  /** How many there are beyond those. */
  readonly further: number;
}

/** Asks for the edges that begin at a node and for those that end there, at most `most` of each. */
export async function neighbours(
  client: Client,
  origin: Origin,
  ends: Ends,
  node: Node,
  most: number,
  signal: AbortSignal,
): Promise<Found> {
  const options = { params: { node: inputOf(node) }, limit: most, timeout: 30_000, signal };
  const answers = await Promise.all(
    [...new Set([ends.from, ends.to])].map((at) => client.query(neighbourQuery(origin, at), options)),
  );
  const further = answers.reduce(
    (sum, { totalCount, rowCount }) => sum + Math.max(0, totalCount - rowCount),
    0,
  );
  return { answers, further };
}

/** The value of a node as a parameter, where a float stays one. */
function inputOf({ key, value }: Node): Input {
  return typeof value === "number" && key.startsWith('{"float"') ? float(value) : (value as Input);
}
