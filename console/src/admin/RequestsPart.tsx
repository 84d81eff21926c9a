// What is being asked at the moment, by everybody. For administrators.

import { useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { bytes, count, duration } from "../parts/text.ts";
import type { ViewProps } from "../session/session.ts";
import { Folded } from "./Folded.tsx";
import { Listing } from "./Listing.tsx";
import { usePolled } from "./usePolled.ts";
import { command } from "./words.ts";

const EVERY_MILLISECONDS = 2_000;
const LIST = ".query list";

interface Request {
  id: number;
  user: string;
  knowledge_graph: string;
  session: string;
  state: string;
  started: unknown;
  elapsed_ms: number;
  program: string;
  rounds: number;
  rows: number;
  memory_bytes: number;
}

export function RequestsPart({ session }: ViewProps) {
  const { looking } = session;
  const [isStill, setStill] = useState(false);
  const work = async (signal: AbortSignal) => {
    const result = await looking.execute(LIST, { reads: true, signal });
    // The one that asks for the list is always there.
    const isThis = (each: Request) => each.session === looking.session.sessionId && each.program === LIST;
    return result.objects<Request>().filter((each) => !isThis(each));
  };
  const { task, again } = usePolled(work, isStill ? Infinity : EVERY_MILLISECONDS, [session, isStill]);
  const kill = async ({ id }: Request) => {
    await looking.execute(command("query", "kill", String(id)));
    again();
  };
  return (
    <section class="part">
      <h2>Requests that wait or run</h2>
      <p class="buttons">
        <button type="button" onClick={() => setStill(!isStill)}>
          {isStill ? "Go on" : "Hold still"}
        </button>
        <span class="quiet">
          {isStill ? "The list stands still." : `Read again every ${EVERY_MILLISECONDS / 1000} s.`} Of a
          program, the server tells the first 200 characters, with stars for passwords.
        </span>
      </p>
      <Shown task={task}>
        {(requests) => (
          <Listing
            label="requests"
            items={requests}
            none="Nothing runs but what asks for this list."
            keyOf={({ id }) => String(id)}
            textOf={(each) => [each.id, each.user, each.knowledge_graph, each.state, each.program].join(" ")}
            columns={[
              { title: "Id", cell: ({ id }) => String(id), isNumber: true },
              { title: "User", cell: ({ user }) => <bdi>{seen(user)}</bdi> },
              { title: "Graph", cell: (each) => <bdi>{seen(each.knowledge_graph)}</bdi> },
              { title: "State", cell: ({ state }) => state },
              { title: "For", cell: (each) => duration(each.elapsed_ms), isNumber: true },
              { title: "Rounds", cell: ({ rounds }) => count(rounds), isNumber: true },
              { title: "Rows found", cell: ({ rows }) => count(rows), isNumber: true },
              { title: "Memory", cell: (each) => bytes(each.memory_bytes), isNumber: true },
              { title: "Program", cell: ({ program }) => <Folded text={program} /> },
              {
                title: "",
                cell: (each) => (
                  <Sure
                    label="Kill"
                    class="danger"
                    what={
                      <>
                        Request {each.id} of <bdi>{seen(each.user)}</bdi> is stopped, and its user is told so.
                      </>
                    }
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
