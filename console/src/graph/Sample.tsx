// The first rows of a relation.

import { QueryTimeout } from "@stratalog/client";
import { useMemo, useState } from "preact/hooks";
import { Grid, type GridColumn } from "../parts/Grid.tsx";
import { Shown } from "../parts/Shown.tsx";
import { count, duration } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import type { RelationColumn } from "../session/catalog.ts";
import type { Session } from "../session/session.ts";

/** So many are shown. */
const MOST = 100;
/** Without being asked for more, they may take so long. */
const BRIEF_MILLISECONDS = 5000;

interface SampleProps {
  session: Session;
  name: string;
  columns: readonly RelationColumn[];
}

export function Sample({ session, name, columns }: SampleProps) {
  const [{ number, isPatient }, setAsked] = useState({ number: 0, isPatient: false });
  const variables = columns.map((_, place) => `V${place + 1}`).join(", ");
  const query = `?${name}(${variables}), limit(${MOST})`;
  const found = useTask(
    (signal) =>
      session.looking.execute(query, {
        reads: true,
        signal,
        ...(isPatient ? {} : { timeout: BRIEF_MILLISECONDS }),
      }),
    [session, query, number],
  );
  const again = (waits: boolean) => setAsked({ number: number + 1, isPatient: waits });
  const result = found.value;
  const titles = columns.map((column) => column.name).join("\n");
  const shown = useMemo(() => {
    const all: GridColumn[] = titles
      .split("\n")
      .map((title, place) => ({ name: title, type: result?.types[place] }));
    return { columns: all, cell: (row: number, column: number) => result?.cell(row, column) ?? null };
  }, [result, titles]);
  const isLate = found.state === "failed" && !isPatient && found.problem instanceof QueryTimeout;
  return (
    <section>
      <h2>Rows</h2>
      {isLate ? (
        <p class="buttons">
          <span>They were not there after {duration(BRIEF_MILLISECONDS)}.</span>
          <button type="button" onClick={() => again(true)}>
            Wait for them
          </button>
        </p>
      ) : (
        <Shown task={found}>
          {(rows) => (
            <>
              <p class="buttons">
                <span class="quiet" role="status">
                  {rows.rowCount < rows.totalCount
                    ? `${count(rows.rowCount)} of ${count(rows.totalCount)} rows, the smallest first`
                    : `${count(rows.rowCount)} of ${count(rows.totalCount)} rows`}
                </span>
                <button type="button" disabled={found.state === "running"} onClick={() => again(isPatient)}>
                  Read again
                </button>
              </p>
              {columns.length === 0 ? (
                <p>{rows.totalCount > 0 ? "It holds." : "It does not hold."}</p>
              ) : (
                <div class="relation-sample" style={{ height: `${Math.min(rows.rowCount, 12) * 28 + 48}px` }}>
                  <Grid
                    label={`Rows of ${name}`}
                    columns={shown.columns}
                    rowCount={rows.rowCount}
                    cell={shown.cell}
                  />
                </div>
              )}
            </>
          )}
        </Shown>
      )}
    </section>
  );
}
