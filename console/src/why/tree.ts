// A proof as a tree on a page: where each node stands, what of it is open, and what the keys do.
//
// A fact that stands in several places has its own tree where it comes first, and is referred to in the
// others. Only open parts are made into elements, and of very many children only some at a time.

import type { ProofTree } from "@stratalog/client";

/** A place in the tree. */
export interface Item {
  /** The node that stands there. */
  readonly id: string;
  readonly parent: number | undefined;
  /** From 1. */
  readonly level: number;
  /** Its place among those with the same parent, from 0, and how many these are. */
  readonly place: number;
  readonly siblings: number;
  readonly children: readonly number[];
  /** The place with the tree of this node, if that is another one. */
  readonly above: number | undefined;
}

/** All places of a proof, in the order in which they are drawn. */
export interface Outline {
  readonly items: readonly Item[];
  readonly roots: readonly number[];
  /** The places of each node. */
  readonly uses: ReadonlyMap<string, readonly number[]>;
}

/** The places that are open, and how many of their children are shown. */
export type Open = ReadonlyMap<number, number>;

/** So many children are shown at a time. */
export const CHILDREN = 200;
/** At first, so many levels are open, */
const LEVELS = 3;
/** unless that would be more places than these. */
const PLACES = 150;

/** The places of a proof. */
export function outlineOf({ roots, nodes }: ProofTree): Outline {
  const items: (Item & { children: number[] })[] = [];
  const uses = new Map<string, number[]>();
  const trees = new Map<string, number>();
  const begin = roots.filter((id) => nodes[id] !== undefined);
  // Proofs may be deep: what is still to be placed is a list, not a call in a call.
  const open = begin.map((id, place) => ({
    id,
    parent: undefined as number | undefined,
    place,
    siblings: begin.length,
  }));
  open.reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { id, parent, place, siblings } = next;
    const needs = (nodes[id]?.children ?? []).filter((child) => nodes[child] !== undefined);
    const number = items.length;
    const above = needs.length > 0 ? trees.get(id) : undefined;
    const level = parent === undefined ? 1 : (items[parent]?.level ?? 0) + 1;
    items.push({ id, parent, level, place, siblings, children: [], above });
    if (parent !== undefined) items[parent]?.children.push(number);
    const used = uses.get(id);
    if (used === undefined) uses.set(id, [number]);
    else used.push(number);
    if (above !== undefined || needs.length === 0) continue;
    trees.set(id, number);
    for (let child = needs.length - 1; child >= 0; child -= 1) {
      open.push({ id: needs[child] ?? "", parent: number, place: child, siblings: needs.length });
    }
  }
  const first = items.flatMap(({ parent }, number) => (parent === undefined ? [number] : []));
  return { items, roots: first, uses };
}

/** What is open at first. */
export function openAtFirst({ items, roots }: Outline): Open {
  const open = new Map<number, number>();
  let shown = roots.length;
  const next = [...roots];
  for (let number = next.shift(); number !== undefined; number = next.shift()) {
    const item = items[number];
    if (item === undefined || item.children.length === 0 || item.level > LEVELS) continue;
    const more = Math.min(CHILDREN, item.children.length);
    if (shown + more > PLACES && number !== roots[0]) continue;
    shown += more;
    open.set(number, CHILDREN);
    next.push(...item.children.slice(0, CHILDREN));
  }
  return open;
}

/** The children of a place that are shown; none if it is not open. */
export function shownOf({ items }: Outline, open: Open, number: number): readonly number[] {
  return items[number]?.children.slice(0, open.get(number) ?? 0) ?? [];
}

/** How many children of an open place are not shown. */
export function hiddenOf({ items }: Outline, open: Open, number: number): number {
  const shown = open.get(number);
  return shown === undefined ? 0 : Math.max(0, (items[number]?.children.length ?? 0) - shown);
}

/** A row of the tree: a place or, below zero, what shows more children of a place. */
export function moreOf(number: number): number {
  return -1 - number;
}

