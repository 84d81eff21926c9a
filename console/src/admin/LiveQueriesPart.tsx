// What everybody watches. For administrators.

import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { bytes, count, counted, duration } from "../parts/text.ts";
import type { ViewProps } from "../session/session.ts";
import { Folded } from "./Folded.tsx";
import { Listing } from "./Listing.tsx";
import { usePolled } from "./usePolled.ts";
import { command } from "./words.ts";

const EVERY_MILLISECONDS = 2_000;

interface LiveQuery {
  id: number;
  knowledge_graph: string;
  subscribers: number;
  version: number | null;
  behind: number;
  took_ms: number;
  bytes: number;
  query: string;
}

export function LiveQueriesPart({ session }: ViewProps) {
  const { looking } = session;
  const work = async (signal: AbortSignal) =>
    (await looking.execute(".live list", { reads: true, signal })).objects<LiveQuery>();
  const { task, again } = usePolled(work, EVERY_MILLISECONDS, [session]);
  const kill = async ({ id }: LiveQuery) => {
    await looking.execute(command("live", "kill", String(id)));
    again();
  };
  return (
    <section class="part">
      <h2>Live queries of everybody</h2>
      <Shown task={task}>
        {(queries) => (
          <Listing
            label="live queries"
            items={queries}
            none="Nobody watches a query."
            keyOf={({ id }) => String(id)}
            textOf={(each) => [each.id, each.knowledge_graph, each.query].join(" ")}
            columns={[
              { title: "Id", cell: ({ id }) => String(id), isNumber: true },
              { title: "Graph", cell: (each) => <bdi>{seen(each.knowledge_graph)}</bdi> },
              { title: "Subscribers", cell: ({ subscribers }) => count(subscribers), isNumber: true },
              {
                title: "Version",
                cell: ({ version }) => (version === null ? "–" : count(version)),
                isNumber: true,
              },
              { title: "Behind", cell: ({ behind }) => count(behind), isNumber: true },
              { title: "Last step", cell: (each) => duration(each.took_ms), isNumber: true },
              { title: "Memory", cell: (each) => bytes(each.bytes), isNumber: true },
              { title: "Query", cell: ({ query }) => <Folded text={query} /> },
              {
                title: "",
                cell: (each) => (
                  <Sure
                    label="Kill"
                    class="danger"
                    what={`Live query ${each.id} ends, and ${counted(each.subscribers, "subscriber is", "subscribers are")} told so.`}
                    act={() => kill(each)}
                  />
                ),
              },
            ]}
          />
        )}
      </Shown>
    </section>
  );
}
