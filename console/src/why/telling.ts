// What the parts of a proof on the page need to know of it.

import type { ProofTree } from "@stratalog/client";
import type { Session } from "../session/session.ts";
import type { How } from "./question.ts";
import { typesOf } from "./words.ts";

export interface Telling {
  readonly session: Session;
  readonly tree: ProofTree;
  /** The names of the columns of the answer. */
  readonly columns: readonly string[];
  /** Their types. */
  readonly types: readonly string[];
  /** The address of the proof of a fact. */
  readonly ask: (fact: string, how?: How) => string;
  /** The address of the same question, asked in another way. */
  readonly again: (how: How) => string;
}

/**
 * The types of a relation's columns, or of those of the query itself, as far as they are known. Of what rules
 * derive only the answer says them.
 */
export function typesIn({ session, tree, types }: Telling, relation: string): readonly string[] {
  if (relation === "?") return types;
  const stored = typesOf(session.catalog.value, relation);
  const [root = ""] = tree.roots;
  return stored.length === 0 && tree.nodes[root]?.conclusion.pred === relation ? types : stored;
}
