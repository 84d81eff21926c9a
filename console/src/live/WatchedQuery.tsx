// A query that is watched: how it is, how many rows it had at which version, and its rows.

import { useEffect } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { Failure } from "../parts/Failure.tsx";
import { count, counted } from "../parts/text.ts";
import { go, to } from "../session/address.ts";
import { Lines } from "./Lines.tsx";
import { MARK_MILLISECONDS, MOST_GONE } from "./picture.ts";
import type { Watch } from "./Watch.ts";
import { WatchedRows } from "./WatchedRows.tsx";
import { WatchStatus } from "./WatchStatus.tsx";
import { unwatch } from "./watching.ts";

export function WatchedQuery({ watch }: { watch: Watch }) {
  useEffect(() => watch.look(), [watch]);
  const isEnded = watch.state.value === "ended";
  const isPaused = watch.isPaused.value;
  const { version, rows, changes, came, went, resets, line } = watch.counts.value;
  const stop = () => {
    unwatch(watch.id);
    go(to("live"));
  };
  return (
    <section class="watch" aria-labelledby="watch-title">
      <h2 id="watch-title">
        <bdi>
          <Code text={seen(watch.query)} />
        </bdi>
      </h2>
      <div class="watch-bar">
        <span role="status">
          <WatchStatus watch={watch} />
        </span>
        {changes > 0 && <span>version {count(version)}</span>}
        <span class="buttons">
          {!isEnded && (
            <button type="button" onClick={() => watch.pause(!isPaused)}>
              {isPaused ? "Go on" : "Pause"}
            </button>
          )}
          {watch.order.value !== undefined && (
            <button type="button" onClick={() => watch.sort(undefined)}>
              Latest first
            </button>
          )}
          <a class="button" href={to("ask", [], { q: watch.query })}>
            Ask
          </a>
          <button type="button" onClick={stop}>
            Stop
          </button>
        </span>
      </div>
      {isPaused && !isEnded && (
        <p class="notice">
          The picture stands still; {counted(watch.waiting.value, "change waits", "changes wait")}.
        </p>
      )}
      {isEnded && (
        <>
          <Failure problem={watch.problem.value} />
          <p class="buttons">
            <button type="button" class="main" onClick={() => watch.again()}>
              Try again
            </button>
            {changes > 0 && <span class="quiet">Below are the rows of version {count(version)}.</span>}
          </p>
        </>
      )}
      {changes === 0 && !isEnded && <p class="waiting quiet">Waiting for the first rows…</p>}
      {changes > 0 && (
        <>
          <p class="watch-counts">
            <span>{counted(rows, "row")}</span>
            <span>{counted(changes - 1 - resets, "change")}</span>
            <span>{count(came)} came</span>
            <span>{count(went)} went</span>
            {resets > 0 && <span>all rows anew {counted(resets, "time")}</span>}
          </p>
          <Lines
            title="Rows by version"
            series={[{ name: "rows", points: line }]}
            yText={count}
            xText={(at) => `version ${count(at)}`}
            isStep
          />
          <WatchedRows watch={watch} />
          <p class="quiet">
            <span class="watch-sign">+</span> has just come, <span class="watch-sign">−</span> has just gone
            and is shown for {MARK_MILLISECONDS / 1000} s, of very many the last {count(MOST_GONE)}.
          </p>
        </>
      )}
    </section>
  );
}
