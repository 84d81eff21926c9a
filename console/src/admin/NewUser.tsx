// Where an administrator creates a user.

import { useState } from "preact/hooks";
import { Said } from "../parts/Said.tsx";
import { useAction } from "../parts/useAction.ts";
import type { Session } from "../session/session.ts";
import { checked } from "./checked.ts";
import { NewPassword, PASSWORD } from "./NewPassword.tsx";
import { ROLES } from "./roles.ts";
import { secretly } from "./secretly.ts";
import { command, problemOfName } from "./words.ts";

export function NewUser({ session, onDone }: { session: Session; onDone: () => void }) {
  const action = useAction();
  const [name, setName] = useState("");
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const [password, role] = [String(given.get(PASSWORD)), String(given.get("role"))];
    const words = () => command("user", "create", name, password, role);
    if ((await action.run(async () => secretly(session.looking, words()))) === undefined) return;
    form.reset();
    setName("");
    onDone();
  };
  return (
    <form class="narrow-form" onSubmit={(event) => void create(event)} aria-busy={action.isBusy}>
      <label for="new-user">Name</label>
      <input
        id="new-user"
        name="name"
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={name}
        onInput={(event) => {
          checked(problemOfName)(event);
          setName(event.currentTarget.value);
        }}
      />
      <NewPassword id="new-user" user={name} />
      <label for="new-user-role">Role</label>
      <select id="new-user-role" name="role">
        {ROLES.map(({ role, may }) => (
          <option key={role} value={role}>
            {role}: {may}
          </option>
        ))}
      </select>
      <Said action={action} />
      <p class="buttons">
        <button type="submit" class="main" disabled={action.isBusy}>
          Create
        </button>
      </p>
    </form>
  );
}
