// What the server has measured over the last hour, as far as this page was open and seen. For administrators.

import { Lines } from "../live/Lines.tsx";
import { Failure } from "../parts/Failure.tsx";
import { count } from "../parts/text.ts";
import type { ViewProps } from "../session/session.ts";
import { CHARTS, seriesOf } from "./charts.ts";
import { Listing } from "./Listing.tsx";
import { measure, readings, unreadable } from "./measured.ts";

export function MetricsPart(_: ViewProps) {
  const all = readings.value;
  const problem = unreadable.value;
  const last = all.at(-1);
  return (
    <section class="part">
      <h2>The last hour</h2>
      <p class="quiet">
        A reading every 5 s while this page is open and seen; {count(all.length)} by now. They are in the
        memory of this page only. Times are estimated from buckets of the last half minute.
      </p>
      {problem !== undefined && (
        <>
          <Failure problem={problem} />
          <button type="button" onClick={() => measure()}>
            Try again
          </button>
        </>
      )}
      {last === undefined && problem === undefined && <p class="waiting quiet">…</p>}
      {last !== undefined && (
        <>
          <div class="charts">
            {CHARTS.map((chart) => {
              const series = seriesOf(chart, all);
              if (series.length === 0) return null;
              return (
                <Lines
                  key={chart.title}
                  title={chart.title}
                  series={series}
                  yText={chart.text}
                  xText={clock}
                  fromZero
                />
              );
            })}
          </div>
          <h3>All numbers of {clock(last.time)}</h3>
          <Listing
            label="metrics"
            items={[...last.values]}
            none="There are none."
            keyOf={([name]) => name}
            textOf={([name]) => name}
            columns={[
              { title: "Metric", cell: ([name]) => <code>{name}</code> },
              { title: "Value", cell: ([, value]) => count(value), isNumber: true },
            ]}
          />
        </>
      )}
    </section>
  );
}

function clock(time: number): string {
  return new Date(time).toLocaleTimeString("en-GB");
}
