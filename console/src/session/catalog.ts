// What a graph has: relations with columns and counts, and which of them rules derive.

import type { Client } from "@stratalog/client";

/** A column of a relation. */
export interface RelationColumn {
  readonly name: string;
  /** As a schema would have it; `any` where several types stand in it. */
  readonly type: string;
}

/** A relation. */
export interface Relation {
  readonly name: string;
  /** Stored facts, or rows in files; undefined of derived relations, which nobody has counted. */
  readonly rows: number | undefined;
  /** Whether the rows are in files, where they are read and not written. */
  readonly isAttached: boolean;
  readonly columns: readonly RelationColumn[];
  readonly isDerived: boolean;
  /** How many clauses derive it. */
  readonly clauses: number;
}

/** What a graph has, by the names of the relations. */
export interface Catalog {
  readonly relations: ReadonlyMap<string, Relation>;
  /** Whether it has been read. */
  readonly isKnown: boolean;
}

export const emptyCatalog: Catalog = { relations: new Map(), isKnown: false };

/** Reads what the graph in use has. */
export async function readCatalog(client: Client): Promise<Catalog> {
  const reads = { reads: true };
  const [stored, described, rules, derived] = await Promise.all([
    client.execute(".rel", reads),
    client.execute(".rel describe", reads),
    client.execute(".rule list", reads),
    client.execute(".rule columns", reads),
  ]);
  // Of what is stored as well as derived, the facts say more than the rules.
  const columns = new Map([...columnsOf(derived), ...columnsOf(described)]);
  const rows = new Map<string, number>();
  const attached = new Set<string>();
  for (const row of stored.objects()) {
    rows.set(String(row["name"]), Number(row["tuples"]));
    if (row["kind"] === "attached") attached.add(String(row["name"]));
  }
  const clauses = new Map<string, number>();
  for (const row of rules.objects()) clauses.set(String(row["name"]), Number(row["clauses"]));
  const names = [...new Set([...columns.keys(), ...rows.keys(), ...clauses.keys()])].sort();
  const relations = new Map<string, Relation>();
  for (const name of names) {
    relations.set(name, {
      name,
      rows: rows.get(name),
      isAttached: attached.has(name),
      columns: columns.get(name) ?? [],
      isDerived: clauses.has(name),
      clauses: clauses.get(name) ?? 0,
    });
  }
  return { relations, isKnown: true };
}

/** The columns of each relation, by a listing of them. */
function columnsOf(listing: Iterable<readonly unknown[]>): Map<string, RelationColumn[]> {
  const columns = new Map<string, RelationColumn[]>();
  for (const [relation, name, type] of listing) {
    const named = columns.get(String(relation)) ?? [];
    named.push({ name: String(name), type: String(type ?? "any") });
    columns.set(String(relation), named);
  }
  return columns;
}
