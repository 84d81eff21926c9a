// An answer as a table: any number of rows, sorted by a click, with a filter; the row that is chosen is shown whole beside it.

import type { Result } from "@stratalog/client";
import { useMemo, useState } from "preact/hooks";
import { Failure } from "../parts/Failure.tsx";
import { Grid } from "../parts/Grid.tsx";
import { count } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import { ExportMenu } from "./export/ExportMenu.tsx";
import { orderOf, type Sorting } from "./order.ts";
import { RowDetail } from "./RowDetail.tsx";

interface AnswerTableProps {
  answer: Result;
  /** The address of the proof of a row. */
  whyOf: (row: number) => string;
}

export function AnswerTable({ answer, whyOf }: AnswerTableProps) {
  const [filter, setFilter] = useState("");
  const [sorting, setSorting] = useState<Sorting>();
  /** The row that is shown beside, wherever it stands. */
  const [chosen, setChosen] = useState<number>();
  const ordered = useTask(
    (signal) => orderOf(answer, filter.trim(), sorting, signal),
    [answer, filter, sorting],
  );
  const order = ordered.value;
  const columns = useMemo(() => answer.columns.map(({ name, type }) => ({ name, type })), [answer]);
  const cell = useMemo(
    () => (row: number, column: number) => answer.cell(order?.[row] ?? row, column),
    [answer, order],
  );
  const rowCount = order?.length ?? answer.rowCount;
  const sort = (column: number) => {
    setSorting((now) => {
      if (now?.column !== column) return { column, descends: false };
      return now.descends ? undefined : { column, descends: true };
    });
  };
  const place = useMemo(
    () => (chosen === undefined ? -1 : (order?.indexOf(chosen) ?? chosen)),
    [chosen, order],
  );
  return (
    <div class="answer-table">
      <div class="answer-tools">
        <input
          type="search"
          aria-label="Filter rows"
          placeholder="Filter rows"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <span class="quiet" role="status">
          {filter.trim() !== "" && `${count(rowCount)} of ${count(answer.rowCount)} rows`}
          {ordered.state === "running" && " …"}
        </span>
        <ExportMenu answer={answer} order={order} />
      </div>
      {ordered.state === "failed" && <Failure problem={ordered.problem} />}
      <div class="answer-rows">
        <Grid
          label="Answer"
          columns={columns}
          rowCount={rowCount}
          cell={cell}
          highest={answer.rowCount}
          number={(row) => (order?.[row] ?? row) + 1}
          sorted={sorting}
          onSort={sort}
          onChoose={(row) => setChosen(order?.[row] ?? row)}
          chosen={place < 0 ? undefined : place}
          rowClass={(row) => (answer.provenance[order?.[row] ?? row] === "ephemeral" ? "of-session" : "")}
        />
        {chosen !== undefined && (
          <RowDetail answer={answer} row={chosen} whyOf={whyOf} onClose={() => setChosen(undefined)} />
        )}
      </div>
    </div>
  );
}
