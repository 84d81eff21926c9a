// Asks a program in the user's session, whose facts and rules count, and shows its answer when it is there.

import type { Result } from "@stratalog/client";
import type { ComponentChildren } from "preact";
import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { useTask } from "../parts/useTask.ts";
import { paramsFor } from "../program/params.ts";
import type { Session } from "../session/session.ts";

interface AskingProps {
  session: Session;
  program: string;
  /** The JSON of its parameters. */
  p?: string | undefined;
  /** At most so many rows. */
  limit?: number;
  children: (result: Result) => ComponentChildren;
}

export function Asking({ session, program, p, limit, children }: AskingProps) {
  const task = useTask(
    async (signal) => {
      const params = paramsFor(program, p);
      return session.asking.execute(program, { reads: true, signal, params, limit });
    },
    [session, program, p, limit],
  );
  return (
    <>
      {task.state === "running" && session.isBusy.value && (
        <p class="quiet" role="status">
          The session runs a program, and answers this after it.
        </p>
      )}
      <Shown task={task}>
        {(result) => (
          <>
            {result.warnings.map((warning) => (
              <p key={warning} class="notice">
                {seen(warning)}
              </p>
            ))}
            {children(result)}
          </>
        )}
      </Shown>
    </>
  );
}
