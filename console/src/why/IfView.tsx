// Which rows of a query would come and go with some changes.

import type { Result, Value } from "@stratalog/client";
import { useMemo } from "preact/hooks";
import { Grid } from "../parts/Grid.tsx";
import { count, counted, duration } from "../parts/text.ts";
import { questionOf } from "../program/question.ts";
import { address, go, to } from "../session/address.ts";
import type { ViewProps } from "../session/session.ts";
import { Asking } from "./Asking.tsx";
import { ChangesForm } from "./ChangesForm.tsx";
import { whatIf } from "./suppose.ts";

/** So many changes are fetched. */
const MOST = 100_000;

export function IfView({ session }: ViewProps) {
  const { values } = address.value;
  const { changes = "", q = "" } = values;
  const program = whatIf(changes, q);
  const left = questionOf(q)?.left ?? 0;
  return (
    <>
      <ChangesForm
        key={`${changes}\n${q}`}
        changes={changes}
        q={q}
        label="Suppose"
        onAsk={(supposed, query) => go(to("why", ["if"], { ...values, changes: supposed, q: query }))}
      />
      {q.trim() !== "" && program === undefined && (
        <p class="notice">There is no query in this program: one begins with ?, as ?path(1, X).</p>
      )}
      {left > 0 && (
        <p class="notice">
          {counted(left, "statement")} before the query {left === 1 ? "is" : "are"} left out: what is supposed
          stands among the changes.
        </p>
      )}
      {changes.trim() !== "" && program !== undefined && (
        <Asking key={program} session={session} program={program} p={values["p"]} limit={MOST}>
          {(result) => <Changes result={result} />}
        </Asking>
      )}
    </>
  );
}

function Changes({ result }: { result: Result }) {
  const { added, removed } = useMemo(() => apart(result), [result]);
  const { totalCount, rowCount } = result;
  return (
    <>
      <p class="quiet">
        {rowCount < totalCount
          ? `The first ${count(rowCount)} of ${count(totalCount)} changes are shown`
          : counted(totalCount, "change")}
        , found in {duration(result.elapsedMs)}. Nothing is stored.
      </p>
      {totalCount === 0 && <p>No row would come or go.</p>}
      <Rows result={result} rows={removed} sign="−" title="would go" />
      <Rows result={result} rows={added} sign="+" title="would come" />
    </>
  );
}

interface RowsProps {
  result: Result;
  rows: readonly number[];
  sign: string;
  title: string;
}

/** The rows that would come, or go. */
function Rows({ result, rows, sign, title }: RowsProps) {
  const columns = useMemo(() => [{ name: "change", type: undefined }, ...result.columns.slice(1)], [result]);
  const cell = useMemo(
    () => (row: number, column: number) => (column === 0 ? sign : result.cell(rows[row] ?? 0, column)),
    [result, rows, sign],
  );
  if (rows.length === 0) return null;
  const label = `${counted(rows.length, "row")} ${title}`;
  return (
    <section class={sign === "+" ? "would-come" : "would-go"} aria-label={label}>
      <h2>
        <span aria-hidden="true">{sign} </span>
        {label}
      </h2>
      <div class="why-rows" style={{ height: `${Math.min(15, rows.length + 1) * 28 + 18}px` }}>
        <Grid label={label} columns={columns} rowCount={rows.length} cell={cell} />
      </div>
    </section>
  );
}

/** The places of rows that would come, and of those that would go. */
function apart(result: Result): { added: number[]; removed: number[] } {
  const places: { added: number[]; removed: number[] } = { added: [], removed: [] };
  for (let row = 0; row < result.rowCount; row += 1) {
    const change: Value = result.cell(row, 0);
    (change === "added" ? places.added : places.removed).push(row);
  }
  return places;
}
