// A clause as it is written; editors can change it in place, after looking at what that would do.

import { useState } from "preact/hooks";
import { Editor } from "../editor/Editor.tsx";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { Said } from "../parts/Said.tsx";
import { Sure } from "../parts/Sure.tsx";
import { useAction } from "../parts/useAction.ts";
import type { Session } from "../session/session.ts";
import { unfit } from "./clauses.ts";
import { Impact } from "./Impact.tsx";
import { OnDemand } from "./OnDemand.tsx";
import { isSame, removeClause, replaceClauses } from "./saving.ts";
import { withClauses } from "./supposition.ts";

interface ClauseProps {
  session: Session;
  name: string;
  /** All clauses of the relation. */
  clauses: readonly string[];
  /** Which of them this is, from 0. */
  place: number;
  /** The clauses as they were when somebody began to edit this one. */
  edited: readonly string[] | undefined;
  /** Begins to edit it, given these clauses, or ends that. */
  onEdit: (clauses: readonly string[] | undefined) => void;
  onDone: (said: readonly string[]) => void;
}

export function Clause({ session, name, clauses, place, edited, onEdit, onDone }: ClauseProps) {
  const clause = clauses[place] ?? "";
  const others = clauses.filter((_, other) => other !== place);
  const remove = async () => {
    const { messages, warnings } = await removeClause(session.looking, name, clauses, place + 1);
    onDone([...messages, ...warnings]);
  };
  return (
    <li class="clause">
      {edited === undefined ? (
        <>
          <pre>
            <Code text={clause} />
          </pre>
          {session.may("editor") && (
            <div class="buttons">
              <button type="button" onClick={() => onEdit(clauses)}>
                Edit <span class="unseen">clause {place + 1}</span>
              </button>
              {/* Of another clause that comes to stand here, nothing was asked. */}
              <OnDemand key={clause} label="Remove…">
                {() => (
                  <>
                    {/* Above what comes later: it stays where it is. */}
                    <Sure
                      label="Remove it"
                      class="danger"
                      what={
                        <>
                          Clause {place + 1} of <bdi>{seen(name)}</bdi> is removed
                          {others.length === 0 && ", which is the only one: no rules derive it then"}.
                        </>
                      }
                      act={remove}
                    />
                    <Impact session={session} changes={withClauses(name, others)} />
                  </>
                )}
              </OnDemand>
            </div>
          )}
        </>
      ) : (
        <Draft
          session={session}
          name={name}
          clauses={edited}
          now={clauses}
          place={place}
          onRebase={() => onEdit(clauses)}
          onDone={(said) => {
            onEdit(undefined);
            if (said !== undefined) onDone(said);
          }}
        />
      )}
    </li>
  );
}

interface DraftProps extends Pick<ClauseProps, "session" | "name" | "clauses" | "place"> {
  /** All clauses as they are by now. */
  now: readonly string[];
  /** Told that the draft is to take the place of what is there now. */
  onRebase: () => void;
  /** Told what the server said, or nothing if nothing was changed. */
  onDone: (said?: readonly string[]) => void;
}

function Draft({ session, name, clauses, now, place, onRebase, onDone }: DraftProps) {
  const action = useAction();
  const [draft, setDraft] = useState(`+${clauses[place]}`);
  const after = [...clauses.slice(0, place), draft, ...clauses.slice(place + 1)];
  const why = unfit(draft, name);
  const save = async () => {
    let said: readonly string[] = [];
    const isDone = await action.run(async () => {
      const result = await replaceClauses(session.looking, name, clauses, after);
      said = [...result.messages, ...result.warnings];
      return result;
    });
    if (isDone) onDone(said);
  };
  return (
    <div class="clause-draft">
      <Editor
        session={session}
        value={draft}
        onChange={setDraft}
        onRun={() => void save()}
        label={`Clause ${place + 1} of ${name}`}
        isFocused
        compact
      />
      {!isSame(clauses, now) && (
        <div class="notice">
          <p>
            The rules of <bdi>{seen(name)}</bdi> have changed since you began.{" "}
            {now[place] === undefined ? "This clause is gone." : "This clause is now:"}
          </p>
          {now[place] !== undefined && (
            <pre>
              <Code text={now[place]} />
            </pre>
          )}
          <button type="button" onClick={onRebase}>
            Go on with mine
          </button>
        </div>
      )}
      {why !== undefined && <p class="notice">It cannot be saved: {why}.</p>}
      <div class="buttons">
        <button
          type="button"
          class="main"
          disabled={action.isBusy || why !== undefined}
          onClick={() => void save()}
        >
          Save
        </button>
        <button type="button" onClick={() => onDone()}>
          Cancel
        </button>
        {why === undefined && (
          <OnDemand label="What would change?">
            {() => <Impact session={session} changes={withClauses(name, after)} />}
          </OnDemand>
        )}
      </div>
      <Said action={action} />
    </div>
  );
}
