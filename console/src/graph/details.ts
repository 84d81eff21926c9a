// What is known of a graph beside its relations: how they follow from each other, which are kept, which
// indexes there are.

import type { Client, Result } from "@stratalog/client";
import { type Dependencies, dependenciesOf, type GraphRow } from "./dependencies.ts";

/** A derived relation whose rows are kept. Numbers are missing where nothing is there yet. */
export interface KeptView {
  readonly relation: string;
  /** Whether `.view keep` asks for it; others make place when room is needed. */
  readonly isAskedFor: boolean;
  readonly rows: number | undefined;
  readonly memoryBytes: number | undefined;
  /** Versions of the graph that were not looked at yet. */
  readonly behind: number | undefined;
  readonly deriveMs: number | undefined;
  readonly stepMs: number | undefined;
  readonly steps: number | undefined;
  readonly givenUp: number | undefined;
  /** Why it is not there. */
  readonly trouble: string | undefined;
}

export interface Index {
  readonly name: string;
  readonly relation: string;
  readonly column: string;
  readonly type: string;
  readonly metric: string | undefined;
  readonly rows: number;
  /** Whether nothing waits to be taken in. */
  readonly isCurrent: boolean;
}

export interface Details {
  readonly dependencies: Dependencies;
  readonly views: ReadonlyMap<string, KeptView>;
  readonly indexes: readonly Index[];
}

/** Reads it of the graph in use. */
export async function readDetails(client: Client): Promise<Details> {
  const reads = { reads: true };
  const [graph, views, indexes] = await Promise.all([
    client.execute(".rule graph", reads),
    client.execute(".view list", reads),
    readIndexes(client),
  ]);
  return {
    dependencies: dependenciesOf(graph.objects() as unknown as GraphRow[]),
    views: new Map(viewsOf(views).map((view) => [view.relation, view])),
    indexes,
  };
}

/** Reads which indexes there are. */
export async function readIndexes(client: Client): Promise<Index[]> {
  const listed = await client.execute(".index list", { reads: true });
  return listed.objects().map((row) => ({
    name: String(row["name"]),
    relation: String(row["relation"]),
    column: String(row["column"]),
    type: String(row["type"]),
    metric: row["metric"] === null ? undefined : String(row["metric"]),
    rows: Number(row["row_count"]),
    isCurrent: row["valid"] === true,
  }));
}

/** Reads the clauses of a derived relation, in their order. */
export async function readClauses(client: Client, name: string): Promise<string[]> {
  const listed = await client.execute(`.rule def ${name}`, { reads: true });
  return listed.column("clause").toArray().map(String);
}

function viewsOf(listed: Result): KeptView[] {
  return listed.objects().map((row) => {
    const number = (name: string) => (row[name] === null ? undefined : Number(row[name]));
    return {
      relation: String(row["relation"]),
      isAskedFor: row["kept"] === true,
      rows: number("rows"),
      memoryBytes: number("memory_bytes"),
      behind: number("behind"),
      deriveMs: number("derive_ms"),
      stepMs: number("step_ms"),
      steps: number("steps"),
      givenUp: number("given_up"),
      trouble: row["trouble"] === null ? undefined : String(row["trouble"]),
    };
  });
}
