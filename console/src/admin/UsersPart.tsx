// Who may log in. For administrators.

import { useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { useTask } from "../parts/useTask.ts";
import { to } from "../session/address.ts";
import type { ViewProps } from "../session/session.ts";
import { Listing } from "./Listing.tsx";
import { NewUser } from "./NewUser.tsx";
import { ChangePassword, ChangeRole, type User } from "./UserChanges.tsx";
import { command } from "./words.ts";

/** This user cannot be dropped, and stays an administrator. */
const FIRST = "admin";

export function UsersPart({ session }: ViewProps) {
  const { looking } = session;
  const [round, setRound] = useState(0);
  const again = () => setRound(round + 1);
  const task = useTask(
    async (signal) => (await looking.execute(".user list", { reads: true, signal })).objects<User>(),
    [session, round],
  );
  const drop = async ({ username }: User) => {
    await looking.execute(command("user", "drop", username));
    again();
  };
  return (
    <section class="part">
      <h2>Users</h2>
      <Shown task={task}>
        {(users) => (
          <Listing
            label="users"
            items={users}
            none="There are no users."
            keyOf={({ username }) => username}
            textOf={({ username, role }) => `${username} ${role}`}
            columns={[
              { title: "User", cell: ({ username }) => <bdi>{seen(username)}</bdi> },
              { title: "Role", cell: ({ role }) => role },
              {
                title: "",
                cell: (user) =>
                  user.username === session.user ? (
                    <>
                      <span class="tag">you</span> <a href={to("admin", ["password"])}>Password</a>
                    </>
                  ) : (
                    <>
                      {user.username !== FIRST && <ChangeRole session={session} user={user} onDone={again} />}
                      <ChangePassword session={session} user={user} />
                      {user.username !== FIRST && (
                        <Sure
                          label="Drop"
                          class="danger"
                          what={
                            <>
                              The user <bdi>{seen(user.username)}</bdi> is dropped, with all API keys and all
                              entries for graphs, and all sessions of this user end.
                            </>
                          }
                          act={() => drop(user)}
                        />
                      )}
                    </>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      <h3>New user</h3>
      <NewUser session={session} onDone={again} />
    </section>
  );
}
