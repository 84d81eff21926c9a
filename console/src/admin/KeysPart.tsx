// API keys: those there are, and new ones. For administrators.

import type { Value } from "@stratalog/client";
import { useState } from "preact/hooks";
import { Cell, seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { useTask } from "../parts/useTask.ts";
import type { ViewProps } from "../session/session.ts";
import { Listing } from "./Listing.tsx";
import { NewKey } from "./NewKey.tsx";
import { command } from "./words.ts";

interface Key {
  label: string;
  owner: string;
  created: Value;
  expires: Value;
  scope: string;
}

export function KeysPart({ session }: ViewProps) {
  const { looking } = session;
  const [round, setRound] = useState(0);
  const again = () => setRound(round + 1);
  const task = useTask(
    async (signal) => {
      const [keys, users] = await Promise.all([
        looking.execute(".apikey list", { reads: true, signal }),
        looking.execute(".user list", { reads: true, signal }),
      ]);
      return { keys: keys.objects<Key>(), users: users.column("username").toArray().map(String) };
    },
    [session, round],
  );
  const revoke = async ({ label }: Key) => {
    await looking.execute(command("apikey", "revoke", label));
    again();
  };
  return (
    <section class="part">
      <h2>API keys</h2>
      <p class="quiet">
        A key is for programs, in place of name and password. It never gives more than its owner has, and is
        shown once.
      </p>
      <Shown task={task}>
        {({ keys, users }) => (
          <>
            <Listing
              label="keys"
              items={keys}
              none="There are no keys."
              keyOf={({ label }) => label}
              textOf={({ label, owner, scope }) => `${label} ${owner} ${scope}`}
              columns={[
                { title: "Label", cell: ({ label }) => <bdi>{seen(label)}</bdi> },
                { title: "Owner", cell: ({ owner }) => <bdi>{seen(owner)}</bdi> },
                { title: "Created", cell: ({ created }) => <Cell value={created} /> },
                { title: "Expires", cell: ({ expires }) => <Expiry at={expires} /> },
                { title: "Scope", cell: ({ scope }) => scope },
                {
                  title: "",
                  cell: (key) => (
                    <Sure
                      label="Revoke"
                      class="danger"
                      what={
                        <>
                          The key <bdi>{seen(key.label)}</bdi> opens nothing any more, and the sessions that
                          it has opened end.
                        </>
                      }
                      act={() => revoke(key)}
                    />
                  ),
                },
              ]}
            />
            <h3>New key</h3>
            <NewKey session={session} users={users} onDone={again} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Expiry({ at }: { at: Value }) {
  if (at === null) return <>never</>;
  return (
    <>
      <Cell value={at} />
      {at instanceof Date && at.getTime() <= Date.now() && <span class="tag">expired</span>}
    </>
  );
}
