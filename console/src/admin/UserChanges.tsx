// What can be changed of a user: role and password.

import type { Result } from "@stratalog/client";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Said } from "../parts/Said.tsx";
import { useAction } from "../parts/useAction.ts";
import { Window } from "../parts/Window.tsx";
import type { Session } from "../session/session.ts";
import { NewPassword, PASSWORD } from "./NewPassword.tsx";
import { ROLES } from "./roles.ts";
import { secretly } from "./secretly.ts";
import { command } from "./words.ts";

export interface User {
  username: string;
  role: string;
}

interface ChangeProps {
  session: Session;
  user: User;
}

export function ChangeRole({ session, user, onDone }: ChangeProps & { onDone: () => void }) {
  const work = async (given: FormData) =>
    session.looking.execute(command("user", "role", user.username, String(given.get("role"))));
  return (
    <Change label="Role" title={`Role of ${seen(user.username)}`} work={work} onDone={onDone}>
      <fieldset class="choice">
        <legend>Role</legend>
        {ROLES.map(({ role, may }) => (
          <label key={role}>
            <input type="radio" name="role" value={role} defaultChecked={role === user.role} />
            {role}: {may}
          </label>
        ))}
      </fieldset>
      <p class="quiet">It counts from the next statement on.</p>
    </Change>
  );
}

export function ChangePassword({ session, user }: ChangeProps) {
  const work = async (given: FormData) =>
    secretly(session.looking, command("user", "password", user.username, String(given.get(PASSWORD))));
  return (
    <Change label="Password" title={`Password of ${seen(user.username)}`} work={work}>
      <p>All sessions of this user end, also those that API keys have opened.</p>
      <NewPassword id="other" user={user.username} />
    </Change>
  );
}

interface FormProps {
  work: (given: FormData) => Promise<Result>;
  /** Told when it is done. */
  onDone?: () => void;
  children: ComponentChildren;
}

/** A button that opens a window with a form. */
function Change({ label, title, ...form }: FormProps & { label: string; title: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Window title={title} onClose={() => setOpen(false)}>
          <ChangeForm {...form} />
        </Window>
      )}
    </>
  );
}

function ChangeForm({ work, onDone, children }: FormProps) {
  const action = useAction();
  const form = useRef<HTMLFormElement>(null);
  // Closed by the browser, the window gives the keyboard back to its button.
  const close = () => form.current?.closest("dialog")?.close();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    if ((await action.run(() => work(given))) === undefined) return;
    close();
    onDone?.();
  };
  return (
    <form ref={form} onSubmit={(event) => void submit(event)} aria-busy={action.isBusy}>
      {children}
      <Said action={action} />
      <p class="buttons">
        <button type="submit" class="main" disabled={action.isBusy}>
          Change
        </button>
        <button type="button" onClick={close}>
          Leave it
        </button>
      </p>
    </form>
  );
}
