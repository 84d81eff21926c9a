// Backups of the whole server. For administrators.

import { ParseError, type Value } from "@stratalog/client";
import { useState } from "preact/hooks";
import { Cell } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import { Said } from "../parts/Said.tsx";
import { bytes, count } from "../parts/text.ts";
import { useAction } from "../parts/useAction.ts";
import { useTask } from "../parts/useTask.ts";
import type { ViewProps } from "../session/session.ts";
import { checked } from "./checked.ts";
import { Listing } from "./Listing.tsx";
import { command, problemOfBackup } from "./words.ts";

interface Backup {
  number: number;
  moment: Value;
  knowledge_graphs: number;
  bytes: number;
}

export function BackupsPart({ session }: ViewProps) {
  const { looking } = session;
  const [round, setRound] = useState(0);
  const [adding, naming] = [useAction(), useAction()];
  const task = useTask(
    async (signal) => (await looking.execute(".backup list", { reads: true, signal })).objects<Backup>(),
    [session, round],
  );
  // It takes as long as it takes.
  const back = (...words: string[]) => looking.execute(command("backup", ...words), { timeout: Infinity });
  const add = async () => {
    if ((await adding.run(() => back())) !== undefined) setRound(round + 1);
  };
  const copy = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name"));
    if ((await naming.run(async () => back(name))) !== undefined) form.reset();
  };
  // Without a folder of backups there is no list; the server says what to do.
  const isUnset = task.state === "failed" && task.problem instanceof ParseError;
  return (
    <section class="part">
      <h2>Backups at intervals</h2>
      {task.state === "failed" && task.problem instanceof ParseError && (
        <p class="notice">
          {task.problem.message}: {task.problem.help}
        </p>
      )}
      {task.state === "failed" && !isUnset && <Failure problem={task.problem} />}
      {task.state === "running" && task.value === undefined && <p class="waiting quiet">…</p>}
      {task.state !== "failed" && task.value !== undefined && (
        <>
          <Listing
            label="backups"
            items={[...task.value].sort((left, right) => right.number - left.number)}
            none="There are none yet."
            keyOf={({ number }) => String(number)}
            textOf={({ number, moment }) => `${number} ${String(moment)}`}
            columns={[
              { title: "Number", cell: ({ number }) => String(number), isNumber: true },
              { title: "Moment", cell: ({ moment }) => <Cell value={moment} /> },
              { title: "Graphs", cell: (each) => count(each.knowledge_graphs), isNumber: true },
              { title: "Size", cell: (each) => bytes(each.bytes), isNumber: true },
            ]}
          />
          <p class="buttons">
            <button type="button" disabled={adding.isBusy} onClick={() => void add()}>
              {adding.isBusy ? "Backing up…" : "Back up now"}
            </button>
          </p>
          <Said action={adding} />
        </>
      )}
      <h2>A backup with a name</h2>
      <p class="quiet">
        All graphs and accounts are copied to a new folder of this name in the server's backup folder. Writes
        go on meanwhile; what this page asks beside that waits.
      </p>
      <form class="wide-form" onSubmit={(event) => void copy(event)}>
        <div>
          <label for="backup-name">Name</label>
          <input
            id="backup-name"
            name="name"
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={checked(problemOfBackup)}
          />
        </div>
        <button type="submit" class="main" disabled={naming.isBusy}>
          {naming.isBusy ? "Backing up…" : "Back up"}
        </button>
      </form>
      <Said action={naming} />
    </section>
  );
}
