// A field for a further clause: of one relation, or of any.

import { useState } from "preact/hooks";
import { Editor } from "../editor/Editor.tsx";
import { Said } from "../parts/Said.tsx";
import { useAction } from "../parts/useAction.ts";
import { go, to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { headOf } from "./clauses.ts";
import { addClause } from "./saving.ts";

interface AddClauseProps {
  session: Session;
  /** The relation that it is to derive; any if none is named. */
  name?: string;
  onDone: () => void;
}

export function AddClause({ session, name, onDone }: AddClauseProps) {
  const action = useAction();
  const start = name === undefined ? "+" : `+${name}(`;
  const [draft, setDraft] = useState(start);
  const add = async () => {
    const isDone = await action.run(() => addClause(session.looking, draft, name));
    if (!isDone) return;
    const head = headOf(draft)?.relation;
    setDraft(start);
    onDone();
    void session.refresh();
    if (name === undefined && head !== undefined) go(to("rules", [head]));
  };
  return (
    <div class="clause-draft">
      <Editor
        session={session}
        value={draft}
        onChange={setDraft}
        onRun={() => void add()}
        label={name === undefined ? "New rule" : `New clause of ${name}`}
        compact
      />
      <p class="buttons">
        <button type="button" class="main" disabled={action.isBusy} onClick={() => void add()}>
          Add
        </button>
      </p>
      <Said action={action} />
    </div>
  );
}
