// What is watched on the graph in use: each query with how it is, and a line of its rows.

import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { count, counted } from "../parts/text.ts";
import { to } from "../session/address.ts";
import { Lines } from "./Lines.tsx";
import type { Watch } from "./Watch.ts";
import { WatchStatus } from "./WatchStatus.tsx";
import { watches } from "./watching.ts";

/** Of a longer query, so many signs are shown here. */
const SHORT = 160;

export function WatchedList({ chosen }: { chosen: string | undefined }) {
  const all = [...watches.value.values()];
  if (all.length === 0) return null;
  return (
    <nav aria-label="Watched queries">
      <ul class="watched">
        {all.map((each) => (
          <Item key={each.id} watch={each} isChosen={each.id === chosen} />
        ))}
      </ul>
    </nav>
  );
}

function Item({ watch, isChosen }: { watch: Watch; isChosen: boolean }) {
  const { rows, changes, line } = watch.counts.value;
  const signs = [...watch.query];
  const text = signs.length > SHORT ? `${signs.slice(0, SHORT).join("")}…` : watch.query;
  return (
    <li>
      <a href={to("live", [watch.id])} aria-current={isChosen ? "true" : undefined}>
        <bdi>
          <Code text={seen(text)} />
        </bdi>
        <span class="watched-counts">
          <WatchStatus watch={watch} />
          {changes > 0 && <span>{counted(rows, "row")}</span>}
          {changes > 1 && <span>{counted(changes - 1, "change")}</span>}
        </span>
        <Lines
          title="Rows"
          series={[{ name: "rows", points: line }]}
          yText={count}
          xText={(version) => `version ${version}`}
          isStep
          isSmall
        />
      </a>
    </li>
  );
}
