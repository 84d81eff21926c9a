// The server: what it is, who may do what, what runs and what has happened; of all that, what the user may see.

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Tabs } from "../parts/Tabs.tsx";
import { address, to } from "../session/address.ts";
import type { Session, ViewProps } from "../session/session.ts";
import { AccessPart } from "./AccessPart.tsx";
import { BackupsPart } from "./BackupsPart.tsx";
import { KeysPart } from "./KeysPart.tsx";
import { LiveQueriesPart } from "./LiveQueriesPart.tsx";
import { LogPart } from "./LogPart.tsx";
import { MetricsPart } from "./MetricsPart.tsx";
import { measure } from "./measured.ts";
import { PasswordPart } from "./PasswordPart.tsx";
import { RequestsPart } from "./RequestsPart.tsx";
import { SessionsPart } from "./SessionsPart.tsx";
import { StatusPart } from "./StatusPart.tsx";
import { UsersPart } from "./UsersPart.tsx";
import "../live/live.css";
import "./admin.css";

interface Part {
  /** Its name in the address. */
  readonly name: string;
  readonly title: string;
  readonly Shown: ComponentType<ViewProps>;
  /** For whom it is; for everybody if it is not said. */
  readonly isFor?: (session: Session) => boolean;
}

const administers = (session: Session) => session.isAdmin;

const PARTS: readonly Part[] = [
  { name: "status", title: "Status", Shown: StatusPart },
  { name: "metrics", title: "Metrics", Shown: MetricsPart, isFor: administers },
  { name: "requests", title: "Requests", Shown: RequestsPart, isFor: administers },
  { name: "live", title: "Live queries", Shown: LiveQueriesPart, isFor: administers },
  { name: "sessions", title: "Sessions", Shown: SessionsPart },
  { name: "log", title: "Log", Shown: LogPart },
  { name: "access", title: "Access", Shown: AccessPart, isFor: (session) => session.may("owner") },
  { name: "users", title: "Users", Shown: UsersPart, isFor: administers },
  { name: "keys", title: "Keys", Shown: KeysPart, isFor: administers },
  { name: "backups", title: "Backups", Shown: BackupsPart, isFor: administers },
  // Those who came with a key may not change a password.
  { name: "password", title: "Password", Shown: PasswordPart, isFor: ({ user }) => user !== undefined },
];

export function AdminView({ session }: ViewProps) {
  const name = address.value.parts[0] ?? "status";
  const isAdmin = session.isAdmin;
  const offered = PARTS.filter(({ isFor }) => isFor?.(session) ?? true);
  const chosen = offered.find((part) => part.name === name);
  const isKnown = session.level.value !== undefined;

  // The charts have something to show when somebody comes to them.
  useEffect(() => {
    if (isAdmin) measure();
  }, [session, isAdmin]);

  return (
    <>
      <h1 class="unseen">Server</h1>
      <Tabs
        label="Parts"
        current={name}
        tabs={offered.map((part) => ({ name: part.name, title: part.title, href: to("admin", [part.name]) }))}
      />
      {chosen !== undefined ? (
        <chosen.Shown key={chosen.name} session={session} />
      ) : isKnown ? (
        <p class="quiet">There is no such part, or it is not for you.</p>
      ) : (
        <p class="waiting quiet">…</p>
      )}
    </>
  );
}
