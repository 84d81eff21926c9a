// Which relations the picture of the rules shows, and what stands beside each.

import { count, counted } from "../parts/text.ts";
import type { Catalog } from "../session/catalog.ts";
import { type Dependencies, reachable, type Way } from "./dependencies.ts";
import type { KeptView } from "./details.ts";
import type { PictureRelation } from "./picture.ts";

/** What is asked of the picture: all, or what has to do with one relation. */
export interface Choice {
  readonly of: string | undefined;
  readonly way: Way;
}

/** Every relation that rules derive or read, by name. */
export function namesIn(catalog: Catalog, { strata, readings }: Dependencies): string[] {
  const names = new Set(strata.keys());
  for (const { reads } of readings) names.add(reads);
  for (const { name, isDerived } of catalog.relations.values()) if (isDerived) names.add(name);
  return [...names].sort();
}

/** Those of them that are asked for. */
export function chosenOf(
  names: readonly string[],
  dependencies: Dependencies,
  { of, way }: Choice,
): string[] {
  if (of === undefined) return [...names];
  const found = reachable(dependencies, of, way);
  return names.filter((name) => found.has(name));
}

/** The same as they are to be drawn. */
export function relationsToDraw(
  names: readonly string[],
  catalog: Catalog,
  { strata }: Dependencies,
  views: ReadonlyMap<string, KeptView>,
): PictureRelation[] {
  return names.map((name) => {
    const isDerived = strata.has(name) || catalog.relations.get(name)?.isDerived === true;
    const stratum = isDerived ? (strata.get(name) ?? 0) : undefined;
    return { name, about: aboutOf(name, catalog, views.get(name)), stratum };
  });
}

/** What is told of a relation in a few words. */
function aboutOf(name: string, catalog: Catalog, view: KeptView | undefined): string {
  const relation = catalog.relations.get(name);
  if (relation === undefined) return "not there";
  const { rows, isDerived, clauses } = relation;
  const parts: string[] = [];
  if (rows !== undefined) parts.push(counted(rows, "row"));
  if (isDerived) parts.push(counted(clauses, "clause"));
  if (view?.rows !== undefined) parts.push(`${count(view.rows)} kept`);
  return parts.length === 0 ? "no rows" : parts.join(" · ");
}
