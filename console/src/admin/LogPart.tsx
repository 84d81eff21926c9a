// What has happened on the graph in use, the latest first.

import { useEffect, useMemo } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import { Grid } from "../parts/Grid.tsx";
import { count } from "../parts/text.ts";
import { address, rename, to } from "../session/address.ts";
import type { ViewProps } from "../session/session.ts";
import { listen, log } from "./happened.ts";
import { COLUMNS, filtered, MOST_HAPPENINGS, rowOf } from "./happening.ts";

export function LogPart({ session }: ViewProps) {
  const { happenings, told, isOpen, problem } = log.value;
  const filter = address.value.values["filter"] ?? "";
  useEffect(listen, [session]);
  const rows = useMemo(() => filtered(happenings, filter).map(rowOf), [happenings, filter]);
  const setFilter = (text: string) => rename(to("admin", ["log"], text === "" ? {} : { filter: text }));
  return (
    <section class="part">
      <h2>
        What has happened on <bdi>{seen(session.graph.value)}</bdi>
      </h2>
      <label for="log-filter">Filter</label>
      <input
        id="log-filter"
        class="listing-filter"
        type="search"
        placeholder="words, such as: edge insert"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <>
          <Failure problem={problem} />
          <button type="button" onClick={listen}>
            Try again
          </button>
        </>
      )}
      {!isOpen && problem === undefined && <p class="waiting quiet">…</p>}
      <p class="quiet" hidden={!isOpen && problem === undefined}>
        {count(rows.length)} of {count(happenings.length)} events are shown
        {told > happenings.length &&
          `; ${count(told)} were told, and the last ${count(MOST_HAPPENINGS)} are kept`}
        . Changes of facts, rules and schemas are those of this graph; graphs that come and go are told of all
        that you may see.
      </p>
      <div class="log-rows">
        <Grid
          label="Events"
          columns={COLUMNS}
          rowCount={rows.length}
          cell={(row, column) => rows[row]?.[column] ?? null}
        />
      </div>
    </section>
  );
}
