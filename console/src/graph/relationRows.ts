// The list of relations: which of them are shown, and in which order.

import type { Relation } from "../session/catalog.ts";
import type { KeptView } from "./details.ts";

/** By what the list can be sorted. */
export const ORDERS = ["name", "columns", "rows", "kind"] as const;

export type Order = (typeof ORDERS)[number];

/** A relation in the list. */
export interface RelationRow {
  readonly relation: Relation;
  /** What is kept of its rows. */
  readonly view: KeptView | undefined;
}

/** The order that an address names. */
export function orderOf(text: string | undefined): Order {
  return ORDERS.find((order) => order === text) ?? "name";
}

/** Those in whose name, or in the name or type of a column, every word stands, in capitals or not. */
export function filtered(rows: readonly RelationRow[], filter: string): RelationRow[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return rows.filter(({ relation }) => {
    const columns = relation.columns.map(({ name, type }) => `${name}: ${type}`);
    const text = [relation.name, ...columns].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/**
 * The same rows in another order; those of which nothing is known come last, and equals stay as they were.
 */
export function sorted(rows: readonly RelationRow[], order: Order, descends: boolean): RelationRow[] {
  const turn = descends ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [keyOf(a, order), keyOf(b, order)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return x < y ? -turn : x > y ? turn : 0;
  });
}

function keyOf({ relation, view }: RelationRow, order: Order): string | number | undefined {
  switch (order) {
    case "name":
      return relation.name.toLowerCase();
    case "columns":
      return relation.columns.length;
    case "rows":
      return relation.rows ?? view?.rows;
    case "kind":
      return kindText(relation);
  }
}

/** Whether a relation is stored, derived, both, or declared and neither. */
export function kindText({ isAttached, isDerived, rows }: Relation): string {
  if (isAttached) return "in files";
  if (!isDerived) return rows === undefined ? "declared" : "stored";
  return rows === undefined ? "derived" : "stored and derived";
}
