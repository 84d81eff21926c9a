// Statistics of a relation's columns, by one query of the public language.
//
// With all columns as variables, the distinct solutions of the body are the rows. All aggregates but the
// counts skip nulls, and `count_distinct` counts null as a value. `first` and `last` are the smallest and the
// largest value in the order of all values, so a column of several types needs no warning. Nulls are counted
// by a number beside each value: 0 for null, -1 for any other.

import type { Result, Value } from "@stratalog/client";

/** What is known of one column. */
export interface ColumnStatistics {
  /** How many values differ, null not counted. */
  readonly distinct: number;
  readonly nulls: number;
  /** The smallest and the largest value; undefined where an order says nothing, as of vectors. */
  readonly least: Value | undefined;
  readonly greatest: Value | undefined;
}

export interface Statistics {
  readonly rows: number;
  readonly columns: readonly ColumnStatistics[];
}

/** More columns are not asked for at once. */
export const MOST_COLUMNS = 40;

/** Relations of so many rows are counted without being asked for. */
export const SMALL = 100_000;

/** Whether a smallest and a largest value of this type say something. */
function hasOrder(type: string): boolean {
  return !/^(?:vector|list|\{|vec\b|embedding)/.test(type);
}

/** The query for the statistics of a relation, which has columns of these types. */
export function statisticsQuery(relation: string, types: readonly string[]): string {
  const shown = types.slice(0, MOST_COLUMNS);
  const columns = ["count<V1>"];
  const body = [`${relation}(${types.map((_, place) => `V${place + 1}`).join(", ")})`];
  shown.forEach((type, place) => {
    const number = place + 1;
    columns.push(`count_distinct<V${number}>`, `sum<N${number}>`);
    if (hasOrder(type)) columns.push(`first<V${number}>`, `last<V${number}>`);
    body.push(`N${number} = index_of(list(null), V${number})`);
  });
  return `?${columns.join(", ")} <- ${body.join(", ")}`;
}

/** What the answer to that query says. No rows give no row. */
export function statisticsOf(result: Result, types: readonly string[]): Statistics {
  const shown = types.slice(0, MOST_COLUMNS);
  const cells = result.rowCount === 0 ? [] : result.row(0);
  let place = 0;
  const next = () => {
    place += 1;
    return cells[place - 1];
  };
  const rows = Number(next() ?? 0);
  const columns = shown.map((type) => {
    const distinct = Number(next() ?? 0);
    const nulls = rows + Number(next() ?? 0);
    const [least, greatest] = hasOrder(type) ? [next(), next()] : [];
    return { distinct: nulls > 0 ? distinct - 1 : distinct, nulls, least, greatest };
  });
  return { rows, columns };
}
