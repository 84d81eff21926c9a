// What a chart draws: for each series its points, of as many rows as can be told apart.
//
// Nothing is added up: two rows with the same name and series are two bars beside each other.

import type { Column, Rows, Value } from "@stratalog/client";
import { count, textOf } from "../../parts/text.ts";
import { type Kind, type Plan, roleOf } from "./plan.ts";

/** A point, and the row that it stands for. Where the axis has names, `x` counts them. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly row: number;
}

export interface Series {
  readonly name: string;
  readonly points: Point[];
}

export interface Drawing {
  /** The names along the axis, where it has no numbers or times. */
  readonly labels: readonly string[] | undefined;
  readonly series: readonly Series[];
  /** Rows that are drawn. */
  readonly drawn: number;
  /** Rows that were looked at, of which some may lack a number or belong to no series. */
  readonly looked: number;
  /** Those that lack a number. */
  readonly without: number;
  /** Values beyond the series that can be told apart. */
  readonly further: number;
  /** Whether rows were chosen evenly from all of them; else they are the first ones. */
  readonly isEven: boolean;
}

/** At most so many rows are drawn. */
export const MOST: Readonly<Record<Kind, number>> = { bars: 400, line: 5_000, points: 5_000 };
/** At most so many series. */
export const MOST_SERIES = 12;
/** A name on an axis or in a legend is no longer. */
const NAME = 60;

/** The points of a chart. */
export function pointsOf(answer: Rows, plan: Plan): Drawing {
  const xs = answer.columns[plan.x];
  const ys = answer.columns[plan.y];
  const groups = plan.series === undefined ? undefined : answer.columns[plan.series];
  if (xs === undefined || ys === undefined) throw new RangeError("the chart has columns that are not there");
  const isNamed = hasNames(xs, plan);
  const slots = isNamed ? new Slots() : undefined;
  const series = new Map<string, Series>();
  const further = new Set<string>();
  const most = MOST[plan.kind];
  const isEven = !isNamed && answer.rowCount > most;
  const end = isEven ? most : answer.rowCount;
  let drawn = 0;
  let without = 0;
  let place = 0;
  for (; place < end && drawn < most; place += 1) {
    const row = isEven ? Math.floor((place * answer.rowCount) / most) : place;
    const y = numberOf(ys.get(row));
    const x = slots === undefined ? numberOf(xs.get(row)) : 0;
    if (y === undefined || x === undefined) {
      without += 1;
      continue;
    }
    const group = groups?.key(row) ?? "";
    let found = series.get(group);
    if (found === undefined && series.size >= MOST_SERIES) {
      further.add(group);
      continue;
    }
    found ??= { name: groups === undefined ? ys.name : textOf(groups.get(row), NAME), points: [] };
    series.set(group, found);
    found.points.push({ x: slots?.of(xs, row, group) ?? x, y, row });
    drawn += 1;
  }
  const all = [...series.values()];
  // From left to right, in whatever order the rows came: so lines go, and so the library wants it. Names keep their order.
  for (const { points } of all) points.sort((a, b) => a.x - b.x);
  return { labels: slots?.labels, series: all, drawn, looked: place, without, further: further.size, isEven };
}

/** Whether the axis has names: bars always stand beside each other. */
export function hasNames(xs: Column, plan: Plan): boolean {
  return plan.kind === "bars" || roleOf(xs) === "name";
}

/** The places along an axis of names: one for each, and one more for each time that it comes again in its series. */
class Slots {
  readonly labels: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #times = new Map<string, number>();

  of(column: Column, row: number, group: string): number {
    const key = column.key(row);
    const inGroup = `${group} ${key}`;
    const time = this.#times.get(inGroup) ?? 0;
    this.#times.set(inGroup, time + 1);
    const slot = `${time} ${key}`;
    const place = this.#places.get(slot) ?? this.labels.length;
    if (place === this.labels.length) {
      this.#places.set(slot, place);
      this.labels.push(textOf(column.get(row), NAME));
    }
    return place;
  }
}

/** A value as a number of a chart, where a few of its last digits may be lost. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  return value instanceof Date ? value.getTime() : undefined;
}

const TITLES: Readonly<Record<Kind, string>> = { bars: "Bars", line: "Lines", points: "Points" };

/** What is drawn, in sentences. `total` is how many rows there are, also beyond those that came. */
export function describe(answer: Rows, plan: Plan, drawing: Drawing, total = answer.rowCount): string {
  const name = (place: number) => answer.columns[place]?.name ?? "";
  const by = plan.series === undefined ? "" : `, a colour for each ${name(plan.series)}`;
  const parts = [`${TITLES[plan.kind]} of ${name(plan.y)} by ${name(plan.x)}${by}.`];
  const all = Math.max(total, answer.rowCount);
  const which = drawing.looked < answer.rowCount ? (drawing.isEven ? ", evenly chosen" : ", the first") : "";
  parts.push(
    drawing.drawn === all
      ? `All ${count(all)} rows.`
      : `${count(drawing.drawn)} of ${count(all)} rows${which}.`,
  );
  if (drawing.without > 0) parts.push(`${count(drawing.without)} have no number there.`);
  if (drawing.further > 0)
    parts.push(`${count(drawing.further)} more values of ${name(plan.series ?? -1)} are not drawn.`);
  return parts.join(" ");
}
