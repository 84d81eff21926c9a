// Where an administrator creates an API key, which is shown this once.

import { useState } from "preact/hooks";
import { Failure } from "../parts/Failure.tsx";
import { useAction } from "../parts/useAction.ts";
import type { Session } from "../session/session.ts";
import { checked } from "./checked.ts";
import { KeyWindow } from "./KeyWindow.tsx";
import { EXPIRIES, keyCommand, SCOPES } from "./keys.ts";
import { problemOfName } from "./words.ts";

interface NewKeyProps {
  session: Session;
  /** Who may own it. */
  users: readonly string[];
  onDone: () => void;
}

export function NewKey({ session, users, onDone }: NewKeyProps) {
  const action = useAction();
  const [expiry, setExpiry] = useState("");
  const [made, setMade] = useState<{ key: string; label: string } | undefined>();
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const field = (name: string) => String(given.get(name) ?? "");
    const asked = {
      label: field("label"),
      owner: field("owner"),
      expiry,
      at: field("at"),
      scope: field("scope"),
    };
    const result = await action.run(async () => session.looking.execute(keyCommand(asked)));
    if (result === undefined) return;
    const [row] = result.objects<{ api_key: string; label: string }>();
    if (row !== undefined) setMade({ key: row.api_key, label: row.label });
    form.reset();
    setExpiry("");
  };
  const close = () => {
    setMade(undefined);
    onDone();
  };
  return (
    <>
      <form class="narrow-form" onSubmit={(event) => void create(event)} aria-busy={action.isBusy}>
        <label for="key-label">Label</label>
        <input
          id="key-label"
          name="label"
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={checked(problemOfName)}
        />
        <label for="key-owner">Owner</label>
        <select id="key-owner" name="owner">
          <option value="">{session.user === undefined ? "whoever owns the key of this page" : "you"}</option>
          {users
            .filter((name) => name !== session.user)
            .map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
        </select>
        <label for="key-scope">Scope</label>
        <select id="key-scope" name="scope">
          {SCOPES.map(({ scope, may }) => (
            <option key={scope} value={scope}>
              {may}
            </option>
          ))}
        </select>
        <label for="key-expiry">Expires</label>
        <select id="key-expiry" value={expiry} onChange={(event) => setExpiry(event.currentTarget.value)}>
          {EXPIRIES.map(({ expires, text }) => (
            <option key={expires} value={expires}>
              {text}
            </option>
          ))}
        </select>
        {expiry === "at" && (
          <>
            <label for="key-at">On, by the clock of this browser</label>
            <input id="key-at" name="at" type="datetime-local" required />
          </>
        )}
        {action.problem !== undefined && <Failure problem={action.problem} />}
        <p class="buttons">
          <button type="submit" class="main" disabled={action.isBusy}>
            Create
          </button>
        </p>
      </form>
      {made !== undefined && <KeyWindow made={made} onClose={close} />}
    </>
  );
}
