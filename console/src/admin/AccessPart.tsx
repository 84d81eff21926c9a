// Who may do what on the graph in use. For its owners, and for administrators.

import { useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Said } from "../parts/Said.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { useAction } from "../parts/useAction.ts";
import { useTask } from "../parts/useTask.ts";
import type { ViewProps } from "../session/session.ts";
import { checked } from "./checked.ts";
import { Listing } from "./Listing.tsx";
import { command, problemOfName } from "./words.ts";

interface Access {
  username: string;
  level: string;
}

const LEVELS = [
  { level: "viewer", may: "asks" },
  { level: "editor", may: "also changes facts and rules" },
  { level: "owner", may: "also says who may use the graph, and drops it" },
] as const;

export function AccessPart({ session }: ViewProps) {
  const { looking, isAdmin } = session;
  const graph = session.graph.value;
  const [round, setRound] = useState(0);
  const [user, setUser] = useState("");
  const [level, setLevel] = useState<string>("viewer");
  const action = useAction();

  const task = useTask(
    async (signal) => {
      const [entries, users] = await Promise.all([
        looking.execute(".kg acl list", { reads: true, signal }),
        // Who there is, only administrators may know.
        isAdmin ? looking.execute(".user list", { reads: true, signal }) : undefined,
      ]);
      const names = users?.column("username").toArray().map(String) ?? [];
      return { entries: entries.objects<Access>(), names };
    },
    [session, graph, round],
  );

  /** Reads again who may do what; the own level may be another one, too. */
  const changed = () => {
    setRound(round + 1);
    void session.refresh();
  };
  // Whoever gives away what makes an owner of them is asked first.
  const isOwn = user !== "" && user === session.user && level !== "owner" && !isAdmin;
  const grant = async () => {
    const result = await looking.execute(command("kg", "acl", "grant", graph, user, level));
    setUser("");
    changed();
    return result;
  };
  const revoke = async ({ username }: Access) => {
    await looking.execute(command("kg", "acl", "revoke", graph, username));
    changed();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isOwn) void action.run(grant);
  };

  return (
    <section class="part">
      <h2>
        Who may use <bdi>{seen(graph)}</bdi>
      </h2>
      <p class="quiet">
        Administrators may do everything on every graph.
        {graph === "default" &&
          " On default, whoever has no entry has the level of their role, unless the server's settings say otherwise."}
      </p>
      <Shown task={task}>
        {({ entries, names }) => (
          <>
            <Listing
              label="entries"
              items={entries}
              none="Nobody has an entry for this graph."
              keyOf={({ username }) => username}
              textOf={({ username, level }) => `${username} ${level}`}
              columns={[
                { title: "User", cell: ({ username }) => <bdi>{seen(username)}</bdi> },
                { title: "Level", cell: ({ level }) => level },
                {
                  title: "",
                  cell: (entry) => (
                    <Sure
                      label="Revoke"
                      class="danger"
                      what={
                        <>
                          <bdi>{seen(entry.username)}</bdi> has no entry for <bdi>{seen(graph)}</bdi> any
                          more.
                          {entry.username === session.user && " That is you."}
                        </>
                      }
                      act={() => revoke(entry)}
                    />
                  ),
                },
              ]}
            />
            <h3>Give somebody a level</h3>
            <form class="wide-form" onSubmit={submit}>
              <div>
                <label for="grant-user">User</label>
                <input
                  id="grant-user"
                  list="grant-users"
                  required
                  autocomplete="off"
                  autocapitalize="none"
                  spellcheck={false}
                  value={user}
                  onInput={(event) => {
                    checked(problemOfName)(event);
                    setUser(event.currentTarget.value);
                  }}
                />
                <datalist id="grant-users">
                  {names.map((name) => (
                    <option key={name} value={name} />
                  ))}
                </datalist>
              </div>
              <div>
                <label for="grant-level">Level</label>
                <select
                  id="grant-level"
                  value={level}
                  onChange={(event) => setLevel(event.currentTarget.value)}
                >
                  {LEVELS.map((each) => (
                    <option key={each.level} value={each.level}>
                      {each.level}: {each.may}
                    </option>
                  ))}
                </select>
              </div>
              {isOwn ? (
                <Sure
                  label="Give"
                  class="main"
                  what={`That is you: as ${level} you no longer say who may use this graph.`}
                  act={grant}
                />
              ) : (
                <button type="submit" class="main" disabled={action.isBusy}>
                  Give
                </button>
              )}
            </form>
            {entries.some(({ username }) => username === user) && (
              <p class="quiet">It takes the place of the level from before.</p>
            )}
            <Said action={action} />
          </>
        )}
      </Shown>
    </section>
  );
}
