// The rows of a watched query, with those marked that just came or went.

import { useMemo } from "preact/hooks";
import { Grid } from "../parts/Grid.tsx";
import { MARK_MILLISECONDS } from "./picture.ts";
import type { Watch } from "./Watch.ts";

export function WatchedRows({ watch }: { watch: Watch }) {
  const { entries, time, generation } = watch.shown.value;
  const isEmpty = entries.length === 0;

  // It reads what is shown now. Another function makes the columns as wide as the rows want them, which is done only for
  // rows that are others altogether.
  const cell = useMemo(
    () => (row: number, column: number) => watch.shown.peek().entries[row]?.row[column] ?? null,
    [watch, generation, isEmpty],
  );
  const rowClass = (row: number) => {
    const entry = entries[row];
    if (entry?.went !== undefined) return "went";
    return entry?.came !== undefined && time - entry.came < MARK_MILLISECONDS ? "came" : "";
  };
  return (
    <div class="watch-rows">
      <Grid
        label="Rows of the watched query"
        columns={watch.columns.value}
        rowCount={entries.length}
        cell={cell}
        rowClass={rowClass}
        sorted={watch.order.value}
        onSort={(column) => watch.sortBy(column)}
      />
    </div>
  );
}
