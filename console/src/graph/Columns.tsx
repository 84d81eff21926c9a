// The columns of a relation, with statistics: at once where that is little work, else when somebody asks for
// them.

import { useState } from "preact/hooks";
import { Cell, seen } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import { count, counted, duration } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import type { Relation, RelationColumn } from "../session/catalog.ts";
import type { Session } from "../session/session.ts";
import { type ColumnStatistics, MOST_COLUMNS, SMALL, statisticsOf, statisticsQuery } from "./statistics.ts";
import { Wide } from "./Wide.tsx";

interface ColumnsProps {
  session: Session;
  relation: Relation;
  columns: readonly RelationColumn[];
  /** Whether derived rows are at hand. */
  isKept: boolean;
}

export function Columns({
  session,
  relation: { name, rows, isAttached, isDerived },
  columns,
  isKept,
}: ColumnsProps) {
  const isCheap = (!isDerived || isKept) && !isAttached && (rows ?? 0) <= SMALL;
  // What was cheap when the page was opened stays shown.
  const [asked, setAsked] = useState(isCheap ? 1 : 0);
  const types = columns.map(({ type }) => type);
  const query = statisticsQuery(name, types);
  const found = useTask(
    async (signal) => {
      if (asked === 0 || types.length === 0) return undefined;
      const result = await session.looking.execute(query, { reads: true, signal });
      return { ...statisticsOf(result, types), elapsedMs: result.elapsedMs };
    },
    [session, query, asked],
  );
  if (columns.length === 0) return <p>It has no columns: it holds, or it does not.</p>;
  const statistics = found.value;
  return (
    <section>
      <h2>Columns</h2>
      <Wide label="Columns">
        <table class="relation-table" aria-busy={found.state === "running" && asked > 0}>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Type</th>
              {statistics !== undefined && (
                <>
                  <th scope="col" class="right">
                    Values
                  </th>
                  <th scope="col" class="right">
                    Nulls
                  </th>
                  <th scope="col">Smallest</th>
                  <th scope="col">Largest</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {columns.map((column, place) => (
              <tr key={place}>
                <th scope="row">
                  <bdi>{seen(column.name)}</bdi>
                </th>
                <td>
                  <code>{seen(column.type)}</code>
                </td>
                {statistics !== undefined && (
                  <Numbers of={statistics.columns[place]} rows={statistics.rows} />
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {found.state === "failed" && <Failure problem={found.problem} />}
      <p class="buttons">
        <button
          type="button"
          disabled={asked > 0 && found.state === "running"}
          onClick={() => setAsked((now) => now + 1)}
        >
          {asked === 0
            ? "Count values"
            : asked > 0 && found.state === "running"
              ? "Counting…"
              : "Count again"}
        </button>
        {asked > 0 && found.state === "running" && (
          <button type="button" onClick={() => setAsked(0)}>
            Stop
          </button>
        )}
        <span class="quiet" role="status">
          {statistics !== undefined &&
            `of ${counted(statistics.rows, "row")}${statistics.elapsedMs < 1 ? "" : `, in ${duration(statistics.elapsedMs)}`}`}
          {asked === 0 && (isDerived ? "This derives all of its rows." : "This reads all of its rows.")}
        </span>
        {statistics !== undefined && columns.length > MOST_COLUMNS && (
          <span class="quiet">
            {MOST_COLUMNS} of {columns.length} columns are counted.
          </span>
        )}
      </p>
    </section>
  );
}

function Numbers({ of, rows }: { of: ColumnStatistics | undefined; rows: number }) {
  if (of === undefined) return <td colSpan={4} />;
  const { distinct, nulls, least, greatest } = of;
  return (
    <>
      <td class="right">
        {count(distinct)} {distinct === rows && rows > 1 && <span class="quiet">each once</span>}
      </td>
      <td class="right">{count(nulls)}</td>
      <td class="relation-value">{least !== undefined && <Cell value={least} most={60} />}</td>
      <td class="relation-value">{greatest !== undefined && <Cell value={greatest} most={60} />}</td>
    </>
  );
}
