// Open sessions: one's own, or, for administrators, all of them.

import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { count, duration } from "../parts/text.ts";
import type { ViewProps } from "../session/session.ts";
import { Listing } from "./Listing.tsx";
import { usePolled } from "./usePolled.ts";
import { command } from "./words.ts";

const EVERY_MILLISECONDS = 5_000;

interface OpenSession {
  id: string;
  user: string;
  api_key: string | null;
  knowledge_graph: string;
  connections: number;
  idle_ms: number;
}

export function SessionsPart({ session }: ViewProps) {
  const { looking, asking, isAdmin } = session;
  const work = async (signal: AbortSignal) => {
    const result = await looking.execute(".session open", { reads: true, signal });
    return result.objects<OpenSession>();
  };
  const { task, again } = usePolled(work, EVERY_MILLISECONDS, [session]);
  const own = new Set([looking.session.sessionId, asking.session.sessionId]);
  const end = async ({ id }: OpenSession) => {
    await looking.execute(command("session", "kill", id));
    again();
  };
  return (
    <section class="part">
      <h2>{isAdmin ? "Sessions of all users" : "Your sessions"}</h2>
      <p class="quiet">
        This page has two, and one for each query that it watches and for each list of what happens. A session
        waits a while for a client that has lost its connection.
      </p>
      <Shown task={task}>
        {(sessions) => (
          <Listing
            label="sessions"
            items={sessions}
            none="There are no sessions."
            keyOf={({ id }) => id}
            textOf={(each) => [each.id, each.user, each.api_key ?? "", each.knowledge_graph].join(" ")}
            columns={[
              { title: "User", cell: ({ user }) => <bdi>{seen(user)}</bdi> },
              { title: "Key", cell: ({ api_key: key }) => <bdi>{seen(key ?? "–")}</bdi> },
              { title: "Graph", cell: (each) => <bdi>{seen(each.knowledge_graph)}</bdi> },
              { title: "Connections", cell: ({ connections }) => count(connections), isNumber: true },
              { title: "Silent for", cell: (each) => duration(each.idle_ms), isNumber: true },
              { title: "Session", cell: ({ id }) => <code>{seen(id)}</code> },
              {
                title: "",
                cell: (each) =>
                  own.has(each.id) ? (
                    <span class="tag">this page</span>
                  ) : (
                    <Sure
                      label="End"
                      class="danger"
                      what={
                        <>
                          The session of <bdi>{seen(each.user)}</bdi> ends, with its connections, their
                          requests and the facts and rules that it holds.
                        </>
                      }
                      act={() => end(each)}
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
