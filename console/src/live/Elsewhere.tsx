// On which other graphs queries are watched when the page is on them.

import { writeAddress } from "../session/address.ts";
import { allWatched } from "./watching.ts";

export function Elsewhere({ graph }: { graph: string }) {
  const counts = new Map<string, number>();
  for (const each of allWatched()) {
    if (each.graph !== graph) counts.set(each.graph, (counts.get(each.graph) ?? 0) + 1);
  }
  if (counts.size === 0) return null;
  return (
    <p class="quiet">
      Kept for other graphs:{" "}
      {[...counts].map(([name, number], place) => (
        <span key={name}>
          {place > 0 && ", "}
          <a href={writeAddress({ graph: name, view: "live", parts: [], values: {} })}>
            <bdi>{name}</bdi>
          </a>{" "}
          ({number})
        </span>
      ))}
    </p>
  );
}