/** All rows, from top to bottom. */
export function rowsOf(outline: Outline, open: Open): number[] {
  const rows: number[] = [];
  const next = [...outline.roots].reverse();
  for (let row = next.pop(); row !== undefined; row = next.pop()) {
    rows.push(row);
    if (row < 0) continue;
    if (hiddenOf(outline, open, row) > 0) next.push(moreOf(row));
    next.push(...shownOf(outline, open, row).toReversed());
  }
  return rows;
}

/** The same with a place in sight: all that it stands in is open. */
export function revealed({ items }: Outline, open: Open, number: number): Open {
  const now = new Map(open);
  let item = items[number];
  while (item?.parent !== undefined) {
    now.set(item.parent, Math.max(now.get(item.parent) ?? CHILDREN, item.place + 1));
    item = items[item.parent];
  }
  return now;
}

/** The row that stands for one where that is closed away: itself, or the nearest place that it stands in. */
export function inSight(outline: Outline, open: Open, row: number): number {
  if (row < 0) {
    const parent = moreOf(row);
    const seen = inSight(outline, open, parent);
    return seen === parent && hiddenOf(outline, open, parent) > 0 ? row : seen;
  }
  let seen = row;
  let item = outline.items[row];
  while (item?.parent !== undefined) {
    if (item.place >= (open.get(item.parent) ?? 0)) seen = item.parent;
    item = outline.items[item.parent];
  }
  return seen;
}

/** The same with a place opened, or closed. */
export function toggled(open: Open, number: number): Open {
  const now = new Map(open);
  if (!now.delete(number)) now.set(number, CHILDREN);
  return now;
}

/** What a key leads to. */
export interface Step {
  readonly row: number;
  readonly open: Open;
}

/**
 * What a key does in a row; undefined if it does nothing. The keys are those of the ARIA practices for
 * trees.
 */
export function pressed(outline: Outline, open: Open, row: number, key: string): Step | undefined {
  const rows = rowsOf(outline, open);
  const at = rows.indexOf(row);
  const to = (place: number) => ({ row: rows[Math.max(0, Math.min(rows.length - 1, place))] ?? row, open });
  switch (key) {
    case "ArrowDown":
      return to(at + 1);
    case "ArrowUp":
      return to(at - 1);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowRight":
    case "ArrowLeft":
    case "Enter":
    case " ":
    case "*":
      return row < 0 ? pressedMore(outline, open, row, key) : pressedItem(outline, open, row, key);
    default:
      return undefined;
  }
}

function pressedItem(outline: Outline, open: Open, row: number, key: string): Step | undefined {
  const item = outline.items[row];
  if (item === undefined) return undefined;
  const [first] = item.children;
  const isOpen = open.has(row);
  if (key === "*") return { row, open: siblingsOpen(outline, open, item) };
  if (key === "ArrowLeft") {
    if (isOpen) return { row, open: toggled(open, row) };
    return item.parent === undefined ? undefined : { row: item.parent, open };
  }
  if (key !== "ArrowRight") {
    if (item.above !== undefined) return { row: item.above, open: revealed(outline, open, item.above) };
    return first === undefined ? undefined : { row, open: toggled(open, row) };
  }
  if (first === undefined) return undefined;
  return isOpen ? { row: first, open } : { row, open: toggled(open, row) };
}

function pressedMore(outline: Outline, open: Open, row: number, key: string): Step | undefined {
  const parent = moreOf(row);
  if (key === "ArrowLeft") return { row: parent, open };
  return key === "Enter" || key === " " ? moreShown(outline, open, parent) : undefined;
}

/** Shows more children of a place, and goes to the first of them. */
export function moreShown({ items }: Outline, open: Open, parent: number): Step {
  const shown = open.get(parent) ?? 0;
  const now = new Map(open).set(parent, shown + CHILDREN);
  return { row: items[parent]?.children[shown] ?? parent, open: now };
}

function siblingsOpen({ items, roots }: Outline, open: Open, { parent }: Item): Open {
  const now = new Map(open);
  const all = parent === undefined ? roots : (items[parent]?.children ?? []).slice(0, open.get(parent) ?? 0);
  for (const number of all) {
    if ((items[number]?.children.length ?? 0) > 0 && !now.has(number)) now.set(number, CHILDREN);
  }
  return now;
}
